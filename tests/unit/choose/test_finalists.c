/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the plans that a search keeps is the first, and which are shown. */
#include "choose/finalists.h"

#include "unit/unit.h"

/* A plan on a GPU of 100 bytes, without a guide that speaks against it. */
static struct contender plan(int pp, double step_s, double peak)
{
    return (struct contender){.knobs = {.tp = 1, .cp = 1, .pp = pp, .ep = 1, .etp = 1, .mbs = 1},
                              .step_s = step_s,
                              .score = step_s,
                              .peak = peak};
}

/* The pp of the first of them. */
static int first_of(struct contender *plans, size_t n)
{
    finalists_sort(plans, n, 100);
    return plans[0].knobs.pp;
}

/* A tenth of the GPU is worth one percent of the step. */
static void of_plans_as_fast_the_one_with_more_room_is_first(void **state)
{
    (void)state;
    struct contender near[] = {plan(1, 10, 90), plan(2, 10.1, 75)};
    assert_int_equal(first_of(near, 2), 2);
    struct contender dear[] = {plan(1, 10, 90), plan(2, 10.1, 85)};
    assert_int_equal(first_of(dear, 2), 1);
    struct contender worse[] = {plan(1, 10, 90), plan(2, 10.1, 75), plan(4, 10.05, 95)};
    finalists_sort(worse, 3, 100);
    assert_int_equal(worse[1].knobs.pp, 1); /* the others by score */
    assert_int_equal(worse[2].knobs.pp, 4);
}

/* Nothing is gained beyond half of the GPU, and no room is worth more than three percent. */
static void room_is_worth_little(void **state)
{
    (void)state;
    struct contender ample[] = {plan(1, 10, 50), plan(2, 10.01, 10)};
    assert_int_equal(first_of(ample, 2), 1);
    struct contender slow[] = {plan(1, 10, 100), plan(2, 10.31, 50)};
    assert_int_equal(first_of(slow, 2), 1);
    struct contender within[] = {plan(1, 10, 100), plan(2, 10.29, 50)};
    assert_int_equal(first_of(within, 2), 2);
}

/* What a plan offloads makes room, but not for being the first. */
static void offload_makes_no_room(void **state)
{
    (void)state;
    struct contender plans[] = {plan(1, 10, 80), plan(2, 10.1, 50)};
    plans[1].knobs.offload_modules = MOD_MOE_ACT;
    assert_int_equal(first_of(plans, 2), 1);
    plans[1].step_s = plans[1].score = 9.7;
    assert_int_equal(first_of(plans, 2), 2);
}

/* A plan with a risk is not first for its room, nor is it what others are measured by. */
static void risks_are_no_measure(void **state)
{
    (void)state;
    struct contender plans[] = {plan(1, 10, 100), plan(2, 10.2, 60), plan(4, 9, 50)};
    plans[2].risky = true;
    assert_int_equal(first_of(plans, 3), 2);
    assert_int_equal(plans[2].knobs.pp, 4);
}

/* Who asks for one plan or for many sees the same first. */
static void the_first_is_one_of_five(void **state)
{
    (void)state;
    struct contender plans[] = {plan(1, 10.00, 90), plan(2, 10.01, 90), plan(3, 10.02, 90),
                                plan(4, 10.03, 90), plan(5, 10.04, 90), plan(6, 10.05, 50)};
    assert_int_equal(first_of(plans, 6), 1);
}

/* What is cut is neither the first, nor the fastest, nor the only one that shards its parameters,
   as long as there are others. */
static void the_first_and_the_fastest_stay(void **state)
{
    (void)state;
    struct contender plans[] = {plan(1, 10, 50), plan(2, 10.1, 50), plan(3, 11, 50),
                                plan(4, 12, 50), plan(5, 9, 50)};
    plans[3].knobs.fsdp = 1;
    static const int left[][4] = {{1, 2, 4, 5}, {1, 4, 5}, {1, 5}, {1}};
    for (size_t cut = 0; cut < 4; cut++) {
        size_t most = 4 - cut, n = finalists_cut(plans, 5 - cut, most);
        assert_int_equal(n, most);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(plans[i].knobs.pp, left[cut][i]);
    }
    assert_int_equal(finalists_cut(plans, 1, 0), 1);
    assert_int_equal(finalists_cut(plans, 0, 3), 0);
}

