/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a YAML or JSON text that leave all else as it stands: comments, order, layout. Each
   gives false, with nothing added, where the text does not say the thing in a plain way. */
#ifndef MOEPLAN_DOC_REWRITE_H
#define MOEPLAN_DOC_REWRITE_H

#include "doc/node.h"

/* The map and the number of the entry whose key or value is the node; false: it is in none. */
bool rewrite_find_entry(const struct node *root, const struct node *node, const struct node **map,
                        size_t *entry);
/* The value of an entry becomes `text`, a scalar as it is written there. */
bool rewrite_value(struct diags *all, const struct node *map, size_t entry, struct str text,
                   struct text_edits *out);
/* The entry goes, with its comment on the line; not the last one of its map. */
bool rewrite_remove(struct diags *all, const struct node *map, size_t entry,
                    struct text_edits *out);
/* A new entry under a dotted path below the root, behind the last one of the deepest map that is
   there already; `text` is a scalar. */
bool rewrite_add(struct diags *all, const struct node *root, struct str path, struct str text,
                 struct text_edits *out);

#endif
