/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text: strict, whatever the locale. */
#ifndef MOEPLAN_BASE_NUM_H
#define MOEPLAN_BASE_NUM_H

#include "base/arena.h"

/* Decimal integer with an optional sign, the whole text; false when it is none or does not fit. */
bool num_parse_int(struct str s, int64_t *out);
/* Decimal floating point number, the whole text (no inf, nan, hex), below 512 bytes. */
bool num_parse_double(struct str s, double *out);
/* The shortest decimal text that reads back as the same double; inf, -inf, nan for those. 1.0
   prints as "1". */
struct str num_double_text(struct arena *a, double d);
/* A finite number with 15 digits where these are it to within its rounding, else with 17: figures of
   estimates, which JSON prints by the hundred. */
enum { NUM_TEXT = 40 };
void num_write_figure(char text[NUM_TEXT], double d);
/* With thousands separated: 131,072. */
struct str num_grouped(struct arena *a, int64_t i);
/* Greatest common divisor of the magnitudes; INT64_MAX stands for 2^63. */
int64_t num_gcd(int64_t a, int64_t b);
/* The value below which a normal variable of mean 0 and deviation 1 lies with probability p. */
double num_normal_quantile(double p);
/* The mean of the largest of n such variables, to 5 %: Blom, Statistical Estimates and Transformed
   Beta-Variables, 1958. */
double num_normal_largest(double n);
/* The value of a hexadecimal digit, -1 for any other character. */
int num_hex_digit(char c);
/* Whole doubles up to this magnitude, 2^53, are exact. */
#define NUM_EXACT 9007199254740992.0

#endif
