/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and estimates as JSON, as the contract has them. cJSON trees: the caller prints and deletes
 * them. */
#ifndef MOEPLAN_EMIT_PLAN_JSON_H
#define MOEPLAN_EMIT_PLAN_JSON_H

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "choose/planner.h"
#include "cost/evidence.h"

/* Appends the tree as text without blanks and deletes it. */
void tree_print(struct buf *out, cJSON *tree);
/* The same of an object's members alone, with a comma before them. */
void tree_print_members(struct buf *out, cJSON *tree);
/* The plan's own words: framework, model, platform and every parameter that differs from the
   framework's defaults, by symbol where there is one. */
cJSON *tree_plan(struct arena *a, const struct facts *f);
/* Members plan, derived, memory, time, evidence of an estimate. `memory` and `time` in GiB and
 * seconds. */
cJSON *tree_estimate(struct arena *a, const struct facts *f, const struct config *c,
                     const struct memory_estimate *memory, const struct time_estimate *time,
                     const struct evidence *evidence);

#endif
