/* SPDX-License-Identifier: Apache-2.0 */
/* What it means that nobody states a fact. */
#include "facts/model.h"
#include "rules/run.h"

/* A plan file that is silent keeps a framework's default, or what follows from none of the others,
   where nothing else is meant by silence. */
static bool is_open(const struct rule *r, const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    bool nothing = x->origin == ORIGIN_DERIVED && x->value.kind == VALUE_NULL;
    bool silent = x->origin == ORIGIN_DEFAULT || nothing;
    return (r->plans_silent && str_is(f->format, "plan") && silent) || !fact_is_known(x);
}

bool rule_has_open(const struct rule *r, const struct facts *f)
{
    for (size_t i = 0; i < r->n_set; i++)
        if (is_open(r, f, r->set[i].param)) return true;
    return false;
}

/* Gives the open facts of the record a value; true when there was one that others derive from. Of a
   model whose source says everything nothing is assumed. Values live in the facts' arena, as they
   stay. */
static bool assume(const struct rule *r, struct facts *f, bool model_only)
{
    struct expr_scope scope = facts_scope(f);
    bool stale = false;
    for (size_t i = 0; i < r->n_set; i++) {
        int param = r->set[i].param;
        bool wanted = !model_only || param_table[param].scope == SCOPE_MODEL;
        if (!wanted || !is_open(r, f, param)) continue;
        struct value v = expr_eval(r->set[i].value, f->arena, &scope);
        if (v.kind == VALUE_ERROR || v.kind == VALUE_UNKNOWN) continue;
        bool known = param_table[param].scope == SCOPE_MODEL && f->model && f->model->complete;
        facts_set(f, param, v, known ? ORIGIN_CATALOGUE : ORIGIN_ASSUMED, NULL, r->id);
        stale = stale || facts_derives_from(param);
    }
    return stale;
}

/* About what. */
enum about { ABOUT_MODEL, ABOUT_ALL, ABOUT_RUN };

static void assume_all(const struct rule_set *set, struct facts *f, enum about about,
                       struct arena *scratch)
{
    const struct rule_lane *lane = &set->lanes[f->framework];
    model_assume(f);
    program_assume(f);
    facts_derive(f);
    for (size_t i = 0; i < lane->n_assumptions; i++) {
        const struct rule *r = set->items[lane->assumptions[i]];
        if (!rule_is_for(r, f) || (r->plans_estimated && about != ABOUT_RUN)) continue;
        struct arena_mark mark = arena_mark(scratch);
        bool holds =
            rule_evaluate(r, f, scratch) == OUTCOME_FAIL; /* no rule: its conditions hold */
        arena_pop(scratch, mark);
        if (holds && assume(r, f, about == ABOUT_MODEL)) facts_derive(f);
    }
}

void rules_assume(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    assume_all(set, f, ABOUT_ALL, scratch);
}

void rules_assume_run(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    assume_all(set, f, ABOUT_RUN, scratch);
}

void rules_assume_model(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    assume_all(set, f, ABOUT_MODEL, scratch);
}

/* Whether plan files mean by their silence what the rule assumes. */
static bool is_of_files(const struct rule *r)
{
    return r->plans_silent && !r->plans_estimated;
}

bool rules_plans_silent(const struct rule_set *set, enum framework framework, int param)
{
    const struct rule_lane *lane = &set->lanes[framework];
    for (size_t i = 0; i < lane->n_assumptions; i++) {
        const struct rule *r = set->items[lane->assumptions[i]];
        if (is_of_files(r) && rule_sets(r, param)) return true;
    }
    return false;
}

void rules_mark_plans_silent(const struct rule_set *set, enum framework framework, bool *marks)
{
    const struct rule_lane *lane = &set->lanes[framework];
    for (size_t i = 0; i < lane->n_assumptions; i++) {
        const struct rule *r = set->items[lane->assumptions[i]];
        for (size_t k = 0; k < r->n_set && is_of_files(r); k++)
            marks[r->set[k].param] = true;
    }
}
