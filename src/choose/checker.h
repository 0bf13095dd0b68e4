/* SPDX-License-Identifier: Apache-2.0 */
/* What the search asks of the rules and of what the user forbids. Why a plan was refused is
   remembered by the knobs that the refusing rule looks at, so that no other plan with the same
   values is put to the rules. */
#ifndef MOEPLAN_CHOOSE_CHECKER_H
#define MOEPLAN_CHOOSE_CHECKER_H

#include "choose/planner.h"

struct checker;

/* Lives in `a`; `tally` has one entry for each of request->forbid. `scratch` is used and given
   back by each question. */
struct checker *checker_new(struct arena *a, const struct plan_request *request,
                            struct forbid_tally *tally, struct arena *scratch);
/* The rules that can differ between two plans; only these are asked. */
void checker_limit(struct checker *c, struct rule_subset rules);
/* Lets it judge the plans of a search, of whose pins the first so many are never left. */
void checker_serve(struct checker *c, struct search_request *search, size_t n_pins);

/* The request's facts with one plan's knobs. */
struct facts *checker_facts(struct arena *a, const struct plan_request *request,
                            const struct config *plan, struct diags *diags, struct arena *scratch);

/* What refuses a plan, in words; NULL: nothing does. Lives as long as the checker. */
const struct diag *checker_refusal(struct checker *c, const struct config *plan);

#endif
