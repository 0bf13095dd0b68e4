/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/sizing.h"

/* ---- one size ---- */

static int64_t smallest(const struct sizing_ask *ask)
{
    int64_t least = ask->gpus.items[0];
    for (size_t i = 1; i < ask->gpus.n; i++)
        if (ask->gpus.items[i] < least) least = ask->gpus.items[i];
    return least;
}

int64_t sizing_batch(const struct sizing_ask *ask, int64_t gpus)
{
    int64_t low = ask->gbs_low, high = ask->gbs_high, least = smallest(ask);
    if (least < 1 || gpus < 1) return low;
    double grown = (double)low * (double)gpus / (double)least;
    int64_t gbs = grown < (double)high ? (int64_t)grown : high;
    int64_t whole = gbs / gpus * gpus;
    return whole >= low ? whole : gbs;
}

/* The fastest of the frameworks' first plans; one that surely fits goes before others. */
static void pick(struct size_row *row)
{
    for (size_t i = 0; i < row->answers.n; i++) {
        const struct answer *one = &row->answers.items[i];
        struct time_estimate t;
        if (!one->n || !time_estimate(&one->plans[0].config, &t, NULL)) continue;
        bool surer = row->plan && row->tight && !one->tight;
        bool faster =
            one->tight == row->tight && t.tokens_per_s_per_gpu > row->time.tokens_per_s_per_gpu;
        if (row->plan && !surer && !faster) continue;
        row->plan = &one->plans[0];
        row->framework = row->answers.framework[i];
        row->tight = one->tight;
        row->time = t;
    }
}

static bool answer_row(struct arena *a, struct arena *scratch, struct diags *diags,
                       const struct rule_set *rules, struct size_row *row)
{
    struct ask *ask = &row->ask;
    if (!suggest(a, scratch, diags, rules, ask, &row->answers)) return false;
    pick(row);
    if (row->plan && bill_wanted(&ask->wish))
        row->bill = wish_bill(&ask->wish, ask->platform, &row->plan->config.knobs, &row->time);
    return true;
}

/* ---- one platform's sizes against each other ---- */

static enum scaling scaling_of(const struct size_row *smaller, const struct ask *ask)
{
    if (!smaller) return SCALING_BASE;
    const struct ask *base = &smaller->ask;
    if (ask->gbs == base->gbs) return SCALING_STRONG;
    return ask->gbs * base->gpus == base->gbs * ask->gpus ? SCALING_WEAK : SCALING_MIXED;
}

/* The smallest size with a plan. */
static const struct size_row *base_of(const struct size_row *rows, size_t n)
{
    const struct size_row *base = NULL;
    for (size_t i = 0; i < n; i++)
        if (rows[i].plan && (!base || rows[i].ask.gpus < base->ask.gpus)) base = &rows[i];
    return base;
}

/* The largest size with a plan that is smaller than this one; NULL: none. */
static const struct size_row *before(const struct size_row *rows, size_t n, int64_t gpus)
{
    const struct size_row *found = NULL;
    for (size_t i = 0; i < n; i++) {
        bool smaller = rows[i].plan && rows[i].ask.gpus < gpus;
        if (smaller && (!found || rows[i].ask.gpus > found->ask.gpus)) found = &rows[i];
    }
    return found;
}

static double worth(const struct size_row *row)
{
    return row->efficiency * row->time.tokens_per_s_per_gpu * (double)row->ask.gpus;
}

static void mark_knee(struct size_row *rows, size_t n)
{
    struct size_row *best = NULL, *largest = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].plan) continue;
        if (!best || worth(&rows[i]) > worth(best)) best = &rows[i];
        if (!largest || rows[i].ask.gpus > largest->ask.gpus) largest = &rows[i];
    }
    if (best && best != largest) best->knee = true;
}

static void relate(struct size_row *rows, size_t n)
{
    const struct size_row *base = base_of(rows, n);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].plan) continue;
        rows[i].scaling = scaling_of(before(rows, n, rows[i].ask.gpus), &rows[i].ask);
        rows[i].efficiency = rows[i].time.tokens_per_s_per_gpu / base->time.tokens_per_s_per_gpu;
    }
    mark_knee(rows, n);
}

/* ---- stages ---- */

static void figure_add(struct figure *sum, struct figure x)
{
    sum->value += x.value, sum->low += x.low, sum->high += x.high;
}

static struct stages stages_of(const struct size_row *rows, size_t n, size_t apart)
{
    struct stages s = {.platform = rows[0].ask.platform, .has_plans = true};
    for (size_t i = 0; i < n; i++) {
        const struct bill *one = &rows[i * apart].bill;
        s.has_plans = s.has_plans && rows[i * apart].plan;
        figure_add(&s.total.days, one->days);
        figure_add(&s.total.gpu_hours, one->gpu_hours);
        figure_add(&s.total.cost, one->cost);
        s.total.price = one->price;
    }
    if (!s.has_plans) s.total = (struct bill){0};
    return s;
}

static void add_stages(struct arena *a, const struct sizing_ask *ask, struct sizing *out)
{
    size_t sizes = ask->gpus.n, each = ask->n_platforms * sizes;
    out->stages = NULL, out->n_stages = 0;
    for (size_t i = 0; i < ask->n_asks; i++)
        if (!ask->asks[i].stage) return;
    out->stages = ARENA_ARRAY(a, struct stages, each);
    out->n_stages = each;
    for (size_t i = 0; i < each; i++) {
        out->stages[i] = stages_of(&out->rows[i], ask->n_asks, each);
        out->stages[i].gpus = ask->gpus.items[i % sizes];
    }
}

bool sizing_answer(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct sizing_ask *ask, struct sizing *out)
{
    size_t sizes = ask->gpus.n;
    out->n = ask->n_asks * ask->n_platforms * sizes;
    out->rows = ARENA_ARRAY(a, struct size_row, out->n);
    for (size_t i = 0; i < out->n; i++) {
        struct size_row *row = &out->rows[i];
        *row = (struct size_row){.ask = ask->asks[i / sizes / ask->n_platforms]};
        row->ask.platform = ask->platforms[i / sizes % ask->n_platforms];
        row->ask.gpus = ask->gpus.items[i % sizes];
        if (ask->gbs_low) row->ask.gbs = sizing_batch(ask, row->ask.gpus);
        if (!answer_row(a, scratch, diags, rules, row)) return false;
    }
    for (size_t group = 0; group < ask->n_asks * ask->n_platforms; group++)
        relate(&out->rows[group * sizes], sizes);
    add_stages(a, ask, out);
    return true;
}
