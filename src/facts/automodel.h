/* SPDX-License-Identifier: Apache-2.0 */
/* NeMo AutoModel: what its recipes, typed sections and model classes are, as tables generated at
   build time from rules/automodel/{recipes,sections,capabilities}.yaml and
   rules/releases/automodel, and the steps of reading a recipe. */
#ifndef MOEPLAN_FACTS_AUTOMODEL_H
#define MOEPLAN_FACTS_AUTOMODEL_H

#include "facts/reader.h"

/* ---- tables ---- */

/* A recipe class and the kind of run it is. */
struct automodel_recipe {
    struct str name, module, kind;
};
extern const struct automodel_recipe automodel_recipes[];
extern const uint32_t automodel_recipe_count;

/* What a section must be besides a mapping. SHAPE_OPEN: it takes any key, and only what is a slip
   of one that it knows is a finding. */
enum automodel_shape { SHAPE_MAPPING_OR_NULL, SHAPE_ANY, SHAPE_STRICT, SHAPE_OPEN };

/* A section that refuses keys it does not know, or is open. The first record of a path that applies
   is the one used. */
struct automodel_section {
    struct str path;
    const struct str *kinds; /* recipe kinds that read it; n_kinds 0: all */
    size_t n_kinds;
    struct str strategy;  /* read under this strategy only; empty: any */
    struct str above_key; /* read only when that number is above `above`; empty: always */
    int64_t above;
    struct str beside;         /* read only when this section is there too; empty: always */
    struct str targeted;       /* read only when the backend's _target_ begins so; empty: always */
    const struct str *targets; /* read only when its own _target_ is one; n_targets 0: always */
    size_t n_targets;
    enum automodel_shape shape;
    bool untargeted; /* a _target_ of its own takes other keys: not checked then */
    struct str error, covers, source;
    const struct str *keys;
    size_t n_keys;
    const struct str *gone; /* that releases before the newest read too */
    size_t n_gone;
};
extern const struct automodel_section automodel_sections[];
extern const uint32_t automodel_section_count;

enum known { KNOWN_NOT, KNOWN_NO, KNOWN_YES };

/* What a model class offers to the checks before training. */
struct automodel_class {
    struct str name, model_type; /* model_type: may be empty */
    enum known moe, tp_plan, pp_plan, backend, hybrid;
    enum known outside; /* Hugging Face's own: AutoModel has no class for it */
    enum known tp_registered, owns_cp, cp_sdpa, thd, keeps_forward, eager;
    const struct str *packed_cp; /* attention backends that take packed sequences with cp > 1 */
    size_t n_packed_cp;
    const struct str *declares; /* tp, cp, pp, ep: what the class says it supports */
    size_t n_declares;
    bool declared; /* it says so, whatever the configuration */
    const struct str
        *models; /* Hugging Face ids of which it is the class; a last * is any ending */
    size_t n_models;
    uint32_t releases; /* that have the class, as bits (facts/profile.h) */
};
/* Sorted by name; a class stands under each architecture name it serves. */
extern const struct automodel_class automodel_classes[];
extern const uint32_t automodel_class_count;

/* A module of AutoModel's package as some releases have it. Sorted by path. */
struct automodel_module {
    struct str path;
    struct str names;  /* that it has, with blanks between them; "*" among them: it may have more */
    uint32_t releases; /* bits (facts/profile.h) */
};
extern const struct automodel_module automodel_modules[];
extern const uint32_t automodel_module_count;

/* ---- the steps ---- */

/* The kind of the recipe, by its class; rules `unknown-recipe`, `recipe-missing`. */
struct str automodel_kind(struct facts *f, const struct node *recipe);

/* The recipe as the framework's loader leaves it: environment variables put in, and the section
   that shapes the process mesh standing under `distributed` whatever the recipe calls it. Nodes
   keep their places. A value that needs a variable nobody knows becomes an unknown raw value of
   `f`; an unset one is an error of rule `environment-variable-unset`. */
const struct node *automodel_normalise(struct facts *f, const struct node *recipe, struct str kind);

/* A copy of a mapping with another value under the key. */
const struct node *automodel_put(struct arena *a, const struct node *map, const struct node *key,
                                 const struct node *value);
/* The same for a dotted path: mappings on the way are copied or made, new keys stand where `key`
   does. A path of more than 100 words changes nothing. */
const struct node *automodel_with(struct arena *a, const struct node *map, struct str path,
                                  const struct node *key, const struct node *value);

/* What the framework makes of a value before it looks at it: VALUE_UNKNOWN when it would fail on
   it, or when its type is not the parameter's. */
struct value automodel_coerce(struct arena *a, int param, struct str key, struct value written);

/* A value that no type of the parameter's can be is a warning of rule `value-type`: nobody looks at
   types before the value is used. */
void automodel_check_type(struct facts *f, int param, struct str key, struct value written,
                          const struct node *node);

/* Import paths under `_target_` and keys that end in _fn; rule `import-path`. */
void automodel_check_targets(struct facts *f, const struct node *recipe);

/* Keys of the typed sections; rules `unknown-key`, `section-not-a-mapping`. */
void automodel_check_sections(struct facts *f, struct str kind);

/* The strategy that alone has the key of distributed:, "distributed.nccl_ub"; empty: several have
   it, or it is no key of theirs. */
struct str automodel_strategy_of(struct str key);

/* Whether the section at the path, with this _target_, takes the key: a class that is in no record
   takes any. */
bool automodel_section_takes(struct str path, struct str target, struct str key);
/* Whether the section at the path has the key, whatever class it is of. */
bool automodel_section_has(struct str path, struct str key);

/* Sets what is known about the model from its name and its overrides in the recipe. */
void automodel_model_facts(struct facts *f);
/* Sets what is known about its class; options are applied by now. */
void automodel_class_facts(struct facts *f);

/* A configuration that one recipe describes. */
struct automodel_variant {
    const struct node *recipe;
    struct str label, kind; /* kind: empty: the recipe's own */
    int64_t gpus;           /* 0: not stated */
    const struct node *gpus_node;
    struct str gpus_written;
    bool gpus_guessed; /* nothing says how many a node has */
};
struct automodel_variants {
    struct automodel_variant *items;
    size_t n, cap;
};
/* The recipe as written, with the GPUs its own data state; the ci: configuration; the teacher's
   mesh. With `gpus` given, only what is checked at that size. */
void automodel_variants(struct arena *a, const struct node *recipe, int64_t gpus,
                        struct automodel_variants *out);

/* GPUs of the launch command that the recipe's comments show; 0 when they show none, or several. */
int64_t automodel_documented_gpus(struct str text);

#endif
