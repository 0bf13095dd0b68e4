/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/suggest_show.h"

#include <math.h>
#include <time.h>

#include "base/units.h"

static void add_reasons(struct tree *t, cJSON *plan, const char *key, const struct reason *items,
                        size_t n)
{
    cJSON *list = tree_list(t, plan, key);
    for (size_t i = 0; i < n; i++) {
        const struct reason *r = &items[i];
        cJSON *item = tree_object(t, list, NULL);
        tree_str(t, item, "rule", r->rule);
        tree_str(t, item, "guide", r->guide);
        tree_text(t, item, "phase", reason_phase(r->phase));
        tree_str(t, item, "text", r->text);
        tree_str(t, item, "source", r->source);
    }
}

static void add_estimate(struct tree *t, cJSON *item, const struct rule_set *rules,
                         const struct plan *plan)
{
    struct memory_estimate memory;
    struct time_estimate time;
    struct evidence evidence;
    if (!memory_estimate(&plan->config, &memory, NULL) ||
        !time_estimate(&plan->config, &time, NULL))
        return;
    evidence_find(&plan->config, &evidence);
    estimate_json(t, tree_object(t, item, "estimate"), rules, plan->facts, &plan->config, &memory,
                  &time, &evidence);
}

static void add_plan(struct tree *t, cJSON *plans, const struct rule_set *rules,
                     const struct ask *ask, const struct offer *o)
{
    const struct plan *plan = o->plan;
    struct reason_list because = reason_plan(t->arena, o->answer, plan);
    cJSON *item = tree_object(t, plans, NULL);
    tree_number(t, item, "rank", (double)o->rank);
    plan_json(t, item, rules, plan->facts);
    add_estimate(t, item, rules, plan);
    suggest_bill_json(t, item, ask, plan);
    add_reasons(t, item, "because", because.items, because.n);
    tree_str(t, item, "why_not_first", plan->why_not_first);
    tree_str(t, item, "risk", plan->risk);
    add_reasons(t, item, "next", plan->next.items, plan->next.n);
    add_reasons(t, item, "verify", plan->verify.items, plan->verify.n);
    add_reasons(t, item, "pitfalls", plan->pitfalls.items, plan->pitfalls.n);
    add_reasons(t, item, "notes", plan->notes.items, plan->notes.n);
}

void suggest_csv(const struct offers *all, struct buf *out)
{
    buf_add(out, STR("rank,framework,tp,pp,vpp,cp,ep,etp,mbs,peak_gib,peak_low_gib,peak_high_gib,"
                     "capacity_gib,step_s,step_low_s,step_high_s,tokens_per_s_per_gpu\n"));
    for (size_t i = 0; i < all->n; i++) {
        const struct offer *o = &all->items[i];
        const struct contender *c = &o->plan->costs;
        const struct knobs *k = &o->plan->config.knobs;
        buf_printf(out, "%zu,%s,%d,%d,%d,%d,%d,%d,%d,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.6g\n",
                   o->rank, framework_name(o->framework), k->tp, k->pp, k->vpp, k->cp, k->ep,
                   k->etp, k->mbs, c->peak / GIB, c->peak_low / GIB, c->peak_high / GIB,
                   o->plan->config.machine.capacity_bytes / GIB, c->step_s, c->low_s, c->high_s,
                   offer_tokens(o));
    }
}

double suggest_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The public recipe that is near to what is shown, of each framework that has one. */
static void add_playbook(struct tree *t, const struct answers *answers)
{
    cJSON *list = NULL;
    for (size_t i = 0; i < answers->n; i++) {
        struct str near = answers->items[i].playbook;
        if (near.n && !list) list = tree_list(t, t->root, "playbook");
        if (!near.n) continue;
        cJSON *item = tree_object(t, list, NULL);
        tree_text(t, item, "framework", framework_name(answers->framework[i]));
        tree_str(t, item, "text", near);
    }
}

/* Notes of the answer, and why a framework has no plan. */
static void add_notes(struct tree *t, const struct ask *ask, const struct answers *answers)
{
    struct arena *a = t->arena;
    struct notes all = {0};
    for (size_t i = 0; i < answers->notes.n; i++)
        *VEC_PUSH(a, &all) = answers->notes.items[i];
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *one = &answers->items[i];
        const char *name = framework_full_name(answers->framework[i]);
        struct notes why = {0};
        if (!one->n) why = suggest_why_none(a, ask, one);
        for (size_t w = 0; w < why.n; w++)
            *VEC_PUSH(a, &all) =
                arena_printf(a, "%s: no plan fits: %.*s", name, STR_ARG(why.items[w]));
    }
    cJSON *list = all.n ? tree_list(t, t->root, "notes") : NULL;
    for (size_t i = 0; i < all.n; i++)
        tree_str(t, list, NULL, all.items[i]);
}

void suggest_json(struct tree *t, const struct rule_set *rules, const struct ask *ask,
                  const struct answers *answers, double elapsed_ms)
{
    cJSON *plans = tree_list(t, t->root, "plans");
    struct offers all = offers_of(t->arena, ask, answers);
    size_t searched = 0, feasible = 0, examined = 0;
    double ahead = 0;
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *one = &answers->items[i];
        searched += one->searched;
        feasible += one->feasible;
        examined += one->search->visited;
        ahead = fmax(ahead, one->search->polished);
    }
    for (size_t i = 0; i < all.n; i++)
        add_plan(t, plans, rules, ask, &all.items[i]);
    assumed_json(t, t->root, all.n ? all.items[0].plan->facts : NULL);
    if (all.n) suggest_bill_json(t, t->root, ask, all.items[0].plan);
    tree_number(t, t->root, "searched", (double)searched);
    tree_number(t, t->root, "feasible", (double)feasible);
    cJSON *proven = tree_object(t, t->root, "proven");
    tree_number(t, proven, "examined", (double)examined);
    tree_number(t, proven, "bounded", (double)(searched - examined));
    tree_number(t, proven, "ahead_percent", 100 * ahead);
    tree_number(t, t->root, "elapsed_ms", elapsed_ms);
    add_playbook(t, answers);
    add_notes(t, ask, answers);
}
