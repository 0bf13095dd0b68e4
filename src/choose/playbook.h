/* SPDX-License-Identifier: Apache-2.0 */
/* Public tuned recipes: how others run the same model on the same chips. To the search they are
   candidates like any other, estimated by the same model; the answer names one that is close. */
#ifndef MOEPLAN_CHOOSE_PLAYBOOK_H
#define MOEPLAN_CHOOSE_PLAYBOOK_H

#include "choose/search.h"

struct playbook_setting {
    int param;
    struct value value;
};

/* One recipe (generated from rules/playbook): what it is for, and what it decides. */
struct playbook_recipe {
    struct str name, path, repository, commit;
    struct str model, platform, task, precision; /* model: the catalogue's id */
    struct str refused; /* the rule that refuses it as it stands; empty: none */
    enum framework framework;
    int64_t gpus;
    const struct playbook_setting *sets;
    size_t n_sets;
};
extern const struct playbook_recipe playbook_recipes[];
extern const size_t playbook_recipe_count;

/* A recipe on a question, with what it does not decide as the question and the guides have it. */
struct playbook_candidate {
    const struct playbook_recipe *recipe;
    struct knobs knobs;
};

/* Whether a recipe is about the question in `f`: the model's size and kind, platform, number of
   GPUs, task, precision and framework are the same. */
bool playbook_is_for(const struct playbook_recipe *r, const struct facts *f,
                     const struct config *base);
/* The recipes that are about the question, contradict nothing that its user set, and divide its
   GPUs and batch; whether the rules allow them is not asked. `f`: the question's facts, without
   what the guides decide; `base`: its configuration. Gives their number. */
size_t playbook_candidates(struct arena *a, const struct facts *f, const struct config *base,
                           struct playbook_candidate **out);
/* The candidate nearest to what is shown, in one line: one with the layout of a plan, else the one
   that fits and is at most PLAYBOOK_NEAR_PERCENT slower than the first. Empty: none is. */
enum { PLAYBOOK_NEAR_PERCENT = 3 };
struct str playbook_name(struct arena *a, const struct playbook_candidate *all, size_t count,
                         const struct config *base, const struct contender *plans, size_t n);

/* The recipe that is nearest to a question that none is about, in one line: of the same model, else
   of the one nearest in size; then of the same platform, task and framework, and the nearest number
   of GPUs. Empty: the framework has none. */
struct str playbook_nearest(struct arena *a, const struct facts *f, const struct config *base);

#endif
