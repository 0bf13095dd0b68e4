/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are not Megatron-LM itself: what shows that a file is one's, what of it is read,
   and how sure its findings are. */
#include <stdio.h>

#include "facts/declared.h"
#include "facts/param_ids.h"
#include "facts/program.h"
#include "facts/program_kind.h"
#include "facts_unit.h"

/* The reader that a text is given to, by its content. */
static const char *format_of(struct arena *a, const char *text)
{
    struct diags diags;
    struct node_list docs = {0};
    diags_init(&diags, a);
    uint32_t source = source_add(&diags.sources, STR("test"), str_of(text));
    bool map = doc_load(a, &diags, source, &docs) && docs.n && docs.items[0]->kind == NODE_MAP;
    const struct reader *r = reader_detect(str_of(text), map ? docs.items[0] : NULL);
    return r ? r->name : "none";
}

static void files_are_told_by_what_proves_them(void **state)
{
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"trainer: {devices: 8, num_nodes: 2}\nexp_manager: {name: x}\n"
         "model: {fp8: false, micro_batch_size: 1, tensor_model_parallel_size: 2}\n",
         "nemo"},
        {"apiVersion: v1\nkind: Pod\nmodel: {num_layers: 2}\ntrain: {train_iters: 2}\n",
         "kubernetes"},
        {"recipe: {_target_: megatron.bridge.recipes.qwen.qwen3_8b_pretrain_config}\n"
         "model: {tensor_model_parallel_size: 2}\nscheduler: {lr_warmup_iters: 2}\n",
         "bridge"},
        {"recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel: {a: 1}\n", "automodel"},
        {"extends: [../base.yaml]\nstep_scheduler: {max_steps: 2}\nfsdp: {tp_size: 1}\n", "none"},
        {"step_scheduler: {max_steps: 2}\nfsdp: {tp_size: 1}\n", "automodel"},
        {"system: {tensor_model_parallel_size: 2}\nmodel: {num_layers: 4, swiglu: true}\n",
         "program"},
        {"modules: {pre_trainer: {framework: megatron, overrides: {train_iters: 5}}}\n", "program"},
        {"modules: {pre_trainer: {framework: torchhop, overrides: {train_iters: 5}}}\n", "none"},
        {"policy: {megatron_cfg: {tensor_model_parallel_size: 2}}\n", "program"},
        {"DEPENDENCIES: {image: x}\nARGS: {num_layers: 4, swiglu: true}\n", "megatron"},
        {"ARGS: {num_layers: 4, swiglu: true}\n", "none"},
        {"#!/bin/bash\npython3 -m hop.main \\\n"
         " actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2\n",
         "program"},
        {"#!/bin/bash\nNPROC_PER_NODE=2 megatron sft --model x --micro_batch_size 1\n", "program"},
        {"Talk of megatron sft is no script.\n", "none"},
        {"# sourced\nPARAMS=()\nPARAMS+=(\n  --num-layers 4\n  --hidden-size 8\n  --bf16\n)\n",
         "megatron"},
        {"Talk of --num-layers 4, --hidden-size 8 and --bf16 is none.\n", "none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(format_of(*state, cases[i].text), cases[i].format);
}

static void sections_hold_megatrons_arguments(void **state)
{
    struct facts *f =
        read_as(*state, "program",
                "cluster: {num_nodes: 2}\npolicy:\n  model_name: Qwen/Qwen3-30B-A3B\n"
                "  megatron_cfg:\n    enabled: true\n    expert_model_parallel_size: 7\n"
                "    pipeline_dtype: bfloat16\n    optimizer: {lr: 1.0e-4, min_lr: null}\n",
                NULL);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "expert_model_parallel_size", "7");
    assert_fact(f, "num_moe_experts", "128");
    assert_fact(f, "lr", "0.0001");
    assert_fact(f, "program", "fork");
    assert_int_equal(facts_get(f, P_expert_model_parallel_size)->node->line, 6);
    assert_false(program_vouches(&f->program));
    program_open(f);
    assert_fact(f, "pipeline_model_parallel_size", "unknown");
}