/* How many of two plans of 10 s and 50 of 100 bytes are shown, where the worse has these. */
static size_t rows(struct contender worse)
{
    struct contender plans[] = {plan(1, 10, 50), worse};
    return finalists_leave_echoes(plans, 2, 100);
}

/* Rows that a user cannot tell apart are one, whatever graph or state makes them two: but for what
   is faster, leaner, or another layout. */
static void a_plan_is_shown_once(void **state)
{
    (void)state;
    assert_int_equal(rows(plan(1, 9.96, 49)), 1);
    assert_int_equal(rows(plan(1, 10.5, 50)), 1);
    assert_int_equal(rows(plan(1, 9.94, 49)), 2);
    assert_int_equal(rows(plan(1, 10, 47)), 2);
    assert_int_equal(rows(plan(2, 10, 50)), 2);
    struct contender larger = plan(1, 10, 50);
    larger.knobs.mbs = 2;
    assert_int_equal(rows(larger), 2);
    struct contender three[] = {plan(1, 10, 50), plan(1, 9.98, 50), plan(2, 11, 50)};
    assert_int_equal(finalists_leave_echoes(three, 3, 100), 2);
    assert_int_equal(three[1].knobs.pp, 2);
}

/* The pipeline of the second of three rows, where the fastest plan takes a risk and the fastest
   without one needs so many seconds. */
static int second_row(double fastest_without_a_risk)
{
    struct contender plans[] = {plan(1, 10.1, 50), plan(2, 10.2, 50),
                                plan(3, fastest_without_a_risk, 90), plan(4, 9, 90)};
    plans[3].risky = true;
    assert_int_equal(finalists_cut(plans, 4, 3), 3);
    assert_int_equal(plans[0].knobs.pp, 1);
    assert_int_equal(plans[2].knobs.pp, 4);
    return plans[1].knobs.pp;
}

/* A faster plan with a risk does not push out the fastest of those without, which the first may be
   three percent slower than; where another is as fast, that row stood for nothing. */
static void the_fastest_without_a_risk_stays(void **state)
{
    (void)state;
    assert_int_equal(second_row(9.85), 3);
    assert_int_equal(second_row(9.95), 2);
}

/* How many sharded plans are taken, where one of that score stands beside others of about ten. */
static size_t rivals_taken(int others, double score)
{
    struct finalists f;
    struct contender taken[SEARCH_HELD_PLANS], rival = plan(1, score, 50);
    rival.knobs.fsdp = FSDP_OPTIM_GRADS_PARAMS;
    finalists_start(&f, 4, true);
    for (int i = 0; i < others; i++) {
        struct contender other = plan(i + 2, 10 + 0.01 * i, 50);
        finalists_add(&f, &other);
    }
    if (finalists_want(&f, &rival.knobs, score, score, false)) finalists_add(&f, &rival);
    size_t n = finalists_take(&f, taken), sharded = 0;
    for (size_t i = 0; i < n; i++)
        sharded += taken[i].knobs.fsdp != FSDP_NONE;
    return sharded;
}

/* A far slower way to share parameters was once shown in the place of a better layout. */
static void a_rival_is_near_or_takes_no_place(void **state)
{
    (void)state;
    assert_int_equal(rivals_taken(6, 11.9), 1);
    assert_int_equal(rivals_taken(6, 12.1), 0);
    assert_int_equal(rivals_taken(2, 30), 1); /* there is room */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(of_plans_as_fast_the_one_with_more_room_is_first),
    cmocka_unit_test(room_is_worth_little),
    cmocka_unit_test(offload_makes_no_room),
    cmocka_unit_test(risks_are_no_measure),
    cmocka_unit_test(the_first_is_one_of_five),
    cmocka_unit_test(the_first_and_the_fastest_stay),
    cmocka_unit_test(a_plan_is_shown_once),
    cmocka_unit_test(the_fastest_without_a_risk_stays),
    cmocka_unit_test(a_rival_is_near_or_takes_no_place),
};

UNIT_MAIN(tests)
