/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.045, 0.133)                                                 \
    X("mlperf", "model and chip", 111, 0.049, 0.150)                                               \
    X("runs", "model", 135, 0.044, 0.131)                                                          \
    X("mlperf", "model", 111, 0.050, 0.157)                                                        \
    X("runs", "chip", 135, 0.040, 0.133)                                                           \
    X("mlperf", "chip", 111, 0.050, 0.154)                                                         \
    X("runs", "cluster", 135, 0.055, 0.151)                                                        \
    X("mlperf", "cluster", 111, 0.038, 0.147)

#endif
