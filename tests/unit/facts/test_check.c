/* SPDX-License-Identifier: Apache-2.0 */
/* Types and ranges, as they stand in the parameters' own entries. */
#include <math.h>

#include "facts/check.h"
#include "facts_unit.h"

/* The value checked as moeplan's own files write it. */
static bool check(struct diags *diags, const struct param *p, struct value v)
{
    return value_check_own(diags->arena, diags, p, &v, (struct span){0}, p->name);
}

static struct value number(const struct param *p, double d)
{
    return p->type == PARAM_INT ? value_int((int64_t)d) : value_double(d);
}

static void assert_refused(struct diags *diags, const struct param *p, struct value v,
                           const char *rule)
{
    size_t before = diags->n;
    if (check(diags, p, v)) print_message("%s\n", p->name.p);
    assert_int_equal(diags->n, before + 1);
    const struct diag *d = &diags->items[before];
    assert_true(str_is(d->rule, rule));
    assert_true(str_eq(d->parameter, p->name));
    assert_true(str_find_str(d->message, p->name) < d->message.n);
    assert_true(d->help.n > 0);
}

static void assert_taken(struct diags *diags, const struct param *p, struct value v)
{
    size_t before = diags->n;
    if (!check(diags, p, v)) print_message("%s\n", p->name.p);
    assert_int_equal(diags->n, before);
}

/* Below, at and above both ends; no number at all, and none that is finite. */
static void check_ends(struct diags *diags, const struct param *p)
{
    const struct param_range *r = &p->range;
    double step = p->type == PARAM_INT ? 1 : 1e-9;
    assert_true(r->has_min || r->has_max);
    if (r->has_min) {
        assert_refused(diags, p, number(p, r->min - step), "value-range");
        if (r->above)
            assert_refused(diags, p, number(p, r->min), "value-range");
        else
            assert_taken(diags, p, number(p, r->min));
        assert_taken(diags, p, number(p, r->min + step));
    }
    if (r->has_max) {
        assert_taken(diags, p, number(p, r->max - step));
        assert_taken(diags, p, number(p, r->max));
        double above = p->type == PARAM_INT ? r->max + 1 : nextafter(r->max, HUGE_VAL);
        assert_refused(diags, p, number(p, above), "value-range");
    }
    assert_refused(diags, p, value_string(STR("many")), "value-type");
    assert_refused(diags, p, value_bool(true), "value-type");
    if (p->type == PARAM_INT) assert_refused(diags, p, value_double(1.5), "value-type");
    if (p->type == PARAM_DOUBLE) {
        assert_refused(diags, p, value_double(HUGE_VAL), "value-range");
        assert_refused(diags, p, value_double(-HUGE_VAL), "value-range");
        assert_refused(diags, p, value_double(NAN), "value-range");
    }
    assert_taken(diags, p, value_null());
}

static void every_range_holds_at_both_ends(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    assert_true(param_ranged_count > 100);
    for (uint32_t i = 0; i < param_ranged_count; i++)
        check_ends(&diags, &param_table[param_ranged[i]]);
    for (uint32_t i = 0; i < coefficient_count; i++)
        check_ends(&diags, &coefficient_table[i]);
}

static void ranged_parameters_are_those_with_a_range(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param_range *r = &param_table[i].range;
        if (!r->has_min && !r->has_max) continue;
        assert_int_equal(param_ranged[n++], i);
        assert_true(param_table[i].type == PARAM_INT || param_table[i].type == PARAM_DOUBLE);
    }
    assert_int_equal(n, param_ranged_count);
}

/* What a cost is made of has a range on both sides: facts about the model's sizes, the machine and
   shares of the step. */
static void numbers_of_the_machine_have_ranges(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        bool a_number = p->type == PARAM_INT || p->type == PARAM_DOUBLE;
        if (p->scope == SCOPE_PLATFORM && a_number)
            assert_true(p->range.has_min && p->range.has_max);
        if (p->scope == SCOPE_METRIC && a_number) assert_true(p->range.has_min);
        if (str_is(p->unit, "%")) assert_true(p->range.max == 100);
    }
}

static void messages_say_what_was_expected_and_found(void **state)
{
    static const struct value word = {.kind = VALUE_STRING, .s = {"abc", 3}};
    static const struct value_list words = {1, &word};
    static const struct {
        const char *param;
        struct value value;
        const char *message, *help;
    } cases[] = {
        {"gpu_capacity_gib",
         {.kind = VALUE_STRING, .s = {"80GB", 4}},
         "gpu_capacity_gib takes a number in GiB, not 80GB",
         "write the number without a unit, between 0.1 and 1,000,000"},
        {"gpu_capacity_gib",
         {.kind = VALUE_INT, .i = -80},
         "gpu_capacity_gib is -80; it must be at least 0.1 GiB",
         "Memory the allocator of one GPU can use."},
        {"exposed_all_to_all_percent",
         {.kind = VALUE_INT, .i = 141},
         "exposed_all_to_all_percent is 141; it must be at most 100 %",
         "Part of the step in which expert dispatch or combine runs and no computation does."},
        {"hbm_tb_per_s",
         {.kind = VALUE_DOUBLE, .d = HUGE_VAL},
         "hbm_tb_per_s is no finite number; it must be between 0.001 and 100,000 TB/s",
         "Bandwidth of the GPU memory."},
        {"step_time_s",
         {.kind = VALUE_INT, .i = 0},
         "step_time_s is 0; it must be above 0 s",
         "Time of one optimizer step."},
        {"num_layers",
         {.kind = VALUE_STRING, .s = {"abc", 3}},
         "num_layers takes an integer, not abc",
         "Decoder layers, without MTP depths."},
        {"moe_layer_freq",
         {.kind = VALUE_LIST, .list = &words},
         "moe_layer_freq takes an integer or a list expression such as ([0]*3+[1]*58), not [abc]",
         "Which layers are MoE: every n-th, or a 0/1 list over the layers."},
        {"precision",
         {.kind = VALUE_STRING, .s = {"fp7", 3}},
         "precision does not take 'fp7'",
         "one of bf16, fp16, fp32, fp8_delayed, fp8_tensorwise, fp8_blockwise, mxfp8, nvfp4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        diags_init(&diags, *state);
        const struct param *p = &param_table[param_find(str_of(cases[i].param))];
        assert_false(check(&diags, p, cases[i].value));
        assert_string_equal(str_dup(*state, diags.items[0].message).p, cases[i].message);
        assert_string_equal(str_dup(*state, diags.items[0].help).p, cases[i].help);
    }
}

/* A recipe may hold what its framework takes: ranges are for moeplan's own files. A size below zero
   nothing takes; -1 may stand for one that is said elsewhere. */
static void recipes_are_not_held_to_the_ranges(void **state)
{
    struct facts *f = read_as(*state, "megatron", "--num-layers -3 --num-experts 0", NULL);
    assert_int_equal(count_rule(f, "value-range"), 0);
    assert_int_equal(count_rule(f, "size-below-zero"), 1);
    assert_fact(f, "num_layers", "-3");
    f = read_as(*state, "megatron", "--num-layers -1 --num-experts 0", NULL);
    assert_int_equal(count_rule(f, "size-below-zero"), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_range_holds_at_both_ends),
    cmocka_unit_test(ranged_parameters_are_those_with_a_range),
    cmocka_unit_test(numbers_of_the_machine_have_ranges),
    cmocka_unit_test(messages_say_what_was_expected_and_found),
    cmocka_unit_test(recipes_are_not_held_to_the_ranges),
};
UNIT_MAIN(tests)
