/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/layout.h"
#include "facts/param_ids.h"
#include "facts/pattern.h"
#include "facts_unit.h"

static void layouts_unroll_as_megatron_does(void **state)
{
    static const struct {
        const char *layout, *stages; /* NULL: refused */
    } cases[] = {
        {"Et|tt|tL", "[Et, tt, tL]"},
        {"Et*3|(tt|)*2m|L", "[Ettt, tt, tt, m, L]"},
        {"Et,t|(t|)*2|L", "[Ett, t, t, , L]"},
        {"E t|L", NULL},
        {"Et|(t|*2L", NULL},
        {"Et*|L", NULL},
        {"E(t(t))*2L", NULL},
        {"(t|)*99999999999L", NULL},
        {"t*60000t*60000", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value stages;
        struct str error = {"", 0};
        bool good = layout_parse(*state, value_string(str_of(cases[i].layout)), &stages, &error);
        assert_int_equal(good, cases[i].stages != NULL);
        if (good) assert_str(value_text(*state, stages), cases[i].stages);
        if (!good) assert_true(error.n > 0);
    }
}

static void patterns_are_python_list_expressions(void **state)
{
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"2", "2"},
        {"([0]*3+[1]*2)", "[0, 0, 0, 1, 1]"},
        {"2*([1]+[0])", "[1, 0, 1, 0]"},
        {"[1,0,1,]", "[1, 0, 1]"},
        {"[]", "[]"},
        {"[0]*3 + [1]", NULL},
        {"'([0]*1)'", NULL},
        {"x", NULL},
        {"[0]*9999999", NULL},
        {"[[0]]", NULL},
        {"[0]+1", NULL},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((([0]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value v;
        bool good = pattern_parse(*state, str_of(cases[i].text), &v);
        assert_int_equal(good, cases[i].value != NULL);
        if (good) assert_str(value_text(*state, v), cases[i].value);
    }
}

static struct facts *derived(void **state, const char *text, int64_t gpus)
{
    struct read_options options = {.gpus = gpus};
    struct facts *f = read_as(*state, text[0] == 'm' ? "plan" : "megatron", text, &options);
    facts_derive(f);
    return f;
}

static void sizes_divide_or_are_unknown(void **state)
{
    struct facts *f =
        derived(state,
                "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
                "--expert-model-parallel-size 4 --micro-batch-size 2 --global-batch-size 64",
                32);
    assert_fact(f, "data_parallel_size", "8");
    assert_fact(f, "expert_data_parallel_size", "2"); /* etp follows tp */
    assert_fact(f, "num_microbatches", "4");
    f = derived(state, "--tensor-model-parallel-size 3 --micro-batch-size 2 --global-batch-size 64",
                32);
    assert_fact(f, "data_parallel_size", "unknown");
    assert_fact(f, "num_microbatches", "unknown");
    f = derived(state,
                "--tensor-model-parallel-size 9223372036854775807 --context-parallel-size "
                "9223372036854775807",
                32);
    assert_fact(f, "data_parallel_size", "unknown");
    f = derived(state, "--tensor-model-parallel-size 0 --pipeline-model-parallel-size -1", 32);
    assert_fact(f, "data_parallel_size", "unknown");
}

static void the_pipeline_split_follows_megatron(void **state)
{
    struct facts *f =
        derived(state,
                "--num-layers 94 --pipeline-model-parallel-size 2 "
                "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split "
                "--num-layers-per-virtual-pipeline-stage 12",
                0);
    assert_fact(f, "virtual_pipeline_model_parallel_size", "4");
    assert_fact(f, "layers_per_stage", "[11, 12, 12, 12, 12, 12, 12, 11]");
    f = derived(state,
                "--num-layers 48 --pipeline-model-parallel-size 4 "
                "--decoder-first-pipeline-num-layers 4 --decoder-last-pipeline-num-layers 8",
                0);
    assert_fact(f, "layers_per_stage", "[4, 18, 18, 8]");
    f = derived(state, "--num-layers 5 --pipeline-model-parallel-size 2", 0);
    assert_fact(f, "layers_per_stage", "unknown");
    f = derived(state,
                "--num-layers 4 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
                "Et|t|t|tL",
                0);
    assert_fact(f, "virtual_pipeline_model_parallel_size", "2");
    assert_fact(f, "layers_per_stage", "[1, 1, 1, 1]");
    f = derived(state, "--num-layers 4 --pipeline-model-parallel-layout Etx", 0);
    assert_fact(f, "pipeline_layout_stages", "unknown");
    assert_true(facts_str(f, P_pipeline_layout_error).n > 0);
    f = derived(state,
                "--num-layers 4 --decoder-first-pipeline-num-layers -9223372036854775808 "
                "--pipeline-model-parallel-size 2",
                0);
    assert_fact(f, "layers_per_stage", "unknown");
}

static void layers_have_kinds(void **state)
{
    struct facts *f =
        derived(state, "--num-layers 4 --num-experts 8 --moe-layer-freq ([0]*1+[1]*3)", 0);
    assert_fact(f, "moe_layer_pattern", "[0, 1, 1, 1]");
    assert_fact(f, "num_dense_layers", "1");
    f = derived(state, "--num-layers 4 --num-experts 8 --moe-layer-freq 2", 0);
    assert_fact(f, "moe_layer_pattern", "[1, 0, 1, 0]");
    f = derived(state, "--num-layers 3", 0);
    assert_fact(f, "num_moe_layers", "0");
    f = derived(state, "--hybrid-layer-pattern ME*E|M-/MM/MM --num-layers 9", 0);
    assert_fact(f, "num_layers", "6");
    assert_fact(f, "mtp_num_layers", "2");
    assert_fact(f, "moe_layer_pattern", "[0, 1, 0, 1, 0, 0]");
    assert_fact(f, "hybrid_pipeline_segments", "2");
    f = derived(state, "--num-layers 4 --linear-attention-freq 4", 0);
    assert_fact(f, "linear_attention_pattern", "[1, 1, 1, 0]");
}

static void precision_is_one_word_both_ways(void **state)
{
    assert_fact(derived(state, "--bf16", 0), "precision", "bf16");
    assert_fact(derived(state, "--num-layers 1", 0), "precision", "fp32");
    assert_fact(derived(state, "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8", 0), "precision",
                "mxfp8");
    struct facts *f = derived(state, "moeplan: 1\nprecision: fp8_blockwise\n", 0);
    assert_fact(f, "bf16", "true");
    assert_fact(f, "fp8_recipe", "blockwise");
    f = derived(state, "moeplan: 1\ntp: 2\n", 0);
    assert_fact(f, "precision", "bf16");
    f = derived(state, "moeplan: 1\nframework: bridge\nmixed_precision: bf16_with_nvfp4_mixed\n",
                0);
    assert_fact(f, "precision", "nvfp4");
    assert_fact(f, "fp4", "e2m1");
}

static void deriving_again_changes_nothing(void **state)
{
    struct facts *f =
        derived(state, "--num-layers 8 --pipeline-model-parallel-size 2 --num-experts 4 --bf16", 8);
    struct value before = facts_get(f, P_moe_layer_pattern)->value;
    size_t used = arena_used(*state);
    facts_derive(f);
    assert_int_equal(arena_used(*state), used);
    assert_ptr_equal(facts_get(f, P_moe_layer_pattern)->value.list, before.list);
    facts_set(f, P_pipeline_model_parallel_size, value_int(4), ORIGIN_OPTION, NULL, STR("pp"));
    facts_derive(f);
    assert_fact(f, "data_parallel_size", "2");
    assert_fact(f, "layers_per_stage", "[2, 2, 2, 2]");
}

static bool is_following(int param, int of)
{
    const int *list = facts_following(of);
    while (*list != P_NONE && *list != param)
        list++;
    return *list == param || param == of;
}

static bool same_value(const struct facts *a, const struct facts *b, int param)
{
    struct value x = facts_get(a, param)->value, y = facts_get(b, param)->value;
    return x.kind == y.kind && (x.kind == VALUE_UNKNOWN || value_eq(x, y));
}

/* What follows from one parameter alone is what the whole derivation makes of it. */
static void one_parameter_derives_as_all_do(void **state)
{
    static const int params[] = {P_world_size, P_global_batch_size, P_micro_batch_size};
    static const int64_t values[] = {0, 1, 2, 6, 24, 64};
    struct facts *f = derived(state,
                              "--num-layers 8 --pipeline-model-parallel-size 2 --num-experts 4 "
                              "--micro-batch-size 2 --global-batch-size 24 --seq-length 16",
                              8);
    for (size_t i = 0; i < sizeof params / sizeof *params * 6; i++) {
        int of = params[i / 6];
        struct facts *one = facts_copy(*state, f), *all = facts_copy(*state, f);
        facts_set(one, of, value_int(values[i % 6]), ORIGIN_OPTION, NULL, STR(""));
        facts_set(all, of, value_int(values[i % 6]), ORIGIN_OPTION, NULL, STR(""));
        facts_derive_after(one, of);
        facts_derive(all);
        for (int param = 0; param < (int)param_count; param++) {
            assert_true(same_value(one, all, param));
            assert_true(same_value(all, f, param) || is_following(param, of));
        }
    }
    assert_null(facts_following(P_num_layers));
}

/* Some value of the parameter. */
static struct value some_value(struct arena *a, const struct param *p, int number)
{
    struct value item = value_int(number + 1);
    switch (p->type) {
    case PARAM_BOOL: return value_bool(number == 0);
    case PARAM_INT: return item;
    case PARAM_DOUBLE: return value_double(number + 0.5);
    case PARAM_STRING:
        return value_string(p->n_choices ? p->choices[number % (int)p->n_choices] : STR("x"));
    case PARAM_LIST:
    case PARAM_TUPLE:
    case PARAM_PATTERN: return value_list_of(a, &item, 1);
    case PARAM_MAP:
    case PARAM_ANY: return value_string(STR("x"));
    }
    return value_null();
}

/* Of what is no source, whatever is assumed changes nothing else, and stays. */
static void only_sources_are_derived_from(void **state)
{
    static const char *const plans[] = {
        "moeplan: 1\nmodel: deepseek-v3\ngpus: 64\npp: 4\nvpp: 2\ngbs: 64\nmbs: 1\nseq: 4096\n",
        "moeplan: 1\nframework: bridge\nmodel: qwen3-30b-a3b\ngpus: 8\nep: 8\n",
        "moeplan: 1\nframework: automodel\nmodel: qwen3-30b-a3b\ngpus: 8\nep: 8\n",
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct facts *f = derived(state, plans[i], 0);
        for (int param = 0; param < 2 * (int)param_count; param++) {
            int of = param / 2;
            if (facts_derives_from(of) || fact_is_set(facts_get(f, of))) continue;
            struct arena_mark mark = arena_mark(*state);
            struct facts *at = facts_copy(*state, f);
            struct value v = some_value(*state, &param_table[of], param % 2);
            facts_set(at, of, v, ORIGIN_ASSUMED, NULL, STR("x"));
            struct facts *before = facts_copy(*state, at);
            facts_derive(at);
            for (int k = 0; k < (int)param_count; k++)
                if (!same_value(at, before, k))
                    fail_msg("%s is derived from %s", param_table[k].name.p,
                             param_table[of].name.p);
            arena_pop(*state, mark);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(layouts_unroll_as_megatron_does),
    cmocka_unit_test(patterns_are_python_list_expressions),
    cmocka_unit_test(sizes_divide_or_are_unknown),
    cmocka_unit_test(the_pipeline_split_follows_megatron),
    cmocka_unit_test(layers_have_kinds),
    cmocka_unit_test(precision_is_one_word_both_ways),
    cmocka_unit_test(deriving_again_changes_nothing),
    cmocka_unit_test(one_parameter_derives_as_all_do),
    cmocka_unit_test(only_sources_are_derived_from),
};
UNIT_MAIN(tests)
