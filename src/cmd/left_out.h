/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit/runs.py --write: errors of the step time of runs left out of its fit. */
#ifndef MOEPLAN_CMD_LEFT_OUT_H
#define MOEPLAN_CMD_LEFT_OUT_H

/* data, what was left out at a time, runs, median and 0.9 quantile of the relative error */
#define LEFT_OUT(X)                                                                                \
    X("runs", "model and chip", 135, 0.051, 0.147)                                                 \
    X("mlperf", "model and chip", 111, 0.053, 0.227)                                               \
    X("runs", "model", 135, 0.052, 0.164)                                                          \
    X("mlperf", "model", 111, 0.050, 0.205)                                                        \
    X("runs", "chip", 135, 0.059, 0.178)                                                           \
    X("mlperf", "chip", 111, 0.058, 0.214)                                                         \
    X("runs", "cluster", 135, 0.071, 0.189)                                                        \
    X("mlperf", "cluster", 111, 0.044, 0.176)

#endif
