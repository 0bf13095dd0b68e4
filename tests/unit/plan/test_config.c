/* SPDX-License-Identifier: Apache-2.0 */
/* From facts to numbers: what the knobs are for each framework, the pipeline split, and what is
 * missing. */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include <stdio.h>

#include "facts/model.h"
#include "facts/platform.h"
#include "plan/knob.h"

struct setting {
    const char *name;
    struct value value;
};

static struct facts *fresh(struct arena *a, enum framework framework, const char *format)
{
    struct diags *diags = ARENA_NEW(a, struct diags);
    diags_init(diags, a);
    struct facts *f = facts_new(a, diags, framework, STR("main@2026-08-22"));
    f->format = str_of(format);
    return f;
}

static void set(struct facts *f, const char *name, struct value v)
{
    facts_set(f, param_find(str_of(name)), v, ORIGIN_FILE, NULL, str_of(name));
}

static struct value word(const char *s)
{
    return value_string(str_of(s));
}

/* DeepSeek-V3 on 256 H100 as a plan file states it, with nothing else decided. */
static struct facts *deepseek(struct arena *a, enum framework framework)
{
    struct facts *f = fresh(a, framework, "plan");
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL)
            *facts_change(f, i) = (struct fact){.origin = ORIGIN_UNKNOWN};
    struct platform_cache *cache = ARENA_NEW(a, struct platform_cache);
    cache->arena = a;
    platform_apply(f, platform_load(cache, f->diags, STR("h100"), (struct span){0}), ORIGIN_FILE);
    model_apply(f, model_find(a, STR("deepseek-v3")), ORIGIN_FILE);
    set(f, "gpus", value_int(256));
    set(f, "seq", value_int(4096));
    set(f, "gbs", value_int(2048));
    set(f, "mbs", value_int(1));
    return f;
}

static struct config *configure(struct arena *a, struct facts *f)
{
    struct config *c = ARENA_NEW(a, struct config);
    facts_derive(f);
    assert_true(config_from_facts(a, f, c));
    return c;
}

static void sizes_and_degrees_are_read(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
    set(f, "tp", value_int(2));
    set(f, "pp", value_int(4));
    set(f, "ep", value_int(32));
    set(f, "etp", value_int(1));
    set(f, "sequence_parallel", value_bool(true));
    const struct config *c = configure(*state, f);
    assert_int_equal(knobs_dp(&c->knobs), 32);
    assert_int_equal(knobs_edp(&c->knobs), 2);
    assert_int_equal(knobs_microbatches(&c->knobs), 64);
    assert_true(c->knobs.sequence_parallel && c->machine_known);
    assert_true(c->machine.peak_bf16 == 989e12 && c->machine.gpus_per_node == 8);
    assert_int_equal(c->model.n_kinds, 2);
    assert_int_equal(c->model.layers[2], 0);
    assert_int_equal(c->model.layers[3], 1);
    assert_int_equal(c->model.kinds[1].ffn, FFN_MOE);
    assert_int_equal(c->model.kinds[1].mixer, MIXER_MLA);
}

static void unset_expert_tp_follows_the_framework(void **state)
{
    for (int framework = 0; framework < 2; framework++) {
        struct facts *f = deepseek(*state, (enum framework)framework);
        set(f, "tp", value_int(4));
        assert_int_equal(configure(*state, f)->knobs.etp, framework == FRAMEWORK_MEGATRON ? 4 : 1);
    }
}