static void overrides_of_a_script_are_settings(void **state)
{
    struct facts *f =
        read_as(*state, "program",
                "#!/bin/bash\nTP=2\npython3 -m hop.main \\\n"
                "  actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B \\\n"
                "  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=$TP \\\n"
                "  +actor_rollout_ref.actor.megatron.expert_model_parallel_size=4 \\\n"
                "  actor_rollout_ref.actor.megatron.context_parallel_size=$CP \\\n"
                "  trainer.nnodes=2\n",
                NULL);
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "expert_model_parallel_size", "4");
    assert_fact(f, "num_moe_experts", "128");
    assert_false(fact_is_set(facts_get(f, P_context_parallel_size)));
    assert_int_equal(facts_get(f, P_expert_model_parallel_size)->node->line, 6);
}

static void flags_may_be_destinations(void **state)
{
    struct facts *f = read_as(*state, "program",
                              "#!/bin/bash\nmegatron sft --model Qwen/Qwen3-30B-A3B \\\n"
                              "  --sequence_parallel true --tensor_model_parallel_size 2 \\\n"
                              "  --finetune --micro_batch_size=4 --num_train_epochs 1\n",
                              NULL);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "sequence_parallel", "true");
    assert_fact(f, "tensor_model_parallel_size", "2");
    assert_fact(f, "micro_batch_size", "4");
    assert_fact(f, "num_layers", "48");
}

static void recipes_of_megatron_are_its_own(void **state)
{
    struct facts *f =
        read_as(*state, "megatron",
                "DEPENDENCIES: {image: x}\nENV_VARS: {NCCL_ALGO: Ring}\n"
                "ARGS:\n  num_layers: 4\n  disable_bias_linear: true\n  micro_batch_size: 1\n"
                "  tensor_model_parallel_sise: 2\n",
                NULL);
    assert_fact(f, "num_layers", "4");
    assert_fact(f, "add_bias_linear", "false");
    assert_fact(f, "program", "megatron");
    assert_str(facts_env(f, STR("NCCL_ALGO")).s, "Ring");
    assert_int_equal(count_rule(f, "unknown-key"), 1);
    assert_int_equal(f->diags->items[0].severity, SEVERITY_ERROR);
    assert_int_equal(f->diags->items[0].at.line, 7);
}

static void tests_of_inference_do_not_train(void **state)
{
    const char *args = "MODEL_ARGS:\n  --num-layers: 4\n  --micro-batch-size: 1\n";
    assert_fact(read_as(*state, "megatron", args, NULL), "program_task", "training");
    struct facts *f =
        read_as(*state, "megatron", "MODE: inference\nMODEL_ARGS:\n  --num-layers: 4\n", NULL);
    assert_fact(f, "program_task", "inference");
}

/* ---- what a program's own settings take ---- */

static size_t warnings(struct facts *f, const char *rule)
{
    size_t n = 0;
    for (size_t i = 0; i < f->diags->n; i++)
        n += str_is(f->diags->items[i].rule, rule) &&
             f->diags->items[i].severity == SEVERITY_WARNING;
    return n;
}

static void a_programs_own_parser_says_what_flags_take(void **state)
{
    static const struct {
        const char *words, *rule;
    } cases[] = {
        {"--sleep_level 1x", "value-type"},           {"--fp8_format e4m4", "value-choice"},
        {"--micro_batch_size 1e3", "value-type"},     {"--vllm_server_port 80x", "value-type"},
        {"--lr_decay_style cosinus", "value-choice"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "#!/bin/bash\nmegatron sft --model x --packing true %s\n",
                 cases[i].words);
        struct facts *f = read_as(*state, "program", text, NULL);
        assert_int_equal(warnings(f, cases[i].rule), 1);
        assert_int_equal(f->diags->n, 1);
    }
}

