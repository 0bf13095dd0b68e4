/* SPDX-License-Identifier: Apache-2.0 */
/* Values as JSON that keeps their kinds: {"int":"1"}, {"double":"1.5"}, {"null":null},
   {"list":[...]}, {"map":[[key, value], ...]}. Numbers are text, as 64-bit integers do not fit
   JSON's. */
#ifndef MOEPLAN_CMD_TYPED_H
#define MOEPLAN_CMD_TYPED_H

#include "base/buf.h"
#include "doc/node.h"

/* A plain JSON scalar is read too. VALUE_ERROR, saying what is expected, for anything else. */
struct value typed_read(struct arena *a, const struct node *node);
/* The value must be neither an error nor unknown. */
void typed_write(struct buf *out, struct value v);

#endif
