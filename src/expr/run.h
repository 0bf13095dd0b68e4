/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation in progress. */
#ifndef MOEPLAN_EXPR_RUN_H
#define MOEPLAN_EXPR_RUN_H

#include "expr/program.h"

struct run {
    const struct expr *e;
    const struct expr_scope *scope;
    struct arena *scratch;
    uint32_t steps;
    uint64_t known; /* which of the variables have their value: one bit each */
    struct value locals[EXPR_MAX_LOCALS], variables[EXPR_MAX_VARIABLES];
};

/* What one step of the budget pays for besides a node: bytes of text copied or compared, and items
   or characters looked at one by one. */
enum { RUN_BYTES = 64, RUN_ITEMS = 16 };

/* Sets everything but the locals and variables, which are written before they are read: clearing
   them would cost more than a small rule. */
void run_init(struct run *r, const struct expr *e, struct arena *scratch,
              const struct expr_scope *scope);
/* The value of a node. */
struct value run_node(struct run *r, uint32_t at);
/* Accounts for work that is not nodes: false when the evaluation has used up its steps, and then
   the caller stops. */
bool run_spend(struct run *r, size_t steps);
/* The same for going through a whole value once: comparing it, printing it. */
bool run_spend_value(struct run *r, struct value v);
/* The error value for that. */
struct value run_exhausted(void);
/* An error value of this text, in the scratch arena. */
__attribute__((format(printf, 2, 3))) struct value run_error(struct run *r, const char *format,
                                                             ...);
/* Equality within the budget; false with *out set when that is used up. */
bool run_equal(struct run *r, struct value a, struct value b, struct value *out);
/* The items of a macro's range. keys is NULL for a list. */
struct run_range {
    const struct value *keys, *items;
    size_t n;
};
/* False when the value is neither list nor map. */
bool run_range_of(struct value v, struct run_range *out);
/* Sets the variables of the macro node to the i-th item. */
void run_bind(struct run *r, const struct expr_node *n, const struct run_range *range, size_t i);

#endif
