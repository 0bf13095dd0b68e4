/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single kernels. All results are seconds. */
#ifndef MOEPLAN_COST_KERNEL_H
#define MOEPLAN_COST_KERNEL_H

#include "cost/timing.h"
#include "plan/ops.h"

struct linear {
    double rows, out, in; /* rows x in -> rows x out, on one rank */
    double experts;       /* this many equal ones in one grouped GEMM; 0: a plain GEMM */
    bool wide;            /* 16 bit whatever the precision (logits, router) */
    bool frozen;          /* no weight gradient */
    bool quantised_in, quantised_out; /* its input (output's gradient) comes quantised */
};

/* Adds a linear's forward to one pass, and the gradients of its input and weights to the other. */
void kernel_linear(const struct timing *t, struct linear l, struct pass *forward,
                   struct pass *backward);
/* A streaming kernel over so many bytes. */
double kernel_stream(const struct timing *t, double bytes);

/* Core attention, causal. */
void kernel_attention(const struct timing *t, const struct core *s, struct pass *forward,
                      struct pass *backward);
void kernel_scan(const struct timing *t, const struct scan *s, struct pass *forward,
                 struct pass *backward);

#endif
