/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/tree.h"

#include <inttypes.h>
#include <math.h>

#include "base/finite.h"
#include "base/json.h"
#include "base/num.h"
#include "base/quote.h"
#include "emit/emit.h"

static _Noreturn void fail(const struct tree *t)
{
    guard_leave(arena_guard(t->arena), GUARD_NO_MEMORY);
}

static void release_tree(void *root)
{
    cJSON_Delete(root);
}

void tree_open(struct tree *t, struct arena *a)
{
    *t = (struct tree){.arena = a, .root = cJSON_CreateObject()};
    if (!t->root) fail(t);
    guard_hold(arena_guard(a), &t->hold, release_tree, t->root);
}

static cJSON *add(struct tree *t, cJSON *to, const char *key, cJSON *item)
{
    bool added =
        item && (key ? cJSON_AddItemToObjectCS(to, key, item) : cJSON_AddItemToArray(to, item));
    if (added) return item;
    cJSON_Delete(item);
    fail(t);
}

cJSON *tree_object(struct tree *t, cJSON *to, const char *key)
{
    return add(t, to, key, cJSON_CreateObject());
}

cJSON *tree_list(struct tree *t, cJSON *to, const char *key)
{
    return add(t, to, key, cJSON_CreateArray());
}

void tree_json(struct tree *t, cJSON *to, const char *key, const char *text)
{
    cJSON *item = cJSON_CreateStringReference(text);
    if (item) item->type = cJSON_Raw | cJSON_IsReference;
    add(t, to, key, item);
}

void tree_number(struct tree *t, cJSON *to, const char *key, double d)
{
    char *text = arena_room(t->arena, NUM_TEXT);
    num_write_figure(text, finite_check(d)); /* cJSON's own numbers take printf and scanf each */
    tree_json(t, to, key, text);
}

void tree_int(struct tree *t, cJSON *to, const char *key, int64_t i)
{
    const int64_t exact = (int64_t)1 << 53; /* as a double */
    if (i <= exact && i >= -exact)
        tree_number(t, to, key, (double)i);
    else
        tree_json(t, to, key, arena_printf(t->arena, "%" PRId64, i).p);
}

/* The one way of a string into a tree: what cJSON would print as it is, or cut off at a NUL, is
   written as json_add_string writes it. */
void tree_str(struct tree *t, cJSON *to, const char *key, struct str s)
{
    struct buf text = buf_new(t->arena);
    json_add_string(&text, s);
    buf_add_char(&text, '\0');
    tree_json(t, to, key, text.p);
}

void tree_text(struct tree *t, cJSON *to, const char *key, const char *text)
{
    tree_str(t, to, key, str_of(text));
}

/* A double keeps its point, so that it reads back as one. */
static void add_double(struct tree *t, cJSON *to, const char *key, double d)
{
    if (isfinite(d))
        tree_json(t, to, key, emit_scalar(t->arena, value_double(d)).p);
    else
        add(t, to, key, cJSON_CreateNull());
}

static void add_items(struct tree *t, cJSON *list, const struct value_list *items)
{
    for (size_t i = 0; i < items->n; i++)
        tree_value(t, list, NULL, items->items[i]);
}

void tree_members(struct tree *t, cJSON *object, const struct value_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        struct str key = quote_line(t->arena, value_text(t->arena, map->keys[i]));
        tree_value(t, object, str_dup(t->arena, key).p, map->values[i]);
    }
}

void tree_value(struct tree *t, cJSON *to, const char *key, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN:
    case VALUE_ERROR:
    case VALUE_NULL: add(t, to, key, cJSON_CreateNull()); break;
    case VALUE_BOOL: add(t, to, key, cJSON_CreateBool(v.b)); break;
    case VALUE_INT: tree_int(t, to, key, v.i); break;
    case VALUE_UINT: tree_int(t, to, key, (int64_t)v.u); break;
    case VALUE_DOUBLE: add_double(t, to, key, v.d); break;
    case VALUE_STRING: tree_str(t, to, key, v.s); break;
    case VALUE_LIST: add_items(t, tree_list(t, to, key), v.list); break;
    case VALUE_MAP: tree_members(t, tree_object(t, to, key), v.map); break;
    }
}

void tree_print(struct tree *t, struct buf *out)
{
    struct guard *guard = arena_guard(t->arena);
    struct guard_hold hold;
    char *text = cJSON_PrintUnformatted(t->root);
    if (!text) fail(t);
    guard_hold(guard, &hold, cJSON_free, text);
    buf_add(out, str_of(text));
    guard_drop(&hold);
    cJSON_free(text);
    guard_drop(&t->hold);
    cJSON_Delete(t->root);
}

void tree_print_members(struct tree *t, struct buf *out)
{
    size_t open = out->n;
    tree_print(t, out);
    out->p[open] = ',';
    out->n--;
}
