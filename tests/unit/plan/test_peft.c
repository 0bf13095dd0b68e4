/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters are those of the linears that the framework would find under the plan's names. */
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "plan/peft.h"
#include "unit/unit.h"

enum { RANK = 16 };

static struct facts *facts_of(struct arena *a, struct diags *diags, enum framework framework,
                              const char *model)
{
    static const struct {
        const char *param;
        int64_t value;
    } sizes[] = {{"gpus", 64}, {"gbs", 256}, {"seq", 4096}, {"ep", 8}, {"peft_dim", RANK}};
    struct str none = {"", 0};
    diags_init(diags, a);
    struct facts *f = facts_new_plan(a, diags, framework, profile_find(framework, none)->version);
    model_apply(f, model_find(a, str_of(model)), ORIGIN_OPTION);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        facts_set(f, param_find(str_of(sizes[i].param)), value_int(sizes[i].value), ORIGIN_OPTION,
                  NULL, none);
    facts_set(f, P_task, value_string(STR("peft")), ORIGIN_OPTION, NULL, none);
    return f;
}

static void set(struct facts *f, const char *param, struct value v)
{
    facts_set(f, param_find(str_of(param)), v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static struct value texts(struct arena *a, const char *one, const char *two)
{
    struct value items[] = {value_string(str_of(one)), value_string(str_of(two ? two : ""))};
    return value_list_of(a, items, two ? 2 : 1);
}

static int64_t trained(struct arena *a, struct facts *f)
{
    struct config c;
    assert_true(config_from_facts(a, f, &c));
    return config_trained_params(&c);
}

/* Of 48 layers with q 4096, k and v 512, width 2048 and 128 experts of 768. */
static int64_t layers48(int64_t widths)
{
    return 48 * RANK * widths;
}

static void automodel_matches_whole_paths(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_AUTOMODEL, "qwen3-30b-a3b");
    int64_t q = 2048 + 4096, kv = 2 * (2048 + 512), o = 4096 + 2048;
    int64_t experts = 128 * (2048 + 2 * 768 + 768 + 2048), head = 2048 + 151936;
    const struct {
        const char *one, *two;
        int64_t want;
    } cases[] = {{"*_proj", NULL, layers48(q + kv + o)},
                 {"*.q_proj", "*.k_proj", layers48(q + kv / 2)},
                 {".*q_proj", NULL, layers48(q)},
                 {"model.layers.*.self_attn.o_proj", NULL, layers48(o)},
                 {"*.experts", NULL, layers48(experts)},
                 {"*", NULL, layers48(q + kv + o + experts) + RANK * head},
                 {"lm_head", NULL, RANK * head},
                 {"q_proj", NULL, 0},
                 {"*.linear_qkv", NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(f, "peft_target_modules", texts(*state, cases[i].one, cases[i].two));
        assert_int_equal(trained(*state, f), cases[i].want);
    }
}

/* All linears, without those that are excluded; grouped experts are none. */
static void automodel_takes_all_but(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_AUTOMODEL, "qwen3-30b-a3b");
    int64_t q = 2048 + 4096, kv = 2 * (2048 + 512), o = 4096 + 2048, head = 2048 + 151936;
    set(f, "peft_exclude_modules", texts(*state, "*.o_proj", NULL));
    assert_int_equal(trained(*state, f), layers48(q + kv) + RANK * head);
    set(f, "peft_exclude_modules", value_null());
    set(f, "peft_match_all_linear", value_bool(true));
    assert_int_equal(trained(*state, f), layers48(q + kv + o) + RANK * head);
}

/* Fused projections have one adapter, and experts one on every rank of their group. */
static void bridge_shares_adapters(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_BRIDGE, "qwen3-30b-a3b");
    set(f, "peft_target_modules", texts(*state, "linear_qkv", "linear_proj"));
    int64_t qkv = 2048 + 4096 + 2 * 512, o = 4096 + 2048;
    assert_int_equal(trained(*state, f), layers48(qkv + o));
    set(f, "peft_scheme", value_string(STR("dora")));
    assert_int_equal(trained(*state, f), layers48(qkv + o) + 48 * (5120 + 2048));
    set(f, "peft_scheme", value_string(STR("lora")));
    set(f, "peft_target_modules", texts(*state, "linear_fc1", "linear_fc2"));
    assert_int_equal(trained(*state, f), layers48(8 * (2048 + 2 * 768 + 768 + 2048)));
    set(f, "peft_target_modules", texts(*state, "*.layers.*.linear_proj", NULL));
    assert_int_equal(trained(*state, f), layers48(o));
}

/* Latent attention's joint down projection ends in no "_proj". */
static void latent_attention(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_AUTOMODEL, "deepseek-v3");
    int64_t q = 7168 + 1536 + 1536 + 128 * 192, up = 512 + 128 * 256, o = 128 * 128 + 7168;
    int64_t dense = 3 * (7168 + 18432), shared = 3 * (7168 + 2048);
    set(f, "peft_target_modules", texts(*state, "*_proj", NULL));
    assert_int_equal(trained(*state, f), RANK * (61 * (q + up + o) + 3 * dense + 58 * shared));
    set(f, "peft_target_modules", texts(*state, "*.kv_a_proj_with_mqa", NULL));
    assert_int_equal(trained(*state, f), RANK * 61 * (7168 + 576));
}

static void names_that_no_linear_has(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_BRIDGE, "deepseek-v3");
    struct model_shape m;
    assert_true(config_model(f, &m, false));
    set(f, "peft_target_modules", texts(*state, "linear_proj", "linear_qkv"));
    assert_true(str_is(peft_idle_target(f, &m), "linear_qkv"));
    set(f, "peft_target_modules", texts(*state, "linear_q_up_proj", "linear_fc1"));
    assert_int_equal(peft_idle_target(f, &m).n, 0);
}