/* A launch with two flags of slime's is slime's, whose other flags Megatron-LM's parser reads. */
static struct facts *read_slime(void **state, const char *words)
{
    char text[256];
    snprintf(text, sizeof text,
             "#!/bin/bash\npython3 train.py --rollout-batch-size 32 --actor-num-nodes 2 "
             "--n-samples-per-prompt 8 --num-layers 4 %s\n",
             words);
    return read_as(*state, "megatron", text, NULL);
}

/* What a fork's Hydra reads behind the flags is no value of the switch before it. */
static void an_override_is_no_switchs_value(void **state)
{
    struct facts *f =
        read_as(*state, "megatron",
                "#!/bin/bash\ntorchrun --nproc_per_node 8 fork/train.py --config-file "
                "a.yaml --num-layers 4 --lr 1e-4 --use-distributed-optimizer "
                "+model.image_encoder.freeze=True\n",
                NULL);
    assert_int_equal(warnings(f, "value-for-switch") + warnings(f, "value-unexpected"), 0);
    assert_true(facts_bool(f, P_use_distributed_optimizer, false));
}

static void megatrons_parser_reads_the_other_flags(void **state)
{
    assert_int_equal(warnings(read_slime(state, "--swiglu true"), "value-for-switch"), 1);
    assert_int_equal(warnings(read_slime(state, "--hidden-size 4k"), "value-type"), 1);
    /* a choice may be one of another release, or of a fork of slime */
    struct facts *f = read_slime(state, "--moe-token-dispatcher-type alltoall_seq");
    assert_int_equal(warnings(f, "value-choice"), 0);
    assert_int_equal(warnings(read_slime(state, "--advantage-estimator grppo"), "value-choice"), 1);
    assert_int_equal(warnings(read_slime(state, "--advantage-estimator mine"), "value-choice"), 0);
    assert_int_equal(warnings(read_slime(state, "--rollout-stop-token-ids 1 2x"), "value-type"), 1);
}

static void launchers_of_bridge_have_options(void **state)
{
    static const struct {
        const char *words, *rule;
    } cases[] = {
        {"--max_stpes 3", "unknown-key"},
        {"--num-gpuss 8", "unknown-key"},
        {"--num_gpus 8x", "value-type"},
        {"--compute_dtype b16", "value-choice"},
        {"--seq_length --offline", "value-missing"},
        {"--cuda_graph_impl locla", "value-choice"},
    };
    const char *head =
        "#!/bin/bash\npython scripts/performance/setup_experiment.py --recipe x_config";
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s %s model.seq_length=4096\n", head, cases[i].words);
        assert_int_equal(warnings(read_as(*state, "bridge", text, NULL), cases[i].rule), 1);
    }
    /* the beginning of an option, and a choice that another release may have */
    snprintf(text, sizeof text, "%s --max_step 3 --task lora --gpu h100\n", head);
    assert_int_equal(read_as(*state, "bridge", text, NULL)->diags->n, 0);
    snprintf(text, sizeof text, "%s model.seq_length =4096\n", head);
    assert_int_equal(warnings(read_as(*state, "bridge", text, NULL), "value-missing"), 1);
}

/* ---- flags that a user declares ---- */

static const char parameters[] =
    "moeplan: 1\nkind: Parameters\nparameters:\n"
    "  - {name: hop_rate, type: double, doc: x, megatron: {flag: hop-rate}}\n"
    "  - {name: hop, type: bool, default: false, doc: x, megatron: {flag: hop}}\n"
    "  - {name: hop_kind, type: string, choices: [long, high], doc: x, megatron: {flag: "
    "hop-kind}}\n";

static struct param_list declare(struct arena *a, const char *text, bool *good)
{
    struct diags diags;
    struct param_list list = {0};
    diags_init(&diags, a);
    *good = declared_read(a, &diags, source_add(&diags.sources, STR("p"), str_of(text)), &list);
    return list;
}

