/* SPDX-License-Identifier: Apache-2.0 */
/* Two configurations side by side: what differs, whether it touches convergence or execution only,
   and what a person should know before comparing their speeds. */
#ifndef MOEPLAN_FLOW_COMPARE_H
#define MOEPLAN_FLOW_COMPARE_H

#include "base/vec.h"
#include "flow/estimate.h"

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

/* Fills the differences and the rules' advice, second against first. Facts of one framework are
   compared parameter by parameter; of two, by the model, the run and the knobs. An estimate may be
   incomplete. */
void compare_configurations(struct arena *a, const struct rule_set *rules,
                            const struct estimate *first, const struct estimate *second,
                            struct arena *scratch, struct comparison *out);

#endif
