/* SPDX-License-Identifier: Apache-2.0 */
/* What the build step generates beside param_table: the look-up tables and the defaults of every
   framework. */
#ifndef MOEPLAN_FACTS_PARAM_INDEX_H
#define MOEPLAN_FACTS_PARAM_INDEX_H

#include "facts/facts.h"

/* Open addressing by str_hash of the word, linear probing; a slot of number 0 is free. At least
   half are. */
struct param_slot {
    uint16_t number; /* of the parameter, + 1 */
    uint16_t word;   /* which of its words, as param_name_word and param_key_word count them */
};
struct param_index {
    const struct param_slot *slots;
    uint32_t mask; /* number of slots - 1, a power of two less one */
};

/* The name, the symbol, then the aliases; a symbol may be empty. */
enum { PARAM_NAME_ALIASES = 2 };
static inline struct str param_name_word(const struct param *p, size_t k)
{
    if (k >= PARAM_NAME_ALIASES) return p->aliases[k - PARAM_NAME_ALIASES];
    return k ? p->symbol : p->name;
}

/* The flags; of a spelling without, the key, then the further keys. */
static inline struct str param_key_word(const struct param_spelling *s, size_t k)
{
    if (s->n_flags) return s->flags[k].flag;
    return k ? s->more_keys[k - 1] : s->key;
}

extern const struct param_index param_names;                 /* names, symbols and aliases */
extern const struct param_index param_keys[FRAMEWORK_COUNT]; /* flags, or dotted keys */

/* The facts of an empty configuration of each framework: param_count of them, copied by
   facts_new. */
extern const struct fact *const param_defaults[FRAMEWORK_COUNT];

#endif
