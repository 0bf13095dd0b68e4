/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of numbers. */
#include <math.h>

#include "base/num.h"
#include "expr/functions.h"

/* The extreme of numbers of any kinds in the wanted direction, the first of equals; one list stands
   for its items. */
static struct value extreme(struct run *r, const struct value *args, size_t n, int direction)
{
    bool is_list = n == 1 && args[0].kind == VALUE_LIST;
    struct run_range range = {NULL, args, n};
    if (is_list) run_range_of(args[0], &range);
    if (!range.n) return value_error(STR("the list is empty"));
    if (!run_spend(r, range.n / RUN_ITEMS)) return run_exhausted();
    struct value best = range.items[0];
    for (size_t i = 0; i < range.n; i++) {
        if (!value_is_number(range.items[i]))
            return value_error(STR("no such overload: numbers are needed"));
        if (value_number_cmp(range.items[i], best) == direction) best = range.items[i];
    }
    return best;
}

FUNCTION(math_least)
{
    return extreme(r, args, n, -1);
}

FUNCTION(math_greatest)
{
    return extreme(r, args, n, 1);
}

FUNCTION(math_abs)
{
    (void)r, (void)n;
    struct value v = args[0];
    if (v.kind == VALUE_DOUBLE) return value_double(fabs(v.d));
    if (v.kind == VALUE_UINT || v.i >= 0) return v;
    return v.i == INT64_MIN ? value_error(STR("integer overflow")) : value_int(-v.i);
}

FUNCTION(math_ceil)
{
    (void)r, (void)n;
    return value_double(ceil(args[0].d));
}

FUNCTION(math_floor)
{
    (void)r, (void)n;
    return value_double(floor(args[0].d));
}

FUNCTION(math_round)
{
    (void)r, (void)n;
    return value_double(round(args[0].d));
}

FUNCTION(math_trunc)
{
    (void)r, (void)n;
    return value_double(trunc(args[0].d));
}

FUNCTION(math_sqrt)
{
    (void)r, (void)n;
    struct value v = args[0];
    return value_double(sqrt(v.kind == VALUE_DOUBLE ? v.d
                             : v.kind == VALUE_INT  ? (double)v.i
                                                    : (double)v.u));
}

FUNCTION(math_sign)
{
    (void)r, (void)n;
    struct value v = args[0];
    if (v.kind == VALUE_UINT) return value_uint(v.u > 0);
    if (v.kind == VALUE_INT) return value_int((v.i > 0) - (v.i < 0));
    return isnan(v.d) ? v : value_double((v.d > 0) - (v.d < 0));
}

FUNCTION(math_is_nan)
{
    (void)r, (void)n;
    return value_bool(isnan(args[0].d));
}

FUNCTION(math_is_inf)
{
    (void)r, (void)n;
    return value_bool(isinf(args[0].d));
}

FUNCTION(math_is_finite)
{
    (void)r, (void)n;
    return value_bool(isfinite(args[0].d));
}

/* The result of an operation on bits, of the same kind as its operands. */
static struct value of_bits(uint64_t bits, struct value like)
{
    return like.kind == VALUE_INT ? value_int((int64_t)bits) : value_uint(bits);
}

static struct value same_kind(void)
{
    return value_error(STR("no such overload: an int and a uint"));
}

FUNCTION(math_bit_and)
{
    (void)r, (void)n;
    return args[0].kind == args[1].kind ? of_bits(args[0].u & args[1].u, args[0]) : same_kind();
}

FUNCTION(math_bit_or)
{
    (void)r, (void)n;
    return args[0].kind == args[1].kind ? of_bits(args[0].u | args[1].u, args[0]) : same_kind();
}

FUNCTION(math_bit_xor)
{
    (void)r, (void)n;
    return args[0].kind == args[1].kind ? of_bits(args[0].u ^ args[1].u, args[0]) : same_kind();
}

FUNCTION(math_bit_not)
{
    (void)r, (void)n;
    return of_bits(~args[0].u, args[0]);
}

FUNCTION(math_shift_left)
{
    (void)r, (void)n;
    if (args[1].i < 0) return value_error(STR("a shift by a negative number"));
    return of_bits(args[1].i < 64 ? args[0].u << args[1].i : 0, args[0]);
}

/* Zeros come in from the left, for a negative int too. */
FUNCTION(math_shift_right)
{
    (void)r, (void)n;
    if (args[1].i < 0) return value_error(STR("a shift by a negative number"));
    return of_bits(args[1].i < 64 ? args[0].u >> args[1].i : 0, args[0]);
}

static size_t count_divisors(int64_t number)
{
    size_t count = 0;
    for (int64_t d = 1; d <= number / d; d++)
        if (number % d == 0) count += d == number / d ? 1 : 2;
    return count;
}

FUNCTION(math_divisors)
{
    (void)n;
    int64_t number = args[0].i;
    if (number <= 0) return value_error(STR("divisors() takes a positive int"));
    if (!run_spend(r, (size_t)sqrt((double)number) / RUN_ITEMS)) return run_exhausted();
    size_t count = count_divisors(number), low = 0, high = count;
    struct value *items = ARENA_ARRAY(r->scratch, struct value, count);
    for (int64_t d = 1; d <= number / d; d++) {
        if (number % d) continue;
        items[--high] = value_int(number / d);
        items[low++] = value_int(d);
    }
    return value_list_of(r->scratch, items, count);
}

FUNCTION(math_gcd)
{
    (void)r, (void)n;
    return value_int(num_gcd(args[0].i, args[1].i));
}

FUNCTION(math_lcm)
{
    (void)r, (void)n;
    int64_t a = args[0].i, b = args[1].i, out;
    if (a == 0 || b == 0) return value_int(0);
    if (a == INT64_MIN || b == INT64_MIN || __builtin_mul_overflow(a / num_gcd(a, b), b, &out))
        return value_error(STR("integer overflow"));
    return value_int(out < 0 ? -out : out);
}

FUNCTION(math_ceil_div)
{
    (void)r, (void)n;
    int64_t a = args[0].i, b = args[1].i;
    if (b == 0) return value_error(STR("divide by zero"));
    if (b == -1) return a == INT64_MIN ? value_error(STR("integer overflow")) : value_int(-a);
    return value_int(a / b + (a % b != 0 && (a < 0) == (b < 0)));
}

FUNCTION(math_is_power_of_two)
{
    (void)r, (void)n;
    return value_bool(args[0].i > 0 && (args[0].i & (args[0].i - 1)) == 0);
}
