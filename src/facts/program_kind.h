/* SPDX-License-Identifier: Apache-2.0 */
/* Programs built on Megatron-LM, as tables generated at build time from rules/programs: what shows
   that a file is one's, where in it Megatron-LM's arguments stand, and the flags that it has beside
   them. */
#ifndef MOEPLAN_FACTS_PROGRAM_KIND_H
#define MOEPLAN_FACTS_PROGRAM_KIND_H

#include "doc/node.h"

struct program_kind {
    struct str name, title, source; /* source: the repository and commit that it was read from */
    const struct str *proof; /* dotted keys that its YAML files have, all of them, or KEY=VALUE */
    size_t n_proof;
    const struct str *
        sections; /* dotted keys of the mappings that hold Megatron-LM's arguments by destination */
    size_t n_sections;
    bool checked_by_megatron; /* Megatron-LM's own checks of its arguments run on them */
    struct str model;         /* the dotted key that names a Hugging Face model; empty: none */
    const struct str *flags;  /* of its own, sorted */
    size_t n_flags;
};
extern const struct program_kind program_kinds[];
extern const uint32_t program_kind_count;

/* The program whose file the document is; NULL when it is none's. */
const struct program_kind *program_kind_of(const struct node *doc);
bool program_kind_has(const struct program_kind *kind, struct str flag);

#endif
