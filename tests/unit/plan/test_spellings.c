/* SPDX-License-Identifier: Apache-2.0 */
/* Each framework's words for a decision, read into knobs; and knobs written back as facts that mean
   the same. */
#include "facts/param_ids.h"
#include "unit/plan_text.h"

#include <stdio.h>

#include "plan/knob.h"

/* What is common to all flags of a test: a small MoE. */
#define FLAGS                                                                                      \
    "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --num-experts 8 --seq-length 4096 "  \
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "                  \
    "--vocab-size 32000 --moe-ffn-hidden-size 512 --moe-router-topk 2 "

static const struct knobs *flag_knobs(struct arena *a, const char *more)
{
    struct str text = arena_printf(a, "%s%s", FLAGS, more);
    return &config_of(text_facts(a, "megatron", text))->knobs;
}

static const struct knobs *plan_knobs(struct arena *a, const char *framework, const char *body)
{
    return &plan_config(a, framework, body)->knobs;
}

/* A text and what one field of the knobs must be. */
struct spelling {
    const char *framework, *text;
    int want;
};

#define CHECK_SPELLINGS(a, cases, field)                                                           \
    for (size_t i_ = 0; i_ < sizeof cases / sizeof *cases; i_++) {                                 \
        const struct spelling *x_ = &cases[i_];                                                    \
        const struct knobs *k_ =                                                                   \
            x_->framework ? plan_knobs(a, x_->framework, x_->text) : flag_knobs(a, x_->text);      \
        if ((int)k_->field != x_->want)                                                            \
            fail_msg("%s: " #field " is %d, not %d", x_->text, (int)k_->field, x_->want);          \
    }

static void words_of_precision(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16", PREC_BF16},
        {NULL, "--fp16", PREC_FP16},
        {NULL, "", PREC_FP32}, /* Megatron-LM computes in fp32 unless it is told otherwise */
        {NULL, "--bf16 --fp8-format hybrid --fp8-recipe delayed", PREC_FP8_DELAYED},
        {NULL, "--bf16 --fp8-format hybrid --fp8-recipe tensorwise", PREC_FP8_TENSORWISE},
        {NULL, "--bf16 --fp8-format e4m3 --fp8-recipe blockwise", PREC_FP8_BLOCKWISE},
        {NULL, "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8", PREC_MXFP8},
        {NULL, "--bf16 --fp4-format e2m1", PREC_NVFP4},
        {"megatron", "", PREC_BF16}, /* a plan that says nothing means bf16 */
        {"megatron", "precision: fp16", PREC_FP16},
        {"megatron", "precision: fp32", PREC_FP32},
        {"bridge", "mixed_precision: bf16_with_fp8_current_scaling_mixed", PREC_FP8_TENSORWISE},
        {"bridge", "mixed_precision: bf16_with_fp8_subchannel_scaling_mixed", PREC_FP8_BLOCKWISE},
        {"bridge", "mixed_precision: bf16_with_mxfp8_mixed", PREC_MXFP8},
        {"automodel", "", PREC_BF16},
        {"automodel", "backend_te_fp8_recipe: current", PREC_FP8_TENSORWISE},
        {"automodel", "backend_te_fp8_recipe: block", PREC_FP8_BLOCKWISE},
        {"automodel", "mp_policy_param_dtype: float32", PREC_FP32},
    };
    CHECK_SPELLINGS(*state, cases, precision)
}

static void a_mixed_precision_says_whether_parameters_are_gathered_in_fp8(void **state)
{
    static const struct spelling cases[] = {
        {"bridge", "mixed_precision: bf16_with_mxfp8_mixed", true},
        {"bridge", "mixed_precision: bf16_with_fp8_subchannel_scaling_mixed", false},
        {"bridge", "mixed_precision: bf16_mixed", false},
    };
    CHECK_SPELLINGS(*state, cases, fp8_param_gather)
}

