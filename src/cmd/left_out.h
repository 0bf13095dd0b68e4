/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.049, 0.129)                                                 \
    X("mlperf", "model and chip", 111, 0.052, 0.137)                                               \
    X("runs", "model", 135, 0.048, 0.137)                                                          \
    X("mlperf", "model", 111, 0.050, 0.175)                                                        \
    X("runs", "chip", 135, 0.050, 0.143)                                                           \
    X("mlperf", "chip", 111, 0.061, 0.160)                                                         \
    X("runs", "cluster", 135, 0.062, 0.140)                                                        \
    X("mlperf", "cluster", 111, 0.041, 0.142)

#endif
