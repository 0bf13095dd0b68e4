/* SPDX-License-Identifier: Apache-2.0 */
/* The trials worth running next on a plan that works: every lever (choose/lever.h), one at a time
   first, then two together. In each group the order is by expected improvement: what the model
   predicts, and how little it can be sure of it. */
#ifndef MOEPLAN_CHOOSE_SWEEP_H
#define MOEPLAN_CHOOSE_SWEEP_H

#include "cost/cost.h"
#include "plan/move.h"
#include "rules/rule.h"

struct trial {
    const struct config *config;
    const struct decision *decision; /* of a single change; NULL of two */
    struct facts *facts;             /* of the plan with the trial's changes: what is emitted */
    struct str what;                 /* "micro_batch_size 1 -> 2, recompute none -> full" */
    int changed;                     /* decisions that differ from the baseline */
    double step_s, ratio;            /* seconds; over the baseline's */
    double peak;                     /* bytes */
    int fits;                        /* FITS_YES or FITS_TIGHT */
    size_t number;                   /* in the order in which they were found */
    double worth;                    /* expected improvement, as a part of the step */
};

struct sweep {
    double step_s, peak; /* the baseline's */
    int fits;
    struct trial *trials;
    size_t n;
    size_t tried, unfit, refused; /* combinations; those that do not fit, or break a rule */
};

/* Lists at most `most` trials for a complete plan on a known machine, overrides not applied, whose
   configuration is `c`. False when the layers cannot be put on its stages. */
bool sweep_plan(struct arena *a, const struct rule_set *rules, const struct facts *f,
                const struct config *c, size_t most, struct arena *scratch, struct sweep *out);

#endif
