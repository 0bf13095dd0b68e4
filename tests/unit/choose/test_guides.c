/* SPDX-License-Identifier: Apache-2.0 */
/* What the guides make of a question: advice in its order, firm choices, the least memory; and what
 * the estimate tells the rules. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "choose/outlook.h"
#include "choose/planner.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/profile.h"

static void set(struct facts *f, const char *name, struct value v)
{
    facts_set(f, param_find(str_of(name)), v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static struct facts *facts_of(struct arena *a, const char *model, const char *platform)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    struct platform_cache platforms = {.arena = a};
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, FRAMEWORK_BRIDGE,
                                profile_find(FRAMEWORK_BRIDGE, (struct str){"", 0})->version);
    f->format = STR("plan");
    model_apply(f, model_find(a, str_of(model)), ORIGIN_OPTION);
    if (platform)
        platform_apply(f, platform_load(&platforms, diags, str_of(platform), (struct span){0}),
                       ORIGIN_OPTION);
    set(f, "world_size", value_int(64));
    set(f, "seq_length", value_int(4096));
    set(f, "global_batch_size", value_int(1024));
    set(f, "expert_model_parallel_size", value_int(8));
    return f;
}

static const struct plan *answer(struct arena *a, const char *model, const char *goal)
{
    struct arena *scratch = arena_new(0);
    struct answer *out = ARENA_NEW(a, struct answer);
    struct plan_request q = {
        .rules = rules_builtin(), .facts = facts_of(a, model, "gb200"), .top = 1};
    set(q.facts, "goal", value_string(str_of(goal)));
    set(q.facts, "task", value_string(STR("pretrain")));
    assert_true(planner_answer(a, &q, scratch, out));
    assert_int_equal(out->n, 1);
    arena_free(scratch);
    return &out->plans[0];
}

static struct answer asked_whether(struct arena *a, const char *model, int gpus, bool whether)
{
    struct arena *scratch = arena_new(0);
    struct answer out;
    struct plan_request q = {.rules = rules_builtin(),
                             .facts = facts_of(a, model, "gb200"),
                             .top = 1,
                             .whether = whether};
    set(q.facts, "world_size", value_int(gpus));
    set(q.facts, "goal", value_string(STR("throughput")));
    set(q.facts, "task", value_string(STR("pretrain")));
    assert_true(planner_answer(a, &q, scratch, &out));
    arena_free(scratch);
    return out;
}

/* Who asks for no more gets no plans, and the same word. */
static void whether_a_plan_fits_is_said_without_plans(void **state)
{
    static const struct {
        const char *model;
        int gpus;
        bool fits;
    } cases[] = {{"qwen3-30b-a3b", 64, true}, {"kimi-k2", 8, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer all = asked_whether(*state, cases[i].model, cases[i].gpus, false),
                      word = asked_whether(*state, cases[i].model, cases[i].gpus, true);
        assert_int_equal(all.n > 0 && !all.tight, cases[i].fits);
        assert_int_equal(all.fits, cases[i].fits);
        assert_int_equal(word.fits, cases[i].fits);
        assert_int_equal(word.n, 0);
    }
}

static bool advises(const struct reason_list *list, const char *rule)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->items[i].rule, rule)) return true;
    return false;
}

static void a_vision_model_is_brought_up_in_stages(void **state)
{
    const struct plan *first = answer(*state, "qwen3-vl-30b-a3b", "bringup"),
                      *fast = answer(*state, "qwen3-vl-30b-a3b", "throughput");
    assert_int_equal(first->config.knobs.fsdp, FSDP_OPTIM_GRADS_PARAMS);
    assert_int_equal(first->config.knobs.recompute, RECOMPUTE_FULL);
    assert_int_equal(first->config.knobs.graph_impl, GRAPH_NONE);
    assert_true(advises(&first->next, "vision-stage-real-data"));
    assert_false(advises(&fast->next, "vision-stage-real-data"));
    assert_true(advises(&first->verify, "vision-measure-real-images"));
    for (size_t i = 1; i < first->next.n; i++)
        assert_true(first->next.items[i - 1].phase <= first->next.items[i].phase);
}

static void the_goal_memory_takes_less_than_the_goal_throughput(void **state)
{
    const struct plan *small = answer(*state, "qwen3-30b-a3b", "memory"),
                      *fast = answer(*state, "qwen3-30b-a3b", "throughput");
    assert_true(small->costs.peak < fast->costs.peak);
    assert_true(small->costs.step_s > fast->costs.step_s);
}

static void the_estimate_speaks_where_platform_and_plan_are_known(void **state)
{
    struct arena *scratch = arena_new(0);
    struct memory_estimate m;
    struct facts *f = facts_of(*state, "qwen3-30b-a3b", NULL);
    set(f, "recompute_granularity", value_string(STR("full")));
    assert_false(outlook_facts(rules_builtin(), f, &m, scratch));
    assert_int_equal(facts_get(f, P_fits)->value.kind, VALUE_UNKNOWN);
    f = facts_of(*state, "qwen3-30b-a3b", "gb200");
    set(f, "recompute_granularity", value_string(STR("full")));
    /* the parallel sizes are left open: no verdict on a guess */
    assert_false(outlook_facts(rules_builtin(), f, &m, scratch));
    assert_int_equal(facts_get(f, P_fits)->value.kind, VALUE_UNKNOWN);
    static const int sizes[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                                P_context_parallel_size, P_micro_batch_size};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        facts_set(f, sizes[k], value_int(1), ORIGIN_OPTION, NULL, STR(""));
    assert_true(outlook_facts(rules_builtin(), f, &m, scratch));
    assert_true(str_is(facts_str(f, P_fits), "yes"));
    assert_true(facts_bool(f, P_fits_with_selective, false));
    assert_false(facts_bool(f, P_fits_with_smaller_tp, true));
    arena_free(scratch);
}

static void what_the_estimate_speaks_of_is_marked(void **state)
{
    struct arena *scratch = arena_new(0);
    struct memory_estimate m;
    bool *marked = ARENA_ARRAY(*state, bool, param_count);
    struct facts *f = facts_of(*state, "qwen3-30b-a3b", "gb200");
    static const int sizes[] = {P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
                                P_context_parallel_size, P_micro_batch_size};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        facts_set(f, sizes[k], value_int(1), ORIGIN_OPTION, NULL, STR(""));
    struct facts *before = facts_copy(*state, f);
    assert_true(outlook_facts(rules_builtin(), f, &m, scratch));
    outlook_mark(marked);
    for (int i = 0; i < (int)param_count; i++)
        if (fact_is_known(facts_get(f, i)) && !fact_is_known(facts_get(before, i)))
            assert_true(marked[i]);
    arena_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vision_model_is_brought_up_in_stages),
        cmocka_unit_test(whether_a_plan_fits_is_said_without_plans),
        cmocka_unit_test(the_goal_memory_takes_less_than_the_goal_throughput),
        cmocka_unit_test(the_estimate_speaks_where_platform_and_plan_are_known),
        cmocka_unit_test(what_the_estimate_speaks_of_is_marked),
    };
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