static void dispatcher_words(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16 --moe-token-dispatcher-type alltoall", DISPATCH_ALLTOALL},
        {NULL, "--bf16 --moe-token-dispatcher-type allgather", DISPATCH_ALLGATHER},
        {NULL, "--bf16 --moe-token-dispatcher-type flex --moe-flex-dispatcher-backend deepep",
         DISPATCH_DEEPEP},
        {NULL, "--bf16 --moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep",
         DISPATCH_HYBRIDEP},
        {"bridge", "moe_token_dispatcher_type: alltoall", DISPATCH_ALLTOALL},
        {"bridge", "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep",
         DISPATCH_HYBRIDEP},
        {"automodel", "backend_dispatcher: torch", DISPATCH_TORCH},
        {"automodel", "backend_dispatcher: deepep", DISPATCH_DEEPEP},
        {"automodel", "backend_dispatcher: hybridep", DISPATCH_HYBRIDEP},
        /* a plan may use Megatron-core's words; AutoModel's own go first */
        {"automodel", "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: deepep",
         DISPATCH_DEEPEP},
        {"automodel", "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep",
         DISPATCH_HYBRIDEP},
        {"automodel", "moe_token_dispatcher_type: alltoall", DISPATCH_ALLTOALL},
        {"automodel", "moe_token_dispatcher_type: alltoall\nbackend_dispatcher: deepep",
         DISPATCH_DEEPEP},
    };
    CHECK_SPELLINGS(*state, cases, dispatcher)
}

/* BackendConfig of nemo_automodel/components/models/common/utils.py; attn_implementation of Hugging
   Face's classes. */
static void kernels_of_attention(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16", ATTN_AUTO},
        {NULL, "--bf16 --attention-backend flash", ATTN_FLASH},
        {NULL, "--bf16 --attention-backend fused", ATTN_FUSED},
        {NULL, "--bf16 --attention-backend unfused", ATTN_UNFUSED},
        {NULL, "--bf16 --attention-backend local", ATTN_UNFUSED},
        {"automodel", "", ATTN_AUTO},
        {"automodel", "backend_attn: te", ATTN_AUTO},
        {"automodel", "backend_attn: sdpa", ATTN_SDPA},
        {"automodel", "backend_attn: flex", ATTN_FLEX},
        {"automodel", "backend_attn: eager", ATTN_UNFUSED},
        {"automodel", "backend_attn: cudnn", ATTN_FUSED},
        {"automodel", "attn_implementation: flash_attention_2", ATTN_FLASH},
        {"automodel", "attn_implementation: sdpa", ATTN_SDPA},
    };
    CHECK_SPELLINGS(*state, cases, attention)
}

static void kernels_of_experts(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16", EXPERTS_LOOP},
        {NULL, "--bf16 --moe-grouped-gemm", EXPERTS_TE},
        {NULL, "--bf16 --moe-grouped-gemm --use-transformer-engine-op-fuser", EXPERTS_FUSED},
        {NULL, "--bf16 --moe-grouped-gemm --moe-use-grouped-tensor", EXPERTS_GROUPED},
        {"bridge", "", EXPERTS_TE},
        {"bridge", "moe_grouped_gemm: false", EXPERTS_LOOP},
        {"automodel", "", EXPERTS_GROUPED},
        {"automodel", "backend_experts: torch", EXPERTS_SLICES},
        {"automodel", "backend_dispatcher: deepep\nbackend_experts: te", EXPERTS_TE},
        /* which PyTorch's exchange cannot serve */
        {"automodel", "backend_dispatcher: torch\nbackend_experts: te", EXPERTS_GROUPED},
        {"automodel", "backend_experts: gmm", EXPERTS_GROUPED},
        {"automodel", "backend_experts: torch_mm", EXPERTS_GROUPED},
        {"automodel", "backend_experts: torch_mm_mxfp8", EXPERTS_GROUPED},
    };
    CHECK_SPELLINGS(*state, cases, experts)
}

static void kernels_of_norms_and_linears(void **state)
{
    static const struct spelling norms[] = {
        {NULL, "--bf16", NORM_TE},
        {"automodel", "", NORM_COMPILED},
        {"automodel", "backend_rms_norm: torch_fp32", NORM_COMPILED},
        {"automodel", "backend_rms_norm: torch", NORM_TORCH},
        {"automodel", "backend_rms_norm: te", NORM_TE},
        {"automodel", "backend_rms_norm: quack", NORM_TE},
    };
    CHECK_SPELLINGS(*state, norms, norms)
    static const struct spelling linears[] = {
        {NULL, "--bf16", LINEARS_TE},
        {"automodel", "", LINEARS_TE},
        {"automodel", "backend_linear: torch", LINEARS_TORCH},
        {"automodel", "backend_linear: te", LINEARS_TE},
    };
    CHECK_SPELLINGS(*state, linears, linears)
}

