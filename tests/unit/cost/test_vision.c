/* SPDX-License-Identifier: Apache-2.0 */
/* Images cost time and memory where the plan states them, and only there. */
#include "cost_unit.h"

#include "cost/memory.h"
#include "cost/sharding.h"
#include "cost/time.h"
#include "cost/vision.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/profile.h"
#include "plan/peft.h"

/* Qwen3-VL-30B-A3B on 16 H100, two stages: tower of 27 layers, width 1152, MLP 4304, patches of 16,
   2 x 2 of them a token, 3 deepstack levels. */
static struct config vl_config(struct arena *a)
{
    static const struct {
        const char *param;
        int64_t value;
    } sizes[] = {{"gpus", 16}, {"gbs", 256}, {"seq", 4096}, {"pp", 2}, {"ep", 8}};
    struct diags diags;
    struct config c;
    diags_init(&diags, a);
    struct platform_cache platforms = {.arena = a};
    struct str none = {"", 0};
    struct facts *f =
        facts_new(a, &diags, FRAMEWORK_BRIDGE, profile_find(FRAMEWORK_BRIDGE, none)->version);
    model_apply(f, model_find(a, STR("qwen3-vl-30b-a3b")), ORIGIN_OPTION);
    platform_apply(f, platform_load(&platforms, &diags, STR("h100"), (struct span){0}),
                   ORIGIN_OPTION);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        facts_set(f, param_find(str_of(sizes[i].param)), value_int(sizes[i].value), ORIGIN_OPTION,
                  NULL, none);
    assert_true(config_from_facts(a, f, &c));
    c.knobs.freeze_vision = c.knobs.freeze_projection = false;
    return c;
}

static double step_of(const struct config *c)
{
    struct time_estimate t;
    assert_true(time_estimate(c, &t, NULL));
    return t.step;
}

static double stage_of(const struct config *c, int stage)
{
    struct memory_estimate m;
    assert_true(memory_estimate(c, &m, NULL));
    return m.stages[stage].total;
}

static void the_work_of_a_tower(void **state)
{
    struct config c = vl_config(*state);
    assert_true(vision_work(&c).patches == 0 && vision_kept(&c) == 0);
    c.knobs.image_tokens = 1024, c.knobs.images = 4, c.knobs.mbs = 2;
    struct vision_work v = vision_work(&c);
    assert_true(v.tokens == 2048 && v.patches == 8192 && v.image == 1024);
    assert_true(v.width == 1152 && v.inner == 4304 && v.merged == 4608 && v.layers == 27);
    assert_true(v.pixels == 3 * 2 * 16 * 16 && v.mergers == 4);
    c.knobs.cp = 2;
    assert_true(vision_work(&c).tokens == 1024);
}

/* 8 widths and FC1's output and the activation a patch and block, in 16 bit. */
static void what_a_tower_keeps(void **state)
{
    struct config c = vl_config(*state);
    c.knobs.image_tokens = 1;
    double block = 8 * 1152 + 2 * 4304, pixels = 1536, mergers = 4 * 3 * 4608;
    assert_near(vision_kept(&c), 2 * (4 * (27 * block + pixels) + mergers), 1e-12);
    double without = stage_of(&c, 0), rear = stage_of(&c, 1);
    c.knobs.image_tokens = 1025;
    struct memory_work w;
    assert_true(memory_prepare(&c, &w));
    double in_flight[LAYOUT_MAX_CHUNKS];
    pipeline_in_flight(&c.knobs, 0, in_flight);
    assert_near(stage_of(&c, 0) - without, in_flight[0] * 1024 * vision_kept(&c) / 1025, 1e-9);
    assert_near(stage_of(&c, 1), rear, 1e-12);
    c.knobs.freeze_vision = c.knobs.freeze_projection = true;
    assert_true(vision_kept(&c) == 0 && stage_of(&c, 0) < without);
}

static void what_a_tower_costs(void **state)
{
    struct config c = vl_config(*state);
    double text = step_of(&c);
    c.knobs.image_tokens = 1024, c.knobs.images = 1;
    double images = step_of(&c);
    c.knobs.images = 4;
    double small = step_of(&c);
    assert_true(text < small && small < images);
    c.knobs.freeze_vision = c.knobs.freeze_projection = true;
    double frozen = step_of(&c);
    assert_true(text < frozen && frozen < small);
    c.knobs.image_tokens = 2048;
    assert_true(step_of(&c) > frozen);
}

/* Gradients and states of a tower that is trained are reduced and updated, images or not. */
static void a_trained_tower_is_shared_out(void **state)
{
    struct config c = vl_config(*state);
    double trained = sharding_params(&c).dense, step = step_of(&c);
    c.knobs.freeze_vision = c.knobs.freeze_projection = true;
    assert_near(trained - sharding_params(&c).dense, (double)vision_params(&c.model), 1e-9);
    assert_true(step_of(&c) < step);
}

