/* SPDX-License-Identifier: Apache-2.0 */
/* One framework's configuration as facts of another. What was set and has no counterpart is listed,
   so that nothing is dropped silently. */
#ifndef MOEPLAN_FLOW_CONVERT_H
#define MOEPLAN_FLOW_CONVERT_H

#include "base/vec.h"
#include "facts/facts.h"
#include "rules/rule.h"

/* A setting that cannot be carried over. */
struct convert_loss {
    struct str name;  /* the spelling used in the source */
    struct str value; /* as text; empty: it has none */
    struct str why;
};

struct conversion {
    struct facts *facts; /* of the target framework, not yet overridden by it */
    struct {
        struct convert_loss *items;
        size_t n, cap;
    } lost;
    VEC(struct str) notes; /* where the same word means something else, one line each */
};

/* Converts `from`, whose overrides are not applied yet and stay so. The target behaves as the
   source would: what the source has by its own default or override is set where the target's
   differs. `platform` facts and the model come along. `complete`: for the framework's own files,
   which mean its defaults where they are silent; else for a plan file. `scratch` is used and not
   kept. */
void convert_facts(struct arena *a, const struct rule_set *rules, const struct facts *from,
                   enum framework to, bool complete, struct arena *scratch, struct conversion *out);
/* What a file of `f`, whose overrides are not applied yet, has to say in its framework's own form
   or as a plan file: a plan, and a launch that leaves its model to an option, are silent where the
   one means a default, and a recipe where the other leaves it open. Other facts are returned as
   they are. `scratch` is used and not kept. */
const struct facts *convert_own(struct arena *a, const struct rule_set *rules,
                                const struct facts *f, bool plan, struct arena *scratch);
/* The findings of the target's framework about the text that came of it, sorted; `plan`: it is a
   plan file, else the framework's own form. */
void convert_check(struct arena *a, struct arena *scratch, struct diags *found,
                   const struct rule_set *rules, const struct facts *target, bool plan,
                   struct str text);

#endif
