/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and estimates as JSON, as the contract has them. */
#ifndef MOEPLAN_EMIT_PLAN_JSON_H
#define MOEPLAN_EMIT_PLAN_JSON_H

#include "choose/planner.h"
#include "choose/refusal.h"
#include "cost/evidence.h"
#include "emit/json_writer.h"
#include "emit/tree.h"

/* Adds "plan", a plan file as an object. */
void plan_json(struct tree *t, cJSON *to, const struct rule_set *rules, const struct facts *f);
/* Appends that object's text, of any facts as a plan file has to say them (convert_own). */
void plan_json_alone(struct arena *a, const struct rule_set *rules, const struct facts *f,
                     struct arena *scratch, struct buf *out);
/* Adds "assumed": what was assumed, by name. */
void assumed_json(struct tree *t, cJSON *to, const struct facts *f);
/* Adds the members plan, assumed, derived, memory, time, evidence of an estimate. `memory` and
   `time` in GiB and seconds. */
void estimate_json(struct tree *t, cJSON *to, const struct rule_set *rules, const struct facts *f,
                   const struct config *c, const struct memory_estimate *memory,
                   const struct time_estimate *time, const struct evidence *evidence);
/* The members of a step's time, and what follows from it: no breakdown. */
void figures_json(struct tree *t, cJSON *to, const struct time_estimate *time);
/* Adds "refused": null, or how many errors and the first of them. */
void refusal_json(struct tree *t, cJSON *to, const struct refusal *r);
/* The same in a text that is being written. */
void refusal_json_member(struct json_writer *w, const struct refusal *r);

#endif
