/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.046, 0.137)                                                 \
    X("mlperf", "model and chip", 111, 0.046, 0.178)                                               \
    X("runs", "model", 135, 0.040, 0.148)                                                          \
    X("mlperf", "model", 111, 0.046, 0.184)                                                        \
    X("runs", "chip", 135, 0.049, 0.161)                                                           \
    X("mlperf", "chip", 111, 0.053, 0.170)                                                         \
    X("runs", "cluster", 135, 0.056, 0.195)                                                        \
    X("mlperf", "cluster", 111, 0.035, 0.155)

#endif
