/* SPDX-License-Identifier: Apache-2.0 */
/* The words that frameworks have for a knob's values. */
#include "facts/param_ids.h"
#include "plan/knob.h"

enum {
    CORE = 1 << FRAMEWORK_MEGATRON | 1 << FRAMEWORK_BRIDGE,
    AUTOMODEL = 1 << FRAMEWORK_AUTOMODEL,
    ALL = CORE | AUTOMODEL,
    OWN = -1,
};

/* Facts say the first phrase of a knob whose words all stand there; a knob is said by the first of
   its value that is not only heard. */
static const struct phrase {
    int knob; /* its parameter */
    int frameworks;
    int value; /* of the field; OWN: what its own parameter says, if anything */
    enum { SAID, HEARD } use;
    int n; /* words; 0: whatever the facts say */
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
    {P_dispatcher, ALL, OWN, HEARD, 0, {{0}}},
    {P_dispatcher, AUTOMODEL, DISPATCH_DEEPEP, SAID, 1, {{P_backend_dispatcher, WORD("deepep")}}},
    {P_dispatcher,
     AUTOMODEL,
     DISPATCH_HYBRIDEP,
     SAID,
     1,
     {{P_backend_dispatcher, WORD("hybridep")}}},
    /* a plan may say it in Megatron-core's words */
    {P_dispatcher,
     AUTOMODEL,
     DISPATCH_HYBRIDEP,
     HEARD,
     2,
     {{P_moe_token_dispatcher_type, WORD("flex")},
      {P_moe_flex_dispatcher_backend, WORD("hybridep")}}},
    {P_dispatcher,
     AUTOMODEL,
     DISPATCH_DEEPEP,
     HEARD,
     1,
     {{P_moe_token_dispatcher_type, WORD("flex")}}},
    {P_dispatcher,
     AUTOMODEL,
     DISPATCH_ALLTOALL,
     HEARD,
     1,
     {{P_moe_token_dispatcher_type, WORD("alltoall")}}},
    {P_dispatcher,
     AUTOMODEL,
     DISPATCH_ALLGATHER,
     HEARD,
     1,
     {{P_moe_token_dispatcher_type, WORD("allgather")}}},
    {P_dispatcher, AUTOMODEL, DISPATCH_TORCH, SAID, 1, {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher, AUTOMODEL, DISPATCH_ALLTOALL, SAID, 1, {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher, AUTOMODEL, DISPATCH_ALLGATHER, SAID, 1, {{P_backend_dispatcher, WORD("torch")}}},
    {P_dispatcher,
     CORE,
     DISPATCH_ALLGATHER,
     SAID,
     1,
     {{P_moe_token_dispatcher_type, WORD("allgather")}}},
    {P_dispatcher,
     CORE,
     DISPATCH_ALLTOALL,
     SAID,
     1,
     {{P_moe_token_dispatcher_type, WORD("alltoall")}}},
    {P_dispatcher,
     CORE,
     DISPATCH_DEEPEP,
     SAID,
     2,
     {{P_moe_token_dispatcher_type, WORD("flex")},
      {P_moe_flex_dispatcher_backend, WORD("deepep")}}},
    {P_dispatcher,
     CORE,
     DISPATCH_HYBRIDEP,
     SAID,
     2,
     {{P_moe_token_dispatcher_type, WORD("flex")},
      {P_moe_flex_dispatcher_backend, WORD("hybridep")}}},
    {P_dispatcher, CORE, DISPATCH_DEEPEP, HEARD, 1, {{P_moe_token_dispatcher_type, WORD("flex")}}},
    {P_dispatcher,
     CORE,
     DISPATCH_TORCH,
     SAID,
     1,
     {{P_moe_token_dispatcher_type, WORD("alltoall")}}},

    {P_recompute_granularity, CORE, RECOMPUTE_SELECTIVE, HEARD, 1, {{P_recompute_activations, ON}}},
    {P_recompute_granularity, ALL, OWN, HEARD, 0, {{0}}},
    {P_recompute_granularity,
     AUTOMODEL,
     RECOMPUTE_FULL,
     SAID,
     1,
     {{P_activation_checkpointing, ON}}},
    {P_recompute_granularity,
     AUTOMODEL,
     RECOMPUTE_SELECTIVE,
     SAID,
     1,
     {{P_activation_checkpointing, WORD("selective")}}},
    {P_recompute_granularity,
     AUTOMODEL,
     RECOMPUTE_NONE,
     SAID,
     1,
     {{P_activation_checkpointing, OFF}}},

    {P_use_megatron_fsdp, CORE, FSDP_NONE, SAID, 1, {{P_use_megatron_fsdp, OFF}}},
    {P_use_megatron_fsdp,
     CORE,
     FSDP_OPTIM,
     SAID,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim")}}},
    {P_use_megatron_fsdp,
     CORE,
     FSDP_OPTIM_GRADS,
     SAID,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim_grads")}}},
    {P_use_megatron_fsdp,
     CORE,
     FSDP_OPTIM_GRADS_PARAMS,
     SAID,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("optim_grads_params")}}},
    {P_use_megatron_fsdp,
     CORE,
     FSDP_NONE,
     HEARD,
     2,
     {{P_use_megatron_fsdp, ON}, {P_data_parallel_sharding_strategy, WORD("no_shard")}}},
    {P_use_megatron_fsdp, CORE, FSDP_OPTIM_GRADS_PARAMS, HEARD, 1, {{P_use_megatron_fsdp, ON}}},
    {P_use_megatron_fsdp, AUTOMODEL, FSDP_DDP, SAID, 1, {{P_strategy, WORD("ddp")}}},
    {P_use_megatron_fsdp,
     AUTOMODEL,
     FSDP_OPTIM_GRADS_PARAMS,
     SAID,
     1,
     {{P_strategy, WORD("megatron_fsdp")}}},
    {P_use_megatron_fsdp, AUTOMODEL, FSDP_FSDP2, SAID, 1, {{P_strategy, WORD("fsdp2")}}},
    {P_use_megatron_fsdp, AUTOMODEL, FSDP_FSDP2, HEARD, 0, {{0}}},

    {P_cross_entropy_loss_fusion, CORE, CE_NONE, SAID, 1, {{P_cross_entropy_loss_fusion, OFF}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CE_LINEAR,
     SAID,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("linear")}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CE_NATIVE,
     SAID,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("native")}}},
    {P_cross_entropy_loss_fusion,
     CORE,
     CE_TE,
     SAID,
     2,
     {{P_cross_entropy_loss_fusion, ON}, {P_cross_entropy_fusion_impl, WORD("te")}}},
    {P_cross_entropy_loss_fusion, CORE, CE_TE, HEARD, 1, {{P_cross_entropy_loss_fusion, ON}}},
    {P_cross_entropy_loss_fusion, AUTOMODEL, CE_NATIVE, HEARD, 0, {{0}}},

    {P_attention_backend, ALL, ATTN_UNFUSED, HEARD, 1, {{P_attention_backend, WORD("local")}}},
    {P_transformer_impl, ALL, false, SAID, 1, {{P_transformer_impl, WORD("local")}}},
    {P_gradient_accumulation_fusion, AUTOMODEL, false, HEARD, 0, {{0}}},
    {P_freeze_vision_model, ALL, true, HEARD, 1, {{P_freeze_all_layers, ON}}},
    {P_freeze_language_model, ALL, true, HEARD, 1, {{P_freeze_all_layers, ON}}},
    {P_peft_scheme, ALL, true, SAID, 1, {{P_peft_scheme, WORD("dora")}}},
#undef WORD
#undef ON
#undef OFF
};
enum { N_PHRASES = sizeof phrases / sizeof *phrases };

