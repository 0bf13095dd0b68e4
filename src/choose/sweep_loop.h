/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep's loop: from what trials measured to what to run next, until what is left is within the
   scatter of runs. */
#ifndef MOEPLAN_CHOOSE_SWEEP_LOOP_H
#define MOEPLAN_CHOOSE_SWEEP_LOOP_H

#include "choose/learn.h"
#include "rules/rule.h"

/* Plans that the loop keeps in view, by their estimate; the most that it asks for at a time. */
enum { SWEEP_CANDIDATES = 96, SWEEP_NEXT = 16 };

enum trial_state {
    TRIAL_OPEN,
    TRIAL_NEXT,     /* asked for now */
    TRIAL_MEASURED, /* and may be the best */
    TRIAL_LOST,     /* measured, and slower by more than runs scatter */
    TRIAL_FAILED,   /* did not come to its steady steps */
    TRIAL_DROPPED,  /* not measured: it will hardly be the best, or would not fit where another of
                       less memory did not */
};

/* What came back of a trial. */
struct trial_result {
    struct str id;
    double step_s, scatter; /* 0 s: it failed; scatter of its steps, as a part of one */
    size_t steps;
};

struct loop_trial {
    struct str id; /* "baseline", or eight hexadecimal digits of what it changes */
    struct str what;
    const struct levered *plan;
    enum trial_state state;
    double measured; /* s; 0: not */
    struct belief belief;
    double improvement, chance; /* over the best: expected, as a part of a step; and how likely */
};

struct sweep_loop {
    struct loop_trial *trials; /* the baseline first, the others by their estimate */
    size_t n;
    size_t best; /* the measured one that is believed to be fastest; the baseline before any is */
    size_t measured, failed, asked;
    double offset;      /* measured over estimated step, mean in logarithms; 1 before any */
    double scatter;     /* of one run's step against the next run's, as a part of it */
    bool finished;      /* nothing is worth another run */
    struct str foreign; /* the first result that is of no trial of this plan; empty: none */
};

/* `most`: how many trials to ask for; the baseline comes first and is not counted. False when the
   plan has no cost. */
bool sweep_loop(struct arena *a, const struct rule_set *rules, const struct facts *f,
                const struct config *c, const struct trial_result *results, size_t n_results,
                size_t most, struct arena *scratch, struct sweep_loop *out);

#endif
