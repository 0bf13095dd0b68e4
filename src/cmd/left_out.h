/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.046, 0.160)                                                 \
    X("mlperf", "model and chip", 111, 0.048, 0.216)                                               \
    X("runs", "model", 135, 0.042, 0.162)                                                          \
    X("mlperf", "model", 111, 0.046, 0.199)                                                        \
    X("runs", "chip", 135, 0.054, 0.194)                                                           \
    X("mlperf", "chip", 111, 0.050, 0.239)                                                         \
    X("runs", "cluster", 135, 0.063, 0.290)                                                        \
    X("mlperf", "cluster", 111, 0.047, 0.186)

#endif
