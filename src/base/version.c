/* SPDX-License-Identifier: Apache-2.0 */
#include "base/version.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number at the front of *rest, which moves past it; 0 when there is none, saturating. */
static int64_t take_number(struct str *rest)
{
    int64_t number = 0;
    while (rest->n && is_digit(rest->p[0])) {
        if (number < INT64_MAX / 10 - 9) number = number * 10 + (rest->p[0] - '0');
        *rest = str_slice(*rest, 1, rest->n);
    }
    return number;
}

static bool is_main(struct str v)
{
    return str_is(v, "main") || str_starts(v, STR("main@"));
}

static int cmp_main(struct str a, struct str b)
{
    if (a.n == 4 || b.n == 4) return (a.n == 4) - (b.n == 4);
    return str_cmp(a, b);
}

/* The rest after the numbers: nothing is later than "rc1", "dev", "a2". */
static int cmp_suffix(struct str a, struct str b)
{
    if (!a.n || !b.n) return (a.n == 0) - (b.n == 0);
    return str_cmp(a, b);
}

int version_cmp(struct str a, struct str b)
{
    if (is_main(a) || is_main(b))
        return is_main(a) && is_main(b) ? cmp_main(a, b) : is_main(a) - is_main(b);
    for (;;) {
        int64_t left = take_number(&a), right = take_number(&b);
        if (left != right) return left < right ? -1 : 1;
        bool more_a = a.n && a.p[0] == '.', more_b = b.n && b.p[0] == '.';
        if (!more_a && !more_b) return cmp_suffix(a, b);
        if (more_a) a = str_slice(a, 1, a.n);
        if (more_b) b = str_slice(b, 1, b.n);
    }
}

bool version_between(struct str version, struct str from, struct str to)
{
    return (!from.n || version_cmp(version, from) >= 0) && (!to.n || version_cmp(version, to) < 0);
}
