/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: the recipes that overrides stand on and the models that it has providers for, as
   tables generated at build time from rules/recipes/bridge.yaml. */
#ifndef MOEPLAN_FACTS_BRIDGE_H
#define MOEPLAN_FACTS_BRIDGE_H

#include "facts/facts.h"

struct bridge_setting {
    int param;
    struct value value;
};

/* A recipe's function. The common one of a task has no model. */
struct bridge_recipe {
    struct str name, model, task;      /* model: the catalogue's id; empty: none that is there */
    bool standard;                     /* what overrides for its model and task stand on */
    const struct bridge_setting *sets; /* over the common recipe of its task, over the defaults */
    size_t n_sets;
    const int *absent; /* parameters that no override can name on it */
    size_t n_absent;
};
extern const struct bridge_recipe bridge_commons[], bridge_recipes[];
extern const uint32_t bridge_common_count, bridge_recipe_count;

/* Of every recipe it is known what these parameters are. */
extern const int bridge_about[];
extern const uint32_t bridge_about_count;

/* What models are made of: the catalogue model that has a provider of its own, with the facts that
   are the provider's and not to be said; or a plain provider's class, with the facts that it has no
   field for. */
struct bridge_provider {
    struct str name;
    const int *without; /* parameters */
    size_t n_without;
};
extern const struct bridge_provider bridge_providers[], bridge_plain_providers[];
extern const uint32_t bridge_provider_count, bridge_plain_provider_count;

/* The function under recipe: _target_ of a document, where it is one of Bridge's recipes; else
 * empty. */
struct str bridge_target(const struct node *doc);
/* A recipe, or the common one of a task, by the name of its function; NULL when there is none. */
const struct bridge_recipe *bridge_recipe_find(struct str name);
/* The recipe that the facts stand on; NULL when it is not known. */
const struct bridge_recipe *bridge_recipe_of(const struct facts *f);
/* Whether no override can name the parameter on the recipe: it has no such section. */
bool bridge_recipe_lacks(const struct bridge_recipe *r, int param);
/* What a parameter is under a recipe that nobody overrides: as it sets it, or the common one of its
   task, else Bridge's default. Of bridge_about only it is known. */
struct value bridge_recipe_value(const struct bridge_recipe *r, int param);
/* What makes the facts' model: its own provider, else the plain one of its kind. */
const struct bridge_provider *bridge_provider_of(const struct facts *f, bool *own);
/* Sets bridge_recipe from the model and the task where nobody has named one. */
void bridge_facts(struct facts *f);
/* Makes what a recipe sets the default of what nobody states: all that it is known of, or of a plan
   what plans leave to recipes. Overrides of it are read on top. */
void bridge_recipe_apply(struct facts *f, const struct bridge_recipe *r);

#endif
