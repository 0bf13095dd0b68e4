/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/sweep.h"

#include <math.h>

#include "base/buf.h"
#include "base/sort.h"
#include "base/vec.h"
#include "facts/param_ids.h"
#include "plan/knob.h"
#include "plan/move.h"

enum { SWEEP_MOST_MBS = 64, SWEEP_MAX_TOGETHER = 2 };

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

/* ---- what differs ---- */

/* Whether the two say different things of a decision that is swept. */
static bool differs(struct sweeper *s, const struct decision *d, const struct knobs *k)
{
    struct arena_mark mark = arena_mark(s->scratch);
    bool same = !d->word || str_eq(decision_text(s->scratch, d, &s->base->knobs),
                                   decision_text(s->scratch, d, k));
    arena_pop(s->scratch, mark);
    return !same;
}

/* "mbs 1 -> 2, recompute none -> full" */
static struct str changes_text(struct sweeper *s, const struct knobs *to)
{
    struct buf b = buf_new(s->arena);
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (!differs(s, d, to)) continue;
        struct str old = decision_text(s->arena, d, &s->base->knobs),
                   new = decision_text(s->arena, d, to);
        buf_printf(&b, "%s%s %.*s -> %.*s", b.n ? ", " : "", d->word, STR_ARG(old), STR_ARG(new));
    }
    return buf_str(&b);
}

static struct facts *trial_facts(struct sweeper *s, const struct knobs *k)
{
    struct facts *f = facts_copy(s->arena, s->facts);
    knobs_say_changes(s->base, k, f);
    return f;
}

/* ---- trials ---- */

/* Expected improvement of a gain with a normal error. */
static double expected_improvement(double gain, double sd)
{
    double z = gain / sd;
    return gain * 0.5 * erfc(-z / sqrt(2)) +
           sd * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

static bool rules_allow(struct sweeper *s, const struct facts *f)
{
    struct arena_mark mark = arena_mark(s->arena);
    struct facts *run = rules_effective_facts(s->arena, s->rules, f, s->scratch);
    bool allowed = !rules_first_error(s->rules, run, s->scratch);
    arena_pop(s->arena, mark);
    arena_reset(s->scratch);
    return allowed;
}

static void try_config(struct sweeper *s, const struct config *c)
{
    struct memory_estimate memory;
    struct time_estimate time;
    double variance = 0;
    struct trial t = {.knobs = c->knobs};
    s->out->tried++;
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return;
    if (memory.fits == FITS_NO) {
        s->out->unfit++;
        return;
    }
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (!differs(s, d, &c->knobs)) continue;
        t.changed++;
        variance += d->doubt * d->doubt;
    }
    t.step_s = time.step;
    t.ratio = time.step / s->out->step_s;
    t.peak = memory.peak;
    t.fits = (int)memory.fits;
    t.worth = expected_improvement(-log(t.ratio), sqrt(variance));
    bool same =
        fabs(t.ratio - 1) < 1e-9 && t.peak == s->out->peak; /* recomputes what is not there */
    bool relief = s->out->fits != FITS_YES && t.fits == FITS_YES;
    if (same || (t.worth < least_worth && !relief)) return;
    t.number = s->trials.n;
    *VEC_PUSH(s->arena, &s->trials) = t;
}

/* Takes a move that changes something and leaves whole microbatches. */
static bool take(struct sweeper *s, const struct decision *d, const struct move *move,
                 struct config *c)
{
    const struct knobs *k = &c->knobs;
    if (!move_take(d, move, c) || !differs(s, d, k)) return false;
    bool whole = k->mbs <= SWEEP_MOST_MBS && k->gbs % (k->mbs * knobs_dp(k)) == 0;
    return whole || k->mbs == s->base->knobs.mbs;
}

/* Every move of a decision from `from`; with `then`, each with every one of that decision. */
static void try_moves(struct sweeper *s, const struct config *from, const struct decision *d,
                      const struct decision *then)
{
    for (const struct move *move = d->moves; move->name; move++) {
        if (!(move->uses & MOVE_TRIAL)) continue;
        struct config c = *from;
        if (!take(s, d, move, &c)) continue;
        if (then)
            try_moves(s, &c, then, NULL);
        else
            try_config(s, &c);
    }
}

/* One decision after the other, then each pair. */
static void try_all(struct sweeper *s)
{
    const struct decision *end = decisions + DECISIONS;
    for (const struct decision *d = decisions; d < end; d++)
        try_moves(s, s->base, d, NULL);
    for (const struct decision *d = decisions; d < end; d++)
        for (const struct decision *then = d + 1; then < end; then++)
            try_moves(s, s->base, d, then);
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
    size_t part[SWEEP_MAX_TOGETHER + 1] = {0, most - most / 3, most / 3};
    struct sweep *out = s->out;
    sort_items(s->trials.items, s->trials.n, sizeof *s->trials.items, by_worth);
    out->trials = ARENA_ARRAY(s->arena, struct trial, most + 1);
    for (size_t i = 0; i < s->trials.n && out->n < most; i++) {
        struct trial *t = &s->trials.items[i];
        if (part[t->changed] == 0) continue;
        t->facts = trial_facts(s, &t->knobs);
        if (!rules_allow(s, t->facts)) {
            out->refused++;
            continue;
        }
        part[t->changed]--;
        t->what = changes_text(s, &t->knobs);
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
    try_all(&s);
    choose(&s, most);
    return true;
}
