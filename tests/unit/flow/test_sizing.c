/* SPDX-License-Identifier: Apache-2.0 */
/* Several sizes at once: each as if it were asked alone, and set against the others. */
#include "flow/sizing.h"

#include <stdio.h>

#include "ask_unit.h"

static struct sizing sized(struct arena *a, struct sizing_ask *ask)
{
    struct arena *scratch = arena_new(0);
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct sizing out;
    diags_init(diags, a);
    assert_true(sizing_answer(a, scratch, diags, rules_builtin(), ask, &out));
    arena_free(scratch);
    return out;
}

static struct sizing_ask sizes_of(struct arena *a, const char *model, const char *gpus)
{
    struct ask *asks = ARENA_NEW(a, struct ask);
    struct sizing_ask ask = {.asks = asks, .n_asks = 1, .n_platforms = 1};
    *asks = automodel_ask(a, model, 0, "h100");
    assert_true(range_read(a, str_of(gpus), SIZING_MOST, &ask.gpus));
    ask.platforms = ARENA_ARRAY(a, const struct platform *, 2);
    ask.platforms[0] = ask.asks->platform;
    return ask;
}

static void each_size_is_as_if_asked_alone(void **state)
{
    struct sizing_ask ask = sizes_of(*state, "qwen3-30b-a3b", "8,32");
    ask.platforms[1] = ask_platform(*state, "h200");
    ask.n_platforms = 2;
    struct ask wished = *ask.asks;
    wished.wish = (struct bill_wish){.tokens = 1e12};
    ask.asks = &wished;
    struct sizing all = sized(*state, &ask);
    assert_int_equal(all.n, 4);
    for (size_t i = 0; i < all.n; i++) {
        const struct size_row *row = &all.rows[i];
        struct arena *scratch = arena_new(0);
        struct diags diags;
        struct ask alone = *ask.asks;
        struct answers answers;
        diags_init(&diags, *state);
        alone.platform = ask.platforms[i / 2];
        alone.gpus = ask.gpus.items[i % 2];
        assert_true(suggest(*state, scratch, &diags, rules_builtin(), &alone, &answers));
        assert_memory_equal(&row->plan->config.knobs, &answers.items[0].plans[0].config.knobs,
                            sizeof row->plan->config.knobs);
        assert_true(row->plan->costs.step_s == answers.items[0].plans[0].costs.step_s);
        assert_int_equal(row->ask.gbs, alone.gbs);
        struct bill bill =
            wish_bill(&ask.asks->wish, alone.platform, &row->plan->config.knobs, &row->time);
        assert_true(row->bill.days.value == bill.days.value && bill.days.value > 0);
        arena_free(scratch);
    }
}

/* From 8 GPUs with 256 sequences: 16 take twice as many, 32 the most there may be, 64 no more. */
static void a_batch_grows_with_the_gpus(void **state)
{
    static const struct {
        int64_t gbs;
        enum scaling scaling;
    } expected[] = {
        {256, SCALING_BASE}, {512, SCALING_WEAK}, {960, SCALING_MIXED}, {960, SCALING_STRONG}};
    struct sizing_ask ask = sizes_of(*state, "qwen3-30b-a3b", "8..64");
    ask.gbs_low = 256;
    ask.gbs_high = 960;
    struct sizing all = sized(*state, &ask);
    for (size_t i = 0; i < all.n; i++) {
        assert_int_equal(all.rows[i].ask.gbs, expected[i].gbs);
        assert_int_equal(all.rows[i].scaling, expected[i].scaling);
    }
    assert_true(all.rows[0].efficiency == 1);
    assert_int_equal(sizing_batch(&ask, 24), 768);
    assert_int_equal(sizing_batch(&ask, 28), 896);
    assert_int_equal(sizing_batch(&ask, 100), 900); /* a multiple of the GPUs */
    assert_int_equal(sizing_batch(&ask, 2000), 960);
}

/* 64 sequences on up to 64 GPUs: the pipeline and the network eat what the GPUs gain. */
static void the_knee_is_where_efficiency_falls_faster_than_speed_rises(void **state)
{
    struct sizing_ask ask = sizes_of(*state, "qwen3-30b-a3b", "8..64");
    struct ask few = *ask.asks;
    few.gbs = 64;
    ask.asks = &few;
    struct sizing all = sized(*state, &ask);
    size_t best = 0, knees = 0;
    double most = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct size_row *row = &all.rows[i];
        double worth = row->efficiency * row->efficiency * (double)row->ask.gpus;
        assert_int_equal(row->scaling, i ? SCALING_STRONG : SCALING_BASE);
        if (worth > most) best = i, most = worth;
        knees += row->knee;
    }
    assert_int_equal(knees, best + 1 < all.n);
    assert_true(best + 1 == all.n || all.rows[best].knee);
}

/* The fewest that are in time: with one step fewer of the same search none is. */
static void the_fewest_by_a_deadline(void **state)
{
    struct arena *scratch = arena_new(0);
    struct ask ask = automodel_ask(*state, "qwen3-30b-a3b", 0, "h100");
    struct notes notes = {0};
    ask.wish = (struct bill_wish){.tokens = 3e11, .goodput = 1, .deadline_days = 10};
    ask_size(*state, scratch, rules_builtin(), &ask, &notes);
    assert_false(ask.late);
    assert_int_equal(ask.gpus % 8, 0);
    assert_int_equal(notes.n, 1);
    double days[2];
    for (int i = 0; i < 2; i++) {
        struct sizing_ask one = {.asks = &ask, .n_asks = 1, .n_platforms = 1};
        one.platforms = &ask.platform;
        *VEC_PUSH(*state, &one.gpus) = i ? ask.gpus - 8 : ask.gpus;
        days[i] = sized(*state, &one).rows[0].bill.days.value;
    }
    assert_true(days[0] <= 10 && (days[1] > 10 || days[1] == 0));
    arena_free(scratch);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_size_is_as_if_asked_alone),
    cmocka_unit_test(a_batch_grows_with_the_gpus),
    cmocka_unit_test(the_knee_is_where_efficiency_falls_faster_than_speed_rises),
    cmocka_unit_test(the_fewest_by_a_deadline),
};

UNIT_MAIN(tests)
