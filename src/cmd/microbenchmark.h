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
/* Entries that move nothing: that lack a size or a time; of kernels that no coefficient is of, or
   that do not say theirs where several are in use. `kernels`: "attention flash, launch operation".
 */
struct microbenchmark_left {
    size_t unreadable, foreign;
    struct str kernels;
};

/* Appends its measurements. */
struct microbenchmark_left microbenchmark_read(struct arena *a, const struct node *root,
                                               struct observation_list *out);

#endif