/* Bridge knows one model with biased experts, gpt-oss, whose positions are YaRN's. */
static void rope_of_single_operations(void **state)
{
    static const struct spelling rope[] = {
        {NULL, "--bf16", false},
        {NULL, "--bf16 --position-embedding-type rope", false},
        {NULL, "--bf16 --position-embedding-type rope --no-rope-fusion", true},
        {NULL, "--bf16 --position-embedding-type yarn", true},
        {"bridge", "", false},
        {"bridge", "apply_rope_fusion: false", true},
        {"bridge", "add_bias_linear: true", true},
        {"megatron", "add_bias_linear: true", false},
        {"automodel", "add_bias_linear: true", false},
    };
    CHECK_SPELLINGS(*state, rope, rope_apart)
}

static void fp8_of_attention_and_activations(void **state)
{
    static const struct spelling attention[] = {
        {"bridge", "", false},
        {"bridge", "fp8_dot_product_attention: true", true},
        {"bridge", "fp8_multi_head_attention: true", true},
    };
    CHECK_SPELLINGS(*state, attention, fp8_attention)
    static const struct spelling head[] = {
        {NULL, "--bf16", false},
        {NULL, "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8 --fp8-output-proj", true},
        {"bridge", "", false},
        {"bridge", "fp8_output_proj: true", true},
    };
    CHECK_SPELLINGS(*state, head, fp8_output)
    static const struct spelling stores[] = {
        {"bridge", "", false},
        {"bridge", "activation_func_fp8_input_store: true", true},
        {"bridge", "fp8_activation_store: true", true},
    };
    CHECK_SPELLINGS(*state, stores, fp8_activation_store)
    static const struct spelling sms[] = {
        {"bridge", "moe_flex_dispatcher_num_sms: 32", 32},
        {"megatron",
         "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: hybridep\n"
         "moe_hybridep_num_sms: 24",
         24},
        {"megatron", "moe_token_dispatcher_type: alltoall\nmoe_hybridep_num_sms: 24", 24},
        {"automodel", "", 20},
        {"automodel", "backend_dispatcher_num_sms: 24", 24},
    };
    CHECK_SPELLINGS(*state, sms, exchange_sms)
    static const struct spelling drops[] = {
        {"bridge", "task: peft\npeft_dim: 8", false},
        {"bridge", "task: peft\npeft_dim: 8\npeft_dropout: 1", true},
        {"automodel", "task: peft\npeft_dim: 8\npeft_dropout: 1", true},
        {"automodel", "peft_dropout: 1", false},
    };
    CHECK_SPELLINGS(*state, drops, lora_dropout)
}

static void check_open(uint32_t mask, uint32_t open, uint32_t said)
{
    assert_int_equal(mask & open, open);
    assert_int_equal(mask & said, 0);
}

/* Megatron-LM's flags leave nothing open that its parser has a default for; a plan leaves open what
   it does not write; a recipe of AutoModel what its installation decides. */
