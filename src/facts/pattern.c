/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/pattern.h"

#include <math.h>

#include "base/num.h"
#include "base/vec.h"

/* Bytes of a number, brackets within each other, ints of a tuple. */
enum { LONGEST_NUMBER = 64, MAX_DEPTH = 50, MOST_IN_TUPLE = 16 };

/* ---- numbers as Python reads them ---- */

/* The text without blanks around it and underscores between digits; false when an underscore stands
   elsewhere. */
static bool plain_number(struct str text, char out[LONGEST_NUMBER], struct str *plain)
{
    size_t n = 0;
    text = str_trim(text);
    if (text.n == 0 || text.n >= LONGEST_NUMBER) return false;
    for (size_t i = 0; i < text.n; i++) {
        bool inside = i > 0 && i + 1 < text.n && text.p[i - 1] >= '0' && text.p[i - 1] <= '9' &&
                      text.p[i + 1] >= '0' && text.p[i + 1] <= '9';
        if (text.p[i] != '_')
            out[n++] = text.p[i];
        else if (!inside)
            return false;
    }
    *plain = (struct str){out, n};
    return true;
}

bool python_int(struct str text, int64_t *out)
{
    char digits[LONGEST_NUMBER];
    struct str plain;
    return plain_number(text, digits, &plain) && num_parse_int(plain, out);
}

bool python_float(struct str text, double *out)
{
    char digits[LONGEST_NUMBER];
    struct str plain;
    if (!plain_number(text, digits, &plain)) return false;
    if (num_parse_double(plain, out)) return true;
    bool negative = plain.p[0] == '-';
    if (negative || plain.p[0] == '+') plain = str_slice(plain, 1, plain.n);
    if (str_eq_nocase(plain, STR("nan")))
        *out = NAN;
    else if (str_eq_nocase(plain, STR("inf")) || str_eq_nocase(plain, STR("infinity")))
        *out = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* ---- list expressions ---- */

/* sum := product ('+' product)*    product := atom ('*' atom)*    atom := digits | '[' items ']' |
   '(' sum ')' */
struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    int depth;
    bool failed;
};

static struct value fail(struct parser *p)
{
    p->failed = true;
    return value_null();
}

static bool take(struct parser *p, char c)
{
    bool here = p->at < p->text.n && p->text.p[p->at] == c;
    p->at += here;
    return here;
}

static struct value parse_sum(struct parser *p);

static struct value parse_digits(struct parser *p)
{
    size_t from = p->at;
    int64_t i = 0;
    while (p->at < p->text.n && p->text.p[p->at] >= '0' && p->text.p[p->at] <= '9')
        p->at++;
    return num_parse_int(str_slice(p->text, from, p->at), &i) ? value_int(i) : fail(p);
}

static struct value parse_items(struct parser *p)
{
    VEC(struct value) items = {0};
    while (!p->failed && !take(p, ']')) {
        if (items.n == PATTERN_MAX) return fail(p);
        *VEC_PUSH(p->arena, &items) = parse_sum(p);
        bool last = p->at < p->text.n && p->text.p[p->at] == ']';
        if (!take(p, ',') && !last) return fail(p);
    }
    return p->failed ? value_null() : value_list_of(p->arena, items.items, items.n);
}

static struct value parse_atom(struct parser *p)
{
    struct value v;
    if (p->failed || ++p->depth > MAX_DEPTH) return fail(p);
    if (take(p, '[')) {
        v = parse_items(p);
    } else if (take(p, '(')) {
        v = parse_sum(p);
        if (!take(p, ')')) fail(p);
    } else {
        v = parse_digits(p);
    }
    p->depth--;
    return v;
}

static struct value repeat(struct parser *p, struct value list, int64_t times)
{
    size_t n = list.list->n;
    if (times < 0) times = 0;
    if (n && (size_t)times > PATTERN_MAX / n) return fail(p);
    struct value *items = ARENA_ARRAY(p->arena, struct value, n * (size_t)times);
    for (size_t i = 0; i < n * (size_t)times; i++)
        items[i] = list.list->items[i % n];
    return value_list_of(p->arena, items, n * (size_t)times);
}

static struct value multiply(struct parser *p, struct value a, struct value b)
{
    int64_t i = 0;
    if (p->failed) return value_null();
    if (a.kind == VALUE_INT && b.kind == VALUE_INT)
        return __builtin_mul_overflow(a.i, b.i, &i) ? fail(p) : value_int(i);
    if (a.kind == VALUE_LIST && b.kind == VALUE_INT) return repeat(p, a, b.i);
    if (a.kind == VALUE_INT && b.kind == VALUE_LIST) return repeat(p, b, a.i);
    return fail(p);
}

static struct value add(struct parser *p, struct value a, struct value b)
{
    int64_t i = 0;
    if (p->failed || a.kind != b.kind) return fail(p);
    if (a.kind == VALUE_INT) return __builtin_add_overflow(a.i, b.i, &i) ? fail(p) : value_int(i);
    size_t n = a.list->n + b.list->n;
    if (n > PATTERN_MAX) return fail(p);
    struct value *items = ARENA_ARRAY(p->arena, struct value, n);
    if (a.list->n) memcpy(items, a.list->items, a.list->n * sizeof *items);
    if (b.list->n) memcpy(items + a.list->n, b.list->items, b.list->n * sizeof *items);
    return value_list_of(p->arena, items, n);
}

static struct value parse_sum(struct parser *p)
{
    struct value sum = value_null();
    bool first = true;
    do {
        struct value product = parse_atom(p);
        while (!p->failed && take(p, '*'))
            product = multiply(p, product, parse_atom(p));
        sum = first ? product : add(p, sum, product);
        first = false;
    } while (!p->failed && take(p, '+'));
    return sum;
}

static bool all_ints(struct value list)
{
    for (size_t i = 0; i < list.list->n; i++)
        if (list.list->items[i].kind != VALUE_INT) return false;
    return true;
}

bool pattern_parse(struct arena *a, struct str text, struct value *out)
{
    struct parser p = {.arena = a, .text = text};
    int64_t i = 0;
    if (str_find(text, '[') == text.n) {
        if (!python_int(text, &i)) return false;
        *out = value_int(i);
        return true;
    }
    struct value v = parse_sum(&p);
    if (p.failed || p.at != text.n || v.kind != VALUE_LIST || !all_ints(v)) return false;
    *out = v;
    return true;
}

bool pattern_parse_tuple(struct arena *a, struct str text, struct value *out)
{
    struct value items[MOST_IN_TUPLE];
    size_t n = 0;
    struct str part;
    while (text.n && (text.p[0] == '(' || text.p[0] == ')'))
        text = str_slice(text, 1, text.n);
    while (text.n && (text.p[text.n - 1] == '(' || text.p[text.n - 1] == ')'))
        text.n--;
    if (text.n == 0) return false;
    while (str_split(&text, ',', &part)) {
        int64_t i = 0;
        if (n == MOST_IN_TUPLE || !python_int(part, &i)) return false;
        items[n++] = value_int(i);
    }
    *out = value_list_of(a, items, n);
    return true;
}
