/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting. */
#ifndef MOEPLAN_BASE_SORT_H
#define MOEPLAN_BASE_SORT_H

#include <stdlib.h>

/* qsort, for no items too: their address may then be NULL, which qsort itself does not allow. */
static inline void sort_items(void *items, size_t n, size_t size,
                              int (*order)(const void *, const void *))
{
    if (n > 1) qsort(items, n, size, order);
}

#endif
