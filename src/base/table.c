/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

/* GAP: blanks between columns; LEAST: columns that the last one, which is wrapped, needs. */
enum { GAP = 2, LEAST = 20 };

struct table table_new(struct arena *a, const struct table_column *columns, size_t n)
{
    return (struct table){.arena = a, .columns = columns, .n_columns = n};
}

void table_add(struct table *t, struct str cell)
{
    *VEC_PUSH(t->arena, &t->cells) = cell;
}

void table_printf(struct table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table_add(t, arena_vprintf(t->arena, format, args));
    va_end(args);
}

void table_skip(struct table *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_add(t, STR(""));
}

/* Columns of a terminal that each column takes; 0: it has nothing in it. */
static int *natural_widths(const struct table *t)
{
    int *widths = ARENA_ARRAY(t->arena, int, t->n_columns + 1);
    for (size_t i = 0; i < t->cells.n; i++) {
        int width = page_width(t->cells.items[i]);
        if (width > widths[i % t->n_columns]) widths[i % t->n_columns] = width;
    }
    for (size_t i = 0; i < t->n_columns; i++) {
        int title = page_width(str_of(t->columns[i].title));
        if (widths[i] && title > widths[i]) widths[i] = title;
    }
    return widths;
}

static size_t last_shown(const struct table *t, const int *widths)
{
    size_t last = t->n_columns;
    while (last > 0 && !widths[last - 1])
        last--;
    return last ? last - 1 : 0;
}

/* What the row takes at least: its last column can be wrapped. */
static int least_width(const struct table *t, const int *widths)
{
    int sum = 0;
    size_t last = last_shown(t, widths);
    for (size_t i = 0; i < last; i++)
        sum += widths[i] ? widths[i] + GAP : 0;
    return sum + (widths[last] < LEAST ? widths[last] : LEAST);
}

/* The column that is missed most among those left out and not tried; none: n_columns. */
static size_t most_missed(const struct table *t, const int *natural, const bool *tried)
{
    size_t best = t->n_columns;
    for (size_t i = 0; i < t->n_columns; i++) {
        bool candidate = natural[i] && t->columns[i].drop && !tried[i];
        bool better = best == t->n_columns || t->columns[i].drop < t->columns[best].drop;
        if (candidate && better) best = i;
    }
    return best;
}

/* Leaves out the columns that there is no room for, the important ones having the first choice;
   gives their titles. */
static struct str leave_out(const struct table *t, int *widths, int width)
{
    struct buf names = buf_new(t->arena);
    int *natural = ARENA_ARRAY(t->arena, int, t->n_columns);
    bool *tried = ARENA_ARRAY(t->arena, bool, t->n_columns);
    if (!width || least_width(t, widths) <= width) return STR("");
    memcpy(natural, widths, t->n_columns * sizeof *natural);
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].drop) widths[i] = 0;
    for (size_t i; (i = most_missed(t, natural, tried)) < t->n_columns;) {
        tried[i] = true;
        widths[i] = natural[i];
        if (least_width(t, widths) > width) widths[i] = 0;
    }
    for (size_t i = 0; i < t->n_columns; i++)
        if (natural[i] && !widths[i])
            buf_printf(&names, "%s%s", names.n ? ", " : "", t->columns[i].title);
    return buf_str(&names);
}

static void add_row(const struct table *t, const struct str *cells, const int *widths,
                    struct buf *out)
{
    size_t last = last_shown(t, widths);
    for (size_t i = 0; i <= last; i++) {
        if (!widths[i]) continue;
        bool right = t->columns[i].right;
        size_t pad = (size_t)(widths[i] - page_width(cells[i]));
        if (right) buf_add_n(out, ' ', pad);
        if (i == last && !right && cells[i].n) buf_add(out, STR(MARK_HANG));
        buf_add(out, cells[i]);
        if (!right && i < last) buf_add_n(out, ' ', pad);
        if (i < last) buf_add_n(out, ' ', GAP);
    }
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    buf_add_char(out, '\n');
}

static void add_titles(const struct table *t, const int *widths, struct buf *out)
{
    struct str *titles = ARENA_ARRAY(t->arena, struct str, t->n_columns);
    for (size_t i = 0; i < t->n_columns; i++)
        titles[i] = widths[i] && t->columns[i].title[0]
                        ? arena_printf(t->arena, MARK_HEADING "%s" MARK_END, t->columns[i].title)
                        : STR("");
    buf_add(out, STR(MARK_WIDE));
    add_row(t, titles, widths, out);
}

void table_print(const struct table *t, int width, struct buf *out)
{
    int *widths = natural_widths(t);
    struct str left_out = leave_out(t, widths, width);
    add_titles(t, widths, out);
    for (size_t i = 0; i + t->n_columns <= t->cells.n; i += t->n_columns) {
        buf_add(out, STR(MARK_WIDE));
        add_row(t, t->cells.items + i, widths, out);
    }
    if (left_out.n)
        buf_printf(
            out, MARK_FAINT "(no room for: %.*s; a wider screen, or a pipe, has it)" MARK_END "\n",
            STR_ARG(left_out));
}