static void what_nobody_states(void **state)
{
    struct arena *a = *state;
    struct str flags = arena_printf(a, "%s--bf16 --fp8-format hybrid", FLAGS);
    check_open(config_of(text_facts(a, "megatron", flags))->unstated, 0,
               UNSTATED_ATTENTION | UNSTATED_EXPERTS | UNSTATED_DISPATCHER | UNSTATED_GRAPHS |
                   UNSTATED_RECOMPUTE | UNSTATED_SHARDING | UNSTATED_GRADIENTS | UNSTATED_NORMS |
                   UNSTATED_ACTIVATIONS);
    check_open(plan_config(a, "bridge", "")->unstated,
               UNSTATED_DISPATCHER | UNSTATED_RECOMPUTE | UNSTATED_SHARDING | UNSTATED_GRADIENTS |
                   UNSTATED_SWITCHES | UNSTATED_ROUTING,
               UNSTATED_STAGES | UNSTATED_OVERLAP | UNSTATED_MODULES);
    check_open(plan_config(a, "megatron", "ep: 2\nrecompute_granularity: selective")->unstated,
               UNSTATED_SWITCHES | UNSTATED_OVERLAP | UNSTATED_MODULES, UNSTATED_RECOMPUTE);
    check_open(plan_config(a, "bridge", "precision: mxfp8")->unstated, UNSTATED_NARROW, 0);
    check_open(
        plan_config(a, "bridge", "precision: mxfp8\nfp8_dot_product_attention: false")->unstated, 0,
        UNSTATED_NARROW);
    check_open(plan_config(a, "megatron", "ep: 2\ntp_comm_overlap: false")->unstated,
               UNSTATED_OVERLAP, UNSTATED_SWITCHES);
    check_open(plan_config(a, "bridge",
                           "moe_token_dispatcher_type: alltoall\nrecompute_granularity: null\n"
                           "grad_reduce_in_bf16: true\npp: 2")
                   ->unstated,
               UNSTATED_STAGES, UNSTATED_DISPATCHER | UNSTATED_RECOMPUTE);
    check_open(plan_config(a, "automodel", "backend_attn: te\nbackend_experts: te")->unstated,
               UNSTATED_NORMS | UNSTATED_DISPATCHER, UNSTATED_ATTENTION | UNSTATED_EXPERTS);
}

static void recompute_words(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16", RECOMPUTE_NONE},
        {NULL, "--bf16 --recompute-activations", RECOMPUTE_SELECTIVE},
        {NULL, "--bf16 --recompute-granularity selective", RECOMPUTE_SELECTIVE},
        {NULL,
         "--bf16 --recompute-granularity full --recompute-method block --recompute-num-layers 2",
         RECOMPUTE_FULL},
        {"automodel", "activation_checkpointing: true", RECOMPUTE_FULL},
        {"automodel", "activation_checkpointing: selective", RECOMPUTE_SELECTIVE},
        {"automodel", "activation_checkpointing: false", RECOMPUTE_NONE},
    };
    CHECK_SPELLINGS(*state, cases, recompute)
    static const struct spelling modules[] = {
        {NULL, "--bf16 --recompute-granularity selective", MOD_CORE_ATTN},
        {NULL, "--bf16 --recompute-granularity selective --recompute-modules moe_act layernorm",
         MOD_MOE_ACT | MOD_LAYERNORM},
        {"megatron", "recompute_granularity: selective\nrecompute_modules: [moe, core_attn]",
         MOD_MOE | MOD_CORE_ATTN},
    };
    CHECK_SPELLINGS(*state, modules, recompute_modules)
}

static void sharding_words(void **state)
{
    static const struct spelling cases[] = {
        {"megatron", "", FSDP_NONE},
        {"megatron", "use_megatron_fsdp: true\ndata_parallel_sharding_strategy: optim", FSDP_OPTIM},
        {"megatron", "use_megatron_fsdp: true\ndata_parallel_sharding_strategy: optim_grads",
         FSDP_OPTIM_GRADS},
        {"bridge", "use_megatron_fsdp: true", FSDP_OPTIM_GRADS_PARAMS},
        {"automodel", "strategy: fsdp2", FSDP_FSDP2},
        {"automodel", "strategy: ddp", FSDP_DDP},
        {"automodel", "strategy: megatron_fsdp", FSDP_OPTIM_GRADS_PARAMS},
    };
    CHECK_SPELLINGS(*state, cases, fsdp)
}

static void loss_words(void **state)
{
    static const struct spelling cases[] = {
        {NULL, "--bf16", CE_NONE},
        {NULL, "--bf16 --cross-entropy-loss-fusion", CE_NATIVE},
        {"bridge", "cross_entropy_loss_fusion: true\ncross_entropy_fusion_impl: te", CE_TE},
        {"bridge", "cross_entropy_loss_fusion: true\ncross_entropy_fusion_impl: native", CE_NATIVE},
        {"bridge", "cross_entropy_loss_fusion: false", CE_NONE},
        {"automodel", "", CE_MASKED_FP32},
        {"automodel", "loss_fp32_upcast: false", CE_MASKED},
        {"automodel",
         "loss_target: nemo_automodel.components.loss.linear_ce.FusedLinearCrossEntropy",
         CE_LINEAR},
        {"automodel",
         "loss_target: nemo_automodel.components.loss.te_parallel_ce.TEParallelCrossEntropy",
         CE_TE},
    };
    CHECK_SPELLINGS(*state, cases, ce_fusion)
}

