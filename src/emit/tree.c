/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/tree.h"

#include <inttypes.h>
#include <math.h>

#include "base/finite.h"
#include "base/json.h"
#include "base/num.h"
#include "base/quote.h"
#include "emit/emit.h"

static struct tree_node *node_new(struct tree *t, const char *key, const char *open,
                                  struct str text)
{
    struct tree_node *node = arena_room(t->arena, sizeof *node);
    *node = (struct tree_node){.key = key, .open = open, .text = text};
    return node;
}

void tree_open(struct tree *t, struct arena *a)
{
    *t = (struct tree){.arena = a};
    t->root = node_new(t, NULL, "{", STR(""));
}

static struct tree_node *add(struct tree_node *to, struct tree_node *item)
{
    if (to->last)
        to->last->next = item;
    else
        to->first = item;
    return to->last = item;
}

/* JSON that is written already and lives as long as the tree, which only refers to it. */
static void add_json(struct tree *t, struct tree_node *to, const char *key, struct str text)
{
    add(to, node_new(t, key, NULL, text));
}

struct tree_node *tree_object(struct tree *t, struct tree_node *to, const char *key)
{
    return add(to, node_new(t, key, "{", STR("")));
}

struct tree_node *tree_list(struct tree *t, struct tree_node *to, const char *key)
{
    return add(to, node_new(t, key, "[", STR("")));
}

void tree_number(struct tree *t, struct tree_node *to, const char *key, double d)
{
    char *text = arena_room(t->arena, NUM_TEXT);
    num_write_figure(text, finite_check(d));
    add_json(t, to, key, str_of(text));
}

void tree_int(struct tree *t, struct tree_node *to, const char *key, int64_t i)
{
    const int64_t exact = (int64_t)1 << 53; /* as a double */
    if (i <= exact && i >= -exact)
        tree_number(t, to, key, (double)i);
    else
        add_json(t, to, key, arena_printf(t->arena, "%" PRId64, i));
}

void tree_str(struct tree *t, struct tree_node *to, const char *key, struct str s)
{
    struct buf text = buf_new(t->arena);
    json_add_string(&text, s);
    add_json(t, to, key, buf_str(&text));
}

void tree_text(struct tree *t, struct tree_node *to, const char *key, const char *text)
{
    tree_str(t, to, key, str_of(text));
}

/* A double keeps its point, so that it reads back as one. */
static void add_double(struct tree *t, struct tree_node *to, const char *key, double d)
{
    bool finite = isfinite(d);
    add_json(t, to, key, finite ? emit_scalar(t->arena, value_double(d)) : STR("null"));
}

static void add_items(struct tree *t, struct tree_node *list, const struct value_list *items)
{
    for (size_t i = 0; i < items->n; i++)
        tree_value(t, list, NULL, items->items[i]);
}

void tree_members(struct tree *t, struct tree_node *object, const struct value_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        struct str key = quote_line(t->arena, value_text(t->arena, map->keys[i]));
        tree_value(t, object, str_dup(t->arena, key).p, map->values[i]);
    }
}

void tree_value(struct tree *t, struct tree_node *to, const char *key, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN:
    case VALUE_ERROR:
    case VALUE_NULL: add_json(t, to, key, STR("null")); break;
    case VALUE_BOOL: add_json(t, to, key, v.b ? STR("true") : STR("false")); break;
    case VALUE_INT: tree_int(t, to, key, v.i); break;
    case VALUE_UINT: tree_int(t, to, key, (int64_t)v.u); break;
    case VALUE_DOUBLE: add_double(t, to, key, v.d); break;
    case VALUE_STRING: tree_str(t, to, key, v.s); break;
    case VALUE_LIST: add_items(t, tree_list(t, to, key), v.list); break;
    case VALUE_MAP: tree_members(t, tree_object(t, to, key), v.map); break;
    }
}

static void print(const struct tree_node *node, struct buf *out)
{
    if (node->key) {
        json_add_string(out, str_of(node->key));
        buf_add_char(out, ':');
    }
    buf_add(out, node->text);
    if (!node->open) return;
    buf_add_char(out, *node->open);
    for (const struct tree_node *item = node->first; item; item = item->next) {
        if (item != node->first) buf_add_char(out, ',');
        print(item, out);
    }
    buf_add_char(out, *node->open == '{' ? '}' : ']');
}

void tree_print(struct tree *t, struct buf *out)
{
    print(t->root, out);
}

void tree_print_members(struct tree *t, struct buf *out)
{
    size_t open = out->n;
    tree_print(t, out);
    out->p[open] = ',';
    out->n--;
}
