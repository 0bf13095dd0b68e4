/* SPDX-License-Identifier: Apache-2.0 */
/* Values as JSON text (RFC 8259). */
#ifndef MOEPLAN_BASE_JSON_H
#define MOEPLAN_BASE_JSON_H

#include "base/buf.h"
#include "base/value.h"

/* A string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_add_string(struct buf *out, struct str s);
/* A value; doubles keep a point or an exponent, so that they read back as doubles. Unknown, errors
   and numbers JSON cannot write are null; map keys are written as text. */
void json_add_value(struct buf *out, struct value v);

#endif
