/* SPDX-License-Identifier: Apache-2.0 */
/* What one rank of a plan runs in a step, as shapes that a microbenchmark can measure. */
#ifndef MOEPLAN_COST_SHAPES_H
#define MOEPLAN_COST_SHAPES_H

#include "base/arena.h"
#include "plan/ops.h"

enum shape_kind {
    SHAPE_GEMM,      /* rows x in -> rows x out */
    SHAPE_GROUPED,   /* so many experts of them */
    SHAPE_ATTENTION, /* causal, forward and backward */
    SHAPE_COPY,      /* bytes read and written by a streaming kernel */
    SHAPE_EXCHANGE,  /* dispatch or combine of a rank's tokens */
    SHAPE_GATHER,    /* bytes of a group's all-gather or reduce-scatter */
    SHAPE_ADAM,      /* elements of an optimizer update */
    SHAPE_KINDS
};

struct shape {
    enum shape_kind kind;
    enum matrix_numeric numeric;  /* low: in the plan's FP8 or FP4 */
    double rows, out, in;         /* of each expert, where there are several */
    double experts;               /* on this rank */
    double seq, batch, heads;     /* heads on this rank */
    double qk_dim, v_dim, window; /* window in tokens; 0: all */
    double bytes, ranks;          /* of the whole message; of the group */
    double tokens, width, topk;   /* a rank's tokens; elements of one */
    double elements;              /* on this rank */
    double count;                 /* times a step on the mean stage */
};

struct shape_list {
    struct shape *items;
    size_t n, cap;
};

/* Equal shapes are one entry. The head's GEMMs are those of the last stage, spread over all. */
void shapes_of(struct arena *a, const struct config *c, struct shape_list *out);

#endif
