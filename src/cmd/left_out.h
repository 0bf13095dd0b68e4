/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.038, 0.168)                                                 \
    X("mlperf", "model and chip", 111, 0.058, 0.219)                                               \
    X("runs", "model", 135, 0.038, 0.169)                                                          \
    X("mlperf", "model", 111, 0.069, 0.201)                                                        \
    X("runs", "chip", 135, 0.051, 0.200)                                                           \
    X("mlperf", "chip", 111, 0.058, 0.252)                                                         \
    X("runs", "cluster", 135, 0.057, 0.300)                                                        \
    X("mlperf", "cluster", 111, 0.050, 0.193)

#endif
