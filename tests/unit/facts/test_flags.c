/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "facts_unit.h"

static struct facts *flags(void **state, const char *text)
{
    return read_as(*state, "megatron", text, NULL);
}

static void flags_set_facts_and_raw_values(void **state)
{
    struct facts *f = flags(state, "# a comment\n--num-experts 8 --seq-length=4096 \\\n  "
                                   "--disable-bias-linear --recompute-modules mlp 'moe_act' "
                                   "--moe-layer-freq \"([0]*1+[1]*3)\" --window-size 128,0 --lr "
                                   "1e-4 --moe-aux-loss-coeff 1e-3\n");
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "num_moe_experts", "8");
    assert_fact(f, "seq_length", "4096");
    assert_fact(f, "add_bias_linear", "false");
    assert_fact(f, "recompute_modules", "[mlp, moe_act]");
    assert_fact(f, "moe_layer_freq", "[0, 1, 1, 1]");
    assert_fact(f, "window_size", "[128, 0]");
    assert_fact(f, "lr", "0.0001");
    assert_fact(f, "moe_aux_loss_coeff", "0.001");
    assert_true(facts_has_raw(f, STR("--seq-length")));
    assert_false(facts_has_raw(f, STR("--bf16")));
    assert_int_equal(facts_get(f, P_seq_length)->node->line, 2);
}

static void argparse_refusals_have_rules(void **state)
{
    static const struct {
        const char *text, *rule;
    } cases[] = {
        {"--bf16 --no-such-flag 3", "unknown-key"},
        {"--bf16 --tensor-model-parallel 2", "unknown-key"}, /* no abbreviations */
        {"--bf16 true", "value-for-switch"},
        {"--bf16=1", "value-for-switch"},
        {"--seq-length", "value-missing"},
        {"--seq-length --bf16", "value-missing"},
        {"--seq-length 4k", "value-type"},
        {"--lr 1,5", "value-type"},
        {"--seq-length 4096 8192", "value-unexpected"},
        {"--optimizer adamw", "value-choice"},
        {"--recompute-granularity partial", "recompute-granularity-choice"},
        {"--cuda-graph-modules attn foo", "cuda-graph-module-choice"},
        {"--moe-layer-freq \"'([0]*1+[1]*26)'\"", "moe-layer-freq-syntax"},
        {"--megatron-fsdp-version 3", "value-choice"},
        {"--rampup-batch-size 1 2 3", "flag-deprecated"},
        {"--seq-length 1 --seq-length 2", "flag-repeated"},
        {"--offload-optimizer-states", "unknown-key"},
        {"--use-custom-fsdp", "unknown-key"},
        {"--bf16 'unclosed", "shell-syntax"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = flags(state, cases[i].text);
        if (count_rule(f, cases[i].rule) != 1) print_message("%s\n", cases[i].text);
        assert_int_equal(count_rule(f, cases[i].rule), 1);
        assert_int_equal(f->diags->n, 1);
        assert_true(f->diags->items[0].at.line == 1);
    }
}

static void what_argparse_takes_is_taken(void **state)
{
    static const char *const cases[] = {
        "--lr-warmup-fraction -1.5",
        "--seq-length 1_024",
        "--lr inf",
        "--data-path 0.5 a 0.5 b",
        "--seq-length 1 --seq-length 1",
        "--no-rope-fusion --attention-backend flash",
        "--cp-comm-type p2p a2a",
        "--log-interval=5 --save '/a b/c'",
        "",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct facts *f = flags(state, cases[i]);
        if (f->diags->n) print_message("%s: %s\n", cases[i], f->diags->items[0].message.p);
        assert_int_equal(f->diags->n, 0);
    }
    assert_fact(flags(state, "--seq-length 1 --seq-length 2"), "seq_length", "2");
}

static void versions_bound_flags(void **state)
{
    struct read_options old = {.version = STR("0.16")};
    struct facts *f = read_as(*state, "megatron", "--bf16 --moe-use-legacy-grouped-gemm", &old);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "moe_grouped_gemm", "true");
    f = read_as(*state, "megatron", "--bf16 --cuda-graph-modules attn", &old);
    assert_int_equal(count_rule(f, "unknown-key"), 1);
}

static void argument_files_in_yaml(void **state)
{
    struct facts *f =
        read_as(*state, "megatron",
                "ENV_VARS:\n  NCCL_ALGO: Ring\nMODEL_ARGS:\n  --bf16: true\n  --swiglu: false\n  "
                "--num-layers: 4\n  --seq-length: ${SEQ}\n"
                "  --cuda-graph-modules: \"[attn moe_router]\"\n  --recompute-modules: [mlp "
                "moe_act]\n  --data-path: ${X}/a b\n  --entry-point-flag: 1\n",
                NULL);
    assert_fact(f, "bf16", "true");
    assert_fact(f, "swiglu", "false");
    assert_fact(f, "seq_length", "unknown");
    assert_fact(f, "cuda_graph_scope", "[attn, moe_router]");
    assert_fact(f, "recompute_modules", "[mlp, moe_act]");
    assert_str(facts_env(f, STR("NCCL_ALGO")).s, "Ring");
    assert_int_equal(f->diags->n, 1); /* the flag may be another program's */
    assert_int_equal(f->diags->items[0].severity, SEVERITY_WARNING);
    struct setting set[] = {{.name = STR("SEQ"), .text = STR("4096")}};
    struct read_options options = {.set = set, .n_set = 1};
    f = read_as(*state, "megatron", "MODEL_ARGS:\n  --seq-length: ${SEQ}\n", &options);
    assert_fact(f, "seq_length", "4096");
    f = read_as(*state, "megatron",
                "tensor_model_parallel_size: 2\nnum-layers: 4\nadd_bias_linear: false\nbf16: "
                "true\nno_rope_fusion: true\nnum_leyers: 3\n",
                NULL);
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "add_bias_linear", "false");
    assert_fact(f, "apply_rope_fusion", "false");
    assert_int_equal(count_rule(f, "unknown-key"), 1);
}

static void formats_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"--bf16 --num-layers 4", "megatron"},
        {"#!/bin/bash\npython pretrain_gpt.py --bf16 --num-layers 4 --swiglu", "megatron"},
        {"model.tensor_model_parallel_size=2\ntrain.micro_batch_size=1", "bridge"},
        {"Some text that speaks of --bf16 only.", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reader *r = reader_detect(str_of(cases[i].text), NULL);
        assert_int_equal(r != NULL, cases[i].format != NULL);
        if (r) assert_string_equal(r->name, cases[i].format);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(flags_set_facts_and_raw_values),
    cmocka_unit_test(argparse_refusals_have_rules),
    cmocka_unit_test(what_argparse_takes_is_taken),
    cmocka_unit_test(versions_bound_flags),
    cmocka_unit_test(argument_files_in_yaml),
    cmocka_unit_test(formats_are_told_apart),
};
UNIT_MAIN(tests)
