/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

enum { SMALLEST = 16 };

static struct map_slot *find(const struct map *m, struct str key, uint32_t hash)
{
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];
        if (!s->value_plus_one || (s->hash == hash && str_eq(s->key, key))) return s;
    }
}

int64_t map_get(const struct map *m, struct str key)
{
    if (!m->cap) return MAP_NONE;
    const struct map_slot *s = find(m, key, str_hash(key));
    return s->value_plus_one ? (int64_t)s->value_plus_one - 1 : MAP_NONE;
}

static void grow(struct arena *a, struct map *m, size_t cap)
{
    struct map old = *m;
    m->cap = cap;
    m->slots = ARENA_ARRAY(a, struct map_slot, m->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value_plus_one)
            *find(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
}

void map_reserve(struct arena *a, struct map *m, size_t n)
{
    size_t cap = SMALLEST;
    while (cap < 2 * n)
        cap *= 2;
    if (cap > m->cap) grow(a, m, cap);
}

bool map_put(struct arena *a, struct map *m, struct str key, uint32_t value)
{
    if (m->n * 2 >= m->cap) grow(a, m, m->cap ? m->cap * 2 : SMALLEST);
    uint32_t hash = str_hash(key);
    struct map_slot *s = find(m, key, hash);
    bool is_new = !s->value_plus_one;
    *s = (struct map_slot){is_new ? key : s->key, hash, value + 1};
    m->n += is_new;
    return is_new;
}
