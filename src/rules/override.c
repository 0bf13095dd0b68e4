/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/run.h"

#include "facts/param_ids.h"

static bool same_value(struct value a, struct value b)
{
    bool comparable = a.kind != VALUE_UNKNOWN && b.kind != VALUE_UNKNOWN;
    return comparable ? value_eq(a, b) : a.kind == b.kind;
}

/* What the file is laid over is said where that is checked. */
static bool user_wrote_one(const struct rule *r, const struct facts *f)
{
    for (size_t i = 0; i < r->n_set; i++) {
        const struct fact *fact = facts_get(f, r->set[i].param);
        bool inherited = fact->node && facts_inherit(f, fact->node->source);
        if (fact_is_set(fact) && !inherited) return true;
    }
    return false;
}

/* The value an assignment gives; what is there already when that is an error. */
static struct value value_for(const struct assignment *set, const struct facts *f,
                              const struct expr_scope *scope)
{
    struct value v = fact_coerce(f->arena, set->param, expr_eval(set->value, f->arena, scope));
    return v.kind == VALUE_ERROR ? facts_get(f, set->param)->value : v;
}

/* True when a fact changed. Values live in the facts' arena, as they stay. */
static bool apply(const struct rule *r, struct facts *f, bool certain, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    struct value *values = ARENA_ARRAY(scratch, struct value, r->n_set);
    bool *differs = ARENA_ARRAY(scratch, bool, r->n_set), changes = false;
    for (size_t i = 0; i < r->n_set; i++) {
        values[i] = value_for(&r->set[i], f, &scope);
        differs[i] = !same_value(facts_get(f, r->set[i].param)->value, values[i]);
        changes = changes || differs[i];
    }
    if (changes && certain && r->message.n && user_wrote_one(r, f))
        rule_report(NULL, r, f, scratch);
    for (size_t i = 0; i < r->n_set; i++)
        if (differs[i])
            facts_set(f, r->set[i].param, certain ? values[i] : value_unknown(), ORIGIN_OVERRIDE,
                      NULL, r->id);
    return changes;
}

/* Applies the numbered overrides in order. `stale`: derived facts do not follow from the others
   yet. Gives whether they are stale at the end. */
static bool apply_all(struct run *run, const uint32_t *numbers, size_t n, struct facts *f,
                      bool stale)
{
    const struct rule_set *set = run->set;
    for (size_t i = 0; i < n; i++) {
        const struct rule *r = set->items[numbers[i]];
        if (!rule_is_for(r, f)) continue;
        if (stale && rule_reads(r, NULL)) {
            facts_derive(f);
            stale = false;
            memset(run->memo, 0, set->n_conditions);
        }
        enum outcome conditions = run_conditions(run, r->condition_numbers, r->n_conditions);
        if (conditions != OUTCOME_PASS && conditions != OUTCOME_UNKNOWN) continue;
        if (!apply(r, f, conditions == OUTCOME_PASS, run->scratch)) continue;
        stale = true;
        memset(run->memo, 0, set->n_conditions);
    }
    return stale;
}

void rules_apply_overrides(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    if (apply_all(&run, lane->overrides, lane->n_overrides, f, true)) facts_derive(f);
    arena_pop(scratch, mark);
}

struct facts *rules_effective_facts(struct arena *a, const struct rule_set *set,
                                    const struct facts *f, struct arena *scratch)
{
    struct facts *copy = facts_copy(a, f);
    copy->diags = ARENA_NEW(a, struct diags);
    diags_init(copy->diags, a);
    rules_apply_overrides(set, copy, scratch);
    copy->diags->n = 0;
    return copy;
}

struct facts *rules_whole_facts(struct arena *a, const struct rule_set *set, const struct facts *f,
                                struct arena *scratch)
{
    struct facts *copy = facts_copy(a, f);
    rules_assume(set, copy, scratch);
    return rules_effective_facts(a, set, copy, scratch);
}

struct facts *rules_run_facts(struct arena *a, const struct rule_set *set, const struct facts *f,
                              struct arena *scratch)
{
    struct facts *copy = facts_copy(a, f);
    rules_assume_run(set, copy, scratch);
    return rules_effective_facts(a, set, copy, scratch);
}

void rules_resize(const struct rule_reach *world, const struct facts *f, struct facts *at,
                  int64_t world_size, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    for (size_t i = 0; i < world->n_params; i++)
        *facts_change(at, world->params[i]) = *facts_get(f, world->params[i]);
    facts_set(at, P_world_size, value_int(world_size), ORIGIN_OPTION, NULL, STR("gpus"));
    facts_derive_after(at, P_world_size);
    struct run run = run_start(world->set, at, scratch);
    if (apply_all(&run, world->overrides, world->n_overrides, at, false)) facts_derive(at);
    arena_pop(scratch, mark);
}
