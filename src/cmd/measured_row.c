/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/measured_row.h"

double measured_row_number(struct arena *a, const struct node *row, const char *name)
{
    const struct node *node = node_get(row, str_of(name));
    struct value v = node ? node_value(a, node, SCALAR_JSON) : value_null();
    double x = v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : 0;
    return x > 0 && x < 1e15 ? x : 0;
}

struct str measured_row_word(const struct node *row, const char *name)
{
    const struct node *node = node_get(row, str_of(name));
    return node && node->kind == NODE_SCALAR ? node->text : STR("");
}

struct measured measured_row(struct arena *a, const struct node *row)
{
    struct measured x;
#define READ_NUMBER(name) x.name = measured_row_number(a, row, #name);
    MEASURED_NUMBERS(READ_NUMBER)
#undef READ_NUMBER
#define READ_WORD(name) x.name = measured_row_word(row, #name);
    MEASURED_WORDS(READ_WORD)
#undef READ_WORD
    return x;
}
