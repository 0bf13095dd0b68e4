/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.047, 0.137)                                                 \
    X("mlperf", "model and chip", 111, 0.060, 0.197)                                               \
    X("runs", "model", 135, 0.045, 0.154)                                                          \
    X("mlperf", "model", 111, 0.060, 0.194)                                                        \
    X("runs", "chip", 135, 0.052, 0.167)                                                           \
    X("mlperf", "chip", 111, 0.057, 0.181)                                                         \
    X("runs", "cluster", 135, 0.060, 0.172)                                                        \
    X("mlperf", "cluster", 111, 0.046, 0.166)

#endif
