/* SPDX-License-Identifier: Apache-2.0 */
/* estimate: a configuration -> whether it would be refused, its memory and its time. */
#ifndef MOEPLAN_FLOW_ESTIMATE_H
#define MOEPLAN_FLOW_ESTIMATE_H

#include "choose/refusal.h"
#include "cost/evidence.h"
#include "cost/whatif.h"
#include "facts/recipe.h"

/* A configuration as its framework runs it, and what it costs. */
struct estimate {
    const struct facts *facts; /* assumptions made, overrides applied */
    struct refusal refusal;
    struct config config;
    struct memory_estimate memory;
    struct time_estimate time;
    struct evidence evidence;
    bool complete;      /* the configuration has a cost: else none of the figures is set */
    struct str missing; /* what is lacking where it has none */
};

/* The terms of an estimate. */
struct estimate_terms {
    struct cost_trace memory, time;
};

/* The configurations of a text, of which there is at least one; false with errors in `diags`. */
bool estimate_read(struct arena *a, struct diags *diags, struct str path, struct str text,
                   struct str as, const struct read_options *options, struct recipe *out);
/* Estimates one of them. The reading's facts become those of the estimate,
   and what is wrong with them goes to their diagnostics: then false. `terms` may be NULL. */
bool estimate_reading(struct arena *a, const struct rule_set *rules, const struct reading *reading,
                      struct arena *scratch, struct estimate *out, struct estimate_terms *terms);
/* The same of facts that stay as they are, without asking for a refusal; nothing is reported. */
void estimate_facts(struct arena *a, const struct rule_set *rules, const struct facts *f,
                    struct arena *scratch, struct estimate *out);
/* The cheapest changes that make it fit (cost/whatif.h) and break no rule that it keeps. */
int estimate_changes(struct arena *a, const struct rule_set *rules, const struct estimate *e,
                     struct arena *scratch, struct memory_change out[WHATIF_CHANGES]);

/* The shape of a model by itself, without any plan; false with errors in `diags` when the input
   lacks something. */
bool estimate_shape(struct arena *a, struct diags *diags, const struct model_input *m,
                    struct arena *scratch, struct model_shape *out);

#endif
