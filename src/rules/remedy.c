/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the values that mend one rule leave the others as they are. */
#include "rules/run.h"

/* What fails of the rules that a parameter can reach. */
static void run_steps(const struct rule_subset *subset, const struct facts *f, bool *fails,
                      struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(subset->set, f, scratch);
    for (size_t i = 0; i < subset->n; i++) {
        const struct rule_step *step = &subset->steps[i];
        fails[i] =
            run_check(&run, step->rule, step->conditions, step->n_conditions) == OUTCOME_FAIL;
    }
    arena_pop(scratch, mark);
}

static bool fails_anew(const struct rule_subset *subset, const bool *before, const bool *after)
{
    for (size_t i = 0; i < subset->n; i++)
        if (after[i] && !before[i]) return true;
    return false;
}

struct value rule_remedies(const struct rule_set *set, const struct rule *r, const struct facts *f,
                           struct value values, struct arena *scratch)
{
    enum { MOST = 256 };
    size_t offered = values.list->n;
    if (r->parameter < 0 || offered < 2 || offered > MOST) return values; /* one is kept anyway */
    struct arena *keep = f->diags->arena;
    struct rule_subset subset = rules_varying(keep, set, f, &r->parameter, 1, scratch);
    bool *before = ARENA_ARRAY(keep, bool, subset.n), *after = ARENA_ARRAY(keep, bool, subset.n);
    struct value *kept = ARENA_ARRAY(keep, struct value, values.list->n);
    struct facts *at = facts_copy(keep, f);
    size_t n = 0;
    run_steps(&subset, f, before, scratch);
    for (size_t i = 0; i < values.list->n; i++) {
        facts_set(at, r->parameter, values.list->items[i], ORIGIN_OPTION, NULL, STR(""));
        facts_derive(at);
        run_steps(&subset, at, after, scratch);
        if (!fails_anew(&subset, before, after)) kept[n++] = values.list->items[i];
    }
    return n ? value_list_of(scratch, kept, n) : values;
}
