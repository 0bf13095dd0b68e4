/* SPDX-License-Identifier: Apache-2.0 */
/* One record of a rule file: its keys, checked and compiled. */
#ifndef MOEPLAN_RULES_RECORD_H
#define MOEPLAN_RULES_RECORD_H

#include "base/map.h"
#include "rules/set.h"

/* What the loader collects, over all files and of the file being read. */
struct loader {
    struct arena *arena;
    struct diags *diags;
    bool failed; /* an error was added */
    struct map ids, guide_ids;
    struct rule_list fresh;
    VEC(struct guide_row) guides;
    struct map condition_of; /* source -> number */
    VEC(const struct expr *) conditions;
    /* the file */
    struct str suite;
    const struct version_range *in;      /* [FRAMEWORK_COUNT] */
    VEC(struct expr_variable) variables; /* the file's, then the record's */
};

/* Adds an error of rule `rule-file` at a node. */
__attribute__((format(printf, 3, 4))) struct diag *
record_error(struct loader *l, const struct node *at, const char *format, ...);
/* Errors for keys of a mapping that are not in `allowed` (a list that ends with NULL), with
   did-you-mean. */
void record_check_keys(struct loader *l, const struct node *map, const char *const *allowed);
/* The scalar's text; false with an error when the node is none or is empty. `what` names it in the
   message. */
bool record_text(struct loader *l, const struct node *node, const char *what, struct str *out);
/* `frameworks`: a list of names or a mapping to version ranges. [FRAMEWORK_COUNT] in the loader's
   arena; a framework that is not named does not apply. */
const struct version_range *record_frameworks(struct loader *l, const struct node *node);
/* `variables`, of a file or a record: a list of {name, expression, doc}, or a mapping of names to
   expressions or {expression, doc}. Each may use those before it. */
void record_variables(struct loader *l, const struct node *node);
/* Reads a record of `overrides`, `assumptions` or `rules` and adds it to l->fresh when it is
   usable. */
void record_read(struct loader *l, const struct node *node, enum rule_role role);

#endif
