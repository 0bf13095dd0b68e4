/* SPDX-License-Identifier: Apache-2.0 */
/* How suggest --like shows what a plan has of a recipe. */
#ifndef MOEPLAN_CMD_LIKE_SHOW_H
#define MOEPLAN_CMD_LIKE_SHOW_H

#include "emit/tree.h"
#include "flow/like.h"

void like_text(const struct ask *ask, const struct like *x, struct buf *out);
/* Adds the member `like`. */
void like_json(struct tree *t, const struct like *x);

#endif
