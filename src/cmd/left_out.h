/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.047, 0.140)                                                 \
    X("mlperf", "model and chip", 111, 0.059, 0.206)                                               \
    X("runs", "model", 135, 0.047, 0.149)                                                          \
    X("mlperf", "model", 111, 0.047, 0.192)                                                        \
    X("runs", "chip", 135, 0.059, 0.163)                                                           \
    X("mlperf", "chip", 111, 0.067, 0.181)                                                         \
    X("runs", "cluster", 135, 0.061, 0.207)                                                        \
    X("mlperf", "cluster", 111, 0.040, 0.166)

#endif
