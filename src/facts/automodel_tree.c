/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes changed without touching the document: mappings on the way to a change are copied, the
   rest is shared. */
#include "facts/automodel.h"

/* Words of a path that is written: deeper than any recipe, and a bound for all that walks the
   tree. */
enum { MAX_WORDS = 100 };

/* Room for one entry more than the original has. */
static struct node *map_copy(struct arena *a, const struct node *map)
{
    struct node *copy = ARENA_NEW(a, struct node);
    *copy = *map;
    node_unindex(copy);
    copy->keys = ARENA_ARRAY(a, struct node *, map->n + 1);
    copy->items = ARENA_ARRAY(a, struct node *, map->n + 1);
    if (!map->n) return copy;
    memcpy(copy->keys, map->keys, map->n * sizeof *copy->keys);
    memcpy(copy->items, map->items, map->n * sizeof *copy->items);
    return copy;
}

static const struct node *map_at(struct arena *a, const struct node *map, struct str key,
                                 const struct node *like)
{
    const struct node *child = node_get(map, key);
    if (child && child->kind == NODE_MAP) return child;
    struct node *empty = ARENA_NEW(a, struct node);
    *empty = *like;
    empty->kind = NODE_MAP;
    empty->n = 0;
    node_unindex(empty);
    return empty;
}

static const struct node *key_named(struct arena *a, const struct node *like, struct str name)
{
    struct node *key = ARENA_NEW(a, struct node);
    *key = *like;
    key->text = name;
    return key;
}

const struct node *automodel_put(struct arena *a, const struct node *map, const struct node *key,
                                 const struct node *value)
{
    struct node *copy = map_copy(a, map);
    size_t at = copy->n;
    while (at > 0 && !str_eq(copy->keys[at - 1]->text, key->text))
        at--;
    /* trees are handed on as const from here */
    if (at == 0) {
        copy->keys[copy->n] = (struct node *)(uintptr_t)key;
        at = ++copy->n;
    }
    copy->items[at - 1] = (struct node *)(uintptr_t)value;
    return copy;
}

const struct node *automodel_with(struct arena *a, const struct node *map, struct str path,
                                  const struct node *key, const struct node *value)
{
    const struct node *maps[MAX_WORDS];
    struct str names[MAX_WORDS], rest = path;
    size_t n = 0;
    while (n < MAX_WORDS && str_split(&rest, '.', &names[n])) {
        maps[n] = n ? map_at(a, maps[n - 1], names[n - 1], key) : map;
        n++;
    }
    if (rest.p) return map;
    for (; n > 0; n--)
        value = automodel_put(a, maps[n - 1], key_named(a, key, names[n - 1]), value);
    return value;
}
