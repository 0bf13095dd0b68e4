/* SPDX-License-Identifier: Apache-2.0 */
/* What a run takes, for people and programs. */
#ifndef MOEPLAN_EMIT_BILL_H
#define MOEPLAN_EMIT_BILL_H

#include "choose/bill.h"
#include "emit/tree.h"

/* Days, GPU hours, cost, energy, goodput and deadline; a line each. */
void bill_screen(const struct bill *b, struct buf *out);
/* The member `decision`. */
void bill_json(struct tree *t, cJSON *to, const struct bill *b);
/* Three digits and a unit a thousand apart: "12.3 M". */
struct str bill_number(struct arena *a, double x);

/* The cells of a table whose head is "days (low to high)", "GPU hours", "cost". */
void bill_cells(const struct bill *b, struct buf *out);

#endif
