/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/run.h"

static bool expr_varies(const struct expr *e, const bool *varies)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param >= 0 && varies[param]) return true;
    }
    return false;
}

static bool override_varies(const struct rule *r, const bool *varies)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (expr_varies(r->conditions[i], varies)) return true;
    for (size_t i = 0; i < r->n_set; i++)
        if (expr_varies(r->set[i].value, varies)) return true;
    return false;
}

static bool mark_all(const struct rule *r, bool *varies)
{
    bool more = false;
    for (size_t i = 0; i < r->n_set; i++) {
        more = more || !varies[r->set[i].param];
        varies[r->set[i].param] = true;
    }
    return more;
}

/* What the search changes: its parameters, all derived ones, and what overrides make of them,
   transitively. */
static bool *find_varying(struct arena *scratch, const struct rule_set *set, const struct facts *f,
                          const int *params, size_t n)
{
    bool *varies = ARENA_ARRAY(scratch, bool, param_count);
    for (uint32_t i = 0; i < param_count; i++)
        varies[i] = param_table[i].scope == SCOPE_DERIVED;
    for (size_t i = 0; i < n; i++)
        varies[params[i]] = true;
    const struct rule_lane *lane = &set->lanes[f->framework];
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < lane->n_overrides; i++) {
            const struct rule *r = set->items[lane->overrides[i]];
            if (rule_is_for(r, f) && override_varies(r, varies) && mark_all(r, varies)) more = true;
        }
    }
    return varies;
}

/* The conditions that can change, in *step; false when one that cannot does not hold, so the rule
   never fails. */
static bool keep_conditions(struct arena *a, struct run *run, const bool *varies,
                            const struct rule *r, struct rule_step *step)
{
    uint32_t *kept = ARENA_ARRAY(a, uint32_t, r->n_conditions);
    *step = (struct rule_step){r, kept, 0};
    for (size_t i = 0; i < r->n_conditions; i++) {
        uint32_t number = r->condition_numbers[i];
        if (expr_varies(run->set->conditions[number], varies))
            kept[step->n_conditions++] = number;
        else if (run_condition(run, number) != OUTCOME_PASS)
            return false;
    }
    return true;
}

static void add_rule(struct arena *a, struct run *run, const bool *varies, const struct rule *r,
                     struct rule_subset *out)
{
    struct rule_step step;
    if (!keep_conditions(a, run, varies, r, &step)) return;
    if (!expr_varies(r->rule, varies)) {
        if (run_check(run, r, NULL, 0) != OUTCOME_FAIL) return;
        if (!step.n_conditions) {
            if (!out->failed) out->failed = r;
            return;
        }
    }
    out->steps[out->n++] = step;
}

struct rule_subset rules_varying(struct arena *a, const struct rule_set *set, const struct facts *f,
                                 const int *params, size_t n, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    bool *varies = find_varying(scratch, set, f, params, n);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    struct rule_subset subset = {.set = set,
                                 .steps = ARENA_ARRAY(a, struct rule_step, lane->n_checks)};
    for (size_t i = 0; i < lane->n_checks; i++) {
        const struct rule *r = set->items[lane->checks[i]];
        if (r->severity == SEVERITY_ERROR && rule_is_for(r, f))
            add_rule(a, &run, varies, r, &subset);
    }
    arena_pop(scratch, mark);
    return subset;
}

const struct rule *rule_subset_first_error(const struct rule_subset *subset, const struct facts *f,
                                           struct arena *scratch)
{
    if (subset->failed) return subset->failed;
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(subset->set, f, scratch);
    const struct rule *found = NULL;
    for (size_t i = 0; i < subset->n && !found; i++) {
        const struct rule_step *step = &subset->steps[i];
        if (run_check(&run, step->rule, step->conditions, step->n_conditions) == OUTCOME_FAIL)
            found = step->rule;
    }
    arena_pop(scratch, mark);
    return found;
}
