/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/quote.h"
#include "base/units.h"
#include "cmd/sizing.h"
#include "emit/bill.h"
#include "emit/screen.h"

static const char *const scaling_words[] = {"base", "strong", "weak", "mixed"};

/* "tp 2 pp 8 x 4 ep 16 mbs 1": what is 1 is left out but for tp. */
static struct str layout_words(struct arena *a, const struct knobs *k)
{
    struct buf b = buf_new(a);
    buf_printf(&b, "tp %d", k->tp);
    if (k->pp > 1) buf_printf(&b, " pp %d", k->pp);
    if (k->vpp > 1) buf_printf(&b, " x %d", k->vpp);
    if (k->cp > 1) buf_printf(&b, " cp %d", k->cp);
    if (k->ep > 1) buf_printf(&b, " ep %d", k->ep);
    if (k->etp > 1) buf_printf(&b, " etp %d", k->etp);
    buf_printf(&b, " mbs %d%s", k->mbs, k->fsdp ? " FSDP" : "");
    return buf_str(&b);
}

/* ---- text ---- */

/* Rows may be of several frameworks. */
static bool names_frameworks(const struct sizing *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].answers.n > 1) return true;
    return false;
}

static const struct table_column columns[] = {
    {"task", false, 0},        {"", false, 0}, /* the knee */
    {"platform", false, 0},    {"GPUs", true, 0},   {"gbs", true, 10},       {"layout", false, 0},
    {"tokens/s/GPU", true, 0}, {"step s", true, 7}, {"eff.", true, 8},       {"scaling", false, 9},
    {"peak GiB", true, 5},     BILL_COLUMNS,        {"framework", false, 2}, {"", false, 0}};

enum {
    COLUMNS = sizeof columns / sizeof *columns,
    ASKED = 5 /* what is asked, before the answer */
};

/* What is against the row, in a word each. */
static struct str remarks(struct arena *a, const struct size_row *row)
{
    struct str words[3];
    size_t n = 0;
    if (row->bill.deadline == DEADLINE_MISSED) words[n++] = STR("late");
    if (row->bill.affordable == DEADLINE_MISSED) words[n++] = STR("over budget");
    if (row->tight) words[n++] = STR("tight: may not fit");
    return str_joined(a, words, n);
}

static void add_row(const struct size_row *row, bool tasks, bool frameworks, struct table *t)
{
    struct arena *a = t->arena;
    table_add(t, tasks ? ask_task(&row->ask) : STR(""));
    table_add(t, row->knee ? STR("*") : STR(""));
    table_add(t, quote_line(a, row->ask.platform->id));
    table_add(t, num_grouped(a, row->ask.gpus));
    table_add(t, num_grouped(a, row->ask.gbs));
    if (!row->plan) {
        table_add(t, STR("no plan fits"));
        table_skip(t, COLUMNS - ASKED - 1);
        return;
    }
    table_add(t, layout_words(a, &row->plan->config.knobs));
    table_add(t, num_grouped(a, llround(row->time.tokens_per_s_per_gpu)));
    table_printf(t, "%.2f", row->time.step);
    table_printf(t, "%.0f%%", 100 * row->efficiency);
    table_add(t, str_of(scaling_words[row->scaling]));
    table_printf(t, "%.1f", row->plan->costs.peak / GIB);
    bill_cells(bill_wanted(&row->ask.wish) ? &row->bill : NULL, t);
    table_add(t, frameworks ? str_of(framework_name(row->framework)) : STR(""));
    table_add(t, remarks(a, row));
}

/* What is to be known of single rows. */
static void add_notes(const struct sizing *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct size_row *row = &s->rows[i];
        for (size_t k = 0; k < row->answers.notes.n; k++)
            buf_printf(out, "note: %.*s, %.*s\n", LINE_ARG(out->arena, row->ask.platform->id),
                       LINE_ARG(out->arena, row->answers.notes.items[k]));
    }
}

/* A row has no room for what the plan's own screen says. */
static void add_images(const struct sizing *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct plan *plan = s->rows[i].plan;
        if (!plan || !plan->config.model.vision_layers || plan->config.knobs.image_tokens) continue;
        buf_add(out, STR("images: none counted: image_tokens is not given (--pin "
                         "image_tokens=N)\n"));
        return;
    }
}