/* Four bytes of each state, unless the plan says less; fp16 and an explicit no reduce in 16 bit. */
static void gradient_and_state_bytes(void **state)
{
    static const struct spelling gradients[] = {
        {"megatron", "", 4},
        {"megatron", "grad_reduce_in_bf16: true", 2},
        {"bridge", "accumulate_allreduce_grads_in_fp32: false", 2},
        {"megatron", "precision: fp16", 2},
        {"automodel", "", 2},
    };
    CHECK_SPELLINGS(*state, gradients, grad_bytes)
    static const char aware[] = "use_distributed_optimizer: true\n"
                                "use_precision_aware_optimizer: true\nexp_avg_dtype: bf16\n";
    const struct knobs *k = plan_knobs(*state, "megatron", aware);
    assert_int_equal(k->exp_avg_bytes, 2);
    assert_int_equal(k->exp_avg_sq_bytes, 4);
    /* the main parameter is what the bf16 one lacks, but all of it where that one is FP8 */
    assert_true(knobs_keeps_remainder(k) && k->main_param_bytes == 4);
    struct str fp8 =
        arena_printf(*state, "%sprecision: fp8_tensorwise\nfp8_param_gather: true\n", aware);
    k = plan_knobs(*state, "megatron", fp8.p);
    assert_true(!knobs_keeps_remainder(k) && k->main_param_bytes == 4);
}

/* AutoModel's MoE classes keep what they gathered unless told otherwise; dense models reshard. */
static void resharding_words(void **state)
{
    static const struct spelling cases[] = {
        {"automodel", "", false},
        {"automodel", "reshard_after_forward: true", true},
        {"automodel", "moe_reshard_after_forward: true", true},
        {"automodel", "reshard_after_forward: true\nmoe_reshard_after_forward: false", false},
    };
    CHECK_SPELLINGS(*state, cases, reshard_after_forward)
    struct facts *dense = sized_plan(
        *state, "automodel", "model: qwen3-8b\nplatform: h100\ngpus: 8\ngbs: 64\nmbs: 1", "");
    const struct knobs *k = &config_of(dense)->knobs;
    assert_true(k->reshard_after_forward && !k->reshard_stated);
}

/* 48 layers on 2 stages are 24 a stage: virtual stages of 4 layers are 6 of them. */
static void virtual_stages_in_three_words(void **state)
{
    static const char *const bodies[] = {"pp: 2\nvpp: 6",
                                         "pp: 2\nnum_layers_per_virtual_pipeline_stage: 4",
                                         "pp: 2\nnum_virtual_stages_per_pipeline_rank: 6"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_int_equal(plan_knobs(*state, "megatron", bodies[i])->vpp, 6);
}

/* AutoModel's schedules: 48 layers on 4 ranks. */
static void schedules_interleave(void **state)
{
    static const struct {
        const char *body;
        int vpp;
    } cases[] = {{"", 1},
                 {"pp_layers_per_stage: 4", 1},
                 {"pp_schedule: Interleaved1F1B", 2},
                 {"pp_schedule: interleaved1f1b\npp_layers_per_stage: 4", 3},
                 {"pp_schedule: LoopedBFS\npp_layers_per_stage: 5\n"
                  "round_virtual_stages_to_pp_multiple: up",
                  3},
                 {"pp_schedule: interleaved1f1b\npp_layers_per_stage: 5\n"
                  "round_virtual_stages_to_pp_multiple: down",
                  2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        snprintf(body, sizeof body, "pp: 4\n%s", cases[i].body);
        assert_int_equal(plan_knobs(*state, "automodel", body)->vpp, cases[i].vpp);
    }
}

/* Straight from facts that nothing has been derived from: the words themselves. */
static void words_without_derivation(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "pp: 2\n");
    struct config *c = ARENA_NEW(*state, struct config);
    facts_set(f, P_num_layers_per_virtual_pipeline_stage, value_int(4), ORIGIN_FILE, NULL,
              STR("x"));
    assert_true(config_from_facts(*state, f, c));
    assert_int_equal(c->knobs.vpp, 6);
}

/* Their number alone offloads layers, unless the switch is off. */
static void offloaded_layers_by_their_number(void **state)
{
    struct facts *f = plan_facts(*state, "bridge", "");
    struct config c;
    facts_set(f, P_cpu_offloading_num_layers, value_int(3), ORIGIN_FILE, NULL, STR("x"));
    *facts_change(f, P_cpu_offloading) = (struct fact){.value = value_unknown()};
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.layers_offloaded, 3);
    facts_set(f, P_cpu_offloading, value_bool(false), ORIGIN_FILE, NULL, STR("x"));
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.layers_offloaded, 0);
}

