/* SPDX-License-Identifier: Apache-2.0 */
/* The implementations that the table in func.c names; what each does stands there. */
#ifndef MOEPLAN_EXPR_FUNCTIONS_H
#define MOEPLAN_EXPR_FUNCTIONS_H

#include "expr/func.h"
#include "expr/run.h"

#define FUNCTION(name) struct value name(struct run *r, const struct value *args, size_t n)

FUNCTION(core_size);
FUNCTION(core_int);
FUNCTION(core_uint);
FUNCTION(core_double);
FUNCTION(core_string);
FUNCTION(core_bool);
FUNCTION(core_dyn);
FUNCTION(core_type_of);
FUNCTION(core_text);
FUNCTION(core_or_value);
FUNCTION(core_at_least);

FUNCTION(math_least);
FUNCTION(math_greatest);
FUNCTION(math_abs);
FUNCTION(math_ceil);
FUNCTION(math_floor);
FUNCTION(math_round);
FUNCTION(math_trunc);
FUNCTION(math_sign);
FUNCTION(math_sqrt);
FUNCTION(math_is_nan);
FUNCTION(math_is_inf);
FUNCTION(math_is_finite);
FUNCTION(math_bit_and);
FUNCTION(math_bit_or);
FUNCTION(math_bit_xor);
FUNCTION(math_bit_not);
FUNCTION(math_shift_left);
FUNCTION(math_shift_right);
FUNCTION(math_divisors);
FUNCTION(math_gcd);
FUNCTION(math_lcm);
FUNCTION(math_ceil_div);
FUNCTION(math_is_power_of_two);

FUNCTION(list_nearest);
FUNCTION(list_sum);
FUNCTION(list_min);
FUNCTION(list_max);
FUNCTION(list_join);
FUNCTION(list_count);
FUNCTION(list_distinct);
FUNCTION(list_range);

FUNCTION(text_contains);
FUNCTION(text_starts_with);
FUNCTION(text_ends_with);
FUNCTION(text_lower);
FUNCTION(text_upper);
FUNCTION(text_char_at);
FUNCTION(text_substring);
FUNCTION(text_index_of);
FUNCTION(text_last_index_of);
FUNCTION(text_split);
FUNCTION(text_replace);
FUNCTION(text_trim);
FUNCTION(text_reverse);
FUNCTION(text_quote);
FUNCTION(format_text);

#endif
