/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/run.h"

static bool expr_reads_derived(const struct expr *e)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param >= 0 && param_table[param].scope == SCOPE_DERIVED) return true;
    }
    return false;
}

static bool reads_derived(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (expr_reads_derived(r->conditions[i])) return true;
    for (size_t i = 0; i < r->n_set; i++)
        if (expr_reads_derived(r->set[i].value)) return true;
    return false;
}

static bool same_value(struct value a, struct value b)
{
    bool comparable = a.kind != VALUE_UNKNOWN && b.kind != VALUE_UNKNOWN;
    return comparable ? value_eq(a, b) : a.kind == b.kind;
}

/* Replaces a value but keeps the place where the user wrote one, for positions. Not facts_set: what
   the framework does to its input holds for values given as options too. */
static bool replace(const struct rule *r, struct facts *f, int param, struct value value)
{
    struct fact *fact = &f->items[param];
    if (value.kind == VALUE_ERROR || same_value(fact->value, value)) return false;
    fact->value = value;
    fact->origin = value.kind == VALUE_UNKNOWN ? ORIGIN_UNKNOWN : ORIGIN_OVERRIDE;
    fact->written = r->id;
    return true;
}

static bool user_wrote_one(const struct rule *r, const struct facts *f)
{
    for (size_t i = 0; i < r->n_set; i++)
        if (fact_is_set(&f->items[r->set[i].param])) return true;
    return false;
}

/* True when a fact changed. Values live in the facts' arena, as they stay. */
static bool apply(const struct rule *r, struct facts *f, enum outcome conditions,
                  struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    struct value *values = ARENA_ARRAY(scratch, struct value, r->n_set);
    bool changes = false;
    for (size_t i = 0; i < r->n_set; i++) {
        values[i] = expr_eval(r->set[i].value, f->arena, &scope);
        const struct value *present = &f->items[r->set[i].param].value;
        bool differs = values[i].kind != VALUE_ERROR && !same_value(*present, values[i]);
        changes = changes || differs;
        if (differs && conditions == OUTCOME_UNKNOWN) values[i] = value_unknown();
    }
    bool fired = changes && conditions == OUTCOME_PASS;
    if (fired && r->message.n && user_wrote_one(r, f)) rule_report(r, f, scratch);
    for (size_t i = 0; i < r->n_set; i++)
        replace(r, f, r->set[i].param, values[i]);
    return changes;
}

void rules_apply_overrides(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    bool stale = true; /* derived facts do not follow from the others yet */
    for (size_t i = 0; i < lane->n_overrides; i++) {
        const struct rule *r = set->items[lane->overrides[i]];
        if (!rule_is_for(r, f)) continue;
        if (stale && reads_derived(r)) {
            facts_derive(f);
            stale = false;
            memset(run.memo, 0, set->n_conditions);
        }
        enum outcome conditions = run_conditions(&run, r->condition_numbers, r->n_conditions);
        if (conditions != OUTCOME_PASS && conditions != OUTCOME_UNKNOWN) continue;
        if (!apply(r, f, conditions, scratch)) continue;
        stale = true;
        memset(run.memo, 0, set->n_conditions);
    }
    if (stale) facts_derive(f);
    arena_pop(scratch, mark);
}
