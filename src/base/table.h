/* SPDX-License-Identifier: Apache-2.0 */
/* A table on a screen: as many columns as there is room for, the important ones kept. */
#ifndef MOEPLAN_BASE_TABLE_H
#define MOEPLAN_BASE_TABLE_H

#include "base/page.h"
#include "base/vec.h"

struct table_column {
    const char *title; /* with the unit, where all figures below have one */
    bool right;        /* figures stand under each other's last digit */
    int drop;          /* where room is short the column with the largest goes first; 0: none */
};

struct table {
    struct arena *arena;
    const struct table_column *columns;
    size_t n_columns;
    VEC(struct str) cells; /* row by row */
};

struct table table_new(struct arena *a, const struct table_column *columns, size_t n);
/* The next cell, of one line, marks allowed; rows are complete. */
void table_add(struct table *t, struct str cell);
__attribute__((format(printf, 2, 3))) void table_printf(struct table *t, const char *format, ...);
/* The next `n` cells, with nothing in them. */
void table_skip(struct table *t, size_t n);
/* Heading and rows, fitted to `width` columns (0: any): columns without a figure or word are left
   out; others that there is no room for are named below. The last column is wrapped. */
void table_print(const struct table *t, int width, struct buf *out);

#endif
