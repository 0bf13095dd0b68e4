/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.048, 0.132)                                                 \
    X("mlperf", "model and chip", 111, 0.053, 0.136)                                               \
    X("runs", "model", 135, 0.046, 0.136)                                                          \
    X("mlperf", "model", 111, 0.054, 0.178)                                                        \
    X("runs", "chip", 135, 0.050, 0.144)                                                           \
    X("mlperf", "chip", 111, 0.061, 0.159)                                                         \
    X("runs", "cluster", 135, 0.062, 0.140)                                                        \
    X("mlperf", "cluster", 111, 0.040, 0.141)

#endif
