/* SPDX-License-Identifier: Apache-2.0 */
/* What runs say of other plans, and what sweep's loop makes of it. */
#include "unit/plan_text.h"

#include <math.h>

#include "choose/sweep_loop.h"

static struct facts *plan_of(struct arena *a)
{
    return sized_plan(a, "megatron",
                      "model: qwen3-30b-a3b\nplatform: h100\ngpus: 64\ngbs: 512\nmbs: 1",
                      "ep: 8\nuse_distributed_optimizer: true\n");
}

static struct sweep_loop looped(struct arena *a, const struct trial_result *results, size_t n)
{
    struct arena *scratch = arena_new(0);
    struct sweep_loop out;
    struct facts *f = plan_of(a);
    assert_true(sweep_loop(a, rules_builtin(), f, config_of(f), results, n, 3, scratch, &out));
    arena_free(scratch);
    return out;
}

/* The learner of the base and its single levers. */
static struct learner *learner_of(struct arena *a, struct lever_list *levers)
{
    struct arena *scratch = arena_new(0);
    const struct levered **plans;
    levers_list(a, config_of(plan_of(a)), false, scratch, levers);
    plans = ARENA_ARRAY(a, const struct levered *, levers->items.n);
    for (size_t i = 0; i < levers->items.n; i++)
        plans[i] = &levers->items.items[i];
    struct learner *l = learner_new(a, plans, levers->items.n);
    arena_free(scratch);
    return l;
}

/* Plans that lean on the same coefficients move with the one that was run, and are known better
   then; a run that is far off says next to nothing of them. */
static void a_run_says_something_of_all_plans(void **state)
{
    struct lever_list levers;
    struct learner *l = learner_of(*state, &levers), *far = learner_of(*state, &levers);
    size_t other = levers.items.n - 1;
    struct belief before = learner_belief(l, other), first = learner_belief(l, 0);
    learner_measure(l, 0, exp(first.mean + 0.1), 0.02);
    learner_measure(far, 0, exp(first.mean + 3), 0.02);
    struct belief after = learner_belief(l, other), run = learner_belief(l, 0);
    assert_true(after.mean > before.mean + 0.03 && after.mean < before.mean + 0.12);
    assert_true(after.sd < before.sd && run.sd < 0.021);
    assert_true(fabs(run.mean - first.mean - 0.1) < 0.01);
    double moved = learner_belief(far, other).mean - before.mean;
    assert_true(moved > 0 && moved < 0.6);
    assert_true(fabs(learner_belief(far, 0).mean - first.mean - 3) < 0.01);
}

/* Of what is as fast half is gained by chance; what is much slower is hardly faster. */
static void improvement_falls_with_the_distance(void **state)
{
    struct lever_list levers;
    struct learner *l = learner_of(*state, &levers);
    double chance, same, slow;
    learner_assume(l, 0, 0.02);
    same = learner_improvement(l, 0, 0, &chance);
    assert_true(fabs(chance - 0.5) < 1e-6 && same < 1e-6);
    size_t worst = 0;
    for (size_t i = 0; i < levers.items.n; i++)
        if (levers.items.items[i].time.step > levers.items.items[worst].time.step) worst = i;
    slow = learner_improvement(l, worst, 0, &chance);
    assert_true(chance < 0.2 && slow < 0.05);
}

static void what_may_not_fit_counts_for_its_chance(void **state)
{
    (void)state;
    struct memory_estimate m = {.peak = 80, .peak_low = 70, .peak_high = 90, .fits = FITS_TIGHT};
    m.capacity = 80;
    assert_true(fabs(levered_room(&m) - 0.5) < 1e-9);
    m.capacity = 90;
    assert_true(fabs(levered_room(&m) - 0.95) < 1e-3);
    m.capacity = 70;
    assert_true(fabs(levered_room(&m) - 0.05) < 1e-3);
    m.fits = FITS_YES;
    assert_true(levered_room(&m) == 1);
}

/* Names do not change with the order or with what was measured, and no two are alike. */
static void trials_have_names(void **state)
{
    struct sweep_loop x = looped(*state, NULL, 0);
    assert_str(x.trials[0].id, "baseline");
    assert_int_equal(x.asked, 4);
    for (size_t i = 1; i < x.n; i++) {
        assert_int_equal(x.trials[i].id.n, 8);
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(x.trials[i].id, x.trials[k].id));
    }
}

/* What needs more memory than a plan that ran out of it is not tried; what needs less may be. */
static void what_ran_out_of_memory_bounds_the_others(void **state)
{
    struct sweep_loop x = looped(*state, NULL, 0);
    const struct loop_trial *largest = &x.trials[0];
    for (size_t i = 0; i < x.n; i++)
        if (x.trials[i].plan->peak > 1.05 * x.trials[0].plan->peak &&
            (largest == &x.trials[0] || x.trials[i].plan->peak < largest->plan->peak))
            largest = &x.trials[i];
    assert_true(largest != &x.trials[0]);
    double base = x.trials[0].plan->time.step;
    struct trial_result results[] = {{STR("baseline"), base, 0.01, 40}, {largest->id, 0, 0, 0}};
    struct sweep_loop after = looped(*state, results, 2);
    assert_true(after.failed == 1 && after.measured == 1 && fabs(after.offset - 1) < 1e-9);
    bool less = false;
    for (size_t i = 1; i < after.n; i++) {
        const struct loop_trial *t = &after.trials[i];
        bool open = t->state == TRIAL_OPEN || t->state == TRIAL_NEXT;
        if (t->plan->peak >= largest->plan->peak) assert_false(open);
        less = less || open;
    }
    assert_true(less);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_run_says_something_of_all_plans),
    cmocka_unit_test(improvement_falls_with_the_distance),
    cmocka_unit_test(what_may_not_fit_counts_for_its_chance),
    cmocka_unit_test(trials_have_names),
    cmocka_unit_test(what_ran_out_of_memory_bounds_the_others),
};
UNIT_MAIN(tests)
