/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

void *vec_grow(struct arena *a, const void *items, size_t *cap, size_t size)
{
    size_t bigger = *cap ? *cap * 2 : 8;
    char *p = arena_room(a, bigger * size); /* no arena holds half of what a size_t counts */
    if (*cap) memcpy(p, items, *cap * size);
    memset(p + *cap * size, 0, (bigger - *cap) * size);
    *cap = bigger;
    return p;
}
