/* SPDX-License-Identifier: Apache-2.0 */
/* How the answers of suggest are shown. */
#ifndef MOEPLAN_CMD_SUGGEST_SHOW_H
#define MOEPLAN_CMD_SUGGEST_SHOW_H

#include "emit/plan_json.h"
#include "flow/suggest.h"

/* The screen of one framework's answer. */
void suggest_text(struct arena *a, const struct ask *ask, enum framework framework,
                  const struct answer *answer, struct buf *out);
/* Why nothing fits and what would make it fit. */
void suggest_no_plan(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                     const struct ask *ask, enum framework framework, const struct answer *answer,
                     struct buf *out);
/* Adds the members plans, assumed, searched, feasible of the contract's JSON. */
void suggest_json(struct tree *t, const struct rule_set *rules, const struct answers *answers,
                  double elapsed_ms);
/* Head lines for emitted files: what this is, and what was assumed. */
size_t suggest_comments(struct arena *a, const struct ask *ask, const struct plan *plan,
                        struct str **out);
/* Milliseconds on a clock that only runs forward. */
double suggest_clock(void);

#endif
