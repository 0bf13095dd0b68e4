/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool num_parse_int(struct str s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (i == s.n) return false;
    int64_t v = 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return false;
        int digit = s.p[i] - '0';
        if (__builtin_mul_overflow(v, 10, &v)) return false;
        if (negative ? __builtin_sub_overflow(v, digit, &v) : __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

/* digits [. digits] [e [sign] digits], with at least one digit before the exponent. */
static bool is_decimal(struct str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+'), digits = 0;
    for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        digits++;
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            digits++;
    if (!digits) return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+')) i++;
        size_t exponent = 0;
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            exponent++;
        if (!exponent) return false;
    }
    return i == s.n;
}

bool num_parse_double(struct str s, double *out)
{
    char text[512];
    if (s.n >= sizeof text || !is_decimal(s)) return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *out = strtod(text, NULL); /* the program never calls setlocale: the C locale's point */
    return true;
}

/* ---- doubles as text ---- */

/* digits * 10^-scale, with `n` digits. */
struct decimal {
    uint64_t digits;
    int n, scale;
};

__extension__ typedef unsigned __int128 wide;

static const uint64_t powers_of_5[] = {1,
                                       5,
                                       25,
                                       125,
                                       625,
                                       3125,
                                       15625,
                                       78125,
                                       390625,
                                       1953125,
                                       9765625,
                                       48828125,
                                       244140625,
                                       1220703125,
                                       6103515625,
                                       30517578125,
                                       152587890625,
                                       762939453125,
                                       3814697265625,
                                       19073486328125,
                                       95367431640625,
                                       476837158203125,
                                       2384185791015625,
                                       11920928955078125,
                                       59604644775390625,
                                       298023223876953125,
                                       1490116119384765625,
                                       7450580596923828125};

enum { MOST_FIVES = sizeof powers_of_5 / sizeof *powers_of_5 - 1 };

static uint64_t power_of_10(int n)
{
    return powers_of_5[n] << n;
}

/* mantissa * 2^exponent * 10^scale to the nearest integer, ties to even, as printf rounds. False
   where 128 bits do not hold what decides it. */
static bool scale_exactly(uint64_t mantissa, int exponent, int scale, uint64_t *out)
{
    int shift = -(exponent + scale);
    if (scale < 0 || scale > MOST_FIVES || shift < 1 || shift > 127) return false;
    wide product = (wide)mantissa * powers_of_5[scale], half = (wide)1 << (shift - 1);
    wide whole = product >> shift, rest = product & (2 * half - 1);
    *out = (uint64_t)whole + (rest > half || (rest == half && whole & 1));
    return whole >> 63 == 0;
}

/* A positive number to `n` digits, exactly; false where that takes more than a few steps. */
static bool decimal_of(double d, int n, struct decimal *out)
{
    enum { FRACTION = 52, BIAS = 1023 };
    uint64_t bits, one = (uint64_t)1 << FRACTION;
    memcpy(&bits, &d, sizeof bits);
    int exponent = (int)(bits >> FRACTION) - BIAS;
    if (exponent == -BIAS) return false; /* below the least that has all its bits */
    int tens = (int)floor(exponent * 0.30102999566398120); /* of the number: this or one more */
    for (int scale = n - 1 - tens; scale >= n - 2 - tens; scale--) {
        if (!scale_exactly((bits & (one - 1)) | one, exponent - FRACTION, scale, &out->digits))
            return false;
        out->n = n;
        out->scale = scale;
        if (out->digits < power_of_10(n)) return out->digits >= power_of_10(n - 1);
    }
    return false;
}

static void drop_zeros(struct decimal *x)
{
    for (; x->n > 1 && x->digits % 10 == 0; x->n--, x->scale--)
        x->digits /= 10;
}

/* As %g prints what it writes without an exponent. */
static void write_decimal(char *out, struct decimal x)
{
    char digits[20];
    int whole = x.n - x.scale; /* digits before the point */
    for (int i = x.n; i > 0; x.digits /= 10)
        digits[--i] = (char)('0' + x.digits % 10);
    int before = whole <= 0 ? 0 : whole < x.n ? whole : x.n; /* of the digits, before the point */
    if (whole <= 0) *out++ = '0';
    memcpy(out, digits, (size_t)before);
    out += before;
    for (int i = x.n; i < whole; i++)
        *out++ = '0';
    if (x.scale > 0) *out++ = '.';
    for (int i = whole; i < 0; i++)
        *out++ = '0';
    memcpy(out, digits + before, (size_t)(x.n - before));
    out[x.n - before] = '\0';
}

/* The double nearest to a decimal, by one division of two exact numbers, which rounds once; NAN
   where they are not exact. */
static double value_of(struct decimal x)
{
    enum { EXACT_TENS = 22, EXACT_WORD = 19 };
    if (x.scale > EXACT_TENS || (double)x.digits > NUM_EXACT) return NAN;
    int more = x.scale > EXACT_WORD ? x.scale - EXACT_WORD : 0;
    return (double)x.digits / ((double)power_of_10(x.scale - more) * (double)power_of_10(more));
}

/* Most numbers take a multiplication; the C library, which can do every one, does the others. */
static bool is_quick(double d, int digits, struct decimal *out)
{
    return d != 0 && decimal_of(fabs(d), digits, out) && out->scale < digits + 4;
}

/* The decimal of a number, with the number's sign. */
static void write_signed(char text[NUM_TEXT], struct decimal x, double d)
{
    drop_zeros(&x);
    *text = '-';
    write_decimal(d < 0 ? text + 1 : text, x);
}

/* "%.*g" of a finite number. */
static void write_digits(char text[NUM_TEXT], int digits, double d)
{
    struct decimal x;
    if (is_quick(d, digits, &x))
        write_signed(text, x, d);
    else
        snprintf(text, NUM_TEXT, "%.*g", digits, d);
}

/* What that text reads back as. */
static double read_digits(int digits, double d)
{
    struct decimal x;
    double back = is_quick(d, digits, &x) ? value_of(x) : NAN;
    if (!isnan(back)) return copysign(back, d);
    char text[NUM_TEXT];
    write_digits(text, digits, d);
    return strtod(text, NULL);
}

struct str num_double_text(struct arena *a, double d)
{
    if (isnan(d)) return STR("nan");
    if (isinf(d)) return d > 0 ? STR("inf") : STR("-inf");
    char text[NUM_TEXT];
    int digits = 15;
    while (digits < 17 && read_digits(digits, d) != d)
        digits++; /* the shortest that round-trips */
    write_digits(text, digits, d);
    return str_dup(a, str_of(text));
}

/* Whether all its digits stand before the point, and 15 show them. */
static bool is_short_int(double d, struct decimal *out)
{
    double size = fabs(d);
    if (size >= 1e15 || size != floor(size)) return false;
    *out = (struct decimal){.digits = (uint64_t)size, .n = 1};
    while (out->digits >= power_of_10(out->n))
        out->n++;
    return true;
}

void num_write_figure(char text[NUM_TEXT], double d)
{
    struct decimal x;
    if (is_short_int(d, &x)) {
        *text = '-';
        write_decimal(d < 0 ? text + 1 : text, x); /* zero of either sign is 0 */
        return;
    }
    double back = is_quick(d, 15, &x) ? copysign(value_of(x), d) : NAN;
    bool quick = !isnan(back);
    if (!quick) back = read_digits(15, d);
    bool near = fabs(back - d) <= fmax(fabs(back), fabs(d)) * DBL_EPSILON;
    if (quick && near)
        write_signed(text, x, d);
    else
        write_digits(text, near ? 15 : 17, d);
}

struct str num_grouped(struct arena *a, int64_t i)
{
    char digits[32], text[48];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)i);
    size_t to = 0;
    for (int k = 0; k < n; k++) {
        text[to++] = digits[k];
        int left = n - 1 - k;
        if (left > 0 && left % 3 == 0 && digits[k] != '-') text[to++] = ',';
    }
    return str_dup(a, (struct str){text, to});
}

int64_t num_gcd(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

double num_normal_quantile(double p)
{
    double low = -8, high = 8;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(-middle / sqrt(2)) < p ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

double num_normal_largest(double n)
{
    return num_normal_quantile((n - 0.375) / (n + 0.25));
}

int num_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