/* Whatever a file says, before the framework's own overrides. */
static void a_single_tensor_rank_has_no_sequence_parallelism(void **state)
{
    for (int tp = 1; tp <= 2; tp++) {
        struct str body = arena_printf(*state, "tp: %d\nsequence_parallel: true", tp);
        struct config c;
        assert_true(config_from_facts(*state, plan_facts(*state, "megatron", body.p), &c));
        assert_int_equal(c.knobs.sequence_parallel, tp > 1);
    }
}

/* Without a global batch there is one microbatch a data-parallel rank: 8 GPUs / tp 2 = 4 of 2. */
static void silence_about_the_batch_is_one_microbatch_a_rank(void **state)
{
    struct facts *f = plan_facts(*state, "megatron", "tp: 2\n");
    struct config c;
    *facts_change(f, P_global_batch_size) = (struct fact){.value = value_unknown()};
    facts_set(f, P_micro_batch_size, value_int(2), ORIGIN_OPTION, NULL, STR("x"));
    assert_true(config_from_facts(*state, f, &c));
    assert_int_equal(c.knobs.gbs, 8);
    assert_int_equal(knobs_microbatches(&c.knobs), 1);
}

/* ---- knobs as facts ---- */

/* Facts of the framework that say nothing of the plan. */
static struct facts *silent(struct arena *a, const struct facts *like)
{
    struct facts *f = facts_copy(a, like);
    for (int i = 0; i < (int)param_count; i++)
        if (param_table[i].scope == SCOPE_PLAN) {
            struct value v = param_table[i].in[f->framework]->default_value;
            *facts_change(f, i) = (struct fact){.value = v, .origin = ORIGIN_DEFAULT};
            if (v.kind == VALUE_UNKNOWN) facts_change(f, i)->origin = ORIGIN_UNKNOWN;
        }
    return f;
}

static struct config written_and_read(struct arena *a, const struct facts *like,
                                      const struct config *c)
{
    struct config again;
    struct facts *f = silent(a, like);
    config_to_facts(c, f);
    facts_derive(f);
    assert_true(config_from_facts(a, f, &again));
    return again;
}

