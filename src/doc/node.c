/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/node.h"

#include "base/num.h"

struct span node_span(struct diags *all, const struct node *node)
{
    return source_span(&all->sources, node->source, node->from, node->to);
}

/* One more than the entry's index, 0 when there is none. Most keys that are asked for are not
   there, which the marks tell. Maps without an index are small: a linear search from the end, so
   that the last duplicate wins. */
static size_t find_entry(const struct node *map, struct str key)
{
    if (!map || map->kind != NODE_MAP) return 0;
    if (map->marks && !(map->marks & str_mark(key))) return 0;
    if (map->index) return (size_t)(map_get(map->index, key) + 1);
    for (size_t i = map->n; i-- > 0;) {
        struct str text = map->keys[i]->text;
        if (text.n != key.n || (key.n && text.p[0] != key.p[0])) continue;
        if (str_eq(text, key) && map->keys[i]->kind == NODE_SCALAR) return i + 1;
    }
    return 0;
}

struct node *node_get(const struct node *map, struct str key)
{
    size_t entry = find_entry(map, key);
    return entry ? map->items[entry - 1] : NULL;
}

struct node *node_get_key(const struct node *map, struct str key)
{
    size_t entry = find_entry(map, key);
    return entry ? map->keys[entry - 1] : NULL;
}

static struct node *step(const struct node *node, struct str word)
{
    if (node->kind == NODE_MAP) return node_get(node, word);
    int64_t index;
    bool is_index = node->kind == NODE_LIST && num_parse_int(word, &index);
    return is_index && index >= 0 && (uint64_t)index < node->n ? node->items[index] : NULL;
}

struct node *node_at(const struct node *root, struct str path)
{
    struct node *found = NULL;
    size_t from = 0;
    while (root && from <= path.n) {
        size_t to = from + str_find((struct str){path.p + from, path.n - from}, '.');
        root = found = step(root, (struct str){path.p + from, to - from});
        from = to + 1;
    }
    return found;
}

bool doc_load(struct arena *a, struct diags *all, uint32_t source, struct node_list *docs)
{
    const struct source *s = source_get(&all->sources, source);
    struct str text = str_trim(s->text);
    size_t before = all->n;
    if (text.n && (text.p[0] == '{' || text.p[0] == '[')) {
        struct node *root = doc_load_json(a, all, source);
        if (root) {
            *VEC_PUSH(a, docs) = root;
            return true;
        }
    }
    size_t json_errors = all->n - before;
    bool ok = doc_load_yaml(a, all, source, docs);
    if (!json_errors) return ok;
    /* Neither reads it: the file's name says which complaint helps. Otherwise the JSON attempt is
       forgotten. */
    if (!ok && str_ends(source_get(&all->sources, source)->path, STR(".json"))) {
        all->n = before + json_errors;
        return false;
    }
    memmove(all->items + before, all->items + before + json_errors,
            (all->n - before - json_errors) * sizeof *all->items);
    all->n -= json_errors;
    return ok;
}