static void add_knee(const struct size_row *rows, size_t n, bool tasks, struct buf *out)
{
    const struct str platform = rows[0].ask.platform->id;
    const struct size_row *knee = NULL;
    for (size_t i = 0; i < n; i++)
        if (rows[i].knee) knee = &rows[i];
    if (n < 2) return;
    buf_printf(out, "knee on %.*s", LINE_ARG(out->arena, platform));
    if (tasks) buf_printf(out, " of %.*s", STR_ARG(ask_task(&rows[0].ask)));
    buf_add(out, STR(": "));
    if (!knee) {
        buf_add(out, STR("none up to the largest size\n"));
        return;
    }
    buf_printf(out, "%" PRId64 " GPUs (*): beyond it efficiency falls faster than speed rises\n",
               knee->ask.gpus);
}

/* What all tasks take, one after the other. */
static void add_stages(const struct stages *x, struct buf *out)
{
    struct arena *a = out->arena;
    struct str gpus =
        x->gpus ? arena_printf(a, "%" PRId64 " GPUs", x->gpus) : STR("the fewest GPUs of each");
    const struct bill *b = &x->total;
    buf_printf(out, "all stages on %.*s of %.*s: ", STR_ARG(gpus), LINE_ARG(a, x->platform->id));
    if (!x->has_plans) {
        buf_add(out, STR("one has no plan\n"));
        return;
    }
    buf_printf(out, "%.*s days (%.*s to %.*s), %.*s GPU hours",
               STR_ARG(bill_number(a, b->days.value)), STR_ARG(bill_number(a, b->days.low)),
               STR_ARG(bill_number(a, b->days.high)), STR_ARG(bill_number(a, b->gpu_hours.value)));
    if (b->price > 0) buf_printf(out, ", cost %.*s", STR_ARG(bill_number(a, b->cost.value)));
    buf_add_char(out, '\n');
}

void sizing_text(const struct sizing_ask *ask, const struct sizing *s, int width, struct buf *out)
{
    const struct ask *first = &s->rows[0].ask;
    size_t sizes = ask->gpus.n;
    struct table t = table_new(out->arena, columns, COLUMNS);
    buf_printf(out, "%.*s, seq %" PRId64 "%s\n\n", LINE_ARG(out->arena, first->model->name),
               first->seq, first->seq_assumed ? " (assumed)" : "");
    for (size_t i = 0; i < s->n; i++)
        add_row(&s->rows[i], ask->n_asks > 1, names_frameworks(s), &t);
    table_print(&t, width, out);
    for (size_t i = 0; i < s->n_stages; i++)
        add_stages(&s->stages[i], out);
    buf_add(out,
            STR("\neff.: tokens/s/GPU against the smallest size of the platform; scaling: "
                "from the size before, strong at the same batch, weak at the same batch a GPU\n"));
    for (size_t group = 0; group < ask->n_asks * ask->n_platforms; group++)
        add_knee(&s->rows[group * sizes], sizes, ask->n_asks > 1, out);
    add_images(s, out);
    add_notes(s, out);
}

/* ---- CSV ---- */

static void add_csv_bill(const struct bill *b, struct buf *out)
{
    buf_printf(out, ",%.6g,%.6g,%.6g,%.6g", b->days.value, b->days.low, b->days.high,
               b->gpu_hours.value);
    if (b->price > 0)
        buf_printf(out, ",%.6g", b->cost.value);
    else
        buf_add_char(out, ',');
    if (b->power_w > 0)
        buf_printf(out, ",%.6g\n", b->energy_kwh.value);
    else
        buf_add(out, STR(",\n"));
}

