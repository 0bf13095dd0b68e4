/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/suggest.h"

#include <math.h>

static bool answer_all(struct arena *a, struct arena *scratch, struct diags *diags,
                       const struct rule_set *rules, const struct ask *ask, struct answers *out)
{
    *out = (struct answers){0};
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        if (!ask->in[i]) continue;
        struct answer *answer = &out->items[out->n];
        if (!ask_framework(a, scratch, diags, rules, ask, (enum framework)i, answer)) return false;
        out->framework[out->n++] = (enum framework)i;
        out->any = out->any || answer->n > 0;
    }
    return ask_judge_forbid(a, diags, ask, out->items, out->n, &out->notes);
}

/* Bytes by which the answer is known to exceed a GPU: of a plan that may not fit, or of the least
   that was looked at. */
static double need(const struct answer *answer)
{
    if (answer->n) return answer->plans[0].costs.peak_high;
    return answer->search->has_least ? answer->search->least.peak_high : INFINITY;
}

/* Where a count of GPUs was answered, and whether by a plan that surely fits. */
static bool try_count(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                      struct ask now, double *least)
{
    struct answers answers;
    struct diags quiet;
    diags_init(&quiet, a);
    ask_complete(&now);
    struct arena_mark mark = arena_mark(a);
    bool answered = answer_all(a, scratch, &quiet, rules, &now, &answers), found = false;
    *least = INFINITY;
    for (size_t i = 0; answered && i < answers.n; i++) {
        found = found || (answers.items[i].n && !answers.items[i].tight);
        *least = fmin(*least, need(&answers.items[i]));
    }
    arena_pop(a, mark);
    return found;
}

/* The smallest power of two with a plan that surely fits; else the count that needs the least
   memory. */
static void find_smallest(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                          struct ask *ask)
{
    struct ask now = *ask;
    double nearest = INFINITY, least;
    ask->gpus = ask->most_gpus = SUGGEST_MOST_MIN_GPUS;
    for (now.gpus = 1; now.gpus <= SUGGEST_MOST_MIN_GPUS; now.gpus *= 2) {
        bool found = try_count(a, scratch, rules, now, &least);
        if (found || least < nearest) ask->gpus = now.gpus;
        if (found) ask->most_gpus = 0;
        if (found) return;
        nearest = fmin(nearest, least);
    }
}

/* What may fit is no answer to how many GPUs are needed. */
static void drop_plans(struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        struct answer *one = &answers->items[i];
        if (one->n) one->search->least = one->plans[0].costs;
        one->search->has_least = one->search->has_least || one->n > 0;
        one->n = 0;
    }
    answers->any = false;
}

bool suggest(struct arena *a, struct arena *scratch, struct diags *diags,
             const struct rule_set *rules, struct ask *ask, struct answers *out)
{
    if (!ask->gpus) find_smallest(a, scratch, rules, ask);
    ask_complete(ask);
    if (!answer_all(a, scratch, diags, rules, ask, out)) return false;
    if (ask->most_gpus) drop_plans(out);
    return true;
}

/* ---- what would fit ---- */

/* The same question for twice the GPUs, with a batch that was assumed assumed anew. */
static void double_gpus(struct ask *ask)
{
    ask->gpus *= 2;
    if (ask->gbs_assumed) ask->gbs = 0;
    ask_complete(ask);
}

bool suggest_larger(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                    struct ask *ask, enum framework framework, struct answer *out)
{
    for (int i = 0; i < SUGGEST_DOUBLINGS; i++) {
        struct diags quiet;
        diags_init(&quiet, a);
        double_gpus(ask);
        if (ask_framework(a, scratch, &quiet, rules, ask, framework, out) && out->n && !out->tight)
            return true;
    }
    return false;
}
