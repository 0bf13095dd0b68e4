/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_files.h"

#define EXAMPLES(list)                                                                             \
    RULE_FILE                                                                                      \
    "rules:\n- id: r\n  severity: error\n  message: m\n  matchConditions: [plan.ep > 1]\n"         \
    "  rule: plan.num_moe_experts % plan.ep == 0\n  examples:\n" list

static size_t failures(struct arena *a, const char *text, struct diags *diags)
{
    struct rule_set set = load_good(a, text);
    diags_init(diags, a);
    return rule_test(set.items[set.n - 1], &set, diags);
}

static void examples_are_judged(void **state)
{
    static const struct {
        const char *text;
        size_t failures;
        const char *said;
    } cases[] = {
        {EXAMPLES(
             "    good: [{ep: 8, num_moe_experts: 64}]\n    bad: [{ep: 6, num_moe_experts: 64}]\n"),
         0, ""},
        {EXAMPLES(
             "    good: [{ep: 6, num_moe_experts: 64}]\n    bad: [{ep: 6, num_moe_experts: 64}]\n"),
         1, "fires the rule"},
        {EXAMPLES(
             "    good: [{ep: 8, num_moe_experts: 64}]\n    bad: [{ep: 8, num_moe_experts: 64}]\n"),
         1, "does not fire the rule"},
        {EXAMPLES(
             "    good: [{ep: 8, num_moe_experts: 64}]\n    bad: [{ep: 1, num_moe_experts: 64}]\n"),
         1, "does not meet the conditions"},
        {EXAMPLES("    good: [{ep: 8, num_moe_experts: 64}]\n"), 1, "has no bad example"},
        {EXAMPLES("    bad: [{ep: 6, num_moe_experts: 64}]\n"), 1, "has no good example"},
        {EXAMPLES("    good: [{ep: 8, unknown: [num_moe_experts]}]\n    bad: [{ep: 6, "
                  "num_moe_experts: 64}]\n"),
         0, ""},
        {EXAMPLES("    good: [{ep: 8}]\n    bad: [{ep: 6, unknown: [num_moe_experts]}]\n"), 2, ""},
        {EXAMPLES("    good: [{ep: '8', num_moe_experts: 64}]\n    bad: [{ep: 6, num_moe_experts: "
                  "64}]\n"),
         1, "ep is a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        assert_int_equal(failures(*state, cases[i].text, &diags), cases[i].failures);
        assert_int_equal(diags.n, cases[i].failures);
        if (diags.n)
            assert_true(str_find_str(diags.items[0].message, str_of(cases[i].said)) <
                        diags.items[0].message.n);
        if (diags.n) assert_true(diags.items[0].at.line > 2);
    }
}

static void examples_may_set_the_scene(void **state)
{
    struct diags diags;
    size_t n = failures(
        *state,
        RULE_FILE "rules:\n- id: r\n  severity: error\n  message: m\n"
                  "  rule: env.A == '1' && raw['--x'] == '2' && framework == 'bridge' && "
                  "raw['model.y'] == 3\n"
                  "  examples:\n"
                  "    good: [{framework: bridge, env: {A: 1}, raw: {--x: '2', model: {y: 3}}}]\n"
                  "    bad: [{env: {A: 2}, raw: {--x: '2', model: {y: 3}}}]\n",
        &diags);
    for (size_t i = 0; i < diags.n; i++)
        print_error("%s\n", diags.items[i].message.p);
    assert_int_equal(n, 0);
}

static void overrides_have_examples_too(void **state)
{
    struct diags diags;
    size_t n = failures(
        *state,
        RULE_FILE "overrides:\n- id: o\n  matchConditions: [plan.sequence_parallel, plan.tp == 1]\n"
                  "  set: {sequence_parallel: 'false'}\n"
                  "  examples: {good: [{tp: 2, sequence_parallel: true}], "
                  "bad: [{tp: 1, sequence_parallel: true}]}\n",
        &diags);
    assert_int_equal(n, 0);
}

/* Each text goes through the reader of its framework, bare facts beside it. */
static void examples_may_be_what_a_user_writes(void **state)
{
#define WRITTEN(good, bad)                                                                         \
    RULE_FILE                                                                                      \
        "rules:\n- id: r\n  severity: error\n  message: m\n  rule: plan.gpus % plan.ep == 0\n"     \
        "  examples: {good: [" good "], bad: [" bad "]}\n"
    static const struct {
        const char *text, *said; /* said: empty: nothing */
    } cases[] = {
        {WRITTEN("{flags: '--expert-model-parallel-size 4', gpus: 8}",
                 "{flags: \"torchrun x.py \\\\\\n --expert-model-parallel-size 3\", gpus: 8}"),
         ""},
        {WRITTEN("{overrides: 'model.expert_model_parallel_size=4', gpus: 8}",
                 "{yaml: 'distributed: {ep_size: 3}', gpus: 8}"),
         ""},
        {WRITTEN("{flags: '--expert-model-parallel-size 3', gpus: 8}", "{ep: 3, gpus: 8}"),
         "fires the rule"},
        {WRITTEN("{framework: bridge, yaml: 'distributed: {ep_size: 4}', gpus: 8}",
                 "{ep: 3, gpus: 8}"),
         "Megatron-Bridge has no yaml"},
        {WRITTEN("{yaml: 'distributed: [', gpus: 8}", "{ep: 3, gpus: 8}"), "yaml cannot be read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        assert_int_equal(failures(*state, cases[i].text, &diags), *cases[i].said != '\0');
        if (diags.n)
            assert_true(str_find_str(diags.items[0].message, str_of(cases[i].said)) <
                        diags.items[0].message.n);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(examples_are_judged),
    cmocka_unit_test(examples_may_set_the_scene),
    cmocka_unit_test(overrides_have_examples_too),
    cmocka_unit_test(examples_may_be_what_a_user_writes),
};
UNIT_MAIN(tests)
