/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed as JSON: a tree, as not all members of an object are known when the next one
   begins. Its nodes and texts lie in an arena. */
#ifndef MOEPLAN_EMIT_TREE_H
#define MOEPLAN_EMIT_TREE_H

#include "base/buf.h"
#include "base/value.h"

struct tree_node {
    const char *key;  /* NULL: an item of a list, or the root */
    const char *open; /* an object's or a list's bracket; NULL: `text` is all of it */
    struct str text;  /* JSON */
    struct tree_node *first, *last, *next;
};

struct tree {
    struct arena *arena;
    struct tree_node *root; /* an object */
};

/* Begins a tree. */
void tree_open(struct tree *t, struct arena *a);

/* Each adds a member to the object `to`, or with a NULL key an item to the list `to`. A key lives
   as long as the tree, which copies none. */
struct tree_node *tree_object(struct tree *t, struct tree_node *to, const char *key);
struct tree_node *tree_list(struct tree *t, struct tree_node *to, const char *key);
void tree_number(struct tree *t, struct tree_node *to, const char *key, double d);
/* Integers beyond 2^53 keep all their digits. */
void tree_int(struct tree *t, struct tree_node *to, const char *key, int64_t i);
void tree_text(struct tree *t, struct tree_node *to, const char *key, const char *text);
void tree_str(struct tree *t, struct tree_node *to, const char *key, struct str s);
/* Unknown and errors are null. */
void tree_value(struct tree *t, struct tree_node *to, const char *key, struct value v);
/* Adds the entries of a map; what is no text of one line in a key becomes visible escapes. */
void tree_members(struct tree *t, struct tree_node *object, const struct value_map *map);

/* Appends the tree as text without blanks. */
void tree_print(struct tree *t, struct buf *out);
/* The same of the root's members alone, with a comma before them. */
void tree_print_members(struct tree *t, struct buf *out);

#endif
