/* SPDX-License-Identifier: Apache-2.0 */
/* The valid values that a finding offers: of many the six that lie nearest to what was written. */
#include "facts/param_ids.h"
#include "rule_files.h"

#include "facts/profile.h"

static const char *const text =
    RULE_FILE "rules:\n"
              "- id: ep-divides-experts\n  severity: error\n"
              "  rule: plan.num_moe_experts % plan.ep == 0\n  message: ep divides the experts\n"
              "  parameter: ep\n  suggestion: divisors(plan.num_moe_experts)\n";

/* The reach of ep is worked out for each finding, or kept from the first one on. */
static void offer(struct arena *a, struct rule_memo *memo)
{
    static const struct {
        int64_t experts, ep;
        const char *help;
    } cases[] = {
        {8, 3, "valid: 1, 2, 4, 8"},
        {128, 3, "nearest valid: 1, 2, 4, 8, 16, 32"}, /* of 1 to 128 */
        {128, 60, "nearest valid: 2, 4, 8, 16, 32, 64"},
        {128, 100, "nearest valid: 4, 8, 16, 32, 64, 128"},
        {60, 13, "nearest valid: 5, 6, 10, 12, 15, 20"}, /* of 12 divisors */
    };
    struct arena *scratch = arena_new(0);
    struct rule_set set = load_good(a, text);
    set.memo = memo;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        diags_init(&diags, a);
        struct facts *f = facts_new(a, &diags, FRAMEWORK_MEGATRON,
                                    profile_find(FRAMEWORK_MEGATRON, (struct str){"", 0})->version);
        facts_set(f, P_num_moe_experts, value_int(cases[i].experts), ORIGIN_OPTION, NULL, STR("x"));
        facts_set(f, P_expert_model_parallel_size, value_int(cases[i].ep), ORIGIN_OPTION, NULL,
                  STR("x"));
        assert_int_equal(rules_run(&set, f, scratch).errors, 1);
        assert_str(diags.items[0].help, cases[i].help);
    }
    arena_free(scratch);
}

static void the_nearest_six_are_offered(void **state)
{
    struct rule_memo memo = {.arena = *state};
    offer(*state, NULL);
    offer(*state, &memo);
    assert_non_null(memo.reaches[FRAMEWORK_MEGATRON][P_expert_model_parallel_size]);
    assert_null(memo.reaches[FRAMEWORK_MEGATRON][P_tensor_model_parallel_size]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_nearest_six_are_offered),
};
UNIT_MAIN(tests)
