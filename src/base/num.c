/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include <errno.h>
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

struct str num_double_text(struct arena *a, double d)
{
    if (isnan(d)) return STR("nan");
    if (isinf(d)) return d > 0 ? STR("inf") : STR("-inf");
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d) break; /* the shortest that round-trips */
    }
    return str_dup(a, str_of(text));
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
