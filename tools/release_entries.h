/* SPDX-License-Identifier: Apache-2.0 */
/* A section of the release files that is a mapping, each file's applied to the one that it starts
   from. */
#ifndef MOEPLAN_TOOLS_RELEASE_ENTRIES_H
#define MOEPLAN_TOOLS_RELEASE_ENTRIES_H

#include "base/map.h"
#include "base/vec.h"
#include "doc/node.h"

struct release_entry {
    struct str name;
    const struct node *node; /* NULL: it is gone */
};
struct release_entries {
    struct release_entry *items;
    size_t n, cap;
};

/* What a release has: all of its base's (NULL: it starts from nothing), over it its own section
   (NULL: none), where null takes an entry away. */
struct release_entries release_entries_of(struct arena *a, const struct release_entries *base,
                                          const struct node *own);

#endif
