/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text: strict, whatever the locale. */
#ifndef MOEPLAN_BASE_NUM_H
#define MOEPLAN_BASE_NUM_H

#include "base/arena.h"

/* Decimal integer with an optional sign, the whole text; false when it is none or does not fit. */
bool num_parse_int(struct str s, int64_t *out);
/* Decimal floating point number, the whole text (no inf, nan, hex). */
bool num_parse_double(struct str s, double *out);
/* The shortest decimal text that reads back as the same double; inf, -inf, nan for those. 1.0 prints as "1". */
struct str num_double_text(struct arena *a, double d);
/* With thousands separated: 131,072. */
struct str num_grouped(struct arena *a, int64_t i);
/* Greatest common divisor of the magnitudes. */
int64_t num_gcd(int64_t a, int64_t b);

#endif
