/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to plans: facts -> guides -> configuration -> search -> finished facts, checked
   by the rules that `validate` uses. */
#ifndef MOEPLAN_CHOOSE_PLANNER_H
#define MOEPLAN_CHOOSE_PLANNER_H

#include "choose/search.h"

struct playbook_candidate;

/* What the user asks of one framework. */
struct plan_request {
    const struct rule_set *rules;
    struct facts
        *facts; /* of the framework: model, platform, world_size, seq_length, global_batch_size,
                   goal, task and every pinned parameter set as ORIGIN_OPTION */
    const int *pins; /* parameters that were pinned */
    size_t n_pins;
    const struct expr *const *forbid; /* plans on which one of these is true are left out */
    size_t n_forbid;
    size_t top;
    bool no_playbook; /* public recipes are neither candidates nor named */
    bool exhaustive;  /* no bound is used: everything is looked at */
    bool whether;     /* of the answer no more is asked than whether a plan surely fits */
};

/* What a reason says: the plan follows a guide, it leaves one, a rule refuses what the guide says,
   or what its neighbours would cost. */
enum reason_kind { REASON_FOLLOWS, REASON_LEAVES, REASON_BARRED, REASON_NEIGHBOURS };

/* Why a knob has its value, or one piece of advice. */
struct reason {
    struct str rule, guide, text, source; /* guide: the rows' ids, separated by commas */
    enum phase phase;
    enum reason_kind kind;
};

/* In the order of the phases (fit, scale, profile, retune), and within one as they were added. */
struct reason_list {
    struct reason *items;
    size_t n, cap;
};

/* A plan, finished: what is emitted, estimated and explained. */
struct plan {
    struct contender costs;
    struct config config;
    double capacity; /* bytes a GPU that it was searched for */
    struct layout layout;
    struct facts *facts;
    struct reason_list next, verify, pitfalls, notes;
    struct str why_not_first; /* empty for the first */
    struct str held_back;     /* what keeps a faster plan from being the first; empty: nothing */
    struct str risk; /* that the plan takes and the first does not; of the first, which keeps it
                        from the speed of another; empty: none */
};

/* How an expression of plan_request.forbid fared: plans it was asked about, and those of which it
   was neither true nor false, with why of the first. */
struct forbid_tally {
    size_t asked, undecided;
    char why[160];
};

struct answer {
    struct plan *plans;
    size_t n, searched, feasible;
    struct search_result *search; /* with the plan of least memory when n is 0 */
    struct config base;
    double capacity; /* bytes a GPU: the machine's, or a wish to use less of it */
    const struct preference *preferences;
    size_t n_preferences;
    bool fits;                          /* a plan surely does */
    bool tight;                         /* none does: these may */
    struct forbid_tally *forbid;        /* [plan_request.n_forbid] */
    struct playbook_candidate *recipes; /* public ones for the same question */
    size_t n_recipes;
    struct str playbook; /* the public recipe that is near (choose/playbook.h); empty: none is */
    bool playbook_far;   /* it is the nearest alone, and may be another model's */
    const struct diag *obstacle; /* what no plan can mend: nothing was searched; NULL: none */
    /* What stops the plan that needs the least memory, where nothing fits: NULL where its memory
       does. `lets_none`: every plan is refused, however much memory there were; else
       search->least is the smallest that is not. */
    const struct diag *refusal;
    struct contender refused; /* that plan; without bytes where none was estimated */
    bool lets_none;
    bool without_mtp; /* the framework builds no MTP layers of this model (flow/suggest.h) */
    const struct rule_set *rules;
    struct search_request request; /* that was searched; its base is `base` */
};

/* Answers. False when the request itself is incomplete (diagnostics in facts->diags). An empty
   answer is a good one: no plan fits. */
bool planner_answer(struct arena *a, const struct plan_request *request, struct arena *scratch,
                    struct answer *out);

/* Fills what a finished plan of this framework also needs and the guides decide: parameters that
   are no knobs, each set where nothing else says it. */
void planner_complete(const struct rule_set *rules, struct facts *f, struct arena *scratch);

/* ---- reasons (reason.c) ---- */

/* Why a plan of an answer is what it is: the guides that it follows, in the order of the phases,
   and for every neighbour one step away in a layout knob what it would cost with the least
   recomputation that fits. Worked out where it is shown, as each takes a percent of a search;
   `scratch` of planner_answer must be there still. */
struct reason_list reason_plan(struct arena *a, const struct answer *answer,
                               const struct plan *plan);
void reason_add(struct arena *a, struct reason_list *list, struct reason reason);
/* fit, scale, profile or retune; empty for none. */
const char *reason_phase(enum phase phase);
/* The risk for which a plan is never first: dynamic_graphs, or offload where plans do without. */
struct str reason_risk(const struct answer *answer, const struct contender *plan);
/* What keeps a plan that may be faster from being the first: a risk, or a guide; empty: nothing. */
struct str reason_held_back(struct arena *a, const struct answer *answer,
                            const struct contender *plan);
/* One line that compares a further plan with the first: its costs, and what holds it back. */
struct str reason_against(struct arena *a, const struct answer *answer,
                          const struct contender *plan);

/* ---- advice (advise.c) ---- */

/* Collects the records that advise and hold on the finished plan: what to try next in its order,
   the smallest run that verifies the plan, and the pitfalls of its model and platform. */
void advise_plan(struct arena *a, const struct rule_set *rules, struct plan *plan,
                 struct arena *scratch);

#endif
