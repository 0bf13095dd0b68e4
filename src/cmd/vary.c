/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/vary.h"

#include <math.h>

#include "base/num.h"
#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "emit/bill.h"
#include "emit/plan_json.h"

/* ---- text ---- */

/* The marks of the best, the axes, and what each combination costs. */
static struct table new_table(struct arena *a, const struct vary *x)
{
    static const struct table_column figures[] = {{"tokens/s/GPU", true, 0},
                                                  {"step s (low to high)", false, 5},
                                                  {"TFLOP/s", true, 7},
                                                  {"peak GiB", true, 0},
                                                  {"fits", false, 0},
                                                  BILL_COLUMNS,
                                                  {"", false, 0}};
    size_t n = sizeof figures / sizeof *figures;
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, 1 + x->n_axes + n);
    columns[0] = (struct table_column){"", false, 0};
    for (size_t i = 0; i < x->n_axes; i++)
        columns[1 + i] = (struct table_column){str_dup(a, x->axes[i].name).p, true, 0};
    memcpy(columns + 1 + x->n_axes, figures, sizeof figures);
    return table_new(a, columns, 1 + x->n_axes + n);
}

enum { FIGURES = 5 };

static void add_figures(const struct vary_row *row, struct table *t)
{
    const struct time_estimate *e = &row->time;
    table_add(t, num_grouped(t->arena, llround(e->tokens_per_s_per_gpu)));
    table_printf(t, "%.4g (%.4g to %.4g)", e->step, e->low, e->high);
    table_printf(t, "%.0f", e->model_flops_per_gpu / 1e12);
    table_printf(t, "%.1f", row->peak / GIB);
    table_add(t, str_of(memory_fits(row->fits)));
}

static void add_row(const struct vary *x, const struct vary_row *row, bool billed, struct table *t)
{
    table_add(t, row->best ? STR("*") : STR(""));
    for (size_t i = 0; i < x->n_axes; i++)
        table_add(t, quote_line(t->arena, row->values[i]));
    if (row->complete)
        add_figures(row, t);
    else
        table_skip(t, FIGURES);
    bill_cells(billed && row->complete ? &row->bill : NULL, t);
    struct buf remark = buf_new(t->arena);
    if (row->refused.n) buf_printf(&remark, "refused [%.*s] ", STR_ARG(row->refused));
    if (!row->complete) buf_add(&remark, quote_line(t->arena, row->why));
    table_add(t, str_trim(buf_str(&remark)));
}

static void show_text(const struct vary *x, bool billed, int width, struct buf *out)
{
    bool best = false;
    struct table t = new_table(out->arena, x);
    for (size_t i = 0; i < x->n; i++) {
        add_row(x, &x->rows[i], billed, &t);
        best = best || x->rows[i].best;
    }
    table_print(&t, width, out);
    if (best)
        buf_add(out, STR("* the fastest by useful tokens of those that run and surely fit\n"));
}

/* ---- CSV ---- */

/* A text as one field. */
static void add_field(struct str text, struct buf *out)
{
    bool plain = str_find(text, ',') == text.n && str_find(text, '"') == text.n &&
                 str_find(text, '\n') == text.n;
    if (!plain) buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"') buf_add_char(out, '"');
        buf_add_char(out, text.p[i]);
    }
    if (!plain) buf_add_char(out, '"');
}

static void add_csv_row(const struct vary *x, const struct vary_row *row, bool billed,
                        struct buf *out)
{
    const struct time_estimate *t = &row->time;
    for (size_t i = 0; i < x->n_axes; i++) {
        add_field(row->values[i], out);
        buf_add_char(out, ',');
    }
    if (row->complete)
        buf_printf(out, "%.6g,%.6g,%.6g,%.6g,%.6g,%.5g,%.4g,%.4g,%.4g,%s,", t->step, t->low,
                   t->high, t->tokens_per_s_per_gpu, t->model_flops_per_gpu / 1e12, t->mfu,
                   row->peak / GIB, row->peak_low / GIB, row->peak_high / GIB,
                   memory_fits(row->fits));
    else
        buf_add(out, STR(",,,,,,,,,,"));
    add_field(row->refused, out);
    if (billed && row->complete)
        buf_printf(out, ",%.6g,%.6g,%.6g", row->bill.days.value, row->bill.gpu_hours.value,
                   row->bill.cost.value);
    else if (billed)
        buf_add(out, STR(",,,"));
    buf_add_char(out, '\n');
}