/* Decisions that a framework has words for come back as they were. */
static void decisions_come_back(void **state)
{
    static const char *const megatron[] = {
        "tp: 4\npp: 2\nvpp: 3\nep: 2\netp: 2\nsequence_parallel: true",
        "cp: 2\nep: 8\nprecision: fp8_blockwise\nmoe_token_dispatcher_type: flex\n"
        "moe_flex_dispatcher_backend: hybridep",
        "moe_token_dispatcher_type: flex\nmoe_flex_dispatcher_backend: deepep\nep: 4",
        "moe_token_dispatcher_type: allgather\nep: 2",
        "recompute_granularity: full\nrecompute_method: block\nrecompute_num_layers: 5",
        "recompute_granularity: full\nrecompute_method: uniform\nrecompute_num_layers: 3",
        "recompute_granularity: selective\nrecompute_modules: [layernorm, moe_act]",
        "use_megatron_fsdp: true\ndata_parallel_sharding_strategy: optim_grads\nep: 8",
        "use_distributed_optimizer: true\nuse_precision_aware_optimizer: true\n"
        "main_grads_dtype: bf16\nexp_avg_dtype: fp8\nexp_avg_sq_dtype: bf16",
        "use_distributed_optimizer: true\noptimizer_cpu_offload: true\n"
        "optimizer_offload_fraction: 0.25",
        "cuda_graph_impl: transformer_engine\ncuda_graph_scope: [attn, moe_router]",
        "fine_grained_activation_offloading: true\noffload_modules: [moe_act, core_attn]",
        "overlap_grad_reduce: true\noverlap_param_gather: true\nuse_distributed_optimizer: true",
        "cross_entropy_loss_fusion: true\ncross_entropy_fusion_impl: native",
        "cross_entropy_loss_fusion: true\ncross_entropy_fusion_impl: te",
        "cross_entropy_loss_fusion: false",
    };
    static const char *const automodel[] = {"strategy: ddp", "strategy: fsdp2\nep: 8",
                                            "activation_checkpointing: true",
                                            "backend_dispatcher: hybridep\nep: 4"};
    for (size_t i = 0; i < sizeof megatron / sizeof *megatron; i++)
        for (int bridge = 0; bridge < 2; bridge++) {
            struct facts *f = plan_facts(*state, bridge ? "bridge" : "megatron", megatron[i]);
            const struct config *c = config_of(f);
            struct config again = written_and_read(*state, f, c);
            for (size_t k = 0; k < knob_count; k++) {
                struct value was = knob_get(*state, &c->knobs, &knob_table[k]);
                struct value is = knob_get(*state, &again.knobs, &knob_table[k]);
                if (!value_eq(was, is))
                    fail_msg("%s: %s was %.*s and is %.*s", megatron[i],
                             param_name(knob_table[k].param).p, STR_ARG(value_text(*state, was)),
                             STR_ARG(value_text(*state, is)));
            }
            assert_int_equal(again.knobs.ce_fusion, c->knobs.ce_fusion);
            assert_int_equal(again.knobs.fsdp, c->knobs.fsdp);
        }
    for (size_t i = 0; i < sizeof automodel / sizeof *automodel; i++) {
        struct facts *f = plan_facts(*state, "automodel", automodel[i]);
        const struct config *c = config_of(f);
        struct config again = written_and_read(*state, f, c);
        assert_int_equal(again.knobs.fsdp, c->knobs.fsdp);
        assert_int_equal(again.knobs.recompute, c->knobs.recompute);
        assert_int_equal(again.knobs.dispatcher, c->knobs.dispatcher);
        assert_int_equal(again.knobs.ep, c->knobs.ep);
    }
}

/* Four chunks on two stages; Megatron-LM takes no count of stages beside them, and a group of
   microbatches for virtual stages is none of a layout's. */
static void a_layout_stands_for_its_virtual_stages(void **state)
{
    static const char layout[] = "Et*12|t*12|t*12|t*12L";
    struct str body = arena_printf(*state,
                                   "pp: 2\nmicrobatch_group_size_per_vp_stage: 4\n"
                                   "pipeline_model_parallel_layout: '%s'\n",
                                   layout);
    for (int bridge = 0; bridge < 2; bridge++) {
        struct facts *f = plan_facts(*state, bridge ? "bridge" : "megatron", body.p);
        const struct config *c = config_of(f);
        assert_int_equal(c->knobs.vpp, 2);
        assert_int_equal(c->knobs.group_size, 0);
        struct facts *out = silent(*state, f);
        config_to_facts(c, out);
        assert_str(facts_str(out, P_pipeline_model_parallel_layout), layout);
        assert_int_equal(facts_int(out, P_num_virtual_stages_per_pipeline_rank, 0), 0);
        assert_int_equal(facts_int(out, P_virtual_pipeline_model_parallel_size, 0), bridge ? 2 : 0);
    }
}

/* A plan in which every knob means something. */
static const char everything[] =
    "tp: 2\npp: 2\nsequence_parallel: true\nuse_distributed_optimizer: true\n"
    "use_precision_aware_optimizer: true\noptimizer_cpu_offload: true\n"
    "recompute_granularity: selective\nrecompute_modules: [core_attn]\n"
    "fine_grained_activation_offloading: true\noffload_modules: [core_attn]\n"
    "cuda_graph_impl: transformer_engine\ncuda_graph_scope: [attn]\n";

