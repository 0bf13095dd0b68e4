/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a file the cursor stands, told by lines, blanks and colons: also while the file is no
   YAML and no script yet. */
#ifndef MOEPLAN_LSP_OUTLINE_H
#define MOEPLAN_LSP_OUTLINE_H

#include "lsp/text.h"

struct outline {
    bool yaml;
    struct str before; /* the line up to the cursor */
    struct str word;   /* what of it is being typed: the beginning of a key or value */
    struct str key;    /* what the word is a value of: a key, or a flag; empty: it is a key */
    struct str path; /* dotted: the mappings around it; empty at the top, and where it is no YAML */
};

struct outline outline_at(struct arena *a, struct str text, struct place at, bool yaml);

#endif
