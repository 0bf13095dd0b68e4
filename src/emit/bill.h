/* SPDX-License-Identifier: Apache-2.0 */
/* What a run takes, for people and programs. */
#ifndef MOEPLAN_EMIT_BILL_H
#define MOEPLAN_EMIT_BILL_H

#include "base/table.h"
#include "choose/bill.h"
#include "emit/tree.h"

/* Days, GPU hours, cost, energy, goodput and deadline; a line each. */
void bill_screen(const struct bill *b, struct buf *out);
/* The member `decision`. */
void bill_json(struct tree *t, cJSON *to, const struct bill *b);
/* Three digits and a unit a thousand apart: "12.3 M". */
struct str bill_number(struct arena *a, double x);

/* Columns of a table, for bill_cells. */
#define BILL_COLUMNS                                                                               \
    {"days (low to high)", false, 3}, {"GPU hours", true, 6},                                      \
    {                                                                                              \
        "cost", true, 4                                                                            \
    }
/* The cells below them; NULL: nothing is asked of the run. */
void bill_cells(const struct bill *b, struct table *t);

#endif
