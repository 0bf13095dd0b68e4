/* SPDX-License-Identifier: Apache-2.0 */
/* NeMo AutoModel: what its recipes, typed sections and model classes are, as tables generated at
   build time from rules/automodel/{recipes,sections,capabilities}.yaml, and the pieces of the
   recipe reader. */
#ifndef MOEPLAN_FACTS_AUTOMODEL_H
#define MOEPLAN_FACTS_AUTOMODEL_H

#include "facts/facts.h"

/* A recipe class and the kind of run it is. */
struct automodel_recipe {
    struct str name, module, kind;
};
extern const struct automodel_recipe automodel_recipes[];
extern const uint32_t automodel_recipe_count;

/* A section that refuses keys it does not know. The first record of a path that applies is the one
 * used. */
struct automodel_section {
    struct str path;
    const struct str *kinds; /* recipe kinds that read it; n_kinds 0: all */
    size_t n_kinds;
    struct str strategy;  /* read under this strategy only; empty: any */
    struct str above_key; /* read only when that number is above `above`; empty: always */
    int64_t above;
    struct str beside; /* read only when this section is there too; empty: always */
    struct str
        targeted; /* read only when the backend's _target_ begins so; empty: whatever the target */
    bool untargeted; /* a _target_ of its own takes other keys: not checked then */
    struct str error, covers, source;
    const struct str *keys;
    size_t n_keys;
};
extern const struct automodel_section automodel_sections[];
extern const uint32_t automodel_section_count;

enum known { KNOWN_NOT, KNOWN_NO, KNOWN_YES };

/* What a model class offers to the checks before training. */
struct automodel_class {
    struct str name;
    enum known moe, tp_plan, pp_plan, backend, tp_registered, owns_cp, owns_packing, cp_sdpa, thd,
        keeps_forward;
    const struct str
        *packed_cp; /* attention backends that take packed sequences with context parallelism */
    size_t n_packed_cp;
};
/* Sorted by name; a class stands under each architecture name it serves. */
extern const struct automodel_class automodel_classes[];
extern const uint32_t automodel_class_count;

/* NULL when there is none of that name. */
const struct automodel_recipe *automodel_recipe_find(struct str name);
const struct automodel_class *automodel_class_find(struct str architecture);

/* ---- steps of reading a recipe (read_automodel.h) ---- */

/* The recipe as the framework's loader leaves it: environment variables put in, the section that
   shapes the process mesh standing under `distributed` whatever the recipe calls it. Nodes keep
   their places. A value that needs a variable nobody knows becomes an unknown raw value of `f`; an
   unset one is an error of rule `environment-variable-unset`. */
const struct node *automodel_normalise(struct facts *f, const struct node *recipe, struct str kind);
/* Import paths under `_target_` and keys that end in _fn; rule `import-path`. */
void automodel_check_targets(struct facts *f, const struct node *recipe);
/* Keys of the typed sections; rule `unknown-key`, `section-not-a-mapping`. */
void automodel_check_sections(struct facts *f, const struct node *document, struct str kind);
/* The kind of the recipe; rules `unknown-recipe`, `recipe-missing`. */
struct str automodel_kind(struct facts *f, const struct node *recipe);
/* Sets what is known about the model from its name, its overrides in the recipe and its class. */
void automodel_model_facts(struct facts *f, const struct node *document);

#endif
