/* SPDX-License-Identifier: Apache-2.0 */
/* What the cost models say about a configuration, as facts that rules can read: whether it still
   fits with one decision taken back, where its step time goes. */
#ifndef MOEPLAN_CHOOSE_OUTLOOK_H
#define MOEPLAN_CHOOSE_OUTLOOK_H

#include "cost/cost.h"
#include "rules/rule.h"

/* Sets the derived parameters of rules/parameters/outlook.yaml and gives the memory estimate behind
   them. False for facts that are no complete plan, leave what decides the memory open, or name no
   platform: the parameters stay unknown; nothing is reported. `scratch` is used and given back. */
bool outlook_facts(const struct rule_set *rules, struct facts *f, struct memory_estimate *memory,
                   struct arena *scratch);
/* The same for a configuration that was made of these facts already. */
void outlook_of(struct facts *f, const struct config *c);
/* Marks these parameters in a list of all. */
void outlook_mark(bool *params);

#endif
