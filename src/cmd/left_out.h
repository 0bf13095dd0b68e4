/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.054, 0.154)                                                 \
    X("mlperf", "model and chip", 111, 0.052, 0.228)                                               \
    X("runs", "model", 135, 0.057, 0.169)                                                          \
    X("mlperf", "model", 111, 0.050, 0.210)                                                        \
    X("runs", "chip", 135, 0.062, 0.174)                                                           \
    X("mlperf", "chip", 111, 0.053, 0.237)                                                         \
    X("runs", "cluster", 135, 0.071, 0.225)                                                        \
    X("mlperf", "cluster", 111, 0.047, 0.188)

#endif
