/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

void *vec_grow(struct arena *a, const void *items, size_t *cap, size_t size)
{
    size_t bigger = *cap ? *cap * 2 : 8;
    void *p = arena_array(a, bigger, size);
    if (*cap) memcpy(p, items, *cap * size);
    *cap = bigger;
    return p;
}
