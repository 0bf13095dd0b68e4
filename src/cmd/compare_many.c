/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_many.h"

#include <math.h>

#include "base/quote.h"
#include "base/units.h"
#include "cmd/refused.h"
#include "emit/bill.h"
#include "emit/emit.h"
#include "emit/plan_json.h"

static const char *const fits_words[] = {"fits", "tight", "does not fit"};

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

static void add_row(struct cmd_context *c, const struct candidate *base, const struct candidate *x,
                    const struct bill_wish *wish)
{
    const struct estimate *e = &x->estimate;
    struct buf *out = &c->out;
    buf_printf(out, "  %-28.*s ", LINE_ARG(c->keep, x->path));
    if (!e->complete) {
        buf_printf(out, "no estimate: %.*s\n", LINE_ARG(c->keep, e->missing));
        return;
    }
    struct str step =
        arena_printf(c->keep, "%.4g (%.4g to %.4g)", e->time.step, e->time.low, e->time.high);
    struct str word = verdict(c->keep, base, x);
    buf_printf(out, "%9.0f %-14.*s %-24.*s %9.1f %-12s", e->time.tokens_per_s_per_gpu,
               STR_ARG(word), STR_ARG(step), e->memory.peak / GIB, fits_words[e->memory.fits]);
    if (bill_wanted(wish)) {
        struct bill bill = bill_for(wish, e);
        bill_cells(&bill, out);
    }
    if (e->refusal.errors) buf_printf(out, "  refused [%.*s]", STR_ARG(e->refusal.rule));
    buf_add_char(out, '\n');
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
    buf_printf(&c->out, "  %-28s %9s %-14s %-24s %9s %-12s", "", "tok/s/GPU", "",
               "step s (low to high)", "peak GiB", "memory");
    if (bill_wanted(wish))
        buf_printf(&c->out, "  %-24s %9s %8s", "days (low to high)", "GPU hours", "cost");
    buf_add_char(&c->out, '\n');
    for (size_t i = 0; i < n; i++)
        add_row(c, &items[0], &items[i], wish);
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
