/* SPDX-License-Identifier: Apache-2.0 */
/* What the build step generates beside param_table: the look-up tables and the defaults of every
   framework. */
#ifndef MOEPLAN_FACTS_PARAM_INDEX_H
#define MOEPLAN_FACTS_PARAM_INDEX_H

#include "facts/facts.h"

/* Open addressing by str_hash, linear probing; a slot with an empty key is free. At least half of
   the slots are. */
struct param_slot {
    struct str key;
    uint16_t param;
    uint16_t flag; /* Megatron flags: index into the spelling's flags */
};
struct param_index {
    const struct param_slot *slots;
    uint32_t mask; /* number of slots - 1, a power of two less one */
};

extern const struct param_index param_names;                 /* names, symbols and aliases */
extern const struct param_index param_keys[FRAMEWORK_COUNT]; /* flags, or dotted keys */

/* The facts of an empty configuration of each framework: param_count of them, copied by
   facts_new. */
extern const struct fact *const param_defaults[FRAMEWORK_COUNT];

#endif
