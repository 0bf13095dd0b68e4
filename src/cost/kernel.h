/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single kernels. All results are seconds. Their coefficients come from public tables of
   kernel times alone (tools/fit), before any run was looked at. */
#ifndef MOEPLAN_COST_KERNEL_H
#define MOEPLAN_COST_KERNEL_H

#include "cost/timing.h"
#include "plan/ops.h"

/* rows x in -> rows x out, without quantisation; the output's elements have out_bytes. */
double kernel_gemm(const struct timing *t, const struct gemm_law *law, double rows, double out,
                   double in, double out_bytes);
/* As many equal ones in one kernel; law->rate and law->inner of grouped kernels. */
double kernel_grouped(const struct timing *t, const struct gemm_law *law, double experts,
                      double rows, double out, double in, double out_bytes);

struct linear {
    double rows, out, in; /* rows x in -> rows x out, on one rank */
    double experts;       /* this many equal ones in one grouped GEMM; 0: a plain GEMM */
    bool one_kernel;      /* the grouped GEMM is a single kernel: no launch an expert */
    bool wide;            /* 16 bit whatever the precision (logits, router) */
    bool frozen;          /* no weight gradient */
    bool quantised_in, quantised_out; /* its input (output's gradient) comes quantised */
};

/* Seconds of a linear's products: forward, and the gradients of its input and of its weights (0: it
   is frozen). */
struct products {
    double forward, input, weights;
};

/* What plans of one model for one machine in one precision share: the machine's coefficients, the
   weights of layers, and the products of linears that were worked out. */
enum { KNOWN_LINEARS = 1 << 10 };
struct known_linear {
    struct linear linear; /* rows 0: none */
    double wgrad_bytes;
    struct products products;
};
struct known_kernels {
    struct coefficients f;
    struct time_shared *shared; /* [TIME_SHARED] (cost/time.h); NULL: none are kept */
    struct time_ends *ends;     /* [TIME_ENDS], likewise */
    struct known_linear linears[KNOWN_LINEARS];
    struct weights weights[MODEL_MAX_KINDS]; /* of a layer of each kind; m NULL: not listed yet */
};

/* Whether its GEMMs run in the plan's FP8 or FP4. */
bool kernel_is_low(const struct timing *t, const struct linear *l);
/* Adds a linear's forward to one pass, and the gradients of its input and weights to the other. */
void kernel_linear(const struct timing *t, struct linear l, struct pass *forward,
                   struct pass *backward);
/* Quantises so many elements for the GEMMs of both passes. */
double kernel_quantise(const struct timing *t, double elements);
/* A streaming kernel over so many bytes. */
double kernel_stream(const struct timing *t, double bytes);

/* Number format of attention's products. */
enum attention_format { ATTENTION_16, ATTENTION_FP8, ATTENTION_MXFP8 };
/* Attention of queries over keys, forward and backward apart. */
struct attention {
    enum attention_format format;
    double queries;       /* tokens x heads */
    double seq, window;   /* tokens; window 0: all */
    double steps;         /* kernels that one sequence is cut into: context parallelism's */
    double qk_dim, v_dim; /* v_dim 0: scores alone */
    bool square;          /* not causal */
    bool deterministic;   /* of the backward */
};
double attention_forward(const struct timing *t, const struct attention *x);
double attention_backward(const struct timing *t, const struct attention *x);

/* Core attention of a layer, causal, at the pace of training. */
void kernel_attention(const struct timing *t, const struct core *s, struct pass *forward,
                      struct pass *backward);
/* The recurrence of a gated delta rule alone: tokens x state elements in sequences of `seq`. */
double delta_forward(const struct timing *t, double states, double seq);
void kernel_scan(const struct timing *t, const struct scan *s, struct pass *forward,
                 struct pass *backward);

#endif
