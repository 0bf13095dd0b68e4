/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/run.h"

#include <assert.h>

#include "base/version.h"
#include "rules/memo.h"

bool rule_is_for(const struct rule *r, const struct facts *f)
{
    const struct version_range *range = &r->in[f->framework];
    bool all = !range->from.n && !range->to.n; /* most */
    return range->applies && (all || version_between(f->version, range->from, range->to));
}

bool rule_sets(const struct rule *r, int param)
{
    bool found = false;
    for (size_t i = 0; i < r->n_set; i++)
        found = found || r->set[i].param == param;
    return found;
}

static enum outcome truth(struct value v)
{
    if (v.kind == VALUE_BOOL) return v.b ? OUTCOME_PASS : OUTCOME_FAIL;
    return v.kind == VALUE_UNKNOWN ? OUTCOME_UNKNOWN : OUTCOME_BROKEN;
}

enum outcome expr_outcome(const struct expr *e, struct arena *scratch,
                          const struct expr_scope *scope)
{
    struct arena_mark mark = arena_mark(scratch);
    enum outcome outcome = truth(expr_eval(e, scratch, scope));
    arena_pop(scratch, mark);
    return outcome;
}

/* What conditions come to: one that fails decides, an unknown one hides an error in another. */
static enum outcome conditions_join(enum outcome so_far, enum outcome next)
{
    if (so_far == OUTCOME_NOT_APPLICABLE || next == OUTCOME_FAIL) return OUTCOME_NOT_APPLICABLE;
    if (so_far == OUTCOME_UNKNOWN || next == OUTCOME_UNKNOWN) return OUTCOME_UNKNOWN;
    return so_far == OUTCOME_BROKEN ? so_far : next;
}

enum outcome rule_evaluate(const struct rule *r, const struct facts *f, struct arena *scratch)
{
    assert(scratch != f->arena);
    struct expr_scope scope = facts_scope(f);
    enum outcome outcome = OUTCOME_PASS;
    for (size_t i = 0; i < r->n_conditions && outcome != OUTCOME_NOT_APPLICABLE; i++)
        outcome = conditions_join(outcome, expr_outcome(r->conditions[i], scratch, &scope));
    if (outcome != OUTCOME_PASS) return outcome;
    return r->rule ? expr_outcome(r->rule, scratch, &scope) : OUTCOME_FAIL;
}

struct run run_start(const struct rule_set *set, const struct facts *f, struct arena *scratch)
{
    assert(scratch != f->arena && scratch != f->diags->arena);
    return (struct run){set, f, facts_scope(f), scratch,
                        ARENA_ARRAY(scratch, unsigned char, set->n_conditions + 1)};
}

/* 1 + the outcome of an expression, which is `at_defaults` where all it reads is at its default.
   Apart from those who mostly find the answer in the memo. */
__attribute__((noinline)) static unsigned char look(struct run *run, const struct expr *e,
                                                    unsigned char at_defaults)
{
    if (at_defaults && expr_is_at_defaults(e, run->f)) return at_defaults;
    struct kept_outcome *kept = run->set->memo ? memo_place(run->set->memo, e) : NULL;
    unsigned char known = kept ? memo_find(kept, run->f, &run->scope) : 0;
    if (known) return known;
    known = (unsigned char)(1 + expr_outcome(e, run->scratch, &run->scope));
    if (kept) memo_keep(kept, run->f, &run->scope, known);
    return known;
}

static unsigned char look_at_condition(struct run *run, uint32_t number)
{
    const struct rule_set *set = run->set;
    bool built_in = number < set->n_at_defaults;
    unsigned char at_defaults = built_in ? set->at_defaults[run->f->framework][number] : 0;
    return run->memo[number] = look(run, set->conditions[number], at_defaults);
}

enum outcome run_condition(struct run *run, uint32_t number)
{
    unsigned char known = run->memo[number];
    return (enum outcome)((known ? known : look_at_condition(run, number)) - 1);
}

