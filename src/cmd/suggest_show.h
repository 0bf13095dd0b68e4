/* SPDX-License-Identifier: Apache-2.0 */
/* How the answers of suggest are shown. */
#ifndef MOEPLAN_CMD_SUGGEST_SHOW_H
#define MOEPLAN_CMD_SUGGEST_SHOW_H

#include "base/page.h"
#include "emit/plan_json.h"
#include "flow/suggest_rank.h"

/* ---- the first screen (suggest_first.c) ---- */

/* The layout that is taken, whether it fits and how fast it is: two lines. */
void suggest_verdict(struct arena *a, const struct offer *o, struct buf *out);
/* The first screen, and what stands below it: at most 40 lines of a terminal of 80 columns. */
void suggest_first(struct arena *a, const struct ask *ask, const struct offers *all,
                   const struct offer *taken, struct view view, struct str below, struct buf *out);

/* ---- depth (suggest_text.c) ---- */

/* Parts of the screen that are printed where they are asked for. */
struct depth {
    bool why, next, verify;
};
/* What was asked, of which model on which machine. */
void suggest_question(struct arena *a, const struct ask *ask, const struct answer *answer,
                      struct buf *out);
/* What the plan holds in fewer bits than the framework would by itself. */
void suggest_numerics(const struct ask *ask, const struct answer *answer, const struct config *plan,
                      struct buf *out);
/* The parts of one layout. */
void suggest_depth(struct arena *a, const struct ask *ask, const struct offer *o,
                   const struct depth *depth, struct buf *out);
/* Why a framework has no plan, a sentence each. */
struct notes suggest_why_none(struct arena *a, const struct ask *ask, const struct answer *answer);
/* The same as a screen; `first`: with the question, which no screen above shows. */
void suggest_no_plan(struct arena *a, const struct ask *ask, enum framework framework,
                     const struct answer *answer, bool first, struct buf *out);
/* What would make it fit, of the answers that have no plan. */
void suggest_would_fit(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                       const struct ask *ask, const struct answers *answers, struct buf *out);
/* Adds the members plans, assumed, searched, feasible, playbook and notes of the contract's JSON.
 */
void suggest_json(struct tree *t, const struct rule_set *rules, const struct ask *ask,
                  const struct answers *answers, double elapsed_ms);
/* A line a layout, figures as the JSON has them. */
void suggest_csv(const struct offers *all, struct buf *out);
/* Head lines for emitted files: what this is, what was assumed, and the answer's notes. */
size_t suggest_comments(struct arena *a, const struct ask *ask, const struct notes *notes,
                        const struct plan *plan, struct str **out);
/* What a run of the plan takes, where the question says how much is trained (suggest_bill.c). */
void suggest_bill(const struct ask *ask, const struct plan *plan, struct buf *out);
/* The same as the member `decision`. */
void suggest_bill_json(struct tree *t, cJSON *to, const struct ask *ask, const struct plan *plan);
/* Milliseconds on a clock that only runs forward. */
double suggest_clock(void);

#endif
