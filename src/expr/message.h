/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that compilation and evaluation have in common. */
#ifndef MOEPLAN_EXPR_MESSAGE_H
#define MOEPLAN_EXPR_MESSAGE_H

#include "expr/func.h"

/* The sign of an operator: "+", "&&"; NULL for an operation that has none. */
const char *message_sign(enum expr_op op);
/* A text as messages quote it: what is long is cut. */
struct str message_quote(struct arena *a, struct str text);
/* Why an operator has no meaning for operands of these kinds, and what to write instead. `at` is
   the operator's node. */
struct str message_operands(struct arena *a, struct str text, const struct expr_node *nodes,
                            uint32_t at, enum value_kind left, enum value_kind right);
/* The same for an argument of a function. */
struct str message_argument(struct arena *a, const struct func *f, size_t argument, struct str text,
                            enum value_kind kind);

#endif
