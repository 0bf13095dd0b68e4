/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions came to the last time, and on which facts: the files of a repository, and the
   requests of a program, say mostly the same. */
#ifndef MOEPLAN_RULES_MEMO_H
#define MOEPLAN_RULES_MEMO_H

#include "rules/rule.h"

struct kept_outcome;

/* The place of an expression, which lives as long as the memo; NULL: none, as it reads more than
   facts and which words a file has, or there are too many. */
struct kept_outcome *memo_place(struct rule_memo *memo, const struct expr *e);
/* 1 + the outcome that is kept there when all that the expression reads is as it was then; 0: not
   known. */
unsigned char memo_find(const struct kept_outcome *kept, const struct facts *f,
                        const struct expr_scope *scope);
/* Keeps `outcome`, in place of what was there. */
void memo_keep(struct kept_outcome *kept, const struct facts *f, const struct expr_scope *scope,
               unsigned char outcome);

#endif