/* Cut over two ranks, by what each framework cuts. */
static void adapters_on_a_rank(void **state)
{
    (void)state;
    struct config c = {.framework = FRAMEWORK_BRIDGE,
                       .model = {.experts = 128},
                       .knobs = {.task = TASK_PEFT, .tp = 2, .etp = 1, .ep = 8, .lora_rank = 4}};
    struct matrix up = {.role = LINEAR_Q, .cut = CUT_OUTPUT, .in = 100, .out = 200},
                  down = {.role = LINEAR_O, .cut = CUT_INPUT, .in = 200, .out = 100},
                  whole = {.role = LINEAR_Q_DOWN, .cut = CUT_NOT, .in = 100, .out = 200},
                  routed = {.role = LINEAR_EXPERTS_UP, .cut = CUT_OUTPUT, .in = 100, .out = 200};
    assert_true(adapter_on_rank(&c, &up) == 0 && adapter_params(&c, &up) == 0);
    c.knobs.lora_targets = ~UINT32_C(0);
    assert_true(adapter_params(&c, &up) == 4 * 300 && adapter_on_rank(&c, &up) == 4 * 150);
    assert_true(adapter_on_rank(&c, &whole) == 4 * 300);
    assert_true(adapter_params(&c, &routed) == 8 * 4 * 300 &&
                adapter_on_rank(&c, &routed) == 4 * 300);
    c.framework = FRAMEWORK_AUTOMODEL;
    assert_true(adapter_on_rank(&c, &up) == 4 * 200 && adapter_on_rank(&c, &down) == 4 * 200);
    assert_true(adapter_params(&c, &routed) == 128 * 4 * 300);
    assert_true(adapter_on_rank(&c, &routed) == 16 * 4 * 300);
}

/* What is frozen is not trained. */
static void frozen_parts(void **state)
{
    struct diags diags;
    struct config c;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_BRIDGE, "qwen3-vl-30b-a3b");
    set(f, "task", value_string(STR("sft")));
    set(f, "freeze_vision_model", value_bool(false));
    assert_true(config_from_facts(*state, f, &c));
    struct param_counts n = model_params(&c.model);
    assert_true(n.vision > 0);
    assert_int_equal(config_trained_params(&c), n.total + n.mtp + n.vision);
    set(f, "freeze_language_model", value_bool(true));
    assert_int_equal(trained(*state, f), n.vision);
    set(f, "freeze_vision_model", value_bool(true)); /* its mergers are a matter of their own */
    assert_int_equal(trained(*state, f), vision_projector_params(&c.model));
    set(f, "freeze_vision_projection", value_bool(true));
    assert_int_equal(trained(*state, f), 0);
    set(f, "freeze_vision_model", value_bool(false));
    set(f, "freeze_vision_projection", value_bool(false));
    set(f, "freeze_all_layers", value_bool(true));
    assert_int_equal(trained(*state, f), 0);
}

/* AutoModel's tower has its mergers in it: who freezes one freezes both. */
static void mergers_in_the_tower(void **state)
{
    struct diags diags;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_AUTOMODEL, "qwen3-vl-30b-a3b");
    set(f, "task", value_string(STR("sft")));
    set(f, "freeze_language_model", value_bool(true));
    set(f, "freeze_vision_model", value_bool(true));
    assert_int_equal(trained(*state, f), 0);
    set(f, "freeze_vision_model", value_bool(false));
    assert_true(trained(*state, f) > 500000000);
}

/* Linears alone are packed: of attention q, k, v and o, neither experts nor router. */
static void what_is_packed_in_four_bits(void **state)
{
    struct diags diags;
    struct config c;
    struct facts *f = facts_of(*state, &diags, FRAMEWORK_AUTOMODEL, "qwen3-30b-a3b");
    assert_true(config_from_facts(*state, f, &c));
    assert_true(layer_packed(&c, c.model.kinds[0]) == 0);
    set(f, "load_in_4bit", value_bool(true));
    assert_true(config_from_facts(*state, f, &c));
    assert_true(layer_packed(&c, c.model.kinds[0]) == 2048 * (2 * 4096 + 2 * 512));
    assert_true(packed_scale_bytes(&c.knobs) == (1 + 4.0 / 256) / 64);
    set(f, "bnb_4bit_use_double_quant", value_bool(false));
    assert_true(config_from_facts(*state, f, &c));
    assert_true(packed_scale_bytes(&c.knobs) == 4.0 / 64 && packed_bytes(&c.knobs) == 0.5);
    set(f, "load_in_8bit", value_bool(true)); /* 4 bits come first */
    assert_true(config_from_facts(*state, f, &c) && packed_bytes(&c.knobs) == 0.5);
    set(f, "load_in_4bit", value_bool(false));
    assert_true(config_from_facts(*state, f, &c) && packed_bytes(&c.knobs) == 1);
    assert_true(layer_packed(&c, c.model.kinds[0]) == 2048 * (2 * 4096 + 2 * 512));
    assert_true(packed_scale_bytes(&c.knobs) == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(automodel_matches_whole_paths),
    cmocka_unit_test(automodel_takes_all_but),
    cmocka_unit_test(bridge_shares_adapters),
    cmocka_unit_test(latent_attention),
    cmocka_unit_test(names_that_no_linear_has),
    cmocka_unit_test(adapters_on_a_rank),
    cmocka_unit_test(mergers_in_the_tower),
    cmocka_unit_test(what_is_packed_in_four_bits),
    cmocka_unit_test(frozen_parts),
};
UNIT_MAIN(tests)
