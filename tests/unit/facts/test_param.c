/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/edit.h"
#include "expr/expr.h"
#include "facts/entry.h"
#include "facts/param_ids.h"
#include "facts/pattern.h"
#include "facts_unit.h"

static void every_name_finds_its_parameter(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < param_count; i++) {
        const struct param *p = &param_table[i];
        assert_int_equal(param_find(p->name), i);
        if (p->symbol.n) assert_int_equal(param_find(p->symbol), i);
        for (size_t k = 0; k < p->n_aliases; k++)
            assert_int_equal(param_find(p->aliases[k]), i);
        for (int f = 0; f < FRAMEWORK_COUNT; f++) {
            const struct param_spelling *s = p->in[f];
            if (s->key.n) assert_int_equal(param_find_key((enum framework)f, s->key, NULL), i);
            for (size_t k = 0; k < s->n_flags; k++) {
                const struct param_flag *flag = NULL;
                assert_int_equal(param_find_key((enum framework)f, s->flags[k].flag, &flag), i);
                assert_ptr_equal(flag, &s->flags[k]);
            }
        }
        if (i > 0) assert_true(str_cmp(param_table[i - 1].name, p->name) < 0);
    }
    assert_int_equal(param_find(STR("no_such_thing")), -1);
    assert_int_equal(param_find_key(FRAMEWORK_BRIDGE, STR("--bf16"), NULL), -1);
}

static void ask_for_no_parameter(void *facts)
{
    facts_get(facts, param_find(STR("no_such_thing")));
}

static void set_no_parameter(void *facts)
{
    facts_set(facts, param_find(STR("no_such_thing")), value_int(1), ORIGIN_FILE, NULL, STR(""));
}

static void set_past_the_last(void *facts)
{
    facts_set(facts, (int)param_count, value_int(1), ORIGIN_FILE, NULL, STR(""));
}

static void a_wrong_name_of_ours_is_an_assertion(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    struct facts *f = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main"));
    assert_true(unit_asserts(ask_for_no_parameter, f));
    assert_true(unit_asserts(set_no_parameter, f));
    assert_true(unit_asserts(set_past_the_last, f));
}

static void destinations_are_aliases(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"num_experts", "num_moe_experts"},
        {"decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage"},
        {"cuda_graph_modules", "cuda_graph_scope"},
        {"norm_epsilon", "layernorm_epsilon"},
        {"model.is_moe", "model_is_moe"},
        {"gpus", "world_size"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_str(param_table[param_find(str_of(pairs[i][0]))].name, pairs[i][1]);
    assert_str(param_nearest_key(FRAMEWORK_MEGATRON, STR("--tensor-model-paralel-size")),
               "--tensor-model-parallel-size");
}

static void defaults_are_the_frameworks(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    struct facts *m = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main"));
    assert_fact(m, "moe_token_dispatcher_type", "allgather");
    assert_fact(m, "expert_tensor_parallel_size", "null");
    assert_fact(m, "adam_eps", "1e-08");
    assert_fact(m, "world_size", "unknown");
    assert_fact(m, "strategy", "null");
    struct facts *b = facts_new(*state, &diags, FRAMEWORK_BRIDGE, STR("main"));
    assert_fact(b, "expert_tensor_parallel_size", "1");
    assert_fact(b, "overlap_grad_reduce", "unknown");
    struct facts *a = facts_new(*state, &diags, FRAMEWORK_AUTOMODEL, STR("main"));
    assert_fact(a, "strategy", "fsdp2");
    assert_fact(a, "num_layers", "unknown");
}

static void options_yield_only_to_options_and_overrides(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    struct facts *f = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main"));
    int tp = P_tensor_model_parallel_size;
    facts_set(f, tp, value_int(4), ORIGIN_OPTION, NULL, STR("tp"));
    facts_set(f, tp, value_int(8), ORIGIN_FILE, NULL, STR("tp"));
    assert_fact(f, "tensor_model_parallel_size", "4");
    facts_set(f, tp, value_int(2), ORIGIN_OVERRIDE, NULL, STR("x"));
    assert_fact(f, "tensor_model_parallel_size", "2");
}

