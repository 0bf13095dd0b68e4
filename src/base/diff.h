/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two texts, line by line. */
#ifndef MOEPLAN_BASE_DIFF_H
#define MOEPLAN_BASE_DIFF_H

#include "base/buf.h"

/* Appends the unified difference, with three lines of context, as `git apply` takes it; nothing
   when the texts are the same. */
void diff_unified(struct buf *out, struct str path, struct str before, struct str after);

#endif
