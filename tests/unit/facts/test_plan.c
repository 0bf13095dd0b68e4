/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "facts_unit.h"

static void plans_take_names_symbols_and_aliases(void **state)
{
    struct facts *f =
        read_as(*state, "plan",
                "moeplan: 1\nframework: megatron\ngpus: 16\ntp: 2\npipeline_model_parallel_size: "
                "4\nnum_experts: 8\ncuda_graph_scope: attn\n"
                "exp_avg_dtype: bfloat16\nvpp: null\nmodel: {num_layers: 8, hidden_size: 64, "
                "mamba: {num_heads: 4}}\n",
                NULL);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "world_size", "16");
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "num_moe_experts", "8");
    assert_fact(f, "cuda_graph_scope", "[attn]");
    assert_fact(f, "exp_avg_dtype", "bf16");
    assert_fact(f, "virtual_pipeline_model_parallel_size", "null");
    assert_true(fact_is_set(facts_get(f, P_virtual_pipeline_model_parallel_size)));
    assert_fact(f, "num_layers", "8");
    assert_fact(f, "mamba_num_heads", "4");
    assert_fact(f, "num_attention_heads",
                "unknown"); /* a plan is silent about the model where it does not write */
    assert_fact(f, "step_batch_size_schedule", "null"); /* and runs with the framework's defaults */
    assert_fact(f, "moe_token_dispatcher_type", "allgather");
}

static void mistakes_are_findings(void **state)
{
    static const struct {
        const char *text, *rule;
    } cases[] = {
        {"moeplan: 1\ntpp: 2\n", "unknown-key"},
        {"moeplan: 1\ntp: two\n", "value-type"},
        {"moeplan: 1\nsequence_parallel: 1\n", "value-type"},
        {"moeplan: 1\nprecision: fp7\n", "value-choice"},
        {"moeplan: 1\nmoe_token_dispatcher_type: alltoall_seq\n", "dispatcher-choice"},
        {"moeplan: 1\nframework: torchtitan\n", "value-choice"},
        {"moeplan: 2\n", "value-choice"},
        {"moeplan: 1\nframework_version: 9.9\n", "value-choice"},
        {"moeplan: 1\nlayers_per_stage: [1]\n", "unknown-key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = read_as(*state, "plan", cases[i].text, NULL);
        if (count_rule(f, cases[i].rule) != 1) print_message("%s", cases[i].text);
        assert_int_equal(count_rule(f, cases[i].rule), 1);
        assert_int_equal(f->diags->n, 1);
    }
}

static void assertions_do_not_set_what_is_derived(void **state)
{
    struct facts *f = read_as(*state, "plan", "moeplan: 1\ngpus: 16\ntp: 2\ndp: 3\n", NULL);
    facts_derive(f);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "data_parallel_size", "8");
    assert_int_equal(facts_get(f, P_data_parallel_size)->node->line, 4);
    assert_int_equal(facts_raw(f, STR("dp")).i, 3);
}

static void bridge_overrides_leave_the_rest_to_the_recipe(void **state)
{
    struct facts *f =
        read_as(*state, "bridge",
                "--recipe "
                "x\nmodel.tensor_model_parallel_size=2\n+model.pipeline_model_parallel_layout=[["
                "embedding,decoder],[decoder,loss]]\n"
                "model.sequence_parallel=True "
                "model.share_embeddings_and_output_weights=false\nmodel.recompute_modules='[mlp, "
                "moe_act]'\n"
                "model.virtual_pipeline_model_parallel_size=null model.made_up_field=3\n",
                NULL);
    facts_derive(f);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "context_parallel_size", "unknown");
    assert_fact(f, "sequence_parallel", "true");
    assert_fact(f, "untie_embeddings_and_output_weights", "true");
    assert_fact(f, "recompute_modules", "[mlp, moe_act]");
    assert_fact(f, "pipeline_layout_stages", "[Et, tL]");
    assert_fact(f, "virtual_pipeline_model_parallel_size", "null");
    assert_true(facts_raw(f, STR("model.sequence_parallel")).b);
}

/* An override that makes an object says its fields; what it says of others is no key. Braces and
   brackets in each other, and such as never close, are read to their end. */
static void bridge_objects_say_their_fields(void **state)
{
    struct facts *f =
        read_as(*state, "bridge",
                "train.micro_batch_size=1\nmixed_precision=null\n'mixed_precision={_target_: "
                "a.MixedPrecisionConfig,bf16:true,params_dtype:{_target_:torch.bfloat16},"
                "grad_reduce_in_fp32:false,fp8:e4m3,fp8_recipe:mxfp8,fp4:null,made_up:[1,2]}'\n",
                NULL);
    facts_derive(f);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "accumulate_allreduce_grads_in_fp32", "false");
    assert_fact(f, "precision", "mxfp8");
    f = read_as(*state, "bridge",
                "train.micro_batch_size=1\nmodel.recompute_modules=[mlp,}moe_act]\n"
                "mixed_precision={bf16:true,fp8:hybrid\n",
                NULL);
    assert_fact(f, "fp8", "hybrid");
    f = read_as(*state, "bridge",
                "train.micro_batch_size=1\n++env_vars.A=1\n'++env_vars.B=\"x:1,y\"'\n", NULL);
    assert_str(facts_env(f, STR("A")).s, "1");
    assert_str(facts_env(f, STR("B")).s, "x:1,y");
    f = read_as(*state, "bridge", "train.micro_batch_size=1\nmixed_precision={bf16\n", NULL);
    assert_fact(f, "bf16", "null");
}

static void bridge_yaml_nests_the_same_keys(void **state)
{
    struct facts *f = read_as(
        *state, "bridge",
        "model:\n  tensor_model_parallel_size: 4\n  moe_layer_freq: [0, 1]\ntrain: "
        "{global_batch_size: 8}\nmodel.context_parallel_size: 2\nmixed_precision: {fp8: hybrid}\n",
        NULL);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "tensor_model_parallel_size", "4");
    assert_fact(f, "global_batch_size", "8");
    assert_fact(f, "context_parallel_size", "2");
    assert_fact(f, "fp8", "hybrid");
    f = read_as(*state, "bridge",
                "#!/bin/bash\nTP=2\nCLI=\"model.tensor_model_parallel_size=$TP "
                "model.pipeline_model_parallel_size=$1\"\ntorchrun --nproc_per_node=8 --nnodes=1 "
                "run_recipe.py $CLI\n",
                NULL);
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "pipeline_model_parallel_size", "unknown");
    assert_fact(f, "world_size", "8");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plans_take_names_symbols_and_aliases),
    cmocka_unit_test(mistakes_are_findings),
    cmocka_unit_test(assertions_do_not_set_what_is_derived),
    cmocka_unit_test(bridge_overrides_leave_the_rest_to_the_recipe),
    cmocka_unit_test(bridge_objects_say_their_fields),
    cmocka_unit_test(bridge_yaml_nests_the_same_keys),
};
UNIT_MAIN(tests)
