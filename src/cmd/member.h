/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a batch request, checked against a table: nothing misspelt or of the wrong kind is
   ignored. */
#ifndef MOEPLAN_CMD_MEMBER_H
#define MOEPLAN_CMD_MEMBER_H

#include "cmd/batch.h"

enum member_kind {
    MEMBER_ANY,
    MEMBER_TEXT,
    MEMBER_NUMBER, /* an integer in the range of `param`; without one of at least 1 */
    MEMBER_MAP,
    MEMBER_FLAG,  /* true or false */
    MEMBER_TEXTS, /* one or a list of them */
};

struct member {
    const char *name;
    enum member_kind kind;
    int param; /* MEMBER_NUMBER: whose range it has, or P_NONE */
};

/* Whether every member of a mapping (NULL: none) is in the table, which ends with a NULL name, and
   of its kind; null is taken as absent. False with *why set, which names the member and the nearest
   known one. `path` stands before the names in it: "", "options.". */
bool members_check(const struct batch_request *request, const struct node *map, const char *path,
                   const struct member *known, struct str *why);
/* A finding for an answer: "p.yaml:6:19: message (help)"; the place only where it is in a file. */
struct str member_finding(const struct batch_request *request, const struct diag *d);
/* The text of a member that has been checked; empty when it is absent. */
struct str member_text(const struct node *map, const char *name);
/* The number of a member that has been checked; 0 when it is absent. */
int64_t member_number(const struct batch_request *request, const struct node *map,
                      const char *name);
/* Whether a flag that has been checked is true; absent is false. */
bool member_true(const struct batch_request *request, const struct node *map, const char *name);

#endif
