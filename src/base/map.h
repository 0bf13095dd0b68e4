/* SPDX-License-Identifier: Apache-2.0 */
/* String -> index. Open addressing; the caller keeps the things, the map says which. */
#ifndef MOEPLAN_BASE_MAP_H
#define MOEPLAN_BASE_MAP_H

#include "base/arena.h"

struct map_slot {
    struct str key;
    uint32_t hash, value_plus_one;
};

struct map {
    struct map_slot *slots;
    size_t n, cap;
};

enum { MAP_NONE = -1 };

/* The index stored under the key, or MAP_NONE. */
int64_t map_get(const struct map *m, struct str key);
/* Room for n keys: to grow costs more than to put them. */
void map_reserve(struct arena *a, struct map *m, size_t n);
/* Stores an index (below 2^32 - 1) under the key, whose bytes must outlive the map; true when the
   key is new, otherwise the old index is replaced. */
bool map_put(struct arena *a, struct map *m, struct str key, uint32_t value);

#endif
