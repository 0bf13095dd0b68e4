/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_many.h"

#include <math.h>

#include "base/num.h"
#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "cmd/refused.h"
#include "emit/bill.h"
#include "emit/emit.h"
#include "emit/plan_json.h"

/* Layouts this near are ties: rules/guides, ties-are-measured. */
static const double tie = 0.02;

bool compare_is_tie(double tokens_per_s_a, double tokens_per_s_b)
{
    return fabs(log(tokens_per_s_a / tokens_per_s_b)) < log(1 + tie);
}

static struct bill bill_for(const struct bill_wish *w, const struct estimate *e)
{
    return wish_bill(w, e->facts->platform, &e->config.knobs, &e->time);
}

static double speed(const struct candidate *x)
{
    return x->estimate.complete ? x->estimate.time.tokens_per_s_per_gpu : 0;
}

/* ---- text ---- */

/* "baseline", "+5.3 %", "tie". */
static struct str verdict(struct arena *a, const struct candidate *base, const struct candidate *x)
{
    if (x == base) return STR("baseline");
    if (speed(base) <= 0) return STR("-");
    struct str gain = arena_printf(a, "%+.1f %%", 100 * (speed(x) / speed(base) - 1));
    if (!compare_is_tie(speed(x), speed(base))) return gain;
    return arena_printf(a, "%.*s (tie)", STR_ARG(gain));
}

static const struct table_column columns[] = {
    {"tokens/s/GPU", true, 0}, {"difference", false, 0}, {"step s (low to high)", false, 5},
    {"peak GiB", true, 2},     {"memory", false, 1},     BILL_COLUMNS,
    {"file", false, 0}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_row(struct table *t, const struct candidate *base, const struct candidate *x,
                    const struct bill_wish *wish)
{
    const struct estimate *e = &x->estimate;
    struct str file = quote_line(t->arena, x->path);
    if (!e->complete) {
        table_skip(t, COLUMNS - 1);
        table_printf(t, "%.*s: no estimate: %.*s", STR_ARG(file), LINE_ARG(t->arena, e->missing));
        return;
    }
    table_add(t, num_grouped(t->arena, llround(e->time.tokens_per_s_per_gpu)));
    table_add(t, verdict(t->arena, base, x));
    table_printf(t, "%.4g (%.4g to %.4g)", e->time.step, e->time.low, e->time.high);
    table_printf(t, "%.1f", e->memory.peak / GIB);
    table_add(t, str_of(memory_verdict((int)e->memory.fits)));
    struct bill bill;
    if (bill_wanted(wish)) bill = bill_for(wish, e);
    bill_cells(bill_wanted(wish) ? &bill : NULL, t);
    if (e->refusal.errors)
        file =
            arena_printf(t->arena, "%.*s: refused [%.*s]", STR_ARG(file), STR_ARG(e->refusal.rule));
    table_add(t, file);
}

static struct str shown(struct arena *a, struct value v)
{
    return v.kind == VALUE_UNKNOWN ? STR("not said") : emit_scalar(a, v);
}

static void add_differences(struct cmd_context *c, const struct candidate *x)
{
    buf_printf(&c->out, "\n%.*s\n", LINE_ARG(c->keep, x->path));
    if (!x->against.differences.n) buf_add(&c->out, STR("  the same configuration\n"));
    for (size_t i = 0; i < x->against.differences.n; i++) {
        const struct difference *d = &x->against.differences.items[i];
        const struct param *p = &param_table[d->param];
        bool numbers = p->affects == AFFECTS_CONVERGENCE;
        struct str old = shown(c->keep, d->a), new = shown(c->keep, d->b);
        buf_printf(&c->out, "  %-36.*s %.*s -> %.*s%s\n", STR_ARG(p->name), LINE_ARG(c->keep, old),
                   LINE_ARG(c->keep, new), numbers ? "  (changes convergence)" : "");
    }
    for (size_t i = 0; i < x->against.advice.n; i++)
        buf_printf(&c->out, "  note: %.*s [%.*s]\n",
                   LINE_ARG(c->keep, x->against.advice.items[i].text),
                   STR_ARG(x->against.advice.items[i].guide));
}

static void show_text(struct cmd_context *c, const struct candidate *items, size_t n,
                      const struct bill_wish *wish)
{
    struct table t = table_new(c->keep, columns, COLUMNS);
    for (size_t i = 0; i < n; i++)
        add_row(&t, &items[0], &items[i], wish);
    table_print(&t, c->view.width, &c->out);
    buf_printf(&c->out, "\nwhat differs from %.*s\n", LINE_ARG(c->keep, items[0].path));
    for (size_t i = 1; i < n; i++)
        add_differences(c, &items[i]);
}

/* ---- JSON ---- */

static void add_json_differences(struct tree *t, cJSON *to, const struct comparison *x)
{
    cJSON *list = tree_list(t, to, "differences");
    for (size_t i = 0; i < x->differences.n; i++) {
        const struct difference *d = &x->differences.items[i];
        const struct param *p = &param_table[d->param];
        cJSON *item = tree_object(t, list, NULL);
        tree_str(t, item, "parameter", p->name);
        tree_text(t, item, "affects",
                  p->affects == AFFECTS_CONVERGENCE ? "convergence" : "execution");
        tree_value(t, item, "a", d->a);
        tree_value(t, item, "b", d->b);
    }
}

static void add_json(struct tree *t, cJSON *list, const struct rule_set *rules,
                     const struct candidate *base, const struct candidate *x,
                     const struct bill_wish *wish)
{
    const struct estimate *e = &x->estimate;
    cJSON *item = tree_object(t, list, NULL);
    tree_str(t, item, "file", x->path);
    tree_value(t, item, "baseline", value_bool(x == base));
    add_json_differences(t, item, &x->against);
    if (!e->complete) {
        tree_value(t, item, "estimate", value_null());
        return;
    }
    if (speed(base) > 0) {
        tree_number(t, item, "over_baseline", speed(x) / speed(base));
        tree_value(t, item, "tie", value_bool(compare_is_tie(speed(x), speed(base))));
    }
    cJSON *estimate = tree_object(t, item, "estimate");
    estimate_json(t, estimate, rules, e->facts, &e->config, &e->memory, &e->time, &e->evidence);
    refusal_json(t, estimate, &e->refusal);
    if (!bill_wanted(wish)) return;
    struct bill bill = bill_for(wish, e);
    bill_json(t, estimate, &bill);
}

static void show_json(struct cmd_context *c, const struct rule_set *rules,
                      const struct candidate *items, size_t n, const struct bill_wish *wish)
{
    struct tree t;
    tree_open(&t, c->keep);
    cJSON *list = tree_list(&t, t.root, "files");
    for (size_t i = 0; i < n; i++)
        add_json(&t, list, rules, &items[0], &items[i], wish);
    tree_print(&t, &c->out);
    buf_add_char(&c->out, '\n');
}

/* ---- all ---- */

int compare_many(struct cmd_context *c, const struct rule_set *rules, const struct candidate *items,
                 size_t n, const struct bill_wish *wish, enum compare_format format)
{
    bool equal = true;
    if (format == COMPARE_JSON)
        show_json(c, rules, items, n, wish);
    else
        show_text(c, items, n, wish);
    for (size_t i = 1; i < n; i++)
        equal = equal && items[i].against.differences.n == 0;
    if (!equal || !items[0].estimate.complete) return STATUS_NO;
    return refused_status(items[0].estimate.refusal.errors, (int)items[0].estimate.memory.fits);
}
