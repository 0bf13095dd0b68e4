/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.046, 0.138)                                                 \
    X("mlperf", "model and chip", 111, 0.065, 0.199)                                               \
    X("runs", "model", 135, 0.046, 0.152)                                                          \
    X("mlperf", "model", 111, 0.060, 0.192)                                                        \
    X("runs", "chip", 135, 0.055, 0.166)                                                           \
    X("mlperf", "chip", 111, 0.069, 0.178)                                                         \
    X("runs", "cluster", 135, 0.069, 0.171)                                                        \
    X("mlperf", "cluster", 111, 0.046, 0.165)

#endif
