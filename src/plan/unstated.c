/* SPDX-License-Identifier: Apache-2.0 */
/* What a run surely has, and nobody states. */
#include "facts/param_ids.h"
#include "plan/framework.h"

/* What nobody states. A plan file, and overrides of a recipe, leave what they do not write to the
   run that they describe; any other file leaves open only what is unknown of its framework. */
static const struct {
    uint32_t bit;
    int params[3]; /* said by any of them */
} sayings[] = {
    {UNSTATED_ATTENTION, {P_attention_backend, P_backend_attn, P_attn_implementation}},
    {UNSTATED_EXPERTS, {P_backend_experts, P_moe_grouped_gemm, P_use_transformer_engine_op_fuser}},
    {UNSTATED_NORMS, {P_backend_rms_norm, P_NONE, P_NONE}},
    {UNSTATED_DISPATCHER, {P_dispatcher, P_backend_dispatcher, P_moe_token_dispatcher_type}},
    {UNSTATED_STAGES,
     {P_virtual_pipeline_model_parallel_size, P_num_virtual_stages_per_pipeline_rank,
      P_pipeline_model_parallel_layout}},
    {UNSTATED_GRAPHS, {P_cuda_graph_impl, P_cuda_graph_scope, P_backend_cuda_graph}},
    {UNSTATED_RECOMPUTE,
     {P_recompute_granularity, P_recompute_activations, P_activation_checkpointing}},
    {UNSTATED_SHARDING, {P_use_megatron_fsdp, P_data_parallel_sharding_strategy, P_strategy}},
    {UNSTATED_GRADIENTS,
     {P_main_grads_dtype, P_grad_reduce_in_bf16, P_accumulate_allreduce_grads_in_fp32}},
    {UNSTATED_RESHARDING, {P_moe_reshard_after_forward, P_reshard_after_forward, P_NONE}},
    {UNSTATED_ACTIVATIONS, {P_activation_func_fp8_input_store, P_NONE, P_NONE}},
    {UNSTATED_OVERLAP, {P_overlap_moe_expert_parallel_comm, P_NONE, P_NONE}},
    {UNSTATED_NARROW, {P_fp8_dot_product_attention, P_fp8_multi_head_attention, P_fp8_output_proj}},
    {UNSTATED_ROUTING, {P_moe_router_force_load_balancing, P_NONE, P_NONE}},
};

/* Whether the parameter is left open. */
static bool is_open(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    bool nothing = x->origin == ORIGIN_DERIVED && x->value.kind == VALUE_NULL;
    bool silent = nothing || x->origin == ORIGIN_ASSUMED || x->origin == ORIGIN_DEFAULT;
    bool plan = str_is(f->format, "plan") && silent && !fact_is_of_recipe(x);
    return plan || !fact_is_known(x);
}

/* The optimizer's own format of gradients does not say in which one Bridge reduces them. */
static bool speaks(const struct facts *f, int param)
{
    bool beside = framework_traits(f->framework)->recipes_narrow_gradients;
    return param != P_NONE && !(beside && param == P_main_grads_dtype);
}

/* What no word of the framework speaks of is as it always is there; a plan may say it in another's
   words. */
static bool stays_open(const struct facts *f, const int params[3])
{
    bool known = false, said = false;
    for (int i = 0; i < 3; i++) {
        if (!speaks(f, params[i])) continue;
        said = said || fact_is_set(facts_get(f, params[i]));
        if (!param_table[params[i]].in[f->framework]->known) continue;
        known = true;
        said = said || !is_open(f, params[i]);
    }
    return known && !said;
}

/* What the configuration cannot have is not open. */
static uint32_t possible(const struct config *c)
{
    uint32_t out = UINT32_MAX;
    if (c->knobs.pp == 1) out &= ~(uint32_t)UNSTATED_STAGES;
    if (c->knobs.fsdp != FSDP_FSDP2) out &= ~(uint32_t)UNSTATED_RESHARDING;
    if (!config_traits(c)->megatron_words || c->knobs.precision == PREC_FP32)
        out &= ~(uint32_t)UNSTATED_GRADIENTS;
    if (c->knobs.precision < PREC_FP8_DELAYED)
        out &= ~(uint32_t)(UNSTATED_ACTIVATIONS | UNSTATED_FROZEN | UNSTATED_NARROW);
    if (c->model.experts == 0)
        out &= ~(uint32_t)(UNSTATED_DISPATCHER | UNSTATED_EXPERTS | UNSTATED_ROUTING);
    if (c->model.experts == 0 || c->knobs.ep == 1) out &= ~(uint32_t)UNSTATED_OVERLAP;
    return out;
}

/* A plan's word for the gather of parameters is none for frozen weights, which nobody gathers. */
static bool frozen_is_open(const struct facts *f, const struct knobs *k)
{
    return str_is(f->format, "plan") && k->task == TASK_PEFT && !k->fp8_param_gather;
}

/* Megatron-core's own module, which short attention kernels made useless, is what a plan means
   least often by selective recomputation. */
static bool modules_are_open(const struct facts *f, const struct config *c)
{
    const struct fact *x = facts_get(f, P_recompute_modules);
    return str_is(f->format, "plan") && config_traits(c)->megatron_words &&
           c->knobs.recompute == RECOMPUTE_SELECTIVE && !fact_is_set(x) && !fact_is_of_recipe(x);
}

uint32_t config_unstated(const struct facts *f, const struct config *c)
{
    uint32_t out = 0;
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (stays_open(f, sayings[i].params)) out |= sayings[i].bit;
    if (frozen_is_open(f, &c->knobs)) out |= UNSTATED_FROZEN;
    if (modules_are_open(f, c)) out |= UNSTATED_MODULES;
    if (!facts_bool(f, P_switches_stated, true)) out |= UNSTATED_SWITCHES;
    return out & possible(c);
}