/* Values of a knob: both of a switch, each word, a doubled number. */
static size_t values_of(struct arena *a, const struct knobs *k, const struct knob *knob,
                        struct value out[16])
{
    size_t n = 0;
    switch (knob->kind) {
    case KNOB_INT:
    case KNOB_INT64: {
        struct value now = knob_get(a, k, knob);
        out[n++] = value_int(now.kind == VALUE_INT ? 2 * now.i : 2);
        break;
    }
    case KNOB_BOOL:
    case KNOB_SHARDED: out[n++] = value_bool(true), out[n++] = value_bool(false); break;
    case KNOB_DOUBLE: out[n++] = value_double(0.25); break;
    case KNOB_LADDER:
        out[n++] = value_string(STR("selective")), out[n++] = value_string(STR("full"));
        break;
    case KNOB_WORD:
        while (knob->words[n])
            out[n] = value_string(str_of(knob->words[n])), n++;
        break;
    case KNOB_EACH:
    case KNOB_MODULES:
        for (; knob->words[n]; n++) {
            struct value one = value_string(str_of(knob->words[n]));
            out[n] = value_list_of(a, &one, 1);
        }
        break;
    case KNOB_DTYPE: out[n++] = value_string(STR("bf16")); break;
    }
    return n;
}

static void every_knob_is_read_from_its_fact(void **state)
{
    struct facts *f = settled(plan_facts(*state, "megatron", everything));
    struct config base, c;
    assert_true(config_from_facts(*state, f, &base));
    for (size_t i = 0; i < knob_count; i++) {
        const struct knob *knob = &knob_table[i];
        struct value values[16];
        size_t n = values_of(*state, &base.knobs, knob, values);
        assert_true(n > 0);
        for (size_t v = 0; v < n; v++) {
            struct facts *g = facts_copy(*state, f);
            facts_set(g, knob->param, values[v], ORIGIN_OPTION, NULL, STR("x"));
            assert_true(config_from_facts(*state, g, &c));
            struct value got = knob_get(*state, &c.knobs, knob);
            if (!value_eq(got, values[v]))
                fail_msg("%s is %.*s, not %.*s", param_name(knob->param).p,
                         STR_ARG(value_text(*state, got)), STR_ARG(value_text(*state, values[v])));
        }
    }
}

/* What the user set stays, and AutoModel's local batch is all microbatches of a step: 64 sequences
   on 4 data-parallel ranks are 16 of 1. */
static void a_pipeline_changes_automodels_batch(void **state)
{
    struct facts *f = plan_facts(*state, "automodel", "");
    struct config c = *config_of(f);
    c.knobs.pp = 2;
    struct facts *out = silent(*state, f);
    config_to_facts(&c, out);
    assert_int_equal(facts_int(out, P_pp_microbatch_size, 0), 1);
    assert_int_equal(facts_int(out, P_micro_batch_size, 0), 16);
    assert_str(facts_str(out, P_pp_schedule), "1f1b");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(words_of_precision),
    cmocka_unit_test(a_mixed_precision_says_whether_parameters_are_gathered_in_fp8),
    cmocka_unit_test(dispatcher_words),
    cmocka_unit_test(kernels_of_attention),
    cmocka_unit_test(kernels_of_experts),
    cmocka_unit_test(kernels_of_norms_and_linears),
    cmocka_unit_test(rope_of_single_operations),
    cmocka_unit_test(fp8_of_attention_and_activations),
    cmocka_unit_test(what_nobody_states),
    cmocka_unit_test(recompute_words),
    cmocka_unit_test(sharding_words),
    cmocka_unit_test(loss_words),
    cmocka_unit_test(gradient_and_state_bytes),
    cmocka_unit_test(resharding_words),
    cmocka_unit_test(virtual_stages_in_three_words),
    cmocka_unit_test(schedules_interleave),
    cmocka_unit_test(words_without_derivation),
    cmocka_unit_test(offloaded_layers_by_their_number),
    cmocka_unit_test(a_single_tensor_rank_has_no_sequence_parallelism),
    cmocka_unit_test(silence_about_the_batch_is_one_microbatch_a_rank),
    cmocka_unit_test(every_knob_is_read_from_its_fact),
    cmocka_unit_test(decisions_come_back),
    cmocka_unit_test(a_layout_stands_for_its_virtual_stages),
    cmocka_unit_test(a_pipeline_changes_automodels_batch),
};
UNIT_MAIN(tests)