void sizing_csv(const struct sizing *s, struct buf *out)
{
    struct arena *a = out->arena;
    buf_add(out,
            STR("task,platform,gpus,gbs,seq,framework,tp,pp,vpp,cp,ep,etp,mbs,step_s,step_low_s,"
                "step_high_s,tokens_per_s_per_gpu,efficiency,scaling,peak_gib,fits,knee,days,"
                "days_low,days_high,gpu_hours,cost,energy_kwh\n"));
    for (size_t i = 0; i < s->n; i++) {
        const struct size_row *row = &s->rows[i];
        const struct time_estimate *t = &row->time;
        buf_printf(out, "%.*s,%.*s,%" PRId64 ",%" PRId64 ",%" PRId64, STR_ARG(ask_task(&row->ask)),
                   LINE_ARG(a, row->ask.platform->id), row->ask.gpus, row->ask.gbs, row->ask.seq);
        if (!row->plan) {
            buf_add(out, STR(",,,,,,,,,,,,,,,,no,,,,,,,\n"));
            continue;
        }
        const struct knobs *k = &row->plan->config.knobs;
        buf_printf(out, ",%s,%d,%d,%d,%d,%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.4g,%s,%.4g,%s,%s",
                   framework_name(row->framework), k->tp, k->pp, k->vpp, k->cp, k->ep, k->etp,
                   k->mbs, t->step, t->low, t->high, t->tokens_per_s_per_gpu, row->efficiency,
                   scaling_words[row->scaling], row->plan->costs.peak / GIB,
                   row->tight ? "tight" : "yes", row->knee ? "yes" : "no");
        if (bill_wanted(&row->ask.wish))
            add_csv_bill(&row->bill, out);
        else
            buf_add(out, STR(",,,,,,\n"));
    }
}

/* ---- JSON ---- */

static void add_json_row(struct tree *t, cJSON *to, const struct rule_set *rules,
                         const struct size_row *row)
{
    cJSON *item = tree_object(t, to, NULL);
    tree_str(t, item, "task", ask_task(&row->ask));
    tree_str(t, item, "platform", row->ask.platform->id);
    tree_int(t, item, "gpus", row->ask.gpus);
    tree_int(t, item, "gbs", row->ask.gbs);
    tree_int(t, item, "seq", row->ask.seq);
    if (!row->plan) {
        tree_value(t, item, "plan", value_null());
        return;
    }
    tree_text(t, item, "framework", framework_name(row->framework));
    plan_json(t, item, rules, row->plan->facts);
    tree_number(t, item, "step_s", row->time.step);
    tree_number(t, item, "step_low_s", row->time.low);
    tree_number(t, item, "step_high_s", row->time.high);
    tree_number(t, item, "tokens_per_s_per_gpu", row->time.tokens_per_s_per_gpu);
    tree_number(t, item, "efficiency", row->efficiency);
    tree_text(t, item, "scaling", scaling_words[row->scaling]);
    tree_number(t, item, "peak_gib", row->plan->costs.peak / GIB);
    tree_text(t, item, "fits", row->tight ? "tight" : "yes");
    tree_value(t, item, "knee", value_bool(row->knee));
    if (bill_wanted(&row->ask.wish)) bill_json(t, item, &row->bill);
}

static void add_json_stages(struct tree *t, const struct sizing *s)
{
    cJSON *all = s->n_stages ? tree_list(t, t->root, "stages") : NULL;
    for (size_t i = 0; i < s->n_stages; i++) {
        const struct bill *b = &s->stages[i].total;
        cJSON *item = tree_object(t, all, NULL);
        tree_str(t, item, "platform", s->stages[i].platform->id);
        if (s->stages[i].gpus) tree_int(t, item, "gpus", s->stages[i].gpus);
        tree_value(t, item, "has_plans", value_bool(s->stages[i].has_plans));
        if (!s->stages[i].has_plans) continue;
        tree_number(t, item, "days", b->days.value);
        tree_number(t, item, "days_low", b->days.low);
        tree_number(t, item, "days_high", b->days.high);
        tree_number(t, item, "gpu_hours", b->gpu_hours.value);
        if (b->price > 0) tree_number(t, item, "cost", b->cost.value);
    }
}

static void add_json_notes(struct tree *t, const struct sizing *s)
{
    cJSON *notes = tree_list(t, t->root, "notes");
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->rows[i].answers.notes.n; k++)
            tree_str(t, notes, NULL, s->rows[i].answers.notes.items[k]);
}

void sizing_json(struct tree *t, const struct rule_set *rules, const struct sizing *s)
{
    cJSON *sizes = tree_list(t, t->root, "sizes");
    for (size_t i = 0; i < s->n; i++)
        add_json_row(t, sizes, rules, &s->rows[i]);
    cJSON *knees = tree_list(t, t->root, "knees");
    for (size_t i = 0; i < s->n; i++) {
        if (!s->rows[i].knee) continue;
        cJSON *knee = tree_object(t, knees, NULL);
        tree_str(t, knee, "platform", s->rows[i].ask.platform->id);
        tree_int(t, knee, "gpus", s->rows[i].ask.gpus);
    }
    add_json_stages(t, s);
    add_json_notes(t, s);
}
