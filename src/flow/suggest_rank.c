/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/suggest_rank.h"

/* Whether x is to be named before y, of another framework. */
static bool is_ahead(const struct ask *ask, const struct offer *x, const struct offer *y)
{
    const struct contender *a = &x->plan->costs, *b = &y->plan->costs;
    if (x->answer->tight != y->answer->tight) return y->answer->tight;
    if (str_is(ask->goal, "memory")) return a->peak < b->peak;
    return a->step_s < b->step_s;
}

struct offers offers_of(struct arena *a, const struct ask *ask, const struct answers *answers)
{
    struct offers all = {0};
    size_t at[FRAMEWORK_COUNT] = {0};
    for (;;) {
        struct offer best = {0};
        size_t of = 0;
        for (size_t i = 0; i < answers->n; i++) {
            const struct answer *one = &answers->items[i];
            if (at[i] == one->n) continue;
            struct offer next = {answers->framework[i], one, &one->plans[at[i]], all.n + 1};
            if (best.plan && !is_ahead(ask, &next, &best)) continue;
            best = next;
            of = i;
        }
        if (!best.plan) return all;
        at[of]++;
        *VEC_PUSH(a, &all) = best;
    }
}

const struct offer *offers_fastest(const struct offers *offers)
{
    const struct offer *fastest = NULL;
    for (size_t i = 0; i < offers->n; i++) {
        const struct offer *o = &offers->items[i];
        if (fastest && fastest->answer->tight < o->answer->tight) continue;
        if (!fastest || o->plan->costs.step_s < fastest->plan->costs.step_s) fastest = o;
    }
    return fastest;
}

double offer_tokens(const struct offer *o)
{
    const struct knobs *k = &o->plan->config.knobs;
    return (double)k->gbs * k->seq / o->plan->costs.step_s / (double)k->gpus;
}
