/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <math.h>

#include "base/buf.h"
#include "base/num.h"

struct value value_list_over(struct arena *a, const struct value *items, size_t n)
{
    struct value_list *list = ARENA_NEW(a, struct value_list);
    *list = (struct value_list){n, items};
    return (struct value){.kind = VALUE_LIST, .list = list};
}

struct value value_map_over(struct arena *a, const struct value *keys, const struct value *values,
                            size_t n)
{
    struct value_map *map = ARENA_NEW(a, struct value_map);
    *map = (struct value_map){n, keys, values};
    return (struct value){.kind = VALUE_MAP, .map = map};
}

static const struct value *copy_values(struct arena *a, const struct value *items, size_t n)
{
    struct value *copy = ARENA_ARRAY(a, struct value, n);
    if (n) memcpy(copy, items, n * sizeof *items);
    return copy;
}

struct value value_list_of(struct arena *a, const struct value *items, size_t n)
{
    return value_list_over(a, copy_values(a, items, n), n);
}

struct value value_map_of(struct arena *a, const struct value *keys, const struct value *values,
                          size_t n)
{
    return value_map_over(a, copy_values(a, keys, n), copy_values(a, values, n), n);
}

static int sign(bool less, bool greater)
{
    return less ? -1 : greater;
}

/* Exact: no 64-bit integer is rounded to a double on the way. But 2^63 is what the text of the
   largest int gives as a double, and CEL's conformance tests want the two to be equal. */
static int cmp_int_double(int64_t i, double d)
{
    if (isnan(d)) return 2;
    if (d == 9223372036854775808.0) return i == INT64_MAX ? 0 : -1;
    if (d > 9223372036854775808.0) return -1;
    if (d < -9223372036854775808.0) return 1;
    double whole = floor(d);
    int64_t w = (int64_t)whole;
    if (i != w) return sign(i<w, i> w);
    return whole < d ? -1 : 0;
}

static int cmp_uint_double(uint64_t u, double d)
{
    if (isnan(d)) return 2;
    if (d >= 18446744073709551616.0) return -1;
    if (d < 0) return 1;
    double whole = floor(d);
    uint64_t w = (uint64_t)whole;
    if (u != w) return sign(u<w, u> w);
    return whole < d ? -1 : 0;
}

static int cmp_int_uint(int64_t i, uint64_t u)
{
    if (i < 0) return -1;
    return sign((uint64_t)i<u, (uint64_t)i> u);
}

static int reversed(int order)
{
    return order == 2 ? 2 : -order;
}

int value_number_cmp(struct value a, struct value b)
{
    if (a.kind == b.kind) {
        if (a.kind == VALUE_INT) return sign(a.i<b.i, a.i> b.i);
        if (a.kind == VALUE_UINT) return sign(a.u<b.u, a.u> b.u);
        if (isnan(a.d) || isnan(b.d)) return 2;
        return sign(a.d<b.d, a.d> b.d);
    }
    if (a.kind == VALUE_DOUBLE)
        return reversed(b.kind == VALUE_INT ? cmp_int_double(b.i, a.d) : cmp_uint_double(b.u, a.d));
    if (b.kind == VALUE_DOUBLE)
        return a.kind == VALUE_INT ? cmp_int_double(a.i, b.d) : cmp_uint_double(a.u, b.d);
    return a.kind == VALUE_INT ? cmp_int_uint(a.i, b.u) : reversed(cmp_int_uint(b.i, a.u));
}

static bool list_eq(const struct value_list *a, const struct value_list *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!value_eq(a->items[i], b->items[i])) return false;
    return true;
}

static bool map_eq(const struct value_map *a, const struct value_map *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        size_t j = 0;
        while (j < b->n && !value_eq(a->keys[i], b->keys[j]))
            j++;
        if (j == b->n || !value_eq(a->values[i], b->values[j])) return false;
    }
    return true;
}

