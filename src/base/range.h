/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of integers as a user writes them: 64,96 or 64..4096. */
#ifndef MOEPLAN_BASE_RANGE_H
#define MOEPLAN_BASE_RANGE_H

#include "base/str.h"

struct int_list {
    int64_t *items;
    size_t n, cap;
};

/* Appends what a text lists: integers of at least 1 with commas between, and A..B, which are A, 2
   A, 4 A … up to B, and B. False when it is none, or lists more than `most`. */
bool range_read(struct arena *a, struct str text, size_t most, struct int_list *out);

#endif
