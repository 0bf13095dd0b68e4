/* SPDX-License-Identifier: Apache-2.0 */
/* What a question to suggest may have beside its plan: a recipe to be near to, an inference engine
   that shares the GPUs. */
#ifndef MOEPLAN_CMD_BESIDE_H
#define MOEPLAN_CMD_BESIDE_H

#include "emit/tree.h"
#include "flow/like.h"
#include "flow/share.h"

struct beside {
    struct like like;   /* recipe.facts NULL: not asked */
    struct share share; /* wish.tp 0: not asked */
};

/* Reads a recipe's name before the question is settled; empty: none. False with *why set, or an
   error in `diags`. */
bool beside_like(struct arena *a, struct arena *scratch, struct diags *diags,
                 const struct rule_set *rules, struct str name, struct ask *ask,
                 struct beside *beside, struct str *why);
/* Reads how rollouts are made once the question has its model and platform; empty: they are not.
   False with *why set. */
bool beside_rollout(struct arena *a, struct str text, struct ask *ask, struct beside *beside,
                    struct str *why);
/* As suggest. */
bool beside_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, struct ask *ask, struct answers *answers,
                   struct beside *beside);
void beside_text(const struct ask *ask, const struct answers *answers, const struct beside *beside,
                 struct buf *out);
/* Adds the members `like` and `share`, where they are asked for. */
void beside_json(struct tree *t, const struct beside *beside);

#endif
