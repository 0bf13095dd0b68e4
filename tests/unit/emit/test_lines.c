/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that a plan becomes in each framework's own files. */
#include "facts/param_ids.h"
#include "unit/plan_text.h"

#include <stdio.h>

#include "emit/emit.h"
#include "flow/convert.h"

static struct str printed(const struct facts *f, const char *format)
{
    struct buf out = buf_new(f->arena);
    struct emit_input in = {.rules = rules_builtin(), .facts = f};
    if (strcmp(format, "plan") == 0)
        emit_plan(&in, &out);
    else
        emitter_find(str_of(format))->write(&in, &out);
    return buf_str(&out);
}

/* A plan in its framework's own form. */
static struct str text_of(struct arena *a, const char *framework, const char *size,
                          const char *body, const char *format)
{
    struct arena *scratch = arena_new(0);
    struct facts *f = sized_plan(a, framework, size, body);
    struct conversion x;
    convert_facts(a, rules_builtin(), f, f->framework, true, scratch, &x);
    arena_free(scratch);
    return printed(x.facts, format);
}

static bool has_line(struct str text, const char *line)
{
    struct str one;
    while (str_split(&text, '\n', &one))
        if (str_is(one, line)) return true;
    return false;
}

#define ON_H100 "model: qwen3-30b-a3b\nplatform: h100\ngpus: 8\ngbs: 64\nmbs: 1"
#define ON_B200 "model: qwen3-30b-a3b\nplatform: b200\ngpus: 8\ngbs: 64\nmbs: 1"

/* ---- Megatron-LM ---- */

/* Before Blackwell the collectives of tensor and context parallelism rely on one hardware queue,
   unless FSDP or overlapped expert communication needs several. */
