/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/set.h"

#include "base/edit.h"
#include "base/sort.h"
#include "base/vec.h"

static size_t put(const struct rule **items, size_t at, const struct rule *const *from, size_t n,
                  enum rule_role role)
{
    for (size_t i = 0; i < n; i++)
        if (from[i]->role == role) items[at++] = from[i];
    return at;
}

static const struct rule **order_items(struct arena *a, const struct rule_set *base,
                                       const struct rule_list *fresh)
{
    const struct rule **items =
        ARENA_ARRAY(a, const struct rule *, (base ? base->n : 0) + fresh->n);
    size_t at = 0;
    static const enum rule_role order[] = {ROLE_OVERRIDE, ROLE_ASSUMPTION, ROLE_CHECK};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (base) at = put(items, at, base->items, base->n, order[i]);
        at = put(items, at, (const struct rule *const *)fresh->items, fresh->n, order[i]);
    }
    return items;
}

struct place {
    struct str id;
    uint32_t number;
};

static int order_of_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = str_cmp(x->id, y->id);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static const uint32_t *order_ids(struct arena *a, const struct rule_set *set)
{
    struct place *places = ARENA_ARRAY(a, struct place, set->n);
    uint32_t *numbers = ARENA_ARRAY(a, uint32_t, set->n);
    for (uint32_t i = 0; i < set->n; i++)
        places[i] = (struct place){set->items[i]->id, i};
    sort_items(places, set->n, sizeof *places, order_of_places);
    for (size_t i = 0; i < set->n; i++)
        numbers[i] = places[i].number;
    return numbers;
}

static bool is_check(const struct rule *r)
{
    return !r->native && r->role == ROLE_CHECK && r->rule;
}

static struct rule_lane lane_build(struct arena *a, const struct rule_set *set,
                                   enum framework framework)
{
    uint32_t *overrides = ARENA_ARRAY(a, uint32_t, set->n),
             *assumptions = ARENA_ARRAY(a, uint32_t, set->n),
             *checks = ARENA_ARRAY(a, uint32_t, set->n), *firsts = ARENA_ARRAY(a, uint32_t, set->n),
             *completions = ARENA_ARRAY(a, uint32_t, set->n);
    struct rule_lane lane = {overrides, assumptions, checks, firsts, completions, 0, 0, 0, 0};
    for (uint32_t i = 0; i < set->n; i++) {
        const struct rule *r = set->items[i];
        if (!r->in[framework].applies) continue;
        if (r->role == ROLE_OVERRIDE) overrides[lane.n_overrides++] = i;
        if (r->role == ROLE_ASSUMPTION) assumptions[lane.n_assumptions++] = i;
        if (is_check(r)) {
            firsts[lane.n_checks] =
                r->n_conditions ? r->condition_numbers[0] : (uint32_t)set->n_conditions;
            checks[lane.n_checks++] = i;
        }
        if (r->role == ROLE_CHECK && r->n_set) completions[lane.n_completions++] = i;
    }
    return lane;
}

/* True when condition a should be looked at before b: many rules share its answer, or it is
   shorter. */
static bool goes_first(const struct rule_set *set, const uint32_t *uses, uint32_t a, uint32_t b)
{
    if (uses[a] != uses[b]) return uses[a] > uses[b];
    return expr_source(set->conditions[a]).n < expr_source(set->conditions[b]).n;
}

static void order_conditions(struct arena *a, const struct rule_set *set, const uint32_t *uses,
                             struct rule *r)
{
    uint32_t *numbers = ARENA_ARRAY(a, uint32_t, r->n_conditions);
    for (size_t i = 0; i < r->n_conditions; i++) {
        size_t k = i;
        for (; k && goes_first(set, uses, r->condition_numbers[i], numbers[k - 1]); k--)
            numbers[k] = numbers[k - 1];
        numbers[k] = r->condition_numbers[i];
    }
    r->condition_numbers = numbers;
}

struct rule_set set_build(struct arena *a, const struct rule_set *base,
                          const struct rule_list *fresh, const struct expr *const *conditions,
                          size_t n_conditions)
{
    struct rule_set set = {.items = order_items(a, base, fresh),
                           .n = (base ? base->n : 0) + fresh->n,
                           .conditions = conditions,
                           .n_conditions = n_conditions};
    for (int k = 0; base && k < FRAMEWORK_COUNT; k++)
        set.at_defaults[k] = base->at_defaults[k];
    set.n_at_defaults = base ? base->n_at_defaults : 0; /* its conditions are the first */
    uint32_t *uses = ARENA_ARRAY(a, uint32_t, n_conditions);
    for (size_t i = 0; i < set.n; i++)
        for (size_t k = 0; k < set.items[i]->n_conditions; k++)
            uses[set.items[i]->condition_numbers[k]]++;
    for (size_t i = 0; i < fresh->n; i++)
        order_conditions(a, &set, uses, fresh->items[i]);
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        set.lanes[k] = lane_build(a, &set, (enum framework)k);
    set.by_id = order_ids(a, &set);
    return set;
}

static bool guide_find(const struct rule_set *set, struct str id)
{
    for (size_t i = 0; i < set->n_guides; i++)
        if (str_eq(set->guides[i].id, id)) return true;
    return false;
}

struct rule_set rules_except(struct arena *a, const struct rule_set *set,
                             const struct rule_set *replaced)
{
    struct rule_set rest = *set;
    const struct rule **items = ARENA_ARRAY(a, const struct rule *, set->n);
    rest.items = items;
    rest.n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (!rules_find(replaced, set->items[i]->id)) items[rest.n++] = set->items[i];
    struct guide_row *guides = ARENA_ARRAY(a, struct guide_row, set->n_guides);
    rest.guides = guides;
    rest.n_guides = 0;
    for (size_t i = 0; i < set->n_guides; i++)
        if (!guide_find(replaced, set->guides[i].id)) guides[rest.n_guides++] = set->guides[i];
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        rest.lanes[k] = lane_build(a, &rest, (enum framework)k);
    rest.by_id = order_ids(a, &rest);
    return rest;
}

const struct rule *rules_find(const struct rule_set *set, struct str id)
{
    size_t from = 0, to = set->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (str_cmp(set->items[set->by_id[middle]]->id, id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    const struct rule *r = from < set->n ? set->items[set->by_id[from]] : NULL;
    return r && str_eq(r->id, id) ? r : NULL;
}

static void add_uses(struct arena *a, struct expr_use_list *all, const struct expr *e)
{
    const struct expr_use *uses;
    size_t n = e ? expr_variables(e, &uses) : 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < all->n && !str_eq(all->items[k].name, uses[i].name))
            k++;
        if (k == all->n) *VEC_PUSH(a, all) = uses[i];
    }
}

struct expr_use_list rule_variables(struct arena *a, const struct rule *r)
{
    struct expr_use_list all = {0};
    for (size_t i = 0; i < r->n_conditions; i++)
        add_uses(a, &all, r->conditions[i]);
    add_uses(a, &all, r->rule);
    for (size_t i = 0; i < r->n_set; i++)
        add_uses(a, &all, r->set[i].value);
    add_uses(a, &all, r->message_expression);
    add_uses(a, &all, r->help_expression);
    return all;
}

bool rule_cites(const struct rule *r, struct str row)
{
    return str_among(row, r->guides, r->n_guides);
}

struct str rules_nearest(const struct rule_set *set, struct str word)
{
    struct edit_nearest nearest = {.word = word};
    for (size_t i = 0; i < set->n; i++)
        edit_offer(&nearest, set->items[i]->id);
    return nearest.best;
}
