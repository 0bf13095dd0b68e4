/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/microbenchmark.py measured on one GPU, as observations. */
#ifndef MOEPLAN_CMD_MICROBENCHMARK_H
#define MOEPLAN_CMD_MICROBENCHMARK_H

#include "base/vec.h"
#include "cost/calibrate.h"
#include "doc/node.h"

struct observation_list {
    struct observation *items;
    size_t n, cap;
};

/* Whether a document is one. */
bool microbenchmark_is(const struct node *root);
/* Appends its measurements. Entries that lack a size or a time are left out; their number is
   returned. */
size_t microbenchmark_read(struct arena *a, const struct node *root, struct observation_list *out);

#endif
