/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/microbenchmark.py measured on one GPU, as observations. */
#ifndef MOEPLAN_CMD_MICROBENCHMARK_H
#define MOEPLAN_CMD_MICROBENCHMARK_H

#include "base/vec.h"
#include "cost/calibrate.h"

struct observation_list {
    struct observation *items;
    size_t n, cap;
};

/* Whether a file is one, by its first line, which says on what it was measured. */
bool microbenchmark_is(struct arena *scratch, struct str line);
/* Lines that move nothing: that are no row, or lack a size or a time; of kernels that no
   coefficient is of. `kernels`: "attention_forward flash, launch operation".
 */
struct microbenchmark_left {
    size_t unreadable, foreign;
    struct str kernels;
};

/* Appends what a later line measures. */
void microbenchmark_line(struct arena *a, struct arena *scratch, struct str line,
                         const struct machine *m, struct observation_list *out,
                         struct microbenchmark_left *left);

#endif
