/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/duplicate.h"

#include "base/map.h"
#include "doc/rewrite.h"

enum { SMALL_MAP = 16 }; /* up to here comparing all pairs is faster than hashing */

static bool same(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->n != b->n) return false;
    if (a->kind == NODE_SCALAR) return a->quoted == b->quoted && str_eq(a->text, b->text);
    for (size_t i = 0; i < a->n; i++) {
        if (a->kind == NODE_MAP && !same(a->keys[i], b->keys[i])) return false;
        if (!same(a->items[i], b->items[i])) return false;
    }
    return true;
}

static void report(struct diags *all, struct node *map, size_t first, size_t second)
{
    const struct node *key = map->keys[second];
    map->repeats = true;
    bool equal = same(map->items[first], map->items[second]);
    struct diag *d =
        diag_add(all, equal ? SEVERITY_INFO : SEVERITY_WARNING, "duplicate-key",
                 node_span(all, key), "key \"%.*s\" is given twice%s", STR_ARG(key->text),
                 equal ? " with the same value" : "; only the last one counts");
    diag_note(all, d, "given before at line %u", map->keys[first]->line);
    d->safe = rewrite_remove(all, map, first, &d->edits);
}

/* The last entry before one that has its key; the entry itself when there is none. */
static size_t same_key_before(const struct node *map, size_t entry)
{
    for (size_t k = entry; k-- > 0;)
        if (map->keys[k]->kind == NODE_SCALAR && str_eq(map->keys[k]->text, map->keys[entry]->text))
            return k;
    return entry;
}

/* All pairs of keys of the same mark. */
static void compare_pairs(struct diags *all, struct node *map)
{
    for (size_t i = 0; i < map->n; i++) {
        if (map->keys[i]->kind != NODE_SCALAR) continue;
        uint64_t mark = str_mark(map->keys[i]->text);
        size_t before = map->marks & mark ? same_key_before(map, i) : i;
        if (before < i) report(all, map, before, i);
        map->marks |= mark;
    }
}

void map_report_duplicates(struct arena *a, struct diags *all, struct node *map)
{
    if (map->n <= SMALL_MAP) {
        compare_pairs(all, map);
        return;
    }
    struct map *index = ARENA_NEW(a, struct map);
    map_reserve(a, index, map->n);
    for (size_t i = 0; i < map->n; i++) {
        if (map->keys[i]->kind != NODE_SCALAR) continue;
        struct str key = map->keys[i]->text;
        if (!map_put(a, index, key, (uint32_t)i)) report(all, map, same_key_before(map, i), i);
        map->marks |= str_mark(key);
    }
    map->index = index;
}
