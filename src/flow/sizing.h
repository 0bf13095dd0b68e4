/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs, and which: the same question asked of several sizes and platforms, each answered
   as if it were asked alone. */
#ifndef MOEPLAN_FLOW_SIZING_H
#define MOEPLAN_FLOW_SIZING_H

#include "base/range.h"
#include "flow/suggest.h"

enum { SIZING_MOST = 64 }; /* questions */

struct sizing_ask {
    const struct ask *asks; /* everything but sizes and platform, settled; one for each task */
    size_t n_asks;
    const struct platform **platforms;
    size_t n_platforms;
    struct int_list gpus;      /* 0: the fewest, by the deadline where there is one */
    int64_t gbs_low, gbs_high; /* the batch grows with the GPUs from one to the other; 0: not so */
};

/* How a size relates to the next smaller one of its platform that has a plan. */
enum scaling {
    SCALING_BASE,   /* there is none */
    SCALING_STRONG, /* the same batch on more GPUs */
    SCALING_WEAK,   /* the same batch a GPU */
    SCALING_MIXED   /* neither */
};

struct size_row {
    struct ask ask; /* as it was asked, sizes filled in */
    struct answers answers;
    const struct plan *plan; /* the fastest of those first in their framework; NULL: none */
    enum framework framework;
    bool tight; /* it may not fit */
    struct time_estimate time;
    struct bill bill;  /* where the wish says how much is trained */
    double efficiency; /* tokens/s/GPU against the smallest size's */
    enum scaling scaling;
    bool knee; /* where throughput times efficiency is largest, and the largest size is another one:
                  Eager, Zahorjan, Lazowska, IEEE Trans. Comput. 38(3), 1989 */
};

/* All tasks one after the other on one platform and size. The ends of the days add up too: what
   makes one stage slow makes the others slow. */
struct stages {
    const struct platform *platform;
    int64_t gpus;      /* as it was asked; 0: the fewest of each */
    bool has_plans;    /* each stage has one; the figures are 0 where not */
    struct bill total; /* days, GPU hours and cost alone */
};

struct sizing {
    struct size_row *rows; /* by task, platform, then by GPUs as they were listed */
    size_t n;
    struct stages *stages; /* by platform, then by GPUs; none where a task is no stage */
    size_t n_stages;
};

/* Asks them all. False when one cannot be asked (errors in `diags`). */
bool sizing_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct sizing_ask *ask, struct sizing *out);
/* The batch of one size when the batch grows with the GPUs: in proportion from the smallest, a
   multiple of the GPUs where that is within the range. */
int64_t sizing_batch(const struct sizing_ask *ask, int64_t gpus);

#endif
