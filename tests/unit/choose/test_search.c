/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of the search cut nothing that would have been chosen: the best plan is the one an
   exhaustive visit finds. Small questions of every kind; with an argument large ones. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include <math.h>

#include "choose/search.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/profile.h"

struct case_of {
    const char *model, *platform;
    int64_t gpus, gbs;
    int seq;
    enum framework framework;
};

static const struct case_of small[] = {
    {"olmoe-1b-7b", "h100", 2, 64, 4096, FRAMEWORK_MEGATRON},
    {"qwen3-30b-a3b", "h100", 64, 1024, 4096, FRAMEWORK_AUTOMODEL},
    {"qwen3-0.6b", "h100", 1, 32, 4096, FRAMEWORK_MEGATRON},
    {"llama-3.1-8b", "a100", 24, 240, 32768, FRAMEWORK_AUTOMODEL},
    {"llama-3.1-8b", "h100", 4, 16, 32768, FRAMEWORK_BRIDGE},
};

static const struct case_of large[] = {
    {"glm-4.7-flash", "b200", 7, 56, 4096, FRAMEWORK_BRIDGE},
    {"qwen3-30b-a3b", "h100", 8, 512, 4096, FRAMEWORK_MEGATRON},
    {"mixtral-8x7b", "a100", 64, 256, 4096, FRAMEWORK_MEGATRON},
    {"qwen3-235b-a22b", "h100", 256, 2048, 4096, FRAMEWORK_BRIDGE},
    {"deepseek-v3", "gb200", 256, 1024, 4096, FRAMEWORK_MEGATRON},
    {"deepseek-v3", "h100", 512, 2048, 16384, FRAMEWORK_MEGATRON},
    {"llama-3-70b", "h100", 64, 512, 8192, FRAMEWORK_MEGATRON},
    {"qwen3-30b-a3b", "h200", 48, 96, 4096, FRAMEWORK_MEGATRON},
};

static struct config question(struct arena *a, const struct case_of *x)
{
    struct diags diags;
    struct config c;
    diags_init(&diags, a);
    struct platform_cache platforms = {.arena = a};
    struct facts *f = facts_new(a, &diags, x->framework,
                                profile_find(x->framework, (struct str){"", 0})->version);
    f->format = STR("plan");
    const struct model_input *model = model_find(a, str_of(x->model));
    assert_non_null(model);
    model_apply(f, model, ORIGIN_OPTION);
    platform_apply(f, platform_load(&platforms, &diags, str_of(x->platform), (struct span){0}),
                   ORIGIN_OPTION);
    facts_set(f, P_world_size, value_int(x->gpus), ORIGIN_OPTION, NULL, (struct str){"", 0});
    facts_set(f, P_global_batch_size, value_int(x->gbs), ORIGIN_OPTION, NULL, (struct str){"", 0});
    facts_set(f, P_seq_length, value_int(x->seq), ORIGIN_OPTION, NULL, (struct str){"", 0});
    assert_true(config_from_facts(a, f, &c));
    return c;
}

static void compare_with_exhaustive(const struct case_of *x, struct search_request request,
                                    struct arena *scratch)
{
    struct search_result bounded, exhaustive;
    search_run(&request, scratch, &bounded);
    request.exhaustive = true;
    search_run(&request, scratch, &exhaustive);
    assert_true(bounded.n > 0);
    assert_true(bounded.visited <= exhaustive.visited);
    assert_int_equal(bounded.n, exhaustive.n);
    for (size_t p = 0; p < bounded.n; p++) {
        if (bounded.plans[p].score != exhaustive.plans[p].score)
            fail_msg("%s on %lld GPUs: plan %zu of %.4f s, exhaustively %.4f s", x->model,
                     (long long)x->gpus, p + 1, bounded.plans[p].score, exhaustive.plans[p].score);
        assert_true(bounded.plans[p].fits == FITS_YES);
    }
}

static void compare_all(struct arena *a, const struct case_of *all, size_t n)
{
    struct arena *scratch = arena_new(0);
    for (size_t i = 0; i < n; i++) {
        struct config base = question(a, &all[i]);
        compare_with_exhaustive(&all[i], (struct search_request){.base = &base, .top = 3}, scratch);
    }
    arena_free(scratch);
}

static void bounds_lose_nothing(void **state)
{
    compare_all(*state, small, sizeof small / sizeof *small);
}

static void bounds_lose_nothing_of_much(void **state)
{
    compare_all(*state, large, sizeof large / sizeof *large);
}

/* Where next to nothing fits, what makes room decides. */
static void bounds_lose_nothing_in_little_memory(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    for (size_t i = 0; i < 2; i++) {
        struct config base = question(a, &small[i]);
        base.machine.capacity_bytes *= i == 0 ? 0.8 : 0.25;
        compare_with_exhaustive(&small[i], (struct search_request){.base = &base, .top = 3},
                                scratch);
    }
    arena_free(scratch);
}