static void hardware_queues(void **state)
{
    static const struct {
        const char *size, *body, *queues;
    } cases[] = {
        {ON_H100, "tp: 1", "32"},
        {ON_H100, "tp: 2\nsequence_parallel: true", "1"},
        {ON_H100, "cp: 2", "1"},
        {ON_B200, "tp: 2\nsequence_parallel: true", "32"},
        {ON_B200, "cp: 2", "32"},
        {ON_H100, "tp: 2\nsequence_parallel: true\nuse_megatron_fsdp: true\nep: 4", "32"},
        {ON_H100, "cp: 2\nuse_torch_fsdp2: true", "32"},
        {ON_H100, "tp: 2\nsequence_parallel: true\nep: 4\noverlap_moe_expert_parallel_comm: true",
         "32"},
        {ON_H100, "ep: 8\noverlap_moe_expert_parallel_comm: true", "32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str want =
            arena_printf(*state, "export CUDA_DEVICE_MAX_CONNECTIONS=%s", cases[i].queues);
        struct str text = text_of(*state, "megatron", cases[i].size, cases[i].body, "script");
        if (!has_line(text, want.p)) fail_msg("%s: no %s", cases[i].body, want.p);
    }
}

/* Which variables a run needs, in all of these cases: wanted or not. */
static void variables_of_a_run(void **state)
{
    static const char graphs[] = "cuda_graph_impl: transformer_engine\ncuda_graph_scope: [attn]",
                      whole[] = "cuda_graph_impl: full_iteration",
                      offload[] = "fine_grained_activation_offloading: true\n"
                                  "offload_modules: [moe_act]";
    static const struct {
        const char *body, *line;
        bool there;
    } cases[] = {
        {"ep: 8", "export NCCL_GRAPH_REGISTER=0", false},
        {graphs, "export NCCL_GRAPH_REGISTER=0", true},
        {whole, "export NCCL_GRAPH_REGISTER=0", true},
        {graphs, "export TORCH_NCCL_AVOID_RECORD_STREAMS=0", false},
        {whole, "export TORCH_NCCL_AVOID_RECORD_STREAMS=0", true},
        {"ep: 8", "export NVTE_CPU_OFFLOAD_V1=1", false},
        {offload, "export NVTE_CPU_OFFLOAD_V1=1", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = text_of(*state, "megatron", ON_H100, cases[i].body, "script");
        if (has_line(text, cases[i].line) != cases[i].there)
            fail_msg("%s: %s", cases[i].body, cases[i].line);
    }
}

/* Whole nodes, and of one that is not needed whole so many GPUs. */
static void a_job_asks_for_its_gpus(void **state)
{
    static const struct {
        int gpus;
        const char *nodes, *each;
    } cases[] = {{4, "#SBATCH --nodes=1", "#SBATCH --gpus-per-node=4"},
                 {8, "#SBATCH --nodes=1", "#SBATCH --gpus-per-node=8"},
                 {16, "#SBATCH --nodes=2", "#SBATCH --gpus-per-node=8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str size =
            arena_printf(*state, "model: qwen3-30b-a3b\nplatform: h100\ngpus: %d\ngbs: 64\nmbs: 1",
                         cases[i].gpus);
        struct str text = text_of(*state, "megatron", size.p, "", "script");
        assert_true(has_line(text, cases[i].nodes) && has_line(text, cases[i].each));
    }
}

static void flags_by_type(void **state)
{
    struct str text = text_of(*state, "megatron", ON_H100,
                              "tp: 2\nsequence_parallel: true\nrecompute_granularity: selective\n"
                              "recompute_modules: [moe_act, layernorm]\nwindow_size: [128, 0]\n"
                              "tp_comm_overlap: false\nprecision: fp8_blockwise\nmanual_gc: true\n"
                              "adam_beta2: 0.95\nsave: a b\n",
                              "flags");
    static const char *const lines[] = {"--tensor-model-parallel-size 2",
                                        "--sequence-parallel",
                                        "--recompute-modules moe_act layernorm",
                                        "--window-size 128,0",
                                        "--bf16",
                                        "--fp8-format e4m3",
                                        "--fp8-recipe blockwise",
                                        "--manual-gc",
                                        "--adam-beta2 0.95",
                                        "--save 'a b'"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!has_line(text, lines[i])) fail_msg("no %s in\n%.*s", lines[i], STR_ARG(text));
    assert_false(has_line(text, "--tp-comm-overlap"));
}

/* ---- Megatron-Bridge ---- */

static void overrides_of_a_recipe(void **state)
{
    struct str text =
        text_of(*state, "bridge", ON_H100,
                "tp: 2\nep: 4\nsequence_parallel: true\nrecompute_granularity: full\n"
                "recompute_method: block\nrecompute_num_layers: 3\n"
                "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep\n",
                "bridge");
    static const char *const lines[] = {
        "model.tensor_model_parallel_size=2",   "model.expert_model_parallel_size=4",
        "model.sequence_parallel=true",         "model.recompute_granularity=full",
        "model.recompute_method=block",         "model.recompute_num_layers=3",
        "model.moe_token_dispatcher_type=flex", "model.moe_flex_dispatcher_backend=hybridep"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!has_line(text, lines[i])) fail_msg("no %s in\n%.*s", lines[i], STR_ARG(text));
}

/* run_recipe.py's word for the task. */
static void a_recipe_is_run_in_its_mode(void **state)
{
    static const char *const cases[][2] = {
        {"task: pretrain", " --mode pretrain"},
        {"task: sft", " --mode sft"},
        {"task: peft\npeft_scheme: lora\npeft_dim: 16", " --mode lora"},
        {"task: peft\npeft_scheme: dora\npeft_dim: 16", " --mode dora"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = text_of(*state, "bridge", ON_H100, cases[i][0], "bridge");
        if (str_find_str(text, str_of(cases[i][1])) == text.n)
            fail_msg("%s: no%s in\n%.*s", cases[i][0], cases[i][1], STR_ARG(text));
    }
}

/* ---- AutoModel ---- */

/* The strategy comes first, sections are whole, and a class stands before its arguments. */
static void a_recipe_reads_from_the_strategy_on(void **state)
{
    struct str text =
        text_of(*state, "automodel", ON_H100,
                "ep: 8\nactivation_checkpointing: true\nbackend_dispatcher: deepep\n", "yaml");
    static const char begin[] = "distributed:\n  strategy: fsdp2\n";
    assert_true(str_starts(text, str_of(begin)));
    assert_true(has_line(text, "  ep_size: 8"));
    assert_true(has_line(text, "  activation_checkpointing: true"));
    assert_true(has_line(text, "    dispatcher: deepep"));
    size_t class = str_find_str(text, STR("model:\n  _target_: "));
    assert_true(class < text.n && class < str_find_str(text, STR("pretrained_model_name_or_path")));
}

/* ---- plan files ---- */

/* A catalogue model by its name; one that changes it by what it changes. */
static void a_plan_names_its_model(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "tp: 2\nsequence_parallel: true");
    struct str text = printed(f, "plan");
    assert_true(has_line(text, "model: qwen3-30b-a3b"));
    assert_true(has_line(text, "tp: 2") && has_line(text, "platform: h100"));
    text = printed(sized_plan(*state, "megatron",
                              "model: {base: qwen3-30b-a3b, name: Half, num_layers: 24}\n"
                              "platform: h100\ngpus: 8\ngbs: 64\nmbs: 1",
                              ""),
                   "plan");
    assert_true(has_line(text, "  base: qwen3-30b-a3b") && has_line(text, "  num_layers: 24"));
    assert_true(has_line(text, "  name: Half"));
    assert_int_equal(str_find_str(text, STR("hidden_size")), text.n);
    struct config *again = config_of(text_facts(*state, "plan", text));
    assert_true(again->model.num_layers == 24 && again->model.hidden == 2048);
    /* what was written and the name says already */
    facts_set(f, P_hidden_size, value_int(2048), ORIGIN_FILE, NULL, STR("hidden_size"));
    assert_true(has_line(printed(f, "plan"), "model: qwen3-30b-a3b"));
    facts_set(f, P_hidden_size, value_int(1024), ORIGIN_FILE, NULL, STR("hidden_size"));
    assert_true(has_line(printed(f, "plan"), "  hidden_size: 1024"));
}

/* A plan without a precision is read as bf16: one of fp32 says so, and is read as that again. */
static void a_plan_of_full_precision_says_so(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "bf16: false");
    struct str text = printed(f, "plan");
    assert_true(has_line(text, "bf16: false"));
    struct config *again = config_of(text_facts(*state, "plan", text));
    assert_int_equal(again->knobs.precision, config_of(f)->knobs.precision);
    assert_false(
        has_line(printed(plan_facts(*state, "megatron", "fp16: true"), "plan"), "bf16: false"));
    assert_false(has_line(printed(plan_facts(*state, "megatron", "tp: 1"), "plan"), "bf16: false"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(hardware_queues),
    cmocka_unit_test(variables_of_a_run),
    cmocka_unit_test(a_job_asks_for_its_gpus),
    cmocka_unit_test(flags_by_type),
    cmocka_unit_test(overrides_of_a_recipe),
    cmocka_unit_test(a_recipe_is_run_in_its_mode),
    cmocka_unit_test(a_recipe_reads_from_the_strategy_on),
    cmocka_unit_test(a_plan_names_its_model),
    cmocka_unit_test(a_plan_of_full_precision_says_so),
};
UNIT_MAIN(tests)
