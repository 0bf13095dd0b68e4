/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.047, 0.138)                                                 \
    X("mlperf", "model and chip", 111, 0.046, 0.180)                                               \
    X("runs", "model", 135, 0.042, 0.152)                                                          \
    X("mlperf", "model", 111, 0.047, 0.183)                                                        \
    X("runs", "chip", 135, 0.052, 0.160)                                                           \
    X("mlperf", "chip", 111, 0.054, 0.170)                                                         \
    X("runs", "cluster", 135, 0.055, 0.194)                                                        \
    X("mlperf", "cluster", 111, 0.035, 0.156)

#endif