static void show_csv(const struct vary *x, bool billed, struct buf *out)
{
    for (size_t i = 0; i < x->n_axes; i++) {
        add_field(x->axes[i].name, out);
        buf_add_char(out, ',');
    }
    buf_add(out, STR("step_s,step_low_s,step_high_s,tokens_per_s_per_gpu,model_tflops_per_gpu,mfu,"
                     "peak_gib,peak_low_gib,peak_high_gib,fits,refused"));
    buf_add(out, billed ? STR(",days,gpu_hours,cost\n") : STR("\n"));
    for (size_t i = 0; i < x->n; i++)
        add_csv_row(x, &x->rows[i], billed, out);
}

/* ---- JSON ---- */

static void add_json_figures(struct tree *t, cJSON *to, const struct vary_row *row)
{
    figures_json(t, to, &row->time);
    tree_number(t, to, "peak_gib", row->peak / GIB);
    tree_number(t, to, "peak_low_gib", row->peak_low / GIB);
    tree_number(t, to, "peak_high_gib", row->peak_high / GIB);
    tree_text(t, to, "fits", memory_fits(row->fits));
}

static void add_json_row(struct tree *t, cJSON *list, const struct vary *x,
                         const struct vary_row *row, bool billed)
{
    cJSON *item = tree_object(t, list, NULL), *set = tree_object(t, item, "set");
    for (size_t i = 0; i < x->n_axes; i++)
        tree_str(t, set, str_dup(t->arena, x->axes[i].name).p, row->values[i]);
    if (row->complete) add_json_figures(t, item, row);
    if (row->complete && billed) bill_json(t, item, &row->bill);
    if (row->refused.n) tree_str(t, item, "refused", row->refused);
    if (row->why.n) tree_str(t, item, "why", row->why);
    tree_value(t, item, "best", value_bool(row->best));
}

static void show_json(struct arena *a, const struct vary *x, bool billed, struct buf *out)
{
    struct tree t;
    tree_open(&t, a);
    cJSON *list = tree_list(&t, t.root, "estimates");
    for (size_t i = 0; i < x->n; i++)
        add_json_row(&t, list, x, &x->rows[i], billed);
    tree_print(&t, out);
    buf_add_char(out, '\n');
}

/* ---- the command ---- */

static bool read_axes(struct cmd_context *c, struct vary_axis *axes, size_t *n)
{
    struct str text, why;
    for (*n = 0; option_nth(c, "sweep", *n, &text); (*n)++) {
        if (*n == VARY_MOST_AXES)
            return cmd_usage_error(c, "--sweep can be given %d times at most", VARY_MOST_AXES),
                   false;
        if (!vary_axis_read(c->keep, text, &axes[*n], &why))
            return cmd_usage_error(c, "--sweep wants %.*s", STR_ARG(why)), false;
    }
    return true;
}

static bool any_runs(const struct vary *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct vary_row *row = &x->rows[i];
        if (row->complete && !row->refused.n && row->fits != FITS_NO) return true;
    }
    return false;
}

int vary_run(struct cmd_context *c, const struct service *service, struct str path, struct str text)
{
    struct vary_axis axes[VARY_MOST_AXES];
    struct vary_ask ask = {.path = path,
                           .text = text,
                           .as = option_value(c, "as"),
                           .options = service->options,
                           .axes = axes,
                           .wish = service->wish};
    bool billed = bill_wanted(service->wish);
    struct str format = option_value(c, "format"), why;
    struct vary x;
    if (!read_axes(c, axes, &ask.n_axes)) return STATUS_CANNOT;
    if (!vary_answer(c->keep, c->scratch, service->rules, &ask, &x, &why))
        return cmd_usage_error(c, "--sweep: %.*s", STR_ARG(why));
    if (str_is(format, "csv"))
        show_csv(&x, billed, &c->out);
    else if (str_is(format, "json"))
        show_json(c->keep, &x, billed, &c->out);
    else
        show_text(&x, billed, c->view.width, &c->out);
    return any_runs(&x) ? STATUS_OK : STATUS_NO;
}
