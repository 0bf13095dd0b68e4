/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/sweep_loop.h"

#include <math.h>

#include "base/sort.h"

/* What the mean step of one job differs from the next one's on the same nodes: clocks, placement,
   neighbours. The steps of one run do not show it. */
static const double run_scatter = 0.02;

/* Another run is worth its hours where it is expected to gain this part of the scatter, and one
   that is faster with less than this chance is dropped. */
static const double least_of_scatter = 0.05, least_chance = 0.02;

struct looper {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    const struct facts *facts;
    const struct config *base;
    struct learner *learner;
    struct sweep_loop *out;
    const struct levered *ran,
        *failed; /* the largest that ran, the smallest that ran out; or NULL */
};

/* ---- the trials ---- */

static int by_estimate(const void *x, const void *y)
{
    const struct levered *a = *(const struct levered *const *)x,
                         *b = *(const struct levered *const *)y;
    return (a->time.step > b->time.step) - (a->time.step < b->time.step);
}

static struct str trial_id(struct arena *a, struct str what)
{
    return what.n ? arena_printf(a, "%08x", (unsigned)str_hash(what)) : STR("baseline");
}

static bool levered_base(struct arena *a, const struct config *c, struct levered **out)
{
    *out = ARENA_NEW(a, struct levered);
    (*out)->config = *c;
    return levered_estimate(*out);
}

static bool rules_allow(struct looper *l, const struct levered *plan)
{
    struct arena_mark mark = arena_mark(l->arena);
    struct facts *changed = levers_facts(l->arena, l->facts, l->base, &plan->config);
    bool allowed = levers_allowed(l->arena, l->rules, changed, l->scratch);
    arena_pop(l->arena, mark);
    return allowed;
}

static void add_trial(struct looper *l, const struct levered *plan)
{
    struct loop_trial *t = &l->out->trials[l->out->n++];
    t->plan = plan;
    t->what = levers_text(l->arena, l->base, &plan->config);
    t->id = trial_id(l->arena, t->what);
}

/* The baseline and the fastest that may fit and break no rule. */
static bool list_trials(struct looper *l)
{
    struct lever_list *levers = ARENA_NEW(l->arena, struct lever_list);
    struct levered *base;
    if (!levered_base(l->arena, l->base, &base)) return false;
    levers_list(l->arena, l->base, true, l->scratch, levers);
    const struct levered **plans =
        ARENA_ARRAY(l->arena, const struct levered *, levers->items.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < levers->items.n; i++)
        if (levers->items.items[i].fits != FITS_NO) plans[n++] = &levers->items.items[i];
    sort_items(plans, n, sizeof *plans, by_estimate);
    l->out->trials = ARENA_ARRAY(l->arena, struct loop_trial, SWEEP_CANDIDATES);
    add_trial(l, base);
    for (size_t i = 0; i < n && l->out->n < SWEEP_CANDIDATES; i++)
        if (rules_allow(l, plans[i])) add_trial(l, plans[i]);
    return true;
}

/* ---- what came back ---- */

/* The largest plan that ran; the smallest that ran out of memory. NULL: none. */
static void find_ends(struct looper *l)
{
    for (size_t i = 0; i < l->out->n; i++) {
        const struct loop_trial *t = &l->out->trials[i];
        if (t->measured > 0 && (!l->ran || t->plan->peak > l->ran->peak)) l->ran = t->plan;
        if (t->state == TRIAL_FAILED && (!l->failed || t->plan->peak < l->failed->peak))
            l->failed = t->plan;
    }
    /* it was not the plan's memory where one that needs as much ran */
    if (l->failed && l->ran && l->failed->peak <= l->ran->peak) l->failed = NULL;
}

/* What needs no less memory than a plan that ran out of it is not asked for. */
static void drop_larger(struct looper *l)
{
    const struct sweep_loop *out = l->out;
    for (size_t i = 1; i < out->n && l->failed; i++)
        if (out->trials[i].state == TRIAL_OPEN && out->trials[i].plan->peak >= l->failed->peak)
            out->trials[i].state = TRIAL_DROPPED;
}

/* The chance that a plan fits after what ran and what did not: memory is off by one factor for all
   plans of a question, so that what needs no more than one that ran fits too. */
static double room_of(const struct looper *l, const struct levered *plan)
{
    double ran = l->ran ? l->ran->room : 1, failed = l->failed ? l->failed->room : 0;
    if (l->ran && plan->peak <= l->ran->peak) return 1;
    return ran > failed ? fmax(0, fmin(1, (plan->room - failed) / (ran - failed))) : plan->room;
}

/* The scatter of a run's median, by how many steps it is of, beside that of runs. */
static double result_sd(const struct trial_result *r)
{
    double steps = r->steps > 1 ? (double)r->steps : 1;
    double own = 1.2533 * r->scatter / sqrt(steps);
    return sqrt(run_scatter * run_scatter + own * own);
}

