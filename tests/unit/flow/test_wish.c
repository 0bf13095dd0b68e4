/* SPDX-License-Identifier: Apache-2.0 */
/* What a user may say of a run. */
#include "flow/wish.h"

#include <stdio.h>

#include "ask_unit.h"

static size_t wish_of(const char *name)
{
    size_t i = 0;
    while (i < WISHES && strcmp(wish_names[i], name) != 0)
        i++;
    assert_true(i < WISHES);
    return i;
}

static bool given(struct arena *a, struct bill_wish *w, const char *name, const char *text)
{
    struct str why;
    bool read = wish_read(a, w, wish_of(name), name, str_of(text), &why);
    if (!read) assert_true(str_starts(why, str_of(name)));
    return read;
}

static double near_zero(double x)
{
    return x < 0 ? -x : x;
}

static void numbers_have_units(void **state)
{
    static const struct {
        const char *name, *text;
        double value; /* 0: refused */
    } cases[] = {
        {"tokens", "10T", 10e12},  {"tokens", "1.5b", 1.5e9}, {"tokens", "4e12", 4e12},
        {"tokens", "0", 0},        {"tokens", "-1T", 0},      {"tokens", "T", 0},
        {"tokens", "10 T", 10e12}, {"tokens", "nan", 0},      {"tokens", "1e30", 0},
        {"tokens", "10x", 0},      {"steps", "20K", 20000},   {"steps", "1.5", 0},
        {"epochs", "3", 3},        {"epochs", "0.5", 0.5},    {"dataset-tokens", "2M", 2e6},
        {"price", "2.1/h", 2.1},   {"price", "2.1", 2.1},     {"price", "2/day", 0},
        {"goodput", "0.9", 0.9},   {"goodput", "90%", 0.9},   {"goodput", "1.1", 0},
        {"deadline", "30d", 30},   {"deadline", "12h", 0.5},  {"deadline", "2w", 14},
        {"deadline", "soon", 0},   {"budget", "50K", 50000},  {"budget", "all", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bill_wish w = {0};
        const double *const fields[WISHES] = {&w.tokens,         &w.steps, &w.epochs,
                                              &w.dataset_tokens, &w.price, &w.goodput,
                                              &w.deadline_days,  &w.budget};
        bool read = given(*state, &w, cases[i].name, cases[i].text);
        if (read != (cases[i].value > 0)) fail_msg("%s %s", cases[i].name, cases[i].text);
        double value = *fields[wish_of(cases[i].name)];
        if (read && near_zero(value / cases[i].value - 1) > 1e-12)
            fail_msg("%s %s: %g", cases[i].name, cases[i].text, value);
    }
}

static void wishes_go_together(void **state)
{
    static const struct {
        struct bill_wish wish;
        bool good;
    } cases[] = {
        {{0}, true},
        {{.tokens = 1, .price = 1, .goodput = 1, .deadline_days = 1}, true},
        {{.steps = 1}, true},
        {{.epochs = 1, .dataset_tokens = 1}, true},
        {{.epochs = 1}, false},
        {{.dataset_tokens = 1}, false},
        {{.tokens = 1, .steps = 1}, false},
        {{.price = 1}, false},
        {{.goodput = 1}, false},
        {{.deadline_days = 1}, false},
        {{.tokens = 1, .budget = 1}, false},
        {{.tokens = 1, .price = 1, .budget = 1}, true},
    };
    struct str why;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(wish_settle(&cases[i].wish, &why), cases[i].good);
}

/* 3,600 steps of a second on 10 GPUs are 10 GPU hours. */
static void a_platform_has_its_price_and_power(void **state)
{
    static const struct {
        const char *platform;
        double cost, kwh;
    } cases[] = {{"h100", 21, 7}, {"gb200", 40, 12}, {"a100", 0, 4}};
    const struct knobs k = {.gpus = 10, .gbs = 1, .seq = 1};
    const struct time_estimate second = {.step = 1, .low = 1, .high = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bill_wish w = {.steps = 3600, .goodput = 1};
        assert_true(given(*state, &w, "price", "H100=2.1/h, gb200=4/h"));
        struct bill b = wish_bill(&w, ask_platform(*state, cases[i].platform), &k, &second);
        assert_true(near_zero(b.cost.value - cases[i].cost) < 1e-9);
        assert_true(near_zero(b.energy_kwh.value - cases[i].kwh) < 1e-9);
    }
    struct bill_wish w = {0};
    assert_false(given(*state, &w, "price", "h100=2.1/h,=4"));
    assert_false(given(*state, &w, "price", "h100=x"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_have_units),
    cmocka_unit_test(wishes_go_together),
    cmocka_unit_test(a_platform_has_its_price_and_power),
};

UNIT_MAIN(tests)
