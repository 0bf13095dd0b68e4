/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's own argument syntaxes for values that differ by layer. */
#ifndef MOEPLAN_FACTS_PATTERN_H
#define MOEPLAN_FACTS_PATTERN_H

#include "base/value.h"

/* An int, or a Python list expression of ints, + and *, such as ([0]*3+[1]*58): an int or a list of
   ints. False when the text has any other character or is no such expression, as moe_freq_type
   refuses it (megatron/training/arguments.py). At most PATTERN_MAX items. */
enum { PATTERN_MAX = 4096 };
bool pattern_parse(struct arena *a, struct str text, struct value *out);
/* Ints in one word, "128,0" or "(128,0)": a list (tuple_type). */
bool pattern_parse_tuple(struct arena *a, struct str text, struct value *out);

/* A text as Python's int() and float() take it: blanks around it, and single underscores between
   digits. */
bool python_int(struct str text, int64_t *out);
bool python_float(struct str text, double *out);

#endif
