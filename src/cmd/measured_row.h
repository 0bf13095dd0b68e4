/* SPDX-License-Identifier: Apache-2.0 */
/* A row of measured times, one JSON object: of a public table, or of tools/microbenchmark.py. */
#ifndef MOEPLAN_CMD_MEASURED_ROW_H
#define MOEPLAN_CMD_MEASURED_ROW_H

#include "cost/measured.h"
#include "doc/node.h"

/* Strings are those of the node. */
struct measured measured_row(struct arena *a, const struct node *row);
/* A number of the row; 0: there is none that can be a size or a time. */
double measured_row_number(struct arena *a, const struct node *row, const char *name);
/* A string of the row; empty: there is none. */
struct str measured_row_word(const struct node *row, const char *name);

#endif
