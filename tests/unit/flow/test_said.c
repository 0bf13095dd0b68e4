/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings a plan is said with, and by which flag. */
#include "flow/said.h"

#include "facts/param_ids.h"
#include "unit/plan_text.h"

static void set(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_FILE, NULL, param_name(param));
}

/* Of a switch the flag that turns it so; none that is on its way out. */
static void flags_that_last(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "ep: 8");
    set(f, P_moe_enable_deepep, value_bool(true));
    set(f, P_moe_grouped_gemm, value_bool(true));
    set(f, P_moe_deepep_num_sms, value_int(20));
    set(f, P_moe_flex_dispatcher_num_sms, value_int(20));
    assert_null(said_flag(f, P_moe_enable_deepep));
    assert_null(said_flag(f, P_moe_deepep_num_sms));
    assert_false(said_at_all(f, P_moe_deepep_num_sms));
    assert_str(said_flag(f, P_moe_grouped_gemm)->flag, "--moe-grouped-gemm");
    assert_str(said_flag(f, P_moe_flex_dispatcher_num_sms)->flag, "--moe-flex-dispatcher-num-sms");
    set(f, P_moe_grouped_gemm, value_bool(false));
    assert_null(said_flag(f, P_moe_grouped_gemm));
}

static bool is_listed(struct arena *a, const struct facts *f, int param)
{
    int *params;
    size_t n = said_params(a, rules_builtin(), f, &params), found = 0;
    for (size_t i = 0; i < n; i++)
        found += params[i] == param;
    assert_true(found <= 1);
    return found;
}

/* Sizes are said at their default too, where the model has what they are about. */
static void what_a_reader_looks_for(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "ep: 8");
    struct facts *dense = sized_plan(
        *state, "megatron", "model: llama-3-8b\nplatform: h100\ngpus: 8\ngbs: 64\nmbs: 1", "");
    set(f, P_expert_model_parallel_size, value_int(1));
    set(f, P_context_parallel_size, value_int(1));
    set(f, P_moe_router_topk_scaling_factor, value_null());
    set(dense, P_expert_model_parallel_size, value_int(1));
    set(dense, P_freeze_vision_model, value_bool(false));
    assert_true(is_listed(*state, f, P_context_parallel_size));
    assert_true(is_listed(*state, f, P_expert_model_parallel_size));
    assert_false(is_listed(*state, f, P_moe_router_topk_scaling_factor));
    assert_false(is_listed(*state, dense, P_expert_model_parallel_size));
    assert_false(is_listed(*state, dense, P_freeze_vision_model));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(flags_that_last),
    cmocka_unit_test(what_a_reader_looks_for),
};
UNIT_MAIN(tests)