static void precision_comes_from_the_word_or_the_switches(void **state)
{
    static const struct {
        struct setting set[3];
        enum precision want;
    } cases[] = {
        {{{"precision", {.kind = VALUE_STRING, .s = {"mxfp8", 5}}}}, PREC_MXFP8},
        {{{"bf16", {.kind = VALUE_BOOL, .b = true}}}, PREC_BF16},
        {{{"bf16", {.kind = VALUE_BOOL, .b = true}},
          {"fp8", {.kind = VALUE_STRING, .s = {"hybrid", 6}}},
          {"fp8_recipe", {.kind = VALUE_STRING, .s = {"blockwise", 9}}}},
         PREC_FP8_BLOCKWISE},
        {{{"bf16", {.kind = VALUE_BOOL, .b = true}},
          {"fp4", {.kind = VALUE_STRING, .s = {"e2m1", 4}}}},
         PREC_NVFP4},
        {{{"fp16", {.kind = VALUE_BOOL, .b = true}}}, PREC_FP16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
        for (size_t k = 0; k < 3 && cases[i].set[k].name; k++)
            set(f, cases[i].set[k].name, cases[i].set[k].value);
        assert_int_equal(configure(*state, f)->knobs.precision, cases[i].want);
    }
}

static void optimizer_bytes_follow_its_dtypes(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
    const struct knobs *k = &configure(*state, f)->knobs;
    assert_int_equal(k->grad_bytes + k->main_param_bytes + k->exp_avg_bytes + k->exp_avg_sq_bytes,
                     16);
    set(f, "use_precision_aware_optimizer", value_bool(true));
    set(f, "exp_avg_dtype", word("bf16"));
    set(f, "exp_avg_sq_dtype", word("bf16"));
    set(f, "main_grads_dtype", word("bf16"));
    k = &configure(*state, f)->knobs;
    assert_int_equal(k->grad_bytes, 2);
    assert_int_equal(k->exp_avg_bytes + k->exp_avg_sq_bytes, 4);
    assert_true(knobs_keeps_remainder(k) && k->main_param_bytes == 4);
    struct knobs sharded = *k; /* FSDP has main parameters of its own */
    sharded.fsdp = FSDP_OPTIM_GRADS_PARAMS;
    assert_false(knobs_keeps_remainder(&sharded));
    set(f, "main_params_dtype", word("fp16"));
    assert_false(knobs_keeps_remainder(&configure(*state, f)->knobs));
}

static void automodel_shards_with_its_own_adam(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_AUTOMODEL);
    set(f, "activation_checkpointing", value_bool(true));
    const struct knobs *k = &configure(*state, f)->knobs;
    assert_int_equal(k->fsdp, FSDP_FSDP2);
    assert_int_equal(k->recompute, RECOMPUTE_FULL);
    assert_int_equal(k->main_param_bytes, 0);
    assert_int_equal(k->exp_avg_bytes + k->exp_avg_sq_bytes, 4);
}

static void selective_recompute_means_core_attention_unless_said(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
    set(f, "recompute_granularity", word("selective"));
    assert_int_equal(configure(*state, f)->knobs.recompute_modules, MOD_CORE_ATTN);
    struct value modules[] = {word("moe_act"), word("mlp"), word("no_such_module")};
    set(f, "recompute_modules", value_list_of(*state, modules, 3));
    assert_int_equal(configure(*state, f)->knobs.recompute_modules, MOD_MOE_ACT | MOD_MLP);
}

static void what_is_missing_is_named(void **state)
{
    struct facts *f = fresh(*state, FRAMEWORK_MEGATRON, "plan");
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_MODEL)
            *facts_change(f, i) = (struct fact){.origin = ORIGIN_UNKNOWN};
    set(f, "num_layers", value_int(4));
    set(f, "hidden_size", value_int(64));
    struct config *c = ARENA_NEW(*state, struct config);
    assert_false(config_from_facts(*state, f, c));
    static const int named[] = {P_num_attention_heads, P_vocab_size, P_world_size, P_seq_length};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        bool found = false;
        for (size_t k = 0; k < f->diags->n; k++)
            found = found || (str_is(f->diags->items[k].rule, "missing-fact") &&
                              str_eq(f->diags->items[k].parameter, param_name(named[i])));
        assert_true(found);
    }
}

static void nonsense_is_refused_without_overflow(void **state)
{
    static const struct {
        const char *name;
        int64_t value;
    } cases[] = {{"tp", INT64_MAX},
                 {"tp", -1},
                 {"num_layers", 1 << 20},
                 {"hidden_size", INT64_MAX},
                 {"num_moe_experts", 1 << 30},
                 {"gpus", INT64_MAX},
                 {"gbs", INT64_MAX},
                 {"moe_router_topk", 300}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
        set(f, cases[i].name, value_int(cases[i].value));
        struct config *c = ARENA_NEW(*state, struct config);
        assert_false(config_from_facts(*state, f, c));
        assert_true(diags_count(f->diags, SEVERITY_ERROR) > 0);
    }
}

/* A field of the configuration holds any number in the range of its parameter. */
static void every_number_of_a_configuration_has_a_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_count; i++) {
        enum knob_kind kind = knob_table[i].kind;
        const struct param_range *r = &param_table[knob_table[i].param].range;
        if (kind == KNOB_INT) assert_true(r->has_min && r->has_max && r->max < INT32_MAX);
        if (kind == KNOB_INT64) assert_true(r->has_min && r->has_max && r->max < 1e18);
        if (kind == KNOB_DOUBLE) assert_true(r->has_max);
    }
    assert_true(param_table[P_num_layers].range.max == MODEL_MAX_LAYERS);
}

