/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/run.h"

#include "facts/param_ids.h"

/* ---- what a change can reach ---- */

bool expr_reads(const struct expr *e, const bool *params)
{
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param < 0) continue;
        if (params ? params[param] : param_table[param].scope == SCOPE_DERIVED) return true;
    }
    return false;
}

bool rule_reads(const struct rule *r, const bool *params)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (expr_reads(r->conditions[i], params)) return true;
    for (size_t i = 0; i < r->n_set; i++)
        if (expr_reads(r->set[i].value, params)) return true;
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

static void mark_derived(bool *varies)
{
    for (uint32_t i = 0; i < param_count; i++)
        varies[i] = varies[i] || param_table[i].scope == SCOPE_DERIVED;
}

/* Adds what overrides make of the parameters that vary, transitively, and what derives from that.
 */
static void add_consequences(const struct rule_set *set, const struct rule_lane *lane, bool *varies)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < lane->n_overrides; i++) {
            const struct rule *r = set->items[lane->overrides[i]];
            if (rule_reads(r, varies) && mark_all(r, varies)) more = true;
        }
        if (more) mark_derived(varies);
    }
}

static void list_varying(struct arena *a, const struct rule_lane *lane, const bool *varies,
                         struct rule_reach *out)
{
    uint32_t *overrides = ARENA_ARRAY(a, uint32_t, lane->n_overrides);
    int *params = ARENA_ARRAY(a, int, param_count);
    for (size_t i = 0; i < lane->n_overrides; i++)
        if (rule_reads(out->set->items[lane->overrides[i]], varies))
            overrides[out->n_overrides++] = lane->overrides[i];
    for (uint32_t i = 0; i < param_count; i++)
        if (varies[i]) params[out->n_params++] = (int)i;
    out->overrides = overrides;
    out->params = params;
}

/* Whether a condition of the rule can change; marks those that do. `seen`: those that were asked.
 */
static bool one_varies(const struct rule *r, const struct rule_set *set, const bool *varies,
                       bool *seen, bool *conditions)
{
    bool any = false;
    for (size_t i = 0; i < r->n_conditions; i++) {
        uint32_t number = r->condition_numbers[i];
        if (!seen[number]) conditions[number] = expr_reads(set->conditions[number], varies);
        seen[number] = true;
        any = any || conditions[number];
    }
    return any;
}

static bool bars_plans(const struct rule *r)
{
    return r->severity == SEVERITY_ERROR || r->plans_never;
}

static void list_checks(struct arena *a, const struct rule_lane *lane, const bool *varies,
                        struct rule_reach *out)
{
    uint32_t *checks = ARENA_ARRAY(a, uint32_t, lane->n_checks);
    bool *reads = ARENA_ARRAY(a, bool, lane->n_checks);
    bool *conditions = ARENA_ARRAY(a, bool, out->set->n_conditions),
         *seen = ARENA_ARRAY(a, bool, out->set->n_conditions);
    out->conditions = conditions;
    for (size_t i = 0; i < lane->n_checks; i++) {
        const struct rule *r = out->set->items[lane->checks[i]];
        if (!bars_plans(r)) continue;
        bool itself = expr_reads(r->rule, varies),
             asked = one_varies(r, out->set, varies, seen, conditions);
        if (!itself && !asked) continue;
        checks[out->n_checks] = lane->checks[i];
        reads[out->n_checks++] = itself;
    }
    out->checks = checks;
    out->reads = reads;
}

static struct rule_reach make_reach(struct arena *a, const struct rule_set *set,
                                    enum framework framework, bool *varies)
{
    const struct rule_lane *lane = &set->lanes[framework];
    struct rule_reach reach = {.set = set};
    list_checks(a, lane, varies, &reach);
    list_varying(a, lane, varies, &reach);
    return reach;
}

/* Marks a parameter and what is derived of it. */
static void mark_following(bool *varies, int param)
{
    const int *following = facts_following(param);
    if (!following) mark_derived(varies);
    for (; following && *following != P_NONE; following++)
        varies[*following] = true;
    varies[param] = true;
}

struct rule_reach rules_reach_of_world(struct arena *a, const struct rule_set *set,
                                       enum framework framework)
{
    bool *varies = ARENA_ARRAY(a, bool, param_count);
    mark_following(varies, P_world_size);
    add_consequences(set, &set->lanes[framework], varies);
    return make_reach(a, set, framework, varies);
}

