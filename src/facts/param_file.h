/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter files (kind Parameters), as rules/parameters holds them: read at build time into the
   table of param.h, and checked by `validate`. Needs no table itself. */
#ifndef MOEPLAN_FACTS_PARAM_FILE_H
#define MOEPLAN_FACTS_PARAM_FILE_H

#include "doc/node.h"
#include "facts/param.h"

/* megatron, bridge, automodel: the keys of their spellings. */
extern const char *const framework_words[FRAMEWORK_COUNT];

struct param_list {
    struct param *items;
    size_t n, cap;
};

/* Appends the parameters of one document; defects are errors of rule `parameter-file` at their
   place, after which reading goes on. */
void param_file_read(struct arena *a, struct diags *diags, const struct node *doc,
                     struct param_list *out);

#endif