static void declared_flags_are_known_and_checked(void **state)
{
    bool good;
    struct param_list list = declare(*state, parameters, &good);
    assert_true(good);
    struct read_options options = {.declared = &list};
    const char *head = "#!/bin/bash\npython pretrain_gpt.py --num-layers 4 --bf16 ";
    char text[256];
    snprintf(text, sizeof text, "%s--hop-rate 0.5 --hop --hop-kind long --swiglu\n", head);
    struct facts *f = read_as(*state, "megatron", text, &options);
    assert_int_equal(f->diags->n, 0);
    assert_fact(f, "program", "megatron");
    assert_true(facts_has_raw(f, STR("--hop-rate")));
    snprintf(text, sizeof text, "%s--hop-rate fast --hop-kind low\n", head);
    f = read_as(*state, "megatron", text, &options);
    assert_int_equal(count_rule(f, "value-type"), 1);
    assert_int_equal(count_rule(f, "value-choice"), 1);
    snprintf(text, sizeof text, "%s--hop-rat 0.5 --hap 2\n", head);
    f = read_as(*state, "megatron", text, &options);
    assert_int_equal(count_rule(f, "unknown-key"), 1);
}

static void only_parameter_files_declare(void **state)
{
    bool good;
    assert_int_equal(declare(*state, "moeplan: 1\nkind: Rules\nrules: []\n", &good).n, 0);
    assert_true(good);
    assert_int_equal(declare(*state, "a: [", &good).n, 0);
    assert_true(good);
    declare(*state, "moeplan: 1\nkind: Parameters\nparameters:\n  - {name: x, typ: int}\n", &good);
    assert_false(good);
}

static void megatrons_own_scripts_are_known_by_name(void **state)
{
    static const struct {
        const char *script;
        enum program_origin origin;
        enum program_task task;
    } cases[] = {
        {"/opt/Megatron-LM/pretrain_gpt.py", PROGRAM_MEGATRON, TASK_TRAINING},
        {"pretrain_retro.py", PROGRAM_MEGATRON, TASK_UNSAID},
        {"examples/inference/gpt/gpt_static_inference.py", PROGRAM_MEGATRON, TASK_INFERENCE},
        {"my_pretrain_gpt.py", PROGRAM_OTHER, TASK_TRAINING},
        {"hop.py", PROGRAM_OTHER, TASK_UNSAID},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program p = program_of(str_of(cases[i].script));
        assert_int_equal(p.origin, cases[i].origin);
        assert_int_equal(p.task, cases[i].task);
        assert_int_equal(p.own_script, cases[i].origin == PROGRAM_MEGATRON);
    }
    const struct program_kind *kind = program_kind_named("megatron-lm");
    for (size_t i = 0; i < kind->n_scripts; i++) {
        struct str words = kind->scripts[i], script;
        str_split(&words, ' ', &script);
        assert_true(str_is_any(words, "training|inference|evaluation|conversion|unsaid"));
        assert_true(program_of(script).own_script);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(megatrons_own_scripts_are_known_by_name),
    cmocka_unit_test(files_are_told_by_what_proves_them),
    cmocka_unit_test(sections_hold_megatrons_arguments),
    cmocka_unit_test(overrides_of_a_script_are_settings),
    cmocka_unit_test(flags_may_be_destinations),
    cmocka_unit_test(recipes_of_megatron_are_its_own),
    cmocka_unit_test(tests_of_inference_do_not_train),
    cmocka_unit_test(a_programs_own_parser_says_what_flags_take),
    cmocka_unit_test(an_override_is_no_switchs_value),
    cmocka_unit_test(megatrons_parser_reads_the_other_flags),
    cmocka_unit_test(launchers_of_bridge_have_options),
    cmocka_unit_test(declared_flags_are_known_and_checked),
    cmocka_unit_test(only_parameter_files_declare),
};
UNIT_MAIN(tests)