static void take_result(struct looper *l, const struct trial_result *r)
{
    struct sweep_loop *out = l->out;
    size_t i = 0;
    while (i < out->n && !str_eq(out->trials[i].id, r->id))
        i++;
    if (i == out->n) {
        if (!out->foreign.n) out->foreign = r->id;
        return;
    }
    struct loop_trial *t = &out->trials[i];
    if (r->step_s <= 0) {
        t->state = TRIAL_FAILED;
        out->failed++;
        return;
    }
    t->state = TRIAL_MEASURED;
    t->measured = r->step_s;
    out->measured++;
    learner_measure(l->learner, i, r->step_s, result_sd(r));
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median, as one trial may be far off for a reason of its own. */
static void find_offset(struct looper *l)
{
    struct sweep_loop *out = l->out;
    double *ratios = ARENA_ARRAY(l->arena, double, out->n);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (out->trials[i].measured > 0)
            ratios[n++] = out->trials[i].measured / out->trials[i].plan->time.step;
    sort_items(ratios, n, sizeof *ratios, by_size);
    if (n > 0) out->offset = n % 2 ? ratios[n / 2] : sqrt(ratios[n / 2 - 1] * ratios[n / 2]);
}

/* Of what was measured; the baseline where nothing was. */
static void find_best(struct looper *l)
{
    struct sweep_loop *out = l->out;
    double least = INFINITY;
    for (size_t i = 0; i < out->n; i++) {
        double mean = learner_belief(l->learner, i).mean;
        if (out->trials[i].measured <= 0 || mean >= least) continue;
        least = mean;
        out->best = i;
    }
}

/* ---- what next ---- */

static void believe(struct looper *l)
{
    for (size_t i = 0; i < l->out->n; i++) {
        struct loop_trial *t = &l->out->trials[i];
        t->belief = learner_belief(l->learner, i);
        t->improvement = learner_improvement(l->learner, i, l->out->best, &t->chance);
    }
}

/* Slower than the best by twice what two runs differ by chance. */
static void drop_losers(struct looper *l)
{
    const struct sweep_loop *out = l->out;
    double margin = 2 * out->scatter * sqrt(2);
    for (size_t i = 0; i < out->n; i++) {
        struct loop_trial *t = &out->trials[i];
        double behind = t->belief.mean - out->trials[out->best].belief.mean;
        if (t->state == TRIAL_MEASURED && behind > margin) t->state = TRIAL_LOST;
        if (t->state == TRIAL_OPEN && out->measured && t->chance < least_chance)
            t->state = TRIAL_DROPPED;
    }
}

/* The open trial that is expected to gain most; out->n: none is worth a run. */
static size_t most_worth(struct looper *l)
{
    struct sweep_loop *out = l->out;
    double most = least_of_scatter * out->scatter, chance;
    size_t found = out->n;
    for (size_t i = 1; i < out->n; i++) {
        if (out->trials[i].state != TRIAL_OPEN) continue;
        double gain = room_of(l, out->trials[i].plan) *
                      learner_improvement(l->learner, i, out->best, &chance);
        if (gain <= most) continue;
        most = gain;
        found = i;
    }
    return found;
}

/* One after the other, each as if those before had come out as believed. */
static void ask(struct looper *l, size_t most)
{
    struct sweep_loop *out = l->out;
    struct loop_trial *base = &out->trials[0];
    if (base->state == TRIAL_OPEN) {
        base->state = TRIAL_NEXT;
        out->asked++;
        learner_assume(l->learner, 0, run_scatter);
    }
    size_t i, taken = 0;
    while (taken < most && (i = most_worth(l)) < out->n) {
        struct loop_trial *t = &out->trials[i];
        t->state = TRIAL_NEXT;
        learner_assume(l->learner, i, run_scatter);
        taken++;
        out->asked++;
    }
    out->finished = out->asked == 0;
}

bool sweep_loop(struct arena *a, const struct rule_set *rules, const struct facts *f,
                const struct config *c, const struct trial_result *results, size_t n_results,
                size_t most, struct arena *scratch, struct sweep_loop *out)
{
    *out = (struct sweep_loop){.offset = 1, .scatter = run_scatter};
    struct looper l = {a, scratch, rules, f, c, NULL, out, NULL, NULL};
    if (!list_trials(&l)) return false;
    const struct levered **plans = ARENA_ARRAY(a, const struct levered *, out->n);
    for (size_t i = 0; i < out->n; i++)
        plans[i] = out->trials[i].plan;
    l.learner = learner_new(a, plans, out->n);
    for (size_t i = 0; i < n_results; i++)
        take_result(&l, &results[i]);
    find_ends(&l);
    drop_larger(&l);
    find_offset(&l);
    find_best(&l);
    believe(&l);
    drop_losers(&l);
    ask(&l, most);
    return true;
}
