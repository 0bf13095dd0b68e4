/* SPDX-License-Identifier: Apache-2.0 */
/* Two configurations side by side: what differs, whether it touches convergence or execution only,
   and what a person should know before comparing their speeds. */
#ifndef MOEPLAN_FLOW_COMPARE_H
#define MOEPLAN_FLOW_COMPARE_H

#include "base/vec.h"
#include "cost/cost.h"
#include "rules/rule.h"

/* One parameter in which the two differ; unknown where a side does not say it. */
struct difference {
    int param;
    struct value a, b;
};

/* Advice that a difference calls for. */
struct remark {
    struct str guide, text;
};

struct comparison {
    struct {
        struct difference *items;
        size_t n, cap;
    } differences; /* those that affect convergence first, then by name */
    VEC(struct remark) advice;
};

/* What the two are, overrides applied, and their estimates; NULL where one cannot be estimated. */
struct compared {
    const struct facts *facts;
    const struct config *config;
    const struct time_estimate *time;
};

/* Fills the differences and the rules' advice, second against first. Facts of one framework are
   compared parameter by parameter; of two, by the model, the run and the knobs. */
void compare_configurations(struct arena *a, const struct rule_set *rules,
                            const struct compared *first, const struct compared *second,
                            struct arena *scratch, struct comparison *out);

#endif