static void values_take_the_parameters_form(void **state)
{
    struct arena *a = *state;
    assert_str(value_text(a, fact_coerce(a, P_cuda_graph_scope, value_string(STR("attn")))),
               "[attn]");
    assert_str(value_text(a, fact_coerce(a, P_moe_layer_freq, value_string(STR("([0]*1+[1]*2)")))),
               "[0, 1, 1]");
    assert_str(value_text(a, fact_coerce(a, P_exp_avg_dtype, value_string(STR("torch.bfloat16")))),
               "bf16");
    assert_str(value_text(a, fact_coerce(a, P_window_size, value_int(128))), "[128, 0]");
    assert_int_equal(fact_coerce(a, P_lr, value_int(1)).kind, VALUE_DOUBLE);
    assert_int_equal(fact_coerce(a, P_tensor_model_parallel_size, value_string(STR("x"))).kind,
                     VALUE_STRING);
}

static struct value evaluate(struct facts *f, const char *text)
{
    const struct expr *e =
        expr_compile(f->arena, f->diags, str_of(text), (struct span){0}, &facts_names);
    assert_non_null(e);
    struct expr_scope scope = facts_scope(f);
    return expr_eval(e, f->arena, &scope);
}

static void expressions_see_facts(void **state)
{
    struct facts *f =
        read_as(*state, "megatron", "--tensor-model-parallel-size 2 --bf16 --num-experts 8", NULL);
    facts_set_env(f, STR("NCCL_ALGO"), STR("Ring"), false);
    static const char *const truths[] = {
        "plan.tp == 2 && model.num_moe_experts == 8 && plan.num_experts == 8",
        "has(plan.tp) && !has(plan.pp) && plan.pp == 1",
        "raw[\"--tensor-model-parallel-size\"] == 2",
        "!(\"--pipeline-model-parallel-size\" in raw)",
        "env[\"NCCL_ALGO\"] == \"Ring\"",
        "framework == \"megatron\" && version == \"main@2026-08-22\"",
    };
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct value v = evaluate(f, truths[i]);
        assert_int_equal(v.kind, VALUE_BOOL);
        assert_true(v.b);
    }
    assert_int_equal(evaluate(f, "plan.gpus % 2 == 0").kind, VALUE_UNKNOWN);
    assert_int_equal(evaluate(f, "env[\"OTHER\"] == \"1\"").kind, VALUE_UNKNOWN);
    f->env_complete = true;
    assert_true(evaluate(f, "env[\"OTHER\"] == null").b);
}

static void slips_find_their_neighbours(void **state)
{
    enum framework framework;
    assert_str(param_nearest(STR("tensor_model_paralel_size")), "tensor_model_parallel_size");
    assert_str(param_nearest(STR("zzzzzzzz")), "");
    assert_str(param_nearest_in(SCOPE_PLATFORM, STR("gpus_per_nod")), "gpus_per_node");
    assert_str(param_nearest_in(SCOPE_MODEL, STR("gpus_per_nod")), "");
    assert_true(framework_from_name(STR("Megatron-LM"), &framework));
    assert_string_equal(framework_name(framework), "megatron");
    assert_false(framework_from_name(STR("deepspeed"), &framework));
    struct str listed = STR(FRAMEWORK_WORDS), word;
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        assert_true(str_split(&listed, '|', &word));
        assert_str(word, framework_name((enum framework)i));
        assert_true(framework_from_name(word, &framework) && framework == (enum framework)i);
    }
    assert_int_equal(listed.n, 0);
    struct str near =
        entry_nearest(*state, catalogue_platforms, catalogue_platform_count, STR("H10"));
    assert_true(str_starts(near, STR("h100, ")));
    assert_ptr_equal(entry_find(catalogue_models, catalogue_model_count, STR("DeepSeek-V3")),
                     entry_find(catalogue_models, catalogue_model_count, STR("deepseek-v3")));
    assert_null(entry_find(catalogue_models, catalogue_model_count, STR("deepseek")));
}

/* A name is offered as it would be written, under the root that fits. */
/* Of the long lists only what may be near is offered: that loses nothing. */
static void slips_are_sought_among_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < param_count; i++) {
        struct str name = param_table[i].name;
        const struct str words[] = {str_slice(name, 1, name.n), str_slice(name, 0, name.n - 1),
                                    str_slice(name, 0, name.n / 2)};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            struct edit_nearest near = {.word = words[k]};
            edit_offer(&near, name);
            assert_true(!near.best.n || edit_may_be_near(words[k], name));
        }
    }
}