static void a_number_out_of_its_range_is_pointed_at(void **state)
{
    static const char *const cases[][3] = {{"tp", "0", "at least 1"},
                                           {"seq", "300000000", "at most 268,435,456"},
                                           {"hidden_size", "-1", "at least 1"},
                                           {"num_layers", "2000", "at most 1,024"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
        struct str text = arena_printf(*state, "\n\n%s: %s\n", cases[i][0], cases[i][1]);
        struct node_list docs = {0};
        uint32_t source = source_add(&f->diags->sources, STR("r.yaml"), text);
        assert_true(doc_load(*state, f->diags, source, &docs));
        const struct node *node = docs.items[0]->items[0];
        facts_set(f, param_find(str_of(cases[i][0])), node_value(*state, node, SCALAR_CORE),
                  ORIGIN_FILE, node, str_of(cases[i][0]));
        struct config *c = ARENA_NEW(*state, struct config);
        assert_false(config_from_facts(*state, f, c));
        const struct diag *d = &f->diags->items[0];
        assert_true(str_is(d->rule, "value-range"));
        assert_int_equal(d->at.line, 3);
        assert_true(str_find_str(d->message, str_of(cases[i][2])) < d->message.n);
    }
}

static void the_vocabulary_may_come_from_the_tokenizer(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
    struct model_shape s;
    set(f, "vocab_size", value_null());
    assert_false(config_model(f, &s, true));
    set(f, "tokenizer_model", word("somebody/Qwen3-30B-A3B"));
    assert_true(config_model(f, &s, true));
    assert_int_equal(s.vocab, 151936);
    set(f, "tokenizer_model", value_null());
    set(f, "tokenizer_type", word("GPT2BPETokenizer"));
    assert_true(config_model(f, &s, true));
    assert_int_equal(s.vocab, 50257);
}

/* ---- pipeline splits ---- */

static struct config split_of(int layers, int pp, int vpp)
{
    struct config c = {.knobs = {.pp = pp, .vpp = vpp}};
    c.model.num_layers = layers;
    return c;
}

static void assert_split(const struct config *c, const char *want)
{
    struct layout l;
    assert_true(config_layout(c, &l));
    char got[256] = "";
    for (int i = 0; i < l.n_chunks; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", l.decoders[i]);
    assert_string_equal(got, want);
    assert_true(l.embedding[0] && l.loss[l.n_chunks - 1]);
}

static void layers_are_split_as_the_plan_says(void **state)
{
    (void)state;
    struct config c = split_of(8, 2, 2);
    assert_split(&c, "2 2 2 2");
    c = split_of(10, 4, 1);
    assert_split(&c, "3 3 2 2");
    c.knobs.first_stage_layers = 1;
    c.knobs.last_stage_layers = 3;
    assert_split(&c, "1 3 3 3");
    c = split_of(62, 4, 4);
    c.knobs.account_embedding = c.knobs.account_loss = true;
    assert_split(&c, "3 4 4 4 4 4 4 4 4 4 4 4 4 4 4 3");
}

static void impossible_splits_are_refused(void **state)
{
    (void)state;
    struct layout l;
    struct config c = split_of(10, 4, 1);
    c.knobs.first_stage_layers = 11;
    assert_false(config_layout(&c, &l));
    c.knobs.first_stage_layers = 2; /* 8 layers on 3 stages */
    assert_false(config_layout(&c, &l));
    c = split_of(10, 4, 1);
    c.knobs.account_embedding = true; /* 11 on 4 */
    assert_false(config_layout(&c, &l));
    c = split_of(10, 1 << 20, 1);
    assert_false(config_layout(&c, &l));
}

static void an_explicit_layout_decides_the_chunks(void **state)
{
    struct facts *f = deepseek(*state, FRAMEWORK_MEGATRON);
    set(f, "pp", value_int(4));
    set(f, "pipeline_model_parallel_layout", word("Et*4|(tttt|)*14tmL"));
    const struct config *c = configure(*state, f);
    assert_int_equal(c->knobs.vpp, 4);
    struct layout l;
    assert_true(config_layout(c, &l));
    assert_int_equal(l.n_chunks, 16);
    assert_int_equal(l.decoders[0], 4);
    assert_int_equal(l.decoders[15], 1);
    assert_int_equal(l.mtp[15], 1);
}

static void layers_of_every_kind_are_told_apart(void **state)
{
    static const struct {
        const char *model;
        enum mixer first, last;
        int kinds, mtp_kinds;
    } cases[] = {
        {"qwen3.5-35b-a3b", MIXER_LINEAR, MIXER_ATTENTION, 2, 1},
        {"gpt-oss-20b", MIXER_WINDOW, MIXER_ATTENTION, 2, 1},
        {"mimo-v2-flash", MIXER_ATTENTION, MIXER_ATTENTION, 3, 1},
        {"nemotron-3-super-120b-a12b", MIXER_MAMBA, MIXER_NONE, 3, 2},
        {"llama-3.1-8b", MIXER_ATTENTION, MIXER_ATTENTION, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = fresh(*state, FRAMEWORK_MEGATRON, "plan");
        model_apply(f, model_find(*state, str_of(cases[i].model)), ORIGIN_FILE);
        struct model_shape s;
        assert_true(config_model(f, &s, false));
        assert_int_equal(s.n_kinds, cases[i].kinds);
        assert_int_equal(s.kinds[s.layers[0]].mixer, cases[i].first);
        assert_int_equal(s.kinds[s.layers[s.num_layers - 1]].mixer, cases[i].last);
        assert_int_equal(s.n_mtp_kinds, cases[i].mtp_kinds);
    }
}

/* A model with layers of every kind that has sizes of its own. */
static struct model_shape *model_of_all_parts(struct arena *a)
{
    struct model_shape *m = ARENA_NEW(a, struct model_shape);
    m->mla = true;
    m->experts = 8;
    m->n_kinds = 2;
    m->kinds[0].mixer = MIXER_MAMBA;
    m->kinds[1].mixer = MIXER_LINEAR;
    return m;
}

/* Every byte counts but those between the fields. */
static void models_are_compared_in_every_field(void **state)
{
    struct model_shape *m = model_of_all_parts(*state), *other = model_of_all_parts(*state);
    size_t ignored = 0, longest = 0, run = 0;
    for (size_t i = 0; i < sizeof *m; i++) {
        bool in_name = i - offsetof(struct model_shape, name) < sizeof m->name;
        ((unsigned char *)other)[i] ^= !in_name;
        bool same = model_differences(m, other) == 0 && !in_name;
        ((unsigned char *)other)[i] ^= !in_name;
        run = same ? run + 1 : 0;
        ignored += same;
        if (run > longest) longest = run;
    }
    assert_true(longest < _Alignof(struct model_shape));
    assert_true(ignored < 32);
    other->name = STR("other");
    assert_int_equal(model_differences(m, other), 1);
    m->name = (struct str){other->name.p, 4};
    other->name = STR("othe");
    assert_int_equal(model_differences(m, other), 0);
}

static void sizes_of_layers_that_no_model_has_make_no_difference(void **state)
{
    struct model_shape *m = ARENA_NEW(*state, struct model_shape);
    struct model_shape *other = ARENA_NEW(*state, struct model_shape);
    other->kv_lora = other->topk = other->mamba_state = other->lin_conv = 7;
    assert_int_equal(model_differences(m, other), 0);
    other->mla = true;
    assert_int_equal(model_differences(m, other), 2);
    other->experts = 8;
    assert_int_equal(model_differences(m, other), 4);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(models_are_compared_in_every_field),
    cmocka_unit_test(sizes_of_layers_that_no_model_has_make_no_difference),
    cmocka_unit_test(sizes_and_degrees_are_read),
    cmocka_unit_test(unset_expert_tp_follows_the_framework),
    cmocka_unit_test(precision_comes_from_the_word_or_the_switches),
    cmocka_unit_test(optimizer_bytes_follow_its_dtypes),
    cmocka_unit_test(automodel_shards_with_its_own_adam),
    cmocka_unit_test(selective_recompute_means_core_attention_unless_said),
    cmocka_unit_test(what_is_missing_is_named),
    cmocka_unit_test(nonsense_is_refused_without_overflow),
    cmocka_unit_test(every_number_of_a_configuration_has_a_range),
    cmocka_unit_test(a_number_out_of_its_range_is_pointed_at),
    cmocka_unit_test(the_vocabulary_may_come_from_the_tokenizer),
    cmocka_unit_test(layers_are_split_as_the_plan_says),
    cmocka_unit_test(impossible_splits_are_refused),
    cmocka_unit_test(an_explicit_layout_decides_the_chunks),
    cmocka_unit_test(layers_of_every_kind_are_told_apart),
};
UNIT_MAIN(tests)