bool value_eq(struct value a, struct value b)
{
    if (value_is_number(a) && value_is_number(b)) return value_number_cmp(a, b) == 0;
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case VALUE_NULL: return true;
    case VALUE_BOOL: return a.b == b.b;
    case VALUE_STRING: return str_eq(a.s, b.s);
    case VALUE_LIST: return list_eq(a.list, b.list);
    case VALUE_MAP: return map_eq(a.map, b.map);
    case VALUE_UNKNOWN:
    case VALUE_ERROR:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE: return false;
    }
    return false;
}

const struct value *value_map_get(struct value map, struct str key)
{
    if (map.kind != VALUE_MAP) return NULL;
    for (size_t i = 0; i < map.map->n; i++)
        if (map.map->keys[i].kind == VALUE_STRING && str_eq(map.map->keys[i].s, key))
            return &map.map->values[i];
    return NULL;
}

double value_number(struct value v)
{
    if (v.kind == VALUE_INT) return (double)v.i;
    if (v.kind == VALUE_UINT) return (double)v.u;
    return v.kind == VALUE_DOUBLE ? v.d : (double)NAN;
}

static void add_text(struct buf *b, struct value v);

enum { MOST_ITEMS = 8, BRIEF_ITEMS = 6, BRIEF_BYTES = 60 };

static void add_list(struct buf *b, const struct value_list *list, bool brief)
{
    size_t i = 0;
    buf_add_char(b, '[');
    for (; i < list->n && !(brief && i && (i == BRIEF_ITEMS || b->n > BRIEF_BYTES)); i++) {
        if (i) buf_add(b, STR(", "));
        add_text(b, list->items[i]);
    }
    if (i < list->n) buf_printf(b, ", … %zu in all", list->n);
    buf_add_char(b, ']');
}

static void add_map(struct buf *b, const struct value_map *map)
{
    buf_add_char(b, '{');
    for (size_t i = 0; i < map->n; i++) {
        if (i) buf_add(b, STR(", "));
        add_text(b, map->keys[i]);
        buf_add(b, STR(": "));
        add_text(b, map->values[i]);
    }
    buf_add_char(b, '}');
}

/* In what findings say most values are these: printf takes a thousand steps for each. */
static void add_int(struct buf *b, bool negative, uint64_t u)
{
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (negative) *--p = '-';
    buf_add(b, (struct str){p, (size_t)(digits + sizeof digits - p)});
}

static void add_text(struct buf *b, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN: buf_add(b, STR("unknown")); break;
    case VALUE_ERROR: buf_printf(b, "error: %.*s", STR_ARG(v.s)); break;
    case VALUE_NULL: buf_add(b, STR("null")); break;
    case VALUE_BOOL: buf_add(b, v.b ? STR("true") : STR("false")); break;
    case VALUE_INT: add_int(b, v.i < 0, v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i); break;
    case VALUE_UINT: add_int(b, false, v.u); break;
    case VALUE_DOUBLE: buf_add(b, num_double_text(b->arena, v.d)); break;
    case VALUE_STRING: buf_add(b, v.s); break;
    case VALUE_LIST: add_list(b, v.list, false); break;
    case VALUE_MAP: add_map(b, v.map); break;
    }
}

struct str value_text(struct arena *a, struct value v)
{
    struct buf b = buf_new(a);
    add_text(&b, v);
    return buf_str(&b);
}

struct str value_brief(struct arena *a, struct value v)
{
    struct buf b = buf_new(a);
    if (v.kind != VALUE_LIST || v.list->n <= MOST_ITEMS) return value_text(a, v);
    add_list(&b, v.list, true);
    return buf_str(&b);
}

const char *value_kind_name(enum value_kind kind)
{
    static const char *const names[] = {"unknown", "error",  "null",   "bool", "int",
                                        "uint",    "double", "string", "list", "map"};
    return names[kind];
}
