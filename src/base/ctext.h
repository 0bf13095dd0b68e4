/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of C source text, for the build steps that turn data into tables. */
#ifndef MOEPLAN_BASE_CTEXT_H
#define MOEPLAN_BASE_CTEXT_H

#include "base/buf.h"
#include "base/value.h"

/* An initialiser of a struct str: {"text", 4}. */
void ctext_str(struct buf *out, struct str s);
/* An initialiser of a struct value; lists and maps become compound literals, so it is for objects
   of static storage. */
void ctext_value(struct buf *out, struct value v);

#endif