static void names_of_expressions_are_offered_whole(void **state)
{
    static const char *const cases[][2] = {
        {"cp", "plan.cp"},
        {"gpus", "plan.gpus"},
        {"plan.tpp", "plan.tp"},
        {"model.num_layer", "model.num_layers"},
        {"hiden_size", "model.hidden_size"},
        {"gpu_capacity_gib", "platform.gpu_capacity_gib"},
        {"versoin", "version"},
        {"zzzzzzzz", ""},
        {"plan.zzzzzzzz", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_str(facts_names.nearest(NULL, *state, str_of(cases[i][0])), cases[i][1]);
}

static void coefficients_have_a_table_of_their_own(void **state)
{
    (void)state;
    assert_non_null(param_coefficient(STR("nic")));
    assert_null(param_coefficient(STR("nicc")));
    assert_str(param_nearest_coefficient(STR("nicc")), "nic");
    assert_int_equal(param_find(STR("nic")), -1);
}

static void numbers_read_as_python_reads_them(void **state)
{
    int64_t i = 0;
    double d = 0;
    struct value v;
    assert_true(python_int(STR(" 1_000 "), &i) && i == 1000);
    assert_false(python_int(STR("1__0"), &i));
    assert_false(python_int(STR("1.0"), &i));
    assert_true(python_float(STR("-inf"), &d) && d < 0 && isinf(d));
    assert_true(python_float(STR("1_0.5"), &d) && d == 10.5);
    assert_false(python_float(STR("ten"), &d));
    assert_true(pattern_parse_tuple(*state, STR("(128,0)"), &v));
    assert_str(value_text(*state, v), "[128, 0]");
    assert_false(pattern_parse_tuple(*state, STR("(128,x)"), &v));
    assert_false(pattern_parse_tuple(*state, STR("()"), &v));
}

static void profiles_are_lines_of_versions(void **state)
{
    assert_str(profile_find(FRAMEWORK_MEGATRON, STR("0.16.1"))->version, "0.16");
    assert_str(profile_find(FRAMEWORK_MEGATRON, STR(""))->version, "main@2026-08-22");
    assert_null(profile_find(FRAMEWORK_MEGATRON, STR("0.161")));
    assert_str(profile_list(*state, FRAMEWORK_BRIDGE), "main@2026-08-22, 0.6, 0.5, 0.4");
    for (size_t i = 0; i < profile_count(); i++)
        assert_ptr_equal(profile_find(profile_at(i)->framework, profile_at(i)->version),
                         profile_at(i));
}

static void formats_and_settings_are_told(void **state)
{
    (void)state;
    struct setting set[] = {{.name = STR("tp")}, {.name = STR("pp")}};
    struct read_options options = {.set = set, .n_set = 2};
    assert_ptr_equal(setting_use(&options, STR("pp")), &set[1]);
    assert_true(set[1].used && !set[0].used);
    assert_null(setting_use(&options, STR("ep")));
    assert_str(reader_declared(STR("#!/bin/sh\n  # moeplan: format=bridge \n"), "format"),
               "bridge");
    assert_str(reader_declared(STR("\n\n\n\n\n# moeplan: format=bridge\n"), "format"), "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(slips_find_their_neighbours),
    cmocka_unit_test(slips_are_sought_among_all),
    cmocka_unit_test(names_of_expressions_are_offered_whole),
    cmocka_unit_test(coefficients_have_a_table_of_their_own),
    cmocka_unit_test(numbers_read_as_python_reads_them),
    cmocka_unit_test(profiles_are_lines_of_versions),
    cmocka_unit_test(formats_and_settings_are_told),
    cmocka_unit_test(every_name_finds_its_parameter),
    cmocka_unit_test(a_wrong_name_of_ours_is_an_assertion),
    cmocka_unit_test(destinations_are_aliases),
    cmocka_unit_test(defaults_are_the_frameworks),
    cmocka_unit_test(options_yield_only_to_options_and_overrides),
    cmocka_unit_test(values_take_the_parameters_form),
    cmocka_unit_test(expressions_see_facts),
};
UNIT_MAIN(tests)
