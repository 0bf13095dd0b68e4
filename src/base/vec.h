/* SPDX-License-Identifier: Apache-2.0 */
/* Growable arrays in an arena. A vec is any struct with the members `items`, `n` and `cap`:
       VEC(struct token) tokens = {0};
       *VEC_PUSH(arena, &tokens) = token;
   Growing moves the items: hand out indices, not pointers, while a vec still grows. */
#ifndef MOEPLAN_BASE_VEC_H
#define MOEPLAN_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n, cap;                                                                             \
    }

/* A pointer to a new, zeroed last item. */
#define VEC_PUSH(a, v)                                                                             \
    ((v)->n == (v)->cap                                                                            \
         ? (void)((v)->items = vec_grow((a), (v)->items, &(v)->cap, sizeof *(v)->items))           \
         : (void)0,                                                                                \
     (v)->items + (v)->n++)

/* Room for twice as many items (at least 8), the old ones copied. */
void *vec_grow(struct arena *a, const void *items, size_t *cap, size_t size);

#endif
