/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/typed.h"

#include <math.h>

#include "base/json.h"
#include "base/num.h"

static struct value read_list(struct arena *a, const struct node *node)
{
    struct value *items = ARENA_ARRAY(a, struct value, node->n);
    if (node->kind != NODE_LIST) return value_error(STR("a list is expected"));
    for (size_t i = 0; i < node->n; i++) {
        items[i] = typed_read(a, node->items[i]);
        if (items[i].kind == VALUE_ERROR) return items[i];
    }
    return value_list_of(a, items, node->n);
}

static struct value read_map(struct arena *a, const struct node *node)
{
    struct value *keys = ARENA_ARRAY(a, struct value, node->n);
    struct value *values = ARENA_ARRAY(a, struct value, node->n);
    for (size_t i = 0; i < node->n; i++) {
        const struct node *pair = node->items[i];
        if (node->kind != NODE_LIST || pair->kind != NODE_LIST || pair->n != 2)
            return value_error(STR("a list of [key, value] is expected"));
        keys[i] = typed_read(a, pair->items[0]);
        values[i] = typed_read(a, pair->items[1]);
        if (keys[i].kind == VALUE_ERROR) return keys[i];
        if (values[i].kind == VALUE_ERROR) return values[i];
    }
    return value_map_of(a, keys, values, node->n);
}

static struct value read_uint(struct str text)
{
    uint64_t u = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(u, 10, &u) ||
            __builtin_add_overflow(u, (unsigned)(text.p[i] - '0'), &u))
            return value_error(STR("an unsigned integer is expected"));
    return text.n ? value_uint(u) : value_error(STR("an unsigned integer is expected"));
}

static struct value read_double(struct str text)
{
    double d;
    if (num_parse_double(text, &d)) return value_double(d);
    bool negative = str_starts(text, STR("-"));
    struct str word = str_slice(text, negative, text.n);
    if (str_eq_nocase(word, STR("inf"))) return value_double(negative ? -HUGE_VAL : HUGE_VAL);
    if (str_eq_nocase(word, STR("nan"))) return value_double(NAN);
    return value_error(STR("a number is expected"));
}

static struct value read_int(struct str text)
{
    int64_t i;
    return num_parse_int(text, &i) ? value_int(i) : value_error(STR("an integer is expected"));
}

static struct value read_kind(struct arena *a, struct str kind, const struct node *node)
{
    if (str_is(kind, "list")) return read_list(a, node);
    if (str_is(kind, "map")) return read_map(a, node);
    if (node->kind != NODE_SCALAR) return value_error(STR("a scalar is expected"));
    if (str_is(kind, "int")) return read_int(node->text);
    if (str_is(kind, "uint")) return read_uint(node->text);
    if (str_is(kind, "double")) return read_double(node->text);
    if (str_is(kind, "string")) return value_string(node->text);
    if (str_is(kind, "bool")) return value_bool(str_is(node->text, "true"));
    return str_is(kind, "null") ? value_null()
                                : value_error(STR("the kind of a value is one of null, bool, int, "
                                                  "uint, double, string, list and map"));
}

struct value typed_read(struct arena *a, const struct node *node)
{
    if (node->kind == NODE_SCALAR) return node_value(a, node, SCALAR_JSON);
    if (node->kind == NODE_MAP && node->n == 1)
        return read_kind(a, node->keys[0]->text, node->items[0]);
    return value_error(STR("a value is written as {\"int\":\"1\"}"));
}

static void write_items(struct buf *out, const struct value_list *list)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i) buf_add_char(out, ',');
        typed_write(out, list->items[i]);
    }
    buf_add_char(out, ']');
}

static void write_entries(struct buf *out, const struct value_map *map)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < map->n; i++) {
        buf_add(out, i ? STR(",[") : STR("["));
        typed_write(out, map->keys[i]);
        buf_add_char(out, ',');
        typed_write(out, map->values[i]);
        buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

void typed_write(struct buf *out, struct value v)
{
    buf_printf(out, "{\"%s\":", value_kind_name(v.kind));
    if (v.kind == VALUE_LIST)
        write_items(out, v.list);
    else if (v.kind == VALUE_MAP)
        write_entries(out, v.map);
    else if (v.kind == VALUE_BOOL || v.kind == VALUE_NULL)
        json_add_value(out, v);
    else
        json_add_string(out,
                        value_text(out->arena, v)); /* 64-bit integers do not fit JSON's numbers */
    buf_add_char(out, '}');
}
