/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/sweep.h"

#include <math.h>

#include "base/sort.h"
#include "base/vec.h"
#include "choose/learn.h"

/* Of the ways to take one decision otherwise so many are listed: they mostly gain alike. */
enum { SWEEP_OF_A_DECISION = 3 };

/* A trial that is expected to gain less than this part of a step is not worth its GPU hours. */
static const double least_worth = 5e-4;

struct sweeper {
    struct arena *arena, *scratch;
    const struct rule_set *rules;
    const struct facts *facts;
    const struct config *base;
    struct sweep *out;
    VEC(struct trial) trials;
};

/* ---- trials ---- */

/* What is worth running of a plan that a lever leads to. */
static void consider(struct sweeper *s, const struct levered *x)
{
    double chance;
    struct trial t = {.config = &x->config, .decision = x->decision, .changed = x->changed};
    if (x->fits == FITS_NO) {
        s->out->unfit++;
        return;
    }
    t.step_s = x->time.step;
    t.ratio = x->time.step / s->out->step_s;
    t.peak = x->peak;
    t.fits = x->fits;
    t.worth = expected_improvement(-log(t.ratio), sqrt(x->variance), &chance);
    bool same =
        fabs(t.ratio - 1) < 1e-9 && t.peak == s->out->peak; /* recomputes what is not there */
    bool relief = s->out->fits != FITS_YES && t.fits == FITS_YES;
    if (same || (t.worth < least_worth && !relief)) return;
    t.number = s->trials.n;
    *VEC_PUSH(s->arena, &s->trials) = t;
}

/* Fewer changes first; then by worth; then as they were found. */
static int by_worth(const void *x, const void *y)
{
    const struct trial *a = x, *b = y;
    if (a->changed != b->changed) return a->changed - b->changed;
    if (a->worth != b->worth) return a->worth < b->worth ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What the rules allow of the best, single changes and pairs each up to their part. */
static void choose(struct sweeper *s, size_t most)
{
    size_t part[] = {most - most / 3, most / 3}; /* single changes, and several together */
    size_t of[DECISIONS] = {0}, pairs = 0;
    struct sweep *out = s->out;
    sort_items(s->trials.items, s->trials.n, sizeof *s->trials.items, by_worth);
    out->trials = ARENA_ARRAY(s->arena, struct trial, most + 1);
    for (size_t i = 0; i < s->trials.n && out->n < most; i++) {
        struct trial *t = &s->trials.items[i];
        size_t *alike = t->decision ? &of[t->decision - decisions] : &pairs;
        size_t *left = &part[t->changed > 1];
        if (*left == 0 || (t->decision && *alike == SWEEP_OF_A_DECISION)) continue;
        t->facts = levers_facts(s->arena, s->facts, s->base, t->config);
        if (!levers_allowed(s->arena, s->rules, t->facts, s->scratch)) {
            out->refused++;
            continue;
        }
        --*left;
        ++*alike;
        t->what = levers_text(s->arena, s->base, t->config);
        out->trials[out->n++] = *t;
    }
}

bool sweep_plan(struct arena *a, const struct rule_set *rules, const struct facts *f,
                const struct config *c, size_t most, struct arena *scratch, struct sweep *out)
{
    struct memory_estimate memory;
    struct time_estimate time;
    *out = (struct sweep){0};
    struct sweeper s = {a, scratch, rules, f, c, out, {0}};
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return false;
    out->step_s = time.step;
    out->peak = memory.peak;
    out->fits = (int)memory.fits;
    struct lever_list *levers = ARENA_NEW(a, struct lever_list);
    levers_list(a, c, true, scratch, levers);
    out->tried = levers->items.n;
    for (size_t i = 0; i < levers->items.n; i++)
        consider(&s, &levers->items.items[i]);
    choose(&s, most);
    return true;
}
