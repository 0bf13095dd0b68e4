/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single kernels. All results are seconds. */
#ifndef MOEPLAN_COST_KERNEL_H
#define MOEPLAN_COST_KERNEL_H

#include "cost/timing.h"

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

struct attention_shape {
    double heads, qk_dim, v_dim; /* heads on this rank; v_dim 0: scores alone */
    double window;               /* keys that a query sees at most, 0: all */
};
/* Core attention, causal. */
void kernel_attention(const struct timing *t, struct attention_shape s, struct pass *forward,
                      struct pass *backward);
/* A chunked scan: FLOPs at a part of the 16-bit peak, and bytes streamed. */
void kernel_scan(const struct timing *t, double flops, double peak_part, double bytes,
                 struct pass *forward, struct pass *backward);

#endif