/* A wish for a number, each doubling away from which costs `margin` of the step time. */
static struct preference wish(int param, double number, double margin)
{
    return (struct preference){
        .knob = knob_of(param), .number = number, .margin = margin, .log_margin = log1p(margin)};
}

static void bounds_hold_with_preferences(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    const struct preference wishes[] = {
        wish(P_tensor_model_parallel_size, 4, 0.2), wish(P_pipeline_model_parallel_size, 1, 0.05),
        wish(P_expert_model_parallel_size, 8, 0.08), wish(P_micro_batch_size, 2, 0.03),
        wish(P_recompute_granularity, RECOMPUTE_FULL, 0.2)};
    for (size_t i = 0; i < 2; i++) {
        struct config base = question(a, &small[i]);
        struct search_request request = {.base = &base,
                                         .top = 3,
                                         .preferences = wishes,
                                         .n_preferences = sizeof wishes / sizeof *wishes};
        compare_with_exhaustive(&small[i], request, scratch);
    }
    arena_free(scratch);
}

static void a_given_layout_is_kept(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct layout given = {.n_chunks = 4,
                           .decoders = {24, 24, 23, 23},
                           .embedding = {[0] = true},
                           .loss = {[3] = true}};
    struct config base = question(a, &large[3]);
    base.layouts = &given;
    base.n_layouts = base.knobs.layout = 1;
    base.layout_given = true;
    struct search_request request = {.base = &base, .top = 8};
    struct search_result result;
    search_run(&request, scratch, &result);
    assert_true(result.n > 0);
    for (size_t p = 0; p < result.n; p++) {
        const struct knobs *k = &result.plans[p].knobs;
        assert_int_equal(k->pp * k->vpp, given.n_chunks);
        assert_int_equal(k->layout, 1);
    }
    arena_free(scratch);
}

static const char *refuse_pipelines(void *context, const struct config *plan)
{
    size_t *asked = context;
    ++*asked;
    return plan->knobs.pp > 1 ? "no-pipelines" : NULL;
}

static void refused_plans_are_not_chosen(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct config base = question(a, &small[4]);
    size_t asked = 0;
    struct search_request request = {
        .base = &base, .top = 2, .reject = refuse_pipelines, .context = &asked};
    struct search_result result;
    search_run(&request, scratch, &result);
    assert_true(asked > 0);
    assert_true(result.n > 0);
    for (size_t p = 0; p < result.n; p++)
        assert_int_equal(result.plans[p].knobs.pp, 1);
    arena_free(scratch);
}

static void pinned_knobs_stay(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct config base = question(a, &large[4]);
    base.knobs.tp = 2;
    base.knobs.pp = 8;
    const struct knob *pins[] = {knob_of(P_tensor_model_parallel_size),
                                 knob_of(P_pipeline_model_parallel_size)};
    struct search_request request = {.base = &base, .top = 2, .pinned = pins, .n_pinned = 2};
    struct search_result result;
    search_run(&request, scratch, &result);
    assert_true(result.n > 0);
    for (size_t p = 0; p < result.n; p++) {
        assert_int_equal(result.plans[p].knobs.tp, 2);
        assert_int_equal(result.plans[p].knobs.pp, 8);
    }
    arena_free(scratch);
}

static const char *count_without_pipeline(void *context, const struct config *plan)
{
    size_t *n = context;
    *n += plan->knobs.pp == 1;
    return NULL;
}

/* Of a pipeline's stages, pinned, no plan without one is made. */
static void pinned_stages_want_a_pipeline(void **state)
{
    struct arena *a = *state, *scratch = arena_new(0);
    struct config base = question(a, &large[1]);
    base.knobs.vpp = 2;
    const struct knob *pins[] = {knob_of(P_virtual_pipeline_model_parallel_size)};
    size_t asked = 0;
    struct search_request request = {.base = &base,
                                     .top = 2,
                                     .pinned = pins,
                                     .n_pinned = 1,
                                     .reject = count_without_pipeline,
                                     .context = &asked};
    struct search_result result;
    search_run(&request, scratch, &result);
    assert_true(result.n > 0);
    assert_int_equal(asked, 0);
    for (size_t p = 0; p < result.n; p++)
        assert_int_equal(result.plans[p].knobs.vpp, 2);
    arena_free(scratch);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(bounds_lose_nothing),
        cmocka_unit_test(bounds_lose_nothing_in_little_memory),
        cmocka_unit_test(bounds_hold_with_preferences),
        cmocka_unit_test(a_given_layout_is_kept),
        cmocka_unit_test(refused_plans_are_not_chosen),
        cmocka_unit_test(pinned_knobs_stay),
        cmocka_unit_test(pinned_stages_want_a_pipeline),
    };
    const struct CMUnitTest much[] = {cmocka_unit_test(bounds_lose_nothing_of_much)};
    return argc > 1 ? cmocka_run_group_tests(much, unit_open_arena, unit_close_arena)
                    : cmocka_run_group_tests(quick, unit_open_arena, unit_close_arena);
}
