/* SPDX-License-Identifier: Apache-2.0 */
/* Putting records together into a set; used by the loader. */
#ifndef MOEPLAN_RULES_SET_H
#define MOEPLAN_RULES_SET_H

#include "base/vec.h"
#include "rules/rule.h"

struct rule_list {
    struct rule **items;
    size_t n, cap;
};

/* `base` (may be NULL) and the new records as one set: orders the items and fills lanes. The new
   records' conditions are numbered in `conditions`, which begins with those of the base; their
   order is settled here. */
struct rule_set set_build(struct arena *a, const struct rule_set *base,
                          const struct rule_list *fresh, const struct expr *const *conditions,
                          size_t n_conditions);

#endif
