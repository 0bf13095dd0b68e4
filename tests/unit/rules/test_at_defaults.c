/* SPDX-License-Identifier: Apache-2.0 */
/* What the build worked out of the built-in rules is what evaluation says. */
#include "facts/param_ids.h"
#include "rules/run.h"
#include "unit/unit.h"

static struct facts *facts_of(struct arena *a, enum framework framework, bool set, bool open)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, framework, STR("main"));
    f->open = open;
    if (!set) return f;
    facts_set(f, P_tensor_model_parallel_size, value_int(4), ORIGIN_OPTION, NULL, STR("tp"));
    facts_set(f, P_expert_model_parallel_size, value_int(8), ORIGIN_OPTION, NULL, STR("ep"));
    facts_set(f, P_num_moe_experts, value_int(60), ORIGIN_OPTION, NULL, STR("experts"));
    return f;
}

static void assert_same_outcomes(const struct rule_set *set, const struct facts *f)
{
    struct arena *scratch = arena_new(0);
    struct run run = run_start(set, f, scratch);
    const struct rule_lane *lane = &set->lanes[f->framework];
    for (size_t i = 0; i < lane->n_checks; i++) {
        const struct rule *r = set->items[lane->checks[i]];
        assert_int_equal(run_check(&run, r, r->condition_numbers, r->n_conditions),
                         rule_evaluate(r, f, scratch));
    }
    arena_free(scratch);
}

static void rules_come_to_the_same_on_defaults(void **state)
{
    const struct rule_set *set = rules_builtin();
    assert_true(set->n_at_defaults > 0);
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        for (int way = 0; way < 4; way++)
            assert_same_outcomes(set, facts_of(*state, (enum framework)k, way & 1, way & 2));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rules_come_to_the_same_on_defaults),
};
UNIT_MAIN(tests)
