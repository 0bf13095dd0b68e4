/* SPDX-License-Identifier: Apache-2.0 */
/* The plans one or two levers away from a plan: every move of the table (plan/move.h) that leaves
   the numbers as they are, for `sweep`, which tries them on the machine, and `diagnose`, which
   holds them against what a run measured. */
#ifndef MOEPLAN_CHOOSE_LEVER_H
#define MOEPLAN_CHOOSE_LEVER_H

#include "base/vec.h"
#include "cost/cost.h"
#include "plan/move.h"
#include "rules/rule.h"

enum { LEVERS_MOST_MBS = 64, LEVERS_PAIRED = 24 };

struct levered {
    struct config config;            /* a layout of its own lives in the arena */
    const struct decision *decision; /* of a single: the lever, and ... */
    const struct move *move;         /* ... the way it is moved; NULL of pairs */
    int changed;                     /* decisions that differ */
    double variance; /* of the logarithm of its step over the base's, by the decisions' doubts */
    struct time_estimate time;
    double peak; /* bytes */
    int fits;    /* of struct memory_estimate */
    double room; /* the chance that it fits, 0 to 1, by where its interval meets the capacity */
};

/* What can be run at all: singles first, then pairs, in the order of the table. */
struct lever_list {
    VEC(struct levered) items;
};

/* Every lever alone; with `pairs` also each two of those that are fastest and that free most, at
   most LEVERS_PAIRED of each. Plans that do not fit are in the list. */
void levers_list(struct arena *a, const struct config *base, bool pairs, struct arena *scratch,
                 struct lever_list *out);
/* levered.room of an estimate. */
double levered_room(const struct memory_estimate *m);
/* Fills time, peak, fits and room from the configuration; false when it has no cost. */
bool levered_estimate(struct levered *x);
/* "mbs 1 -> 2, recompute none -> full" */
struct str levers_text(struct arena *a, const struct config *base, const struct config *to);
/* The facts of `base`, `f`, changed to say the plan. */
struct facts *levers_facts(struct arena *a, const struct facts *f, const struct config *base,
                           const struct config *to);
/* Whether facts of levers_facts, as the framework runs them, break no rule. `scratch` is reset. */
bool levers_allowed(struct arena *a, const struct rule_set *rules, const struct facts *f,
                    struct arena *scratch);

#endif
