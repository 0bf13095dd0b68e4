/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.044, 0.135)                                                 \
    X("mlperf", "model and chip", 111, 0.050, 0.193)                                               \
    X("runs", "model", 135, 0.041, 0.156)                                                          \
    X("mlperf", "model", 111, 0.046, 0.187)                                                        \
    X("runs", "chip", 135, 0.050, 0.165)                                                           \
    X("mlperf", "chip", 111, 0.056, 0.170)                                                         \
    X("runs", "cluster", 135, 0.056, 0.204)                                                        \
    X("mlperf", "cluster", 111, 0.036, 0.157)

#endif