static double compute_of(const struct config *c)
{
    struct time_estimate t;
    assert_true(time_estimate(c, &t, NULL));
    return t.compute;
}

static struct stage_memory first_stage(const struct config *c)
{
    struct memory_estimate m;
    assert_true(memory_estimate(c, &m, NULL));
    return m.stages[0];
}

/* A frozen language model has neither gradients nor states, and no gradient of its weights is
   computed; those of its inputs are, for the tower before it. */
static void a_frozen_language_model(void **state)
{
    struct config c = vl_config(*state);
    c.knobs.image_tokens = 1024, c.knobs.distributed_optimizer = false;
    double compute = compute_of(&c), flops = model_flops_per_token(&c);
    struct stage_memory whole = first_stage(&c);
    struct rank_params all = sharding_params(&c);
    c.knobs.freeze_language = true;
    struct stage_memory frozen = first_stage(&c);
    double tower = (double)vision_params(&c.model);
    assert_near(frozen.params, whole.params, 1e-12);
    assert_near(frozen.grads, 4 * tower, 1e-12);
    assert_near(frozen.optimizer, 12 * tower, 1e-12);
    assert_true(sharding_params(&c).trained_dense == tower &&
                sharding_params(&c).trained_experts == 0);
    assert_true(sharding_params(&c).dense == all.dense);
    assert_near(model_flops_per_token(&c), flops * 2 / 3, 1e-12);
    assert_true(compute_of(&c) < 0.85 * compute && compute_of(&c) > 2 * compute / 3);
    c.knobs.freeze_vision = c.knobs.freeze_projection = true;
    assert_true(first_stage(&c).grads == 0 && first_stage(&c).optimizer == 0);
}

/* The mergers of Qwen3-VL: four from 4608 through 4608 to 2048, a norm of 1152 and three of 4608.
 */
static void mergers_alone(void **state)
{
    struct config c = vl_config(*state);
    double merger = 4608.0 * 4608 + 4608 + 4608 * 2048 + 2048,
           all = 4 * merger + 2 * 1152 + 3 * 2 * 4608;
    c.knobs.image_tokens = 1024, c.knobs.distributed_optimizer = false;
    c.knobs.freeze_language = true;
    double tower = step_of(&c);
    c.knobs.freeze_vision = true;
    assert_true((double)config_trained_params(&c) == all);
    assert_near(first_stage(&c).grads, 4 * all, 1e-12);
    assert_near(first_stage(&c).optimizer, 12 * all, 1e-12);
    /* three tensors of a token and merger: its input, normed, and the first product's output */
    assert_near(vision_kept(&c), 2 * 4 * 3 * 1024 * 4608.0, 1e-12);
    double mergers = step_of(&c);
    c.knobs.freeze_projection = true;
    assert_true(step_of(&c) < mergers && mergers < tower);
    c.knobs.freeze_vision = false;
    assert_true((double)config_trained_params(&c) == (double)vision_params(&c.model) - all);
}

/* Of adapters alone there are gradients and states; the base weights stay whole. */
static void adapters_alone_have_states(void **state)
{
    struct config c = vl_config(*state);
    struct matrix q = {.role = LINEAR_QKV, .in = 2048, .out = 4096 + 2 * 512};
    c.knobs.distributed_optimizer = false, c.knobs.task = TASK_PEFT;
    struct stage_memory bare = first_stage(&c);
    c.knobs.lora_rank = 32, c.knobs.lora_targets = UINT32_C(1) << LINEAR_QKV;
    double adapters = 24 * adapter_on_rank(&c, &q);
    struct stage_memory one = first_stage(&c);
    assert_true(adapters == 24 * 32 * (2048 + 5120) && bare.grads == 0 && bare.optimizer == 0);
    assert_near(one.params - bare.params, 2 * adapters, 1e-9);
    assert_near(one.grads, 4 * adapters, 1e-12);
    assert_near(one.optimizer, 12 * adapters, 1e-12);
    c.knobs.lora_rank = 64;
    assert_near(first_stage(&c).grads, 8 * adapters, 1e-12);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_work_of_a_tower),
    cmocka_unit_test(what_a_tower_keeps),
    cmocka_unit_test(what_a_tower_costs),
    cmocka_unit_test(a_trained_tower_is_shared_out),
    cmocka_unit_test(mergers_alone),
    cmocka_unit_test(a_frozen_language_model),
    cmocka_unit_test(adapters_alone_have_states),
};
UNIT_MAIN(tests)
