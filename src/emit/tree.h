/* SPDX-License-Identifier: Apache-2.0 */
/* cJSON trees, every step of them checked: where memory ends, the tree is given back and the run of
   the arena's guard ends. A tree grows from its root, so that whatever there is hangs on it. */
#ifndef MOEPLAN_EMIT_TREE_H
#define MOEPLAN_EMIT_TREE_H

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/value.h"

struct tree {
    struct arena *arena; /* of texts that are only passed on to the tree */
    cJSON *root;         /* an object */
    struct guard_hold hold;
};

/* Begins a tree; tree_print or tree_print_members ends it. */
void tree_open(struct tree *t, struct arena *a);

/* Each adds a member to the object `to`, or with a NULL key an item to the list `to`. A key lives
   as long as the tree, which copies none. */
cJSON *tree_object(struct tree *t, cJSON *to, const char *key);
cJSON *tree_list(struct tree *t, cJSON *to, const char *key);
void tree_number(struct tree *t, cJSON *to, const char *key, double d);
/* Integers beyond 2^53 keep all their digits. */
void tree_int(struct tree *t, cJSON *to, const char *key, int64_t i);
void tree_text(struct tree *t, cJSON *to, const char *key, const char *text);
void tree_str(struct tree *t, cJSON *to, const char *key, struct str s);
/* Unknown and errors are null. */
void tree_value(struct tree *t, cJSON *to, const char *key, struct value v);
/* JSON that is written already and lives as long as the tree, which only refers to it. */
void tree_json(struct tree *t, cJSON *to, const char *key, const char *json);
/* Adds the entries of a map; what is no text of one line in a key becomes visible escapes. */
void tree_members(struct tree *t, cJSON *object, const struct value_map *map);

/* Appends the tree as text without blanks and deletes it. */
void tree_print(struct tree *t, struct buf *out);
/* The same of the root's members alone, with a comma before them. */
void tree_print_members(struct tree *t, struct buf *out);

#endif
