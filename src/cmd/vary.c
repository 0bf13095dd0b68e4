/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/vary.h"

#include "base/quote.h"
#include "base/units.h"
#include "emit/bill.h"

static const char *const fits_words[] = {"yes", "tight", "no"};

/* ---- text ---- */

static int width_of(const struct vary_axis *axis)
{
    size_t width = axis->name.n;
    for (size_t i = 0; i < axis->values.n; i++)
        if (axis->values.items[i].n > width) width = axis->values.items[i].n;
    return (int)width;
}

static void add_head(const struct vary *x, bool billed, struct buf *out)
{
    buf_add(out, STR("  "));
    for (size_t i = 0; i < x->n_axes; i++)
        buf_printf(out, "%*.*s  ", width_of(&x->axes[i]), STR_ARG(x->axes[i].name));
    buf_printf(out, "%9s  %-24s %8s %9s %s", "tok/s/GPU", "step s (low to high)", "TFLOP/s",
               "peak GiB", "fits");
    if (billed) buf_printf(out, "  %8s %9s %8s", "days", "GPU hours", "cost");
    buf_add_char(out, '\n');
}

static void add_bill(const struct bill *b, struct buf *out)
{
    struct arena *a = out->arena;
    struct str days = bill_number(a, b->days.value), hours = bill_number(a, b->gpu_hours.value),
               cost = b->price > 0 ? bill_number(a, b->cost.value) : STR("-");
    buf_printf(out, " %8.*s %9.*s %8.*s", STR_ARG(days), STR_ARG(hours), STR_ARG(cost));
}

static void add_row(const struct vary *x, const struct vary_row *row, bool billed, struct buf *out)
{
    const struct time_estimate *t = &row->time;
    buf_add(out, row->best ? STR("* ") : STR("  "));
    for (size_t i = 0; i < x->n_axes; i++)
        buf_printf(out, "%*.*s  ", width_of(&x->axes[i]), LINE_ARG(out->arena, row->values[i]));
    if (row->complete) {
        struct str step = arena_printf(out->arena, "%.4g (%.4g to %.4g)", t->step, t->low, t->high);
        buf_printf(out, "%9.0f  %-24.*s %8.0f %9.1f %s", t->tokens_per_s_per_gpu, STR_ARG(step),
                   t->model_flops_per_gpu / 1e12, row->peak / GIB, fits_words[row->fits]);
        if (billed) buf_add_n(out, ' ', 5 - strlen(fits_words[row->fits]));
        if (billed) add_bill(&row->bill, out);
    }
    if (row->refused.n) buf_printf(out, "  refused [%.*s]", STR_ARG(row->refused));
    if (!row->complete) buf_printf(out, "%.*s", LINE_ARG(out->arena, row->why));
    buf_add_char(out, '\n');
}

static void show_text(const struct vary *x, bool billed, struct buf *out)
{
    bool best = false;
    add_head(x, billed, out);
    for (size_t i = 0; i < x->n; i++) {
        add_row(x, &x->rows[i], billed, out);
        best = best || x->rows[i].best;
    }
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
                   fits_words[row->fits]);
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
    const struct time_estimate *e = &row->time;
    tree_number(t, to, "step_s", e->step);
    tree_number(t, to, "step_low_s", e->low);
    tree_number(t, to, "step_high_s", e->high);
    tree_number(t, to, "tokens_per_s_per_gpu", e->tokens_per_s_per_gpu);
    tree_number(t, to, "model_tflops_per_gpu", e->model_flops_per_gpu / 1e12);
    tree_number(t, to, "mfu", e->mfu);
    tree_number(t, to, "peak_gib", row->peak / GIB);
    tree_number(t, to, "peak_low_gib", row->peak_low / GIB);
    tree_number(t, to, "peak_high_gib", row->peak_high / GIB);
    tree_text(t, to, "fits", fits_words[row->fits]);
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
        show_text(&x, billed, &c->out);
    return any_runs(&x) ? STATUS_OK : STATUS_NO;
}