static inline enum outcome all_conditions(struct run *run, const uint32_t *numbers, size_t n)
{
    enum outcome outcome = OUTCOME_PASS;
    for (size_t i = 0; i < n; i++) /* one that is known to fail spares evaluating the others */
        if (run->memo[numbers[i]] == 1 + OUTCOME_FAIL) return OUTCOME_NOT_APPLICABLE;
    for (size_t i = 0; i < n && outcome != OUTCOME_NOT_APPLICABLE; i++) {
        enum outcome next = run_condition(run, numbers[i]);
        if (next != OUTCOME_PASS) outcome = conditions_join(outcome, next);
    }
    return outcome;
}

enum outcome run_conditions(struct run *run, const uint32_t *numbers, size_t n)
{
    return all_conditions(run, numbers, n);
}

static inline enum outcome check(struct run *run, const struct rule *r, const uint32_t *numbers,
                                 size_t n)
{
    enum outcome outcome = all_conditions(run, numbers, n);
    if (outcome != OUTCOME_PASS) return outcome;
    return (enum outcome)(look(run, r->rule, r->at_defaults[run->f->framework]) - 1);
}

enum outcome run_check(struct run *run, const struct rule *r, const uint32_t *numbers, size_t n)
{
    return check(run, r, numbers, n);
}

/* Whether the first condition of a check of a lane is known to fail: then it says nothing, as most
   rules of most files, and need not be asked more. */
static bool is_out(const struct run *run, const struct rule_lane *lane, size_t check)
{
    return run->memo[lane->firsts[check]] == 1 + OUTCOME_FAIL;
}

static void count(struct rules_summary *sum, enum outcome outcome)
{
    sum->evaluated += outcome == OUTCOME_PASS || outcome == OUTCOME_FAIL;
    sum->failed += outcome == OUTCOME_FAIL;
    sum->skipped += outcome == OUTCOME_UNKNOWN;
    sum->broken += outcome == OUTCOME_BROKEN;
}

struct rules_summary rules_run(const struct rule_set *set, struct facts *f, struct arena *scratch)
{
    struct rules_summary sum = {0};
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    for (size_t i = 0; i < lane->n_checks; i++) {
        if (is_out(&run, lane, i)) continue;
        const struct rule *r = set->items[lane->checks[i]];
        enum outcome outcome = check(&run, r, r->condition_numbers, r->n_conditions);
        if (outcome == OUTCOME_NOT_APPLICABLE || !rule_is_for(r, f)) continue; /* most */
        if (outcome == OUTCOME_FAIL && rule_is_lifted(r, f)) continue;
        count(&sum, outcome);
        sum.errors += outcome == OUTCOME_FAIL && r->severity == SEVERITY_ERROR;
        if (outcome == OUTCOME_FAIL && !rule_is_inherited(r, f)) rule_report(set, r, f, scratch);
    }
    arena_pop(scratch, mark);
    return sum;
}

bool rules_run_errors(const struct rule_set *set, struct facts *f, const bool *open,
                      struct arena *scratch)
{
    bool decided = true;
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    for (size_t i = 0; i < lane->n_checks; i++) {
        if (is_out(&run, lane, i)) continue;
        const struct rule *r = set->items[lane->checks[i]];
        if (r->severity != SEVERITY_ERROR) continue;
        enum outcome outcome = run_check(&run, r, r->condition_numbers, r->n_conditions);
        if (outcome == OUTCOME_NOT_APPLICABLE || !rule_is_for(r, f)) continue; /* most */
        if (outcome == OUTCOME_FAIL) rule_report_briefly(r, f, scratch);
        if (outcome == OUTCOME_UNKNOWN)
            decided = decided && !rule_reads(r, open) && !expr_reads(r->rule, open);
    }
    arena_pop(scratch, mark);
    return decided;
}
