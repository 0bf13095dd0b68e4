/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/planner.h"

#include "base/vec.h"

static bool is_knob(int param)
{
    return knob_find(param_table[param].name) != NULL;
}

void planner_complete(const struct rule_set *rules, struct facts *f, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        if (r->is_override || !r->n_set || !rule_is_for(r, f)) continue;
        struct arena_mark mark = arena_mark(scratch);
        enum outcome outcome = rule_evaluate(r, f, scratch);
        arena_pop(scratch, mark);
        if (outcome != OUTCOME_FAIL && outcome != OUTCOME_PASS) continue;
        for (size_t s = 0; s < r->n_set; s++) {
            int param = r->set[s].param;
            if (is_knob(param) || fact_is_set(&f->items[param])) continue;
            facts_set(f, param, expr_eval(r->set[s].value, f->arena, &scope), ORIGIN_DERIVED, NULL,
                      r->id);
        }
    }
}

/* The question's facts with one plan's knobs. */
static struct facts *plan_facts(struct arena *a, const struct question *q,
                                const struct config *plan, struct diags *diags,
                                struct arena *scratch)
{
    struct facts *f = facts_copy(a, q->facts);
    f->diags = diags;
    config_to_facts(plan, f);
    planner_complete(q->rules, f, scratch);
    facts_derive(f);
    return f;
}

/* What the search asks about each finalist. */
struct checker {
    const struct question *q;
    struct arena *arena, *scratch;
};

static const char *forbidden_by(const struct question *q, const struct facts *f,
                                struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < q->n_forbid; i++) {
        struct value v = expr_eval(q->forbid[i], scratch, &scope);
        if (v.kind == VALUE_BOOL && v.b) return "--forbid";
    }
    return NULL;
}

static const char *reject(void *context, const struct config *plan)
{
    struct checker *c = context;
    struct arena_mark mark = arena_mark(c->arena);
    struct diags diags;
    diags_init(&diags, c->arena);
    struct facts *f = plan_facts(c->arena, c->q, plan, &diags, c->scratch);
    const char *why = forbidden_by(c->q, f, c->scratch);
    if (!why) {
        rules_apply_overrides(c->q->rules, f, c->scratch);
        const struct rule *failed = rules_first_error(c->q->rules, f, c->scratch);
        why = failed ? failed->id.p : NULL;
    }
    arena_pop(c->arena, mark);
    return why;
}

static size_t pinned_knobs(struct arena *a, const struct question *q, const struct knob ***out)
{
    VEC(const struct knob *) pinned = {0};
    for (size_t i = 0; i < q->n_pins; i++) {
        const struct knob *knob = knob_find(param_table[q->pins[i]].name);
        if (knob) *VEC_PUSH(a, &pinned) = knob;
    }
    *out = pinned.items;
    return pinned.n;
}

static void finish_plan(struct arena *a, const struct question *q, const struct answer *answer,
                        const struct contender *costs, struct answer_plan *plan,
                        struct arena *scratch)
{
    *plan = (struct answer_plan){.costs = *costs, .config = answer->base};
    plan->config.knobs = costs->knobs;
    config_plan_layout(&plan->config, &plan->layout);
    plan->facts = plan_facts(a, q, &plan->config, q->facts->diags, scratch);
}

static void collect_plans(struct arena *a, const struct question *q, struct answer *out,
                          struct arena *scratch)
{
    out->n = out->search->n;
    out->plans = ARENA_ARRAY(a, struct answer_plan, out->n);
    for (size_t i = 0; i < out->n; i++) {
        finish_plan(a, q, out, &out->search->plans[i], &out->plans[i], scratch);
        reason_plan(a, out, &out->plans[i]);
        if (i > 0)
            out->plans[i].why_not_first =
                reason_against(a, &out->plans[i].costs, &out->plans[0].costs);
    }
}

/* The model's size is what many guides go by. */
static void set_size(struct facts *f, const struct model_shape *m)
{
    struct param_counts n = model_params(m);
    struct str from = STR("the model's layers");
    facts_set(f, param_find(STR("total_params")), value_int(n.total), ORIGIN_DERIVED, NULL, from);
    facts_set(f, param_find(STR("active_params")), value_int(n.active), ORIGIN_DERIVED, NULL, from);
}

bool planner_answer(struct arena *a, const struct question *q, struct arena *scratch,
                    struct answer *out)
{
    *out = (struct answer){.search = ARENA_NEW(a, struct search_result)};
    facts_derive(q->facts);
    if (!config_from_facts(a, q->facts, &out->base)) return false;
    set_size(q->facts, &out->base.model);
    planner_complete(q->rules, q->facts, scratch);
    facts_derive(q->facts);
    if (!config_from_facts(a, q->facts, &out->base)) return false;
    const struct knob **pins;
    size_t n_pins = pinned_knobs(a, q, &pins);
    struct preference *preferences;
    out->n_preferences = prefer_collect(a, q->rules, q->facts, pins, n_pins, &out->base.knobs,
                                        &preferences, scratch);
    out->preferences = preferences;
    struct checker checker = {q, a, scratch};
    struct search_request request = {.base = &out->base,
                                     .pinned = pins,
                                     .n_pinned = n_pins,
                                     .preferences = preferences,
                                     .n_preferences = out->n_preferences,
                                     .top = q->top,
                                     .reject = reject,
                                     .context = &checker};
    search_run(&request, scratch, out->search);
    out->searched = out->search->layouts;
    out->feasible = out->search->feasible;
    if (out->search->n == 0) { /* nothing surely fits: show what may */
        request.allow_tight = out->tight = true;
        search_run(&request, scratch, out->search);
    }
    collect_plans(a, q, out, scratch);
    return true;
}
