/* SPDX-License-Identifier: Apache-2.0 */
/* What a model or platform file says, by parameter name: the common ground of the built-in
   catalogue (tables generated from rules/models and rules/platforms), the user's own files, and
   `model:` in a plan. */
#ifndef MOEPLAN_FACTS_ENTRY_H
#define MOEPLAN_FACTS_ENTRY_H

#include "doc/node.h"

struct entry_field {
    struct str name; /* flat parameter name */
    struct value value;
    const struct node *node, *key; /* NULL in the catalogue, and where nobody wrote it */
    struct str derived;            /* what it follows from; empty: it is written */
};

/* A coefficient of the cost models, with its 80 % interval. */
struct entry_coefficient {
    struct str name, unit, meaning, source;
    double value, low, high;
    int64_t n;                     /* measurements behind it */
    const struct node *node, *key; /* NULL in the catalogue */
};

struct entry {
    struct str id, name, hf_id, source, base;
    bool abstract; /* no platform, only a base of others: it may lack what a platform must have */
    const struct node *base_node;
    const struct str *aliases;
    size_t n_aliases;
    int64_t published_total, published_active; /* parameters; 0: not stated */
    const struct entry_field *fields;
    size_t n_fields;
    const struct entry_coefficient *coefficients;
    size_t n_coefficients;
};

struct entry_list {
    const struct entry *items;
    size_t n;
};

/* Groups of a model mapping: `mamba: {num_heads: 64}` is mamba_num_heads, prefix + key. */
struct entry_group {
    const char *group, *prefix;
};
extern const struct entry_group entry_groups[]; /* ends with a NULL group */

enum entry_kind { ENTRY_MODEL, ENTRY_PLATFORM };

/* Reads a mapping. Whether the fields and coefficients exist and can have their values is the
   caller's to check; the shape of what stands under the file's own keys is checked here. False with
   errors of rule `model-config` or `platform-config` added. */
bool entry_read(struct arena *a, struct diags *diags, const struct node *map, enum entry_kind kind,
                struct entry *out);

/* The built-in entries, by id in alphabetical order (generated). Behind the platforms stand as many
   bases that are none. */
extern const struct entry catalogue_models[], catalogue_platforms[];
extern const size_t catalogue_model_count, catalogue_platform_count, catalogue_base_count;

/* The entry of an id, HF id or alias, ASCII case ignored; NULL when there is none. */
const struct entry *entry_find(const struct entry *entries, size_t n, struct str name);
/* What an entry says of a parameter; null where it says nothing. */
struct value entry_value(const struct entry *e, const char *name);
/* The nearest ids for a message: "a, b, c", best first; empty when nothing is near. */
struct str entry_nearest(struct arena *a, const struct entry *entries, size_t n, struct str name);

#endif
