/* SPDX-License-Identifier: Apache-2.0 */
/* One record of a rule file: its keys, checked and compiled. */
#ifndef MOEPLAN_RULES_RECORD_H
#define MOEPLAN_RULES_RECORD_H

#include "base/map.h"
#include "rules/set.h"

/* A named expression of the file, put in parentheses and in place of its name. */
struct rule_variable {
    struct str name, text;
};

/* What the loader collects, over all files and of the file being read. */
struct loader {
    struct arena *arena;
    struct diags *diags;
    bool failed; /* an error was added */
    struct map ids, guide_ids;
    struct rule_list fresh;
    VEC(struct guide_row) guides;
    struct map condition_of; /* text after variables were put in -> number */
    VEC(const struct expr *) conditions;
    /* the file */
    struct str suite;
    struct version_range in[FRAMEWORK_COUNT];
    struct map variable_of;
    VEC(struct rule_variable) variables;
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
/* `frameworks`: a list of names or a mapping to version ranges. */
void record_frameworks(struct loader *l, const struct node *node, struct version_range *in);
/* Variables of the file are put in. NULL with an error; EXPR_DYN accepts any type. */
const struct expr *record_compile(struct loader *l, const struct node *node, enum expr_type type);
/* The text with the file's variables put in, in parentheses; cut above RECORD_LONGEST bytes, which
   record_compile refuses: variables that use one another twice grow without bound. */
enum { RECORD_LONGEST = 65536 };
struct str record_expand(struct loader *l, struct str text);
/* Reads a record of `overrides`, `assumptions` or `rules` and adds it to l->fresh when it is
   usable. */
void record_read(struct loader *l, const struct node *node, enum rule_role role);

#endif
