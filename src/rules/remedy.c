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

static bool fails_anew(const struct rule_subset *subset, const struct facts *f, const bool *before,
                       struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = run_start(subset->set, f, scratch);
    bool anew = false;
    for (size_t i = 0; i < subset->n && !anew; i++) {
        const struct rule_step *step = &subset->steps[i];
        anew = !before[i] &&
               run_check(&run, step->rule, step->conditions, step->n_conditions) == OUTCOME_FAIL;
    }
    arena_pop(scratch, mark);
    return anew;
}

static bool is_rising(const struct value_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!value_is_number(list->items[i]) ||
            (i && value_number_cmp(list->items[i - 1], list->items[i]) >= 0))
            return false;
    return true;
}

/* Goes through rising numbers from what lies nearest to a number, of a tie the smaller, outwards;
   from the front where it is none. */
struct walk {
    const struct value_list *list;
    double from;
    size_t below, above; /* [0, below) and [above, n) are still to come */
};

static struct walk walk_start(const struct value_list *list, struct value from)
{
    struct walk w = {.list = list, .from = value_number(from)};
    while (w.above < list->n && value_number(list->items[w.above]) <= w.from)
        w.above++;
    w.below = w.above;
    return w;
}

static size_t walk_next(struct walk *w)
{
    const struct value *items = w->list->items;
    bool up =
        !w->below || (w->above < w->list->n && value_number(items[w->above]) - w->from <
                                                   w->from - value_number(items[w->below - 1]));
    return up ? w->above++ : --w->below;
}

struct value rule_remedies(const struct rule_set *set, const struct rule *r, const struct facts *f,
                           struct value values, size_t most, struct arena *scratch)
{
    enum { MOST = 256 };
    const struct value_list *list = values.list;
    if (r->parameter < 0 || list->n < 2 || list->n > MOST) return values; /* one is kept anyway */
    bool rising = is_rising(list);
    struct arena *keep = f->diags->arena;
    const struct rule_reach *reach = rules_reach_of_one(keep, set, f->framework, r->parameter);
    struct rule_subset subset = rules_reached(keep, reach, f, scratch);
    bool *before = ARENA_ARRAY(keep, bool, subset.n), *good = ARENA_ARRAY(keep, bool, list->n);
    struct facts *at = facts_copy(keep, f);
    struct walk walk = walk_start(list, rising ? facts_get(f, r->parameter)->value : value_null());
    run_steps(&subset, f, before, scratch);
    for (size_t tried = 0, found = 0; tried < list->n && (found < most || !rising); tried++) {
        size_t i = walk_next(&walk);
        facts_set(at, r->parameter, list->items[i], ORIGIN_OPTION, NULL, STR(""));
        facts_derive_after(at, r->parameter);
        good[i] = !fails_anew(&subset, at, before, scratch);
        found += good[i];
    }
    struct value *kept = ARENA_ARRAY(keep, struct value, list->n);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (good[i]) kept[n++] = list->items[i];
    return n ? value_list_of(scratch, kept, n) : values;
}
