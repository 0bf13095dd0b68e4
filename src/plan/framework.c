/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/framework.h"

#include "facts/param_ids.h"

/* Sources: Megatron-LM d98e8a64, Megatron-Bridge 067f987d, NeMo AutoModel 36044ad3. */

/* What both programs over Megatron-core have of it: attention.py, mlp.py (fused linears),
   make_vocab_size_divisible_by. */
#define MEGATRON_CORE                                                                              \
    .megatron_words = true, .chooses_fsdp = true, .chooses_stages = true, .splits_experts = true,  \
    .tensor_shares_experts = true, .dispatcher = DISPATCH_ALLTOALL, .fused_linears = true,         \
    .pads_vocabulary = true

static const struct framework_traits traits[FRAMEWORK_COUNT] = {
    [FRAMEWORK_MEGATRON] =
        {
            MEGATRON_CORE,
            .experts_follow_tensor = true, /* --expert-tensor-parallel-size */
            .text_only = true,             /* pretrain_gpt.py */
            /* arguments.py map_dtype: bytes, which overrides of Bridge have no name for */
            .fp8_states = true,
        },
    [FRAMEWORK_BRIDGE] =
        {
            MEGATRON_CORE,
            .biased_experts_have_yarn = true, /* models/gpt_oss/gpt_oss_bridge.py */
            .recipes_capture = true,
            /* ddp.grad_reduce_in_fp32 = False: releases 0.2 to 0.5 in each model's script below
               scripts/performance/configs, then perf_recipes/_common.py; not GLM-5 and Kimi-K2 */
            .recipes_narrow_gradients = true,
        },
    [FRAMEWORK_AUTOMODEL] =
        {
            .most_stages = 16,
            .dispatcher = DISPATCH_TORCH,     /* models/common/utils.py BackendConfig */
            .schedule_takes_batch = true,     /* pp_batch_size: the local batch */
            .projector_in_tower = true,       /* components/utils/model_utils.py: by name */
            .adapter_per_expert = true,       /* components/_peft/lora_experts.py */
            .adapters_cut_with_linear = true, /* components/_peft/lora.py on sharded linears */
            .hugging_face_paths = true,       /* components/_peft/module_matcher.py */
            .states_as_params = true,         /* torch.optim on FSDP2's sharded parameters */
            .bf16_grads = true,               /* and on their gradients */
            .reduces_once = true,             /* its FSDP2 manager, at the last microbatch */
            .low_experts_only = true,         /* docs/time.md */
            .fused_mxfp8_experts = true,      /* docs/time.md */
            .compiled_clamp = true,           /* components/moe/experts.py:752 */
            .balances_in_rows = true,         /* components/moe/layers.py FakeBalancedGate */
            .repeats_operations = true, /* components/distributed/activation_checkpointing.py */
            .checkpoints_parts = true,  /* activation_checkpointing.py */
            .early_stop = true,         /* torch.utils.checkpoint */
            .fitted_with_fsdp2 = true,  /* rules/evidence */
        },
};

const struct framework_traits *framework_traits(enum framework framework)
{
    return &traits[framework];
}

bool framework_times_silence(enum framework framework, int param)
{
    return param == P_accumulate_allreduce_grads_in_fp32 &&
           traits[framework].recipes_narrow_gradients;
}