/* Parameters that code makes a knob's value of: facts/precision.c, and the virtual stages. */
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
    {P_mp_policy_param_dtype, P_precision},
    {P_num_virtual_stages_per_pipeline_rank, P_virtual_pipeline_model_parallel_size},
    {P_num_layers_per_virtual_pipeline_stage, P_virtual_pipeline_model_parallel_size},
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

static bool is_for(const struct phrase *p, const struct knob *knob, enum framework framework)
{
    return p->knob == knob->param && p->frameworks >> framework & 1;
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
        if (!is_for(p, knob, f->framework)) continue;
        if (p->value == OWN && read_own(f, knob, k)) return;
        if (p->value == OWN || !stands(f, p)) continue;
        *((uint8_t *)k + knob->offset) = (uint8_t)p->value; /* words have fields of one byte */
        return;
    }
    read_own(f, knob, k);
}

bool knob_say_words(const struct knob_saying *s, const struct knobs *k, const struct knob *knob)
{
    for (int i = 0; i < N_PHRASES; i++) {
        const struct phrase *p = &phrases[i];
        bool same = p->value == *((const uint8_t *)k + knob->offset);
        if (p->use == HEARD || !same || !is_for(p, knob, s->facts->framework)) continue;
        for (int w = 0; w < p->n; w++)
            knob_put(s, p->words[w].param, p->words[w].value);
        return true;
    }
    return false;
}
