/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.052, 0.149)                                                 \
    X("mlperf", "model and chip", 111, 0.079, 0.218)                                               \
    X("runs", "model", 135, 0.051, 0.168)                                                          \
    X("mlperf", "model", 111, 0.070, 0.202)                                                        \
    X("runs", "chip", 135, 0.061, 0.187)                                                           \
    X("mlperf", "chip", 111, 0.077, 0.258)                                                         \
    X("runs", "cluster", 135, 0.059, 0.301)                                                        \
    X("mlperf", "cluster", 111, 0.059, 0.208)

#endif
