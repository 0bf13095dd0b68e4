/* SPDX-License-Identifier: Apache-2.0 */
/* From data files to C tables: what the generators of tables share. A defect of a file is an error
   at its line, and the build fails. */
#ifndef MOEPLAN_TOOLS_TABLES_H
#define MOEPLAN_TOOLS_TABLES_H

#include "base/ctext.h"
#include "doc/node.h"

struct generator {
    struct arena *arena;
    struct diags diags;
    struct buf out;
};

struct texts {
    struct str *items;
    size_t n, cap;
};

void tables_bad(struct generator *g, const struct node *at, const char *what);
/* Complains about keys of a mapping that are not in the NULL-terminated list. */
void tables_check_keys(struct generator *g, const struct node *map, const char *const *known);
/* The text under a key; empty when there is none. */
struct str tables_text(const struct node *map, const char *key);
bool tables_true(const struct node *map, const char *key);
/* Reads a file of that kind (NULL: of any): its one document; NULL with an error added. */
const struct node *tables_load(struct generator *g, const char *path, const char *kind);
/* `.member={"text", 4},` and `.n_member=2,.member=(const struct str[]){…},`; lists in the list are
   put in their place. */
void tables_write_text(struct buf *out, const char *member, struct str text);
void tables_write_texts(struct generator *g, const char *member, const struct node *list);
/* A parameter's number under its name: a wrong name does not compile. */
void tables_write_param(struct buf *out, struct str name);
/* The same of parameters' names: their numbers (facts/param_ids.h), `(const int[]){P_…}`. */
void tables_write_params(struct generator *g, const char *member, const struct node *list);
/* Prints what is wrong, or writes the file; gives the exit status, and ends the generator. */
int tables_end(struct generator *g, const char *path);

#endif
