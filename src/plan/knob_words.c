/* SPDX-License-Identifier: Apache-2.0 */
/* The words that frameworks have for a knob's values. */
#include "facts/param_ids.h"
#include "plan/knob.h"

enum {
    CORE = 1 << FRAMEWORK_MEGATRON | 1 << FRAMEWORK_BRIDGE,
    AUTOMODEL = 1 << FRAMEWORK_AUTOMODEL,
    ALL = CORE | AUTOMODEL,
    NOBODY = 0,
    OWN = -1,
};

/* Facts say the first phrase of a knob that they hear and whose words all stand there; a knob is
   said by the first of its value that they say. A plan of AutoModel may name its dispatcher in
   Megatron-core's words; its own go first. */
static const struct phrase {
    int knob;        /* its parameter */
    int hears, says; /* the frameworks in whose facts it counts, and whose facts say it so */
    int value;       /* of the field; OWN: what its own parameter says, if anything */
    int n;           /* words; 0: whatever the facts say */
    struct {
        int param;
        struct value value;
    } words[2];
} phrases[] = {
#define WORD(text)                                                                                 \
    {                                                                                              \
        .kind = VALUE_STRING, .s = { text, sizeof text - 1 }                                       \
    }
#define ON                                                                                         \
    {                                                                                              \
        .kind = VALUE_BOOL, .b = true                                                              \
    }
#define OFF                                                                                        \
    {                                                                                              \
        .kind = VALUE_BOOL                                                                         \
    }
    {P_dispatcher, ALL, NOBODY, OWN, 0, {{0}}},
    {P_dispatcher,
     AUTOMODEL,
     AUTOMODEL,
     DISPATCH_DEEPEP,
     1,
     {{P_backend_dispatcher, WORD("deepep")}}},
    {P_dispatcher,
     AUTOMODEL,
     AUTOMODEL,
     DISPATCH_HYBRIDEP,
     1,
     {{P_backend_dispatcher, WORD("hybridep")}}},
    {P_dispatcher,
     ALL,
     CORE,
     DISPATCH_ALLGATHER,
     1,
     {{P_moe_token_dispatcher_type, WORD("allgather")}}},
    {P_dispatcher,
     ALL,
     CORE,
     DISPATCH_ALLTOALL,
     1,
     {{P_moe_token_dispatcher_type, WORD("alltoall")}}},
    {P_dispatcher,
     ALL,
     CORE,
     DISPATCH_DEEPEP,
     2,
     {{P_moe_token_dispatcher_type, WORD("flex")},
      {P_moe_flex_dispatcher_backend, WORD("deepep")}}},
    {P_dispatcher,
     ALL,
     CORE,
     DISPATCH_HYBRIDEP,
     2,
     {{P_moe_token_dispatcher_type, WORD("flex")},
      {P_moe_flex_dispatcher_backend, WORD("hybridep")}}},
    {P_dispatcher, ALL, NOBODY, DISPATCH_DEEPEP, 1, {{P_moe_token_dispatcher_type, WORD("flex")}}},
    {P_dispatcher,
     AUTOMODEL,
     AUTOMODEL,
     DISPATCH_TORCH,
     1,
     {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher,
     NOBODY,
     AUTOMODEL,
     DISPATCH_ALLTOALL,
     1,
     {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher,
     NOBODY,
     AUTOMODEL,
     DISPATCH_ALLGATHER,
     1,
     {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher,
     NOBODY,
     CORE,
     DISPATCH_TORCH,
     1,
     {{P_moe_token_dispatcher_type, WORD("alltoall")}}},

    {P_recompute_granularity,
     CORE,
     NOBODY,
     RECOMPUTE_SELECTIVE,
     1,
     {{P_recompute_activations, ON}}},
    {P_recompute_granularity, ALL, NOBODY, OWN, 0, {{0}}},
    {P_recompute_granularity,
     AUTOMODEL,
     AUTOMODEL,
     RECOMPUTE_FULL,
     1,
     {{P_activation_checkpointing, ON}}},
    {P_recompute_granularity,
     AUTOMODEL,
     AUTOMODEL,
     RECOMPUTE_SELECTIVE,
     1,
     {{P_activation_checkpointing, WORD("selective")}}},
    {P_recompute_granularity,
     AUTOMODEL,
     AUTOMODEL,
     RECOMPUTE_NONE,
     1,
     {{P_activation_checkpointing, OFF}}},

    {P_use_megatron_fsdp, CORE, CORE, FSDP_NONE, 1, {{P_use_megatron_fsdp, OFF}}},
    {P_use_megatron_fsdp,
     CORE,
     CORE,
     FSDP_OPTIM,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim")}}},
    {P_use_megatron_fsdp,
     CORE,
     CORE,
     FSDP_OPTIM_GRADS,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim_grads")}}},
    {P_use_megatron_fsdp,
     CORE,
     CORE,
     FSDP_OPTIM_GRADS_PARAMS,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim_grads_params")}}},
    {P_use_megatron_fsdp,
     CORE,
     NOBODY,
     FSDP_NONE,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("no_shard")}}},
    {P_use_megatron_fsdp, CORE, NOBODY, FSDP_OPTIM_GRADS_PARAMS, 1, {{P_use_megatron_fsdp, ON}}},
    {P_use_megatron_fsdp, AUTOMODEL, AUTOMODEL, FSDP_DDP, 1, {{P_strategy, WORD("ddp")}}},
    {P_use_megatron_fsdp,
     AUTOMODEL,
     AUTOMODEL,
     FSDP_OPTIM_GRADS_PARAMS,
     1,
     {{P_strategy, WORD("megatron_fsdp")}}},
    {P_use_megatron_fsdp, AUTOMODEL, AUTOMODEL, FSDP_FSDP2, 1, {{P_strategy, WORD("fsdp2")}}},
    {P_use_megatron_fsdp, AUTOMODEL, NOBODY, FSDP_FSDP2, 0, {{0}}},

    {P_cross_entropy_loss_fusion, CORE, CORE, CE_NONE, 1, {{P_cross_entropy_loss_fusion, OFF}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CORE,
     CE_LINEAR,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("linear")}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CORE,
     CE_NATIVE,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("native")}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CORE,
     CE_TE,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("te")}}},
    {P_cross_entropy_loss_fusion, CORE, NOBODY, CE_TE, 1, {{P_cross_entropy_loss_fusion, ON}}},
    {P_cross_entropy_loss_fusion,
     AUTOMODEL,
     NOBODY,
     CE_LINEAR,
     1,
     {{P_loss_target, WORD("nemo_automodel.components.loss.linear_ce.FusedLinearCrossEntropy")}}},
    {P_cross_entropy_loss_fusion,
     AUTOMODEL,
     NOBODY,
     CE_TE,
     1,
     {{P_loss_target,
       WORD("nemo_automodel.components.loss.te_parallel_ce.TEParallelCrossEntropy")}}},
    {P_cross_entropy_loss_fusion, AUTOMODEL, AUTOMODEL, CE_MASKED, 1, {{P_loss_fp32_upcast, OFF}}},
    {P_cross_entropy_loss_fusion,
     AUTOMODEL,
     AUTOMODEL,
     CE_MASKED_FP32,
     1,
     {{P_loss_fp32_upcast, ON}}},
    {P_cross_entropy_loss_fusion, AUTOMODEL, NOBODY, CE_MASKED_FP32, 0, {{0}}},

    {P_attention_backend, ALL, NOBODY, ATTN_UNFUSED, 1, {{P_attention_backend, WORD("local")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_AUTO, 1, {{P_backend_attn, WORD("te")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_FUSED, 1, {{P_backend_attn, WORD("cudnn")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_SDPA, 1, {{P_backend_attn, WORD("sdpa")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_FLEX, 1, {{P_backend_attn, WORD("flex")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_UNFUSED, 1, {{P_backend_attn, WORD("eager")}}},
    {P_attention_backend,
     AUTOMODEL,
     NOBODY,
     ATTN_FLASH,
     1,
     {{P_attn_implementation, WORD("flash_attention_2")}}},
    {P_attention_backend,
     AUTOMODEL,
     NOBODY,
     ATTN_FLASH,
     1,
     {{P_attn_implementation, WORD("flash_attention_3")}}},
    {P_attention_backend, AUTOMODEL, NOBODY, ATTN_SDPA, 1, {{P_attn_implementation, WORD("sdpa")}}},
    {P_attention_backend,
     AUTOMODEL,
     NOBODY,
     ATTN_FLEX,
     1,
     {{P_attn_implementation, WORD("flex_attention")}}},
    {P_attention_backend,
     AUTOMODEL,
     NOBODY,
     ATTN_UNFUSED,
     1,
     {{P_attn_implementation, WORD("eager")}}},
    {P_backend_experts, AUTOMODEL, NOBODY, EXPERTS_SLICES, 1, {{P_backend_experts, WORD("torch")}}},
    {P_backend_experts, AUTOMODEL, NOBODY, EXPERTS_TE, 1, {{P_backend_experts, WORD("te")}}},
    {P_backend_experts, AUTOMODEL, NOBODY, EXPERTS_TE, 1, {{P_backend_experts, WORD("gmm")}}},
    {P_backend_experts,
     AUTOMODEL,
     NOBODY,
     EXPERTS_GROUPED,
     1,
     {{P_backend_experts, WORD("torch_mm")}}},
    {P_backend_experts,
     AUTOMODEL,
     NOBODY,
     EXPERTS_GROUPED,
     1,
     {{P_backend_experts, WORD("torch_mm_mxfp8")}}},
    {P_backend_experts, AUTOMODEL, NOBODY, EXPERTS_GROUPED, 0, {{0}}},
    {P_backend_rms_norm, AUTOMODEL, NOBODY, NORM_TORCH, 1, {{P_backend_rms_norm, WORD("torch")}}},
    {P_backend_rms_norm, AUTOMODEL, NOBODY, NORM_TE, 1, {{P_backend_rms_norm, WORD("te")}}},
    {P_backend_rms_norm, AUTOMODEL, NOBODY, NORM_TE, 1, {{P_backend_rms_norm, WORD("quack")}}},
    {P_backend_rms_norm, AUTOMODEL, NOBODY, NORM_COMPILED, 0, {{0}}},
    {P_backend_linear, AUTOMODEL, NOBODY, LINEARS_TORCH, 1, {{P_backend_linear, WORD("torch")}}},
    {P_backend_linear, AUTOMODEL, NOBODY, LINEARS_TORCH, 1, {{P_backend_linear, WORD("quack")}}},
    {P_optimizer_foreach, AUTOMODEL, NOBODY, true, 1, {{P_optimizer_foreach, OFF}}},
    {P_optimizer_foreach, AUTOMODEL, NOBODY, true, 1, {{P_optimizer_fused, ON}}},
    {P_optimizer_foreach,
     AUTOMODEL,
     NOBODY,
     true,
     1,
     {{P_optimizer_target, WORD("transformer_engine.pytorch.optimizers.FusedAdam")}}},
    {P_optimizer_foreach, ALL, NOBODY, false, 0, {{0}}},
    {P_fp8_dot_product_attention, ALL, NOBODY, true, 1, {{P_fp8_multi_head_attention, ON}}},
    {P_transformer_impl, ALL, ALL, false, 1, {{P_transformer_impl, WORD("local")}}},
    {P_gradient_accumulation_fusion, AUTOMODEL, NOBODY, false, 0, {{0}}},
    {P_freeze_vision_model, ALL, NOBODY, true, 1, {{P_freeze_all_layers, ON}}},
    {P_freeze_vision_projection, ALL, NOBODY, true, 1, {{P_freeze_all_layers, ON}}},
    {P_freeze_language_model, ALL, NOBODY, true, 1, {{P_freeze_all_layers, ON}}},
    {P_peft_scheme, ALL, ALL, true, 1, {{P_peft_scheme, WORD("dora")}}},
#undef WORD
#undef ON
#undef OFF
};
enum { N_PHRASES = sizeof phrases / sizeof *phrases };

/* Parameters that code makes a knob's value of: facts/precision.c, the virtual stages, what is
   reduced, whether anything is offloaded at all, and the microbatches of a schedule. */
static const struct {
    int param, knob;
} others[] = {
    {P_bf16, P_precision},
    {P_fp16, P_precision},
    {P_fp8, P_precision},
    {P_fp8_recipe, P_precision},
    {P_fp4, P_precision},
    {P_mixed_precision, P_precision},
    {P_backend_te_fp8_recipe, P_precision},
    {P_torchao_fp8_enabled, P_precision},
    {P_torchao_fp8_recipe_name, P_precision},
    {P_mp_policy_param_dtype, P_precision},
    {P_accumulate_allreduce_grads_in_fp32, P_main_grads_dtype},
    {P_grad_reduce_in_bf16, P_main_grads_dtype},
    {P_num_virtual_stages_per_pipeline_rank, P_virtual_pipeline_model_parallel_size},
    {P_num_layers_per_virtual_pipeline_stage, P_virtual_pipeline_model_parallel_size},
    {P_optimizer_cpu_offload, P_optimizer_offload_fraction},
    {P_fine_grained_activation_offloading, P_offload_modules},
    {P_pp_microbatch_size, P_micro_batch_size},
};

const struct knob *knob_said_by(int param)
{
    const struct knob *knob = knob_of(param);
    for (size_t i = 0; i < sizeof others / sizeof *others && !knob; i++)
        if (others[i].param == param) knob = knob_of(others[i].knob);
    for (int i = 0; i < N_PHRASES && !knob; i++)
        for (int w = 0; w < phrases[i].n; w++)
            if (phrases[i].words[w].param == param) knob = knob_of(phrases[i].knob);
    return knob;
}

static bool has(int frameworks, enum framework framework)
{
    return frameworks >> framework & 1;
}

static bool stands(const struct facts *f, const struct phrase *p)
{
    for (int i = 0; i < p->n; i++)
        if (!value_eq(facts_get(f, p->words[i].param)->value, p->words[i].value)) return false;
    return true;
}

/* The parameter's own value; of a list the words that the knob knows. */
static bool read_own(const struct facts *f, const struct knob *knob, struct knobs *k)
{
    struct value v = knob->param == P_NONE ? value_null() : facts_get(f, knob->param)->value;
    if (v.kind == VALUE_UNKNOWN || v.kind == VALUE_NULL) return false;
    if (knob->kind != KNOB_MODULES || v.kind != VALUE_LIST) return knob_set(k, knob, v);
    uint32_t *field = (uint32_t *)(void *)((char *)k + knob->offset), mask = 0;
    for (size_t i = 0; i < v.list->n; i++)
        if (v.list->items[i].kind == VALUE_STRING && knob_set(k, knob, v.list->items[i]))
            mask |= *field;
    *field = mask;
    return true;
}

void knob_read(const struct facts *f, const struct knob *knob, struct knobs *k)
{
    for (int i = 0; i < N_PHRASES; i++) {
        const struct phrase *p = &phrases[i];
        if (p->knob != knob->param || !has(p->hears, f->framework)) continue;
        if (p->value == OWN && read_own(f, knob, k)) return;
        if (p->value == OWN || !stands(f, p)) continue;
        *((uint8_t *)k + knob->offset) = (uint8_t)p->value; /* words have fields of one byte */
        return;
    }
    read_own(f, knob, k);
}

void knobs_read(struct arena *scratch, const struct facts *f, struct knobs *k)
{
    bool *has_phrase = ARENA_ARRAY(scratch, bool, param_count); /* few knobs have */
    for (int i = 0; i < N_PHRASES; i++)
        has_phrase[phrases[i].knob] = true;
    for (size_t i = 0; i < knob_field_count; i++) {
        const struct knob *knob = &knob_table[i];
        if (knob->param != P_NONE && has_phrase[knob->param])
            knob_read(f, knob, k);
        else
            read_own(f, knob, k);
    }
}

bool knob_say_words(const struct knob_saying *s, const struct knobs *k, const struct knob *knob)
{
    for (int i = 0; i < N_PHRASES; i++) {
        const struct phrase *p = &phrases[i];
        bool same = p->value == *((const uint8_t *)k + knob->offset);
        if (p->knob != knob->param || !same || !has(p->says, s->facts->framework)) continue;
        for (int w = 0; w < p->n; w++)
            knob_put(s, p->words[w].param, p->words[w].value);
        return true;
    }
    return false;
}

bool knob_is_sayable(const struct knob *knob, enum framework framework)
{
    bool found = param_table[knob->param].in[framework]->known;
    for (size_t i = 0; i < sizeof others / sizeof *others && !found; i++)
        found = others[i].knob == knob->param && param_table[others[i].param].in[framework]->known;
    for (int i = 0; i < N_PHRASES && !found; i++)
        found = phrases[i].knob == knob->param && has(phrases[i].says, framework);
    return found;
}
