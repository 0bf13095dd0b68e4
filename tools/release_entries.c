/* SPDX-License-Identifier: Apache-2.0 */
#include "release_entries.h"

struct release_entries release_entries_of(struct arena *a, const struct release_entries *base,
                                          const struct node *own)
{
    struct release_entries all = {0};
    struct map numbers = {0};
    for (size_t i = 0; base && i < base->n; i++) {
        map_put(a, &numbers, base->items[i].name, (uint32_t)all.n);
        *VEC_PUSH(a, &all) = base->items[i];
    }
    for (size_t i = 0; own && i < own->n; i++) {
        const struct node *item = own->items[i];
        bool gone = item->kind == NODE_SCALAR && !item->quoted && str_is(item->text, "null");
        int64_t at = map_get(&numbers, own->keys[i]->text);
        struct release_entry e = {own->keys[i]->text, gone ? NULL : item};
        if (at == MAP_NONE)
            *VEC_PUSH(a, &all) = e;
        else
            all.items[at] = e;
    }
    return all;
}
