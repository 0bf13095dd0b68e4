/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: the recipes that overrides stand on and the models that it has providers for, as
   tables generated at build time from rules/recipes/bridge.yaml and rules/releases/bridge. */
#ifndef MOEPLAN_FACTS_BRIDGE_H
#define MOEPLAN_FACTS_BRIDGE_H

#include "facts/facts.h"

/* A value of bridge_values. */
struct bridge_setting {
    uint16_t param, value;
};
extern const struct value bridge_values[];

/* A recipe's function, as some releases have it. The common ones of a task have names of _. */
struct bridge_recipe {
    struct str name, model, task, chip; /* model: the catalogue's id; empty: none that is there */
    uint32_t gpus;                      /* that its name says; 0: none */
    uint32_t releases;                  /* bits of Bridge's releases (facts/profile.h) */
    int common;                         /* the common recipe that it begins with; -1: none */
    int standard;  /* overrides for its model and task stand on the lowest there is; 0: on none */
    bool rebuilds; /* run_recipe.py lays its pipeline out anew for other sizes */
    bool made;     /* its source says what it sets: false: it may be anything */
    const struct bridge_setting *sets; /* over the common recipe, over the defaults */
    size_t n_sets;
    const int *absent; /* parameters that no override can name on it */
    size_t n_absent;
    const int *unknown; /* parameters that its source does not decide */
    size_t n_unknown;
};
extern const struct bridge_recipe bridge_recipes[];
extern const uint32_t bridge_recipe_count;

/* Another name of a recipe. */
struct bridge_alias {
    struct str name, recipe;
    uint32_t releases;
};
extern const struct bridge_alias bridge_aliases[];
extern const uint32_t bridge_alias_count;

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
    const struct bridge_setting *sets; /* of a plain one: its own defaults, over the table's */
    size_t n_sets;
    uint32_t releases; /* that have it, as bits (facts/profile.h) */
};
extern const struct bridge_provider bridge_providers[], bridge_plain_providers[];
extern const uint32_t bridge_provider_count, bridge_plain_provider_count;

/* The function under recipe: _target_ of a document, where it is one of Bridge's recipes; else
 * empty. */
struct str bridge_target(const struct node *doc);
/* Whether a section `recipe` holds arguments of a recipe function, and names no class or function.
 */
bool bridge_is_arguments(const struct node *recipe);
/* A recipe, or the common one of a task, by the name of its function in one of some releases; NULL
   when there is none. */
const struct bridge_recipe *bridge_recipe_find(struct str name, uint32_t releases);
/* The recipe's name in some releases that is nearest to a word; empty: none is near. */
struct str bridge_recipe_nearest(struct str word, uint32_t releases);
/* Command lines of Bridge's launchers. The recipe's name that one says (`exact`), or that follows
   from what it says; empty: none, or it is not known. `at` is the word that says it. */
struct flag_word;
struct flag_words;
struct str bridge_command_recipe(struct arena *a, const struct flag_words *words,
                                 struct flag_word *at, bool *exact);
/* Whether a word is an option by which a launcher is told its recipe. */
bool bridge_command_option(struct str word);
/* Bridge's launchers, with all their options (rules/programs/bridge-launchers.yaml). */
const struct program_kind *bridge_launchers(void);
/* The launchers' option that a word begins with, its full name in *name; NULL: none of theirs. */
const struct program_setting *bridge_command_setting(struct str word, struct str *name);
/* The GPUs that a benchmark is asked to run on; 0: not said. */
int64_t bridge_command_gpus(const struct flag_words *words);
/* Its options as overrides, in their order: they yield to overrides that are written. */
void bridge_command_overrides(struct arena *a, const struct flag_words *words,
                              struct flag_words *out);

/* The recipe that the facts stand on; NULL when it is not known. */
const struct bridge_recipe *bridge_recipe_of(const struct facts *f);
/* Whether releases that have a recipe of the name give the parameter different values. */
bool bridge_recipe_differs(struct str name, int param);
/* Whether no override can name the parameter on the recipe: it has no such section. */
bool bridge_recipe_lacks(const struct bridge_recipe *r, int param);
/* What a parameter is under a recipe that nobody overrides: as it sets it, or the common one of its
   task, else Bridge's default; VALUE_UNKNOWN where its source does not decide. Of bridge_about
   only it is known. */
struct value bridge_recipe_value(const struct bridge_recipe *r, int param);
/* What makes the facts' model: its own provider, else the plain one of its kind. */
const struct bridge_provider *bridge_provider_of(const struct facts *f, bool *own);
/* A provider's own default of a parameter; VALUE_UNKNOWN: the table's. */
struct value bridge_provider_value(const struct bridge_provider *p, int param);
/* Sets bridge_recipe from the model and the task where nobody has named one. */
void bridge_facts(struct facts *f);
/* Makes what a recipe sets the default of what nobody states: all that it is known of, or of a plan
   what plans leave to recipes. Overrides of it are read on top. */
void bridge_recipe_apply(struct facts *f, const struct bridge_recipe *r);
/* What it makes of its model other than the catalogue has it, such as its MTP layers, for commands
   that launch it; a file of overrides is for the catalogue's model. */
void bridge_recipe_apply_model(struct facts *f, const struct bridge_recipe *r);
/* With the overrides read: what Bridge itself puts for what the recipe leaves open. */
void bridge_recipe_settle(struct facts *f);

#endif
