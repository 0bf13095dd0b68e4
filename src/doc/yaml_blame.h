/* SPDX-License-Identifier: Apache-2.0 */
/* Where a YAML text that cannot be parsed went wrong: libyaml stops where it can go no further,
   which is lines behind a quote that was not closed or a key in the wrong column. */
#ifndef MOEPLAN_DOC_YAML_BLAME_H
#define MOEPLAN_DOC_YAML_BLAME_H

#include "base/str.h"

struct yaml_blame {
    size_t byte;      /* of the mistake; that of the problem when nothing better is known */
    const char *what; /* NULL: the parser's words are best */
    const char *help; /* NULL: none */
};

/* `problem` is the byte that the parser stopped at, `context` that of the collection it was in
   (SIZE_MAX: in none); `words` is what it says. Reads the text once. */
struct yaml_blame yaml_blame(struct str text, size_t problem, size_t context, const char *words);

#endif
