/* SPDX-License-Identifier: Apache-2.0 */
/* What a run takes, by hand. */
#include "choose/bill.h"

#include <math.h>

#include "unit/unit.h"

static void assert_figure(struct figure f, double value, double low, double high)
{
    const double parts[][2] = {{f.value, value}, {f.low, low}, {f.high, high}};
    for (int i = 0; i < 3; i++)
        if (fabs(parts[i][0] / parts[i][1] - 1) > 1e-4)
            fail_msg("%d: %.8g, not %.8g", i, parts[i][0], parts[i][1]);
}

/* 1,024 sequences of 4,096 tokens are 2^22 tokens a step; 10 s a step, between 8 and 12.5. */
static const struct knobs knobs = {.gpus = 1000, .gbs = 1024, .seq = 4096};
static const struct time_estimate ten = {.step = 10, .low = 8, .high = 12.5};

/* 1,000,000 steps of 10 s are 115.74 days of training, at 80 % of the time 144.68; times 24,000 GPU
   hours a day; times 2 for each; times half a kW. */
static void a_run_is_reckoned_from_its_steps(void **state)
{
    const struct bill_wish wish = {.tokens = 4194304e6, .price = 2, .goodput = 0.8};
    (void)state;
    struct bill b = bill_of(&wish, &knobs, &ten, 500);
    assert_true(b.steps == 1e6 && b.tokens == 4194304e6 && b.goodput_stated);
    assert_figure(b.days, 144.6759, 115.7407, 180.8449);
    assert_figure(b.gpu_hours, 3472222, 2777778, 4340278);
    assert_figure(b.cost, 6944444, 5555556, 8680556);
    assert_figure(b.energy_kwh, 1736111, 1388889, 2170139);
    assert_figure(b.tokens_per_day, 4194304e6 / 144.6759, 4194304e6 / 180.8449,
                  4194304e6 / 115.7407);
}

/* Two passes over 1.5 steps' tokens: three whole steps; a token more and there is a fourth. */
static void epochs_and_tokens_are_whole_steps(void **state)
{
    const struct {
        struct bill_wish wish;
        double steps;
    } cases[] = {{{.epochs = 2, .dataset_tokens = 1.5 * 4194304}, 3},
                 {{.tokens = 3 * 4194304.0}, 3},
                 {{.tokens = 3 * 4194304.0 + 1}, 4},
                 {{.steps = 7}, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bill b = bill_of(&cases[i].wish, &knobs, &ten, 0);
        assert_true(b.steps == cases[i].steps);
        assert_true(b.tokens == cases[i].steps * 4194304);
        assert_true(b.energy_kwh.value == 0 && b.cost.value == 0);
    }
}

/* 16,384 GPUs are interrupted 8.634 times a day, for 15 minutes each: 8.994 % of the time beside
   the rest; with 0.4 % of pauses 0.996 / 1.08994. The ends: 8.1e-4 and 30 minutes are 1.537 and 2
   times as much, together exp(hypot(0.4298, 0.6931)) = 2.2605 times. */
static void goodput_falls_with_the_size(void **state)
{
    (void)state;
    struct figure g = bill_goodput(16384);
    assert_true(fabs(g.value - 0.91381) < 1e-4);
    assert_true(fabs(g.low - 0.98 / (1 + 2.2605 * 0.08994)) < 1e-4);
    assert_true(bill_goodput(8).value > 0.995 && bill_goodput(8).value < 0.996);
    for (double gpus = 8; gpus < 1e6; gpus *= 2)
        assert_true(bill_goodput(2 * gpus).value < bill_goodput(gpus).value &&
                    bill_goodput(gpus).low < bill_goodput(gpus).value &&
                    bill_goodput(gpus).value < bill_goodput(gpus).high);
}

/* The published run: 54 days, more than 90 % of the time effective. */
static void the_default_holds_the_run_it_is_from(void **state)
{
    (void)state;
    struct figure g = bill_goodput(16384);
    assert_true(g.value > 0.9 && g.low < 0.9);
}

static void a_deadline_is_met_with_the_long_end(void **state)
{
    static const struct {
        double days;
        enum deadline deadline;
    } cases[] = {{0, DEADLINE_NONE},
                 {181, DEADLINE_MET},
                 {180, DEADLINE_UNSURE},
                 {145, DEADLINE_UNSURE},
                 {144, DEADLINE_MISSED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bill_wish wish = {
            .steps = 1e6, .goodput = 0.8, .deadline_days = cases[i].days};
        struct bill b = bill_of(&wish, &knobs, &ten, 0);
        assert_int_equal(b.deadline, cases[i].deadline);
        assert_true((bill_word(b.deadline) == NULL) == (cases[i].days == 0));
    }
}

/* Every figure behind the default goodput has an interval around it and says where it is from. */
static void the_sources_are_named(void **state)
{
    (void)state;
    for (int i = 0; i < BILL_SOURCES; i++) {
        const struct bill_source *s = &bill_sources[i];
        assert_true(s->figure.low < s->figure.value && s->figure.value < s->figure.high);
        assert_true(strlen(s->source) > 20 && strlen(s->unit) > 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_run_is_reckoned_from_its_steps),
    cmocka_unit_test(epochs_and_tokens_are_whole_steps),
    cmocka_unit_test(goodput_falls_with_the_size),
    cmocka_unit_test(the_default_holds_the_run_it_is_from),
    cmocka_unit_test(a_deadline_is_met_with_the_long_end),
    cmocka_unit_test(the_sources_are_named),
};

UNIT_MAIN(tests)