/* ---- the rules in reach, for one configuration ---- */

/* The conditions that can change, in *step; false when one that cannot does not hold, so the rule
 * never fails. */
static bool keep_conditions(struct arena *a, struct run *run, const bool *conditions,
                            const struct rule *r, struct rule_step *step)
{
    uint32_t *kept = ARENA_ARRAY(a, uint32_t, r->n_conditions);
    *step = (struct rule_step){r, kept, 0};
    for (size_t i = 0; i < r->n_conditions; i++) {
        uint32_t number = r->condition_numbers[i];
        if (conditions[number])
            kept[step->n_conditions++] = number;
        else if (run_condition(run, number) != OUTCOME_PASS)
            return false;
    }
    return true;
}

struct rule_subset rules_reached(struct arena *a, const struct rule_reach *reach,
                                 const struct facts *f, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(reach->set, f, scratch);
    struct rule_subset subset = {.set = reach->set,
                                 .steps = ARENA_ARRAY(a, struct rule_step, reach->n_checks)};
    for (size_t i = 0; i < reach->n_checks; i++) {
        const struct rule *r = reach->set->items[reach->checks[i]];
        struct rule_step *step = &subset.steps[subset.n];
        if (!rule_is_for(r, f) || !keep_conditions(a, &run, reach->conditions, r, step)) continue;
        if (reach->reads[i] || run_check(&run, r, NULL, 0) == OUTCOME_FAIL) subset.n++;
    }
    arena_pop(scratch, mark);
    return subset;
}

/* ---- a search ---- */

/* The first rule out of reach that fails. */
static const struct rule *first_fixed_error(const struct rule_reach *reach, const struct facts *f,
                                            struct arena *scratch)
{
    struct run run = run_start(reach->set, f, scratch);
    const struct rule_lane *lane = &reach->set->lanes[f->framework];
    size_t next = 0; /* both lists are in the same order */
    for (size_t i = 0; i < lane->n_checks; i++) {
        const struct rule *r = reach->set->items[lane->checks[i]];
        bool reached = next < reach->n_checks && reach->checks[next] == lane->checks[i];
        next += reached;
        if (reached || !bars_plans(r) || !rule_is_for(r, f)) continue;
        if (run_check(&run, r, r->condition_numbers, r->n_conditions) == OUTCOME_FAIL) return r;
    }
    return NULL;
}

const struct rule *rules_fixed_error(const struct rule_reach *reach, const struct facts *f,
                                     struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct rule *found = first_fixed_error(reach, f, scratch);
    arena_pop(scratch, mark);
    return found;
}

const struct rule *rules_first_error(const struct rule_set *set, const struct facts *f,
                                     struct arena *scratch)
{
    const struct rule_reach nothing = {.set = set};
    return rules_fixed_error(&nothing, f, scratch);
}

struct rule_reach rules_reach_of(struct arena *a, const struct rule_set *set,
                                 enum framework framework, const int *params, size_t n)
{
    bool *varies = ARENA_ARRAY(a, bool, param_count);
    mark_derived(varies);
    for (size_t i = 0; i < n; i++)
        varies[params[i]] = true;
    add_consequences(set, &set->lanes[framework], varies);
    return make_reach(a, set, framework, varies);
}

const struct rule_reach *rules_reach_of_one(struct arena *a, const struct rule_set *set,
                                            enum framework framework, int param)
{
    struct rule_memo none = {.arena = a}, *memo = set->memo ? set->memo : &none;
    const struct rule_reach ***all = &memo->reaches[framework];
    if (!*all) *all = ARENA_ARRAY(memo->arena, const struct rule_reach *, param_count);
    if ((*all)[param]) return (*all)[param];
    struct rule_reach *reach = ARENA_NEW(memo->arena, struct rule_reach);
    bool *varies = ARENA_ARRAY(memo->arena, bool, param_count);
    mark_following(varies, param);
    *reach = make_reach(memo->arena, set, framework, varies);
    return (*all)[param] = reach;
}

struct rule_subset rules_varying(struct arena *a, const struct rule_set *set, const struct facts *f,
                                 const int *params, size_t n, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct rule_reach reach = rules_reach_of(scratch, set, f->framework, params, n);
    struct rule_subset subset = rules_reached(a, &reach, f, scratch);
    subset.failed = first_fixed_error(&reach, f, scratch);
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
