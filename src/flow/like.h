/* SPDX-License-Identifier: Apache-2.0 */
/* The feasible plan that is nearest to a recipe: how a known configuration carries over to other
   GPUs, another model, another batch. */
#ifndef MOEPLAN_FLOW_LIKE_H
#define MOEPLAN_FLOW_LIKE_H

#include "flow/estimate.h"
#include "flow/suggest.h"
#include "plan/move.h"

/* A recipe as a question sees it. */
struct like_recipe {
    struct str name; /* as the user named it, or with repository and path */
    struct facts *facts;
    bool precision_open; /* the question takes the recipe's, if the chip has it */
    struct config
        config; /* sequence, batch and GPUs are the question's where it leaves them open */
};

/* A decision that the plan takes otherwise than the recipe. */
struct like_change {
    const struct decision *decision;
    struct str recipe, plan; /* in words */
    struct str why; /* what stands in the way of the recipe's value, with the rest as it is; empty:
                       nothing does */
    bool timed;     /* there is an estimate with the recipe's value: */
    double slower;  /* step time of the plan over that with it, less 1 */
    double peak;    /* bytes with it */
};

struct like {
    struct like_recipe recipe;
    const struct decision *kept[DECISIONS];
    size_t n_kept;
    struct like_change changes[DECISIONS];
    size_t n_changes;
    double behind; /* step time over that of the question's best plan, less 1 */
    struct knobs best;
};

/* Reads a recipe: a file, or a shipped one of Bridge or AutoModel by name. What the question leaves
   open (sequence, batch, precision, task, framework; the words empty) becomes the recipe's. False
   with an error in `diags`, or *why set. */
bool like_read(struct arena *a, struct arena *scratch, struct diags *diags,
               const struct rule_set *rules, struct ask *ask, struct str name,
               struct like_recipe *out, struct str *why);
/* Answers the question with as many of the recipe's decisions as a plan can have, taken one after
   the other in the order of the table of decisions: each is kept where a plan still surely fits
   (or may fit, where none surely does without it). False as suggest. No plan: an empty answer. */
bool like_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                 const struct rule_set *rules, struct ask *ask, const struct like_recipe *recipe,
                 struct answers *answers, struct like *out);

#endif
