/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration from facts. Most knobs go through the knob table; what several parameters decide
   together, or what a framework fills in by itself, is worked out here. Sources:
   megatron/training/arguments.py validate_args, megatron/core/optimizer/optimizer_config.py, NeMo
   AutoModel's FSDP2 manager. */
#include "plan/config.h"

#include "base/units.h"
#include "facts/check.h"
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "plan/knob.h"
#include "plan/peft.h"

static int64_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

int64_t knobs_dp(const struct knobs *k)
{
    return at_least_one(k->gpus / ((int64_t)k->tp * k->cp * k->pp));
}

int64_t knobs_edp(const struct knobs *k)
{
    return at_least_one(k->gpus / ((int64_t)k->etp * k->ep * k->pp));
}

bool knobs_divide(const struct knobs *k)
{
    if (k->gpus % ((int64_t)k->tp * k->cp * k->pp) != 0) return false;
    if (k->gpus % ((int64_t)k->etp * k->ep * k->pp) != 0) return false;
    return k->gbs % (k->mbs * knobs_dp(k)) == 0;
}

bool knobs_same_recompute(const struct knobs *a, const struct knobs *b)
{
    return a->recompute == b->recompute &&
           (a->recompute != RECOMPUTE_SELECTIVE || a->recompute_modules == b->recompute_modules);
}

uint32_t knobs_captured(const struct knobs *k)
{
    if (k->graph_impl == GRAPH_NONE) return 0;
    if (k->graph_impl == GRAPH_FULL_ITERATION || (k->graph_scope & SCOPE_FULL)) return SCOPE_FULL;
    if (k->graph_scope == 0)
        return SCOPE_ATTN | SCOPE_MLP | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS | SCOPE_MAMBA;
    return k->graph_scope;
}

int64_t knobs_microbatches(const struct knobs *k)
{
    return at_least_one(k->gbs / (k->mbs * knobs_dp(k)));
}

/* ---- the machine ---- */

bool config_machine(const struct facts *f, struct machine *out)
{
    *out = (struct machine){0};
    const struct platform *p = f->platform;
    if (!p) return false;
    out->id = p->id;
    out->architecture = facts_str(f, P_gpu_architecture);
    out->compute_capability = facts_double(f, P_compute_capability, 0);
    out->gpus_per_node = (int)facts_int(f, P_gpus_per_node, 8);
    out->nvlink_domain = (int)facts_int(f, P_nvlink_domain, out->gpus_per_node);
    out->capacity_bytes = GIB * facts_double(f, P_gpu_capacity_gib, 0);
    out->peak_bf16 = 1e12 * facts_double(f, P_bf16_tflops, 0);
    out->peak_fp8 = 1e12 * facts_double(f, P_fp8_tflops, 0);
    out->peak_fp4 = 1e12 * facts_double(f, P_fp4_tflops, 0);
    out->hbm_bytes_per_s = 1e12 * facts_double(f, P_hbm_tb_per_s, 0);
    out->nvlink_bytes_per_s = 1e9 * facts_double(f, P_nvlink_gb_per_s, 0);
    out->nic_bytes_per_s = 1e9 * facts_double(f, P_nic_gb_per_s, 0);
    out->pcie_bytes_per_s = 1e9 * facts_double(f, P_pcie_gb_per_s, 0);
    for (size_t i = 0;
         i < p->entry->n_coefficients && out->n_coefficients < MACHINE_MAX_COEFFICIENTS; i++) {
        const struct entry_coefficient *c = &p->entry->coefficients[i];
        out->coefficients[out->n_coefficients++] = (struct coefficient){
            .name = c->name, .value = c->value, .low = c->low, .high = c->high};
    }
    return true;
}

/* ---- the knobs ---- */

/* What a parameter stands for that the framework does not have. */
static struct knobs usual_knobs(void)
{
    return (struct knobs){
        .tp = 1,
        .pp = 1,
        .vpp = 1,
        .cp = 1,
        .ep = 1,
        .etp = 1,
        .mbs = 1,
        .gbs = 1,
        .precision = PREC_BF16,
        .dispatcher = DISPATCH_ALLTOALL,
        .recompute_method = METHOD_UNIFORM,
        .distributed_optimizer = true,
        .optimizer_instances = 1,
        .overlap_p2p = true,
        .permute_fusion = true,
        .grouped_gemm = true,
        .dp_replicate = 1,
    };
}

/* Knobs whose meaning depends on more than their own parameter; read further below. */
static bool is_joint(const struct knob *knob)
{
    static const int joint[] = {P_virtual_pipeline_model_parallel_size,
                                P_use_megatron_fsdp,
                                P_expert_tensor_parallel_size,
                                P_precision,
                                P_main_grads_dtype,
                                P_main_params_dtype,
                                P_exp_avg_dtype,
                                P_exp_avg_sq_dtype,
                                P_optimizer_offload_fraction,
                                P_offload_modules,
                                P_attention_backend,
                                P_recompute_modules,
                                P_cuda_graph_scope};
    for (size_t i = 0; i < sizeof joint / sizeof *joint; i++)
        if (knob->param == joint[i]) return true;
    return false;
}

/* The words of a list that the knob knows; what it does not know is left to the rules. */
static void set_known_words(struct knobs *k, int param, struct value v, uint32_t *field)
{
    const struct knob *knob = knob_of(param);
    struct value_list one = {1, &v};
    const struct value_list *list = v.kind == VALUE_LIST ? v.list : &one;
    uint32_t mask = 0;
    for (size_t i = 0; i < list->n; i++) {
        *field = 0;
        if (list->items[i].kind == VALUE_STRING && knob_set(k, knob, list->items[i]))
            mask |= *field;
    }
    *field = mask;
}

static bool is_true(const struct facts *f, int param)
{
    return facts_bool(f, param, false);
}

static bool is_word(const struct facts *f, int param, const char *word)
{
    return str_is(facts_str(f, param), word);
}

/* One word from Megatron's switches. */
static uint8_t precision_of(const struct facts *f)
{
    static const struct {
        const char *recipe;
        enum precision precision;
    } recipes[] = {{"delayed", PREC_FP8_DELAYED},
                   {"tensorwise", PREC_FP8_TENSORWISE},
                   {"blockwise", PREC_FP8_BLOCKWISE},
                   {"mxfp8", PREC_MXFP8}};
    struct knobs k = {0};
    if (knob_set(&k, knob_of(P_precision), facts_get(f, P_precision)->value) &&
        facts_str(f, P_precision).n > 0)
        return k.precision;
    if (facts_str(f, P_fp4).n > 0) return PREC_NVFP4;
    for (size_t i = 0; facts_str(f, P_fp8).n > 0 && i < sizeof recipes / sizeof *recipes; i++)
        if (is_word(f, P_fp8_recipe, recipes[i].recipe)) return (uint8_t)recipes[i].precision;
    if (is_true(f, P_fp16)) return PREC_FP16;
    bool megatron_flags =
        facts_get(f, P_bf16)->value.kind == VALUE_BOOL && str_is(f->format, "megatron");
    return megatron_flags && !is_true(f, P_bf16) ? PREC_FP32 : PREC_BF16;
}

static uint8_t dispatcher_of(const struct facts *f)
{
    struct str type = facts_str(f, P_moe_token_dispatcher_type);
    struct str backend = facts_str(f, P_moe_flex_dispatcher_backend);
    struct str own = facts_str(f, P_backend_dispatcher); /* AutoModel's */
    if (str_is(own, "deepep")) return DISPATCH_DEEPEP;
    if (str_is(own, "hybridep")) return DISPATCH_HYBRIDEP;
    if (str_is(type, "flex"))
        return str_is(backend, "hybridep") ? DISPATCH_HYBRIDEP : DISPATCH_DEEPEP;
    if (str_is(type, "allgather")) return DISPATCH_ALLGATHER;
    return f->framework == FRAMEWORK_AUTOMODEL && type.n == 0 ? DISPATCH_TORCH : DISPATCH_ALLTOALL;
}

static uint8_t loss_fusion_of(const struct facts *f)
{
    if (f->framework == FRAMEWORK_AUTOMODEL) return CE_NATIVE;
    if (!is_true(f, P_cross_entropy_loss_fusion)) return CE_NONE;
    if (is_word(f, P_cross_entropy_fusion_impl, "linear")) return CE_LINEAR;
    return is_word(f, P_cross_entropy_fusion_impl, "native") ? CE_NATIVE : CE_TE;
}

static uint8_t sharding_of(const struct facts *f)
{
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        if (is_word(f, P_strategy, "ddp")) return FSDP_DDP;
        return is_word(f, P_strategy, "megatron_fsdp") ? FSDP_OPTIM_GRADS_PARAMS : FSDP_FSDP2;
    }
    if (!is_true(f, P_use_megatron_fsdp)) return FSDP_NONE;
    if (is_word(f, P_data_parallel_sharding_strategy, "optim")) return FSDP_OPTIM;
    if (is_word(f, P_data_parallel_sharding_strategy, "optim_grads")) return FSDP_OPTIM_GRADS;
    return is_word(f, P_data_parallel_sharding_strategy, "no_shard") ? FSDP_NONE
                                                                     : FSDP_OPTIM_GRADS_PARAMS;
}

static void read_kernels(const struct facts *f, struct knobs *k, const struct model_shape *m)
{
    k->transformer_engine = !is_word(f, P_transformer_impl, "local");
    struct str backend = facts_str(f, P_attention_backend);
    k->attention = ATTN_FLASH;
    if (!k->transformer_engine || str_is(backend, "unfused") || str_is(backend, "local"))
        k->attention = ATTN_UNFUSED;
    else if (str_is(backend, "fused"))
        k->attention = ATTN_FUSED;
    k->ce_fusion = loss_fusion_of(f);
    k->act_fusion =
        facts_bool(f, m->gated ? P_bias_swiglu_fusion : P_use_fused_weighted_squared_relu, true);
    k->grad_accumulation_fusion =
        f->framework != FRAMEWORK_AUTOMODEL && facts_bool(f, P_gradient_accumulation_fusion, true);
    k->deterministic = is_true(f, P_deterministic_mode);
    k->defer_embedding_wgrad = is_true(f, P_defer_embedding_wgrad_compute);
    k->wgrad_deferral_limit = (int)facts_int(f, P_wgrad_deferral_limit, 0);
    k->overlap_p2p = facts_bool(f, P_overlap_p2p_comm, true);
}

/* AutoModel's activation_checkpointing is one word for what Megatron splits in two. */
static void read_recompute(const struct facts *f, struct knobs *k)
{
    if (f->framework == FRAMEWORK_AUTOMODEL) {
        struct value v = facts_get(f, P_activation_checkpointing)->value;
        bool selective = v.kind == VALUE_STRING && str_is(v.s, "selective");
        if (v.kind == VALUE_BOOL && v.b) k->recompute = RECOMPUTE_FULL;
        if (selective) k->recompute = RECOMPUTE_SELECTIVE;
    } else if (is_true(f, P_recompute_activations)) {
        k->recompute = RECOMPUTE_SELECTIVE;
    }
    struct value modules = facts_get(f, P_recompute_modules)->value;
    k->recompute_modules = MOD_CORE_ATTN; /* transformer_config.py: selective without modules */
    if (modules.kind == VALUE_LIST || modules.kind == VALUE_STRING)
        set_known_words(k, P_recompute_modules, modules, &k->recompute_modules);
    if (k->recompute != RECOMPUTE_SELECTIVE) k->recompute_modules = 0;
    struct value offload = facts_get(f, P_offload_modules)->value;
    if (is_true(f, P_fine_grained_activation_offloading))
        set_known_words(k, P_offload_modules, offload, &k->offload_modules);
    struct value scope = facts_get(f, P_cuda_graph_scope)->value;
    if (scope.kind == VALUE_LIST || scope.kind == VALUE_STRING)
        set_known_words(k, P_cuda_graph_scope, scope, &k->graph_scope);
    if (facts_bool(f, P_cpu_offloading, facts_int(f, P_cpu_offloading_num_layers, 0) > 0))
        k->layers_offloaded = (int)facts_int(f, P_cpu_offloading_num_layers, 0);
}

static int dtype_bytes(const struct facts *f, int param)
{
    struct knobs k = {.exp_avg_bytes = 4};
    struct value v = facts_get(f, param)->value;
    if (v.kind == VALUE_STRING) knob_set(&k, knob_of(P_exp_avg_dtype), v);
    return k.exp_avg_bytes;
}

/* Bytes of gradients and optimizer states for one parameter. A precision-aware optimizer keeps its
   fp32 main parameter as the 16 bits that the bf16 parameter lacks, unless the parameters are FP8.
 */
static void read_optimizer(const struct facts *f, struct knobs *k)
{
    k->grad_bytes = k->main_param_bytes = k->exp_avg_bytes = k->exp_avg_sq_bytes = 4;
    const struct fact *accumulate = facts_get(f, P_accumulate_allreduce_grads_in_fp32);
    bool said_no =
        fact_is_set(accumulate) && accumulate->value.kind == VALUE_BOOL && !accumulate->value.b;
    if (is_true(f, P_grad_reduce_in_bf16) || said_no || k->precision == PREC_FP16)
        k->grad_bytes = 2;
    if (is_true(f, P_use_precision_aware_optimizer)) {
        k->precision_aware = true;
        if (dtype_bytes(f, P_main_grads_dtype) == 2) k->grad_bytes = 2;
        k->exp_avg_bytes = dtype_bytes(f, P_exp_avg_dtype);
        k->exp_avg_sq_bytes = dtype_bytes(f, P_exp_avg_sq_dtype);
        bool fp32_main = dtype_bytes(f, P_main_params_dtype) == 4;
        k->main_param_remainder = fp32_main && !k->fp8_param_gather;
        k->main_param_bytes = fp32_main && !k->main_param_remainder ? 4 : 2;
    }
    if (f->framework == FRAMEWORK_AUTOMODEL &&
        k->fsdp == FSDP_FSDP2) { /* Adam in the parameters' dtype */
        k->grad_bytes = k->exp_avg_bytes = k->exp_avg_sq_bytes = 2;
        k->main_param_bytes = 0;
    }
    struct str name = facts_str(f, P_optimizer);
    k->muon = str_find_str(name, STR("muon")) < name.n;
    k->layer_wise_optimizer = str_starts(name, STR("dist_"));
    if (is_true(f, P_optimizer_cpu_offload))
        k->optimizer_offload = facts_double(f, P_optimizer_offload_fraction, 1);
}

/* What is trained: less than the whole model. */
static void read_trained(const struct facts *f, struct knobs *k, const struct model_shape *m)
{
    if (is_true(f, P_freeze_all_layers)) k->freeze_language = k->freeze_vision = true;
    if (k->task != TASK_PEFT) return;
    k->lora_rank = (int)facts_int(f, P_peft_dim, 0);
    k->dora = is_word(f, P_peft_scheme, "dora");
    k->lora_targets = peft_targets(f, m);
}

/* AutoModel's MoE classes have a key of their own, false by default
   (nemo_automodel/components/moe/parallelizer.py:646); layers of dense models, and of MoE models
   that are Hugging Face's as they are, reshard unless pipelined
   (nemo_automodel/components/distributed/parallelizer_utils.py). */
static void read_resharding(const struct facts *f, struct knobs *k, const struct model_shape *m)
{
    const struct fact *class = facts_get(f, P_automodel_moe);
    bool outside = class->value.kind == VALUE_BOOL && !class->value.b;
    bool moe = m->experts > 0 && !outside;
    const struct fact *own = facts_get(f, P_moe_reshard_after_forward);
    const struct fact *general = facts_get(f, P_reshard_after_forward);
    const struct fact *x = moe && fact_is_set(own) ? own : general;
    k->reshard_stated = fact_is_set(x) && x->value.kind == VALUE_BOOL;
    k->reshard_after_forward = k->reshard_stated ? x->value.b : !moe;
}

/* vpp from whichever of its spellings is used; an explicit layout decides before them. */
static void read_pipeline(struct arena *a, const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    struct layout *layout = ARENA_NEW(a, struct layout);
    struct value stages = facts_get(f, P_pipeline_layout_stages)->value;
    if (layout_from_stages(stages, layout) && layout->n_chunks % k->pp == 0) {
        k->vpp = layout->n_chunks / k->pp;
        k->layout = c->n_layouts = 1;
        c->layouts = layout;
        c->layout_given = true;
        return;
    }
    int64_t vpp = facts_int(f, P_virtual_pipeline_model_parallel_size, 0);
    if (vpp <= 0) vpp = facts_int(f, P_num_virtual_stages_per_pipeline_rank, 0);
    int64_t layers = facts_int(f, P_num_layers_per_virtual_pipeline_stage, 0);
    if (vpp <= 0 && layers > 0 && k->pp > 1) vpp = c->model.num_layers / k->pp / layers;
    k->vpp = vpp > 0 ? (int)vpp : 1;
    k->group_size = (int)facts_int(f, P_microbatch_group_size_per_vp_stage, 0);
}

static bool missing(const struct facts *f, int param, const char *help)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "missing-fact", (struct span){.source = f->source},
                 "%.*s is not given", STR_ARG(param_name(param)));
    d->parameter = param_name(param);
    diag_help(f->diags, d, "%s", help);
    return false;
}

/* Every number within the range of its parameter, so that no product of them overflows and nothing
   is divided by 0, whatever a recipe says. */
static bool check_ranges(const struct facts *f)
{
    bool good = true;
    for (uint32_t i = 0; i < param_ranged_count; i++) {
        const struct param *p = &param_table[param_ranged[i]];
        const struct fact *x = &f->items[param_ranged[i]];
        if (value_in_range(p, x->value)) continue;
        struct span at =
            x->node ? node_span(f->diags, x->node) : (struct span){.source = f->source};
        good = value_check_range(f->arena, f->diags, p, x->value, at, p->name);
    }
    return good;
}

static void read_table(const struct facts *f, struct knobs *k)
{
    for (size_t i = 0; i < knob_count; i++) {
        const struct knob *knob = &knob_table[i];
        struct value v = facts_get(f, knob->param)->value;
        if (!is_joint(knob) && v.kind != VALUE_UNKNOWN && v.kind != VALUE_NULL)
            knob_set(k, knob, v);
    }
}

/* AutoModel: with a pipeline the local batch is what one schedule takes, in microbatches of another
 * key. */
static void read_microbatch(const struct facts *f, struct knobs *k)
{
    const struct fact *x = facts_get(f, P_pp_microbatch_size);
    bool said = fact_is_set(x) || str_is(f->format, "automodel");
    if (f->framework == FRAMEWORK_AUTOMODEL && k->pp > 1 && said && x->value.kind == VALUE_INT &&
        x->value.i > 0 && x->value.i < k->mbs)
        k->mbs = (int)x->value.i;
}

static void read_joint(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    read_microbatch(f, k);
    int64_t etp = facts_int(f, P_expert_tensor_parallel_size, 0);
    bool follows_tp = f->framework == FRAMEWORK_MEGATRON && c->model.experts > 0;
    k->etp = etp > 0 ? (int)etp : follows_tp ? k->tp : 1;
    if (k->tp == 1) k->sequence_parallel = false;
    k->precision = precision_of(f);
    if (!fact_is_set(facts_get(f, P_dispatcher))) k->dispatcher = dispatcher_of(f);
    k->fsdp = sharding_of(f);
    k->optimizer_instances = (int)facts_int(f, P_num_distributed_optimizer_instances, 1);
    read_resharding(f, k, &c->model);
    read_kernels(f, k, &c->model);
    read_recompute(f, k);
    read_optimizer(f, k);
    read_trained(f, k, &c->model);
    if (k->gbs == 0) k->gbs = k->mbs * knobs_dp(k); /* arguments.py: one microbatch a rank */
}

/* AutoModel's packed sequences are as long as they say, whatever the data set's are. */
static int packed_length(const struct facts *f)
{
    return (int)facts_int(f, P_packed_sequence_size, 0);
}

/* Megatron-LM's pretrain_gpt.py builds the text part alone, and its flags can say no other; who
   says images runs a program of his own. */
static bool lacks_tower(const struct config *c)
{
    return c->framework == FRAMEWORK_MEGATRON && c->knobs.image_tokens <= 0;
}

bool config_from_facts(struct arena *a, const struct facts *f, struct config *out)
{
    *out = (struct config){.framework = f->framework, .knobs = usual_knobs()};
    bool good = config_model(f, &out->model, false);
    out->machine_known = config_machine(f, &out->machine);
    struct knobs *k = &out->knobs;
    k->gbs = 0;
    read_table(f, k);
    if (lacks_tower(out)) out->model.vision_layers = 0;
    if (!check_ranges(f)) return false;
    if (k->gpus <= 0)
        good =
            missing(f, P_world_size, "give the number of GPUs: --gpus N, or gpus: N in the plan");
    if (k->seq <= 0) k->seq = packed_length(f);
    if (k->seq <= 0)
        good = missing(f, P_seq_length,
                       "give the sequence length: --set seq_length=N, or seq: N in a plan");
    if (!good) return false;
    read_joint(f, out);
    read_pipeline(a, f, out);
    return true;
}

bool config_is_decided(const struct facts *f)
{
    static const int names[] = {
        P_tensor_model_parallel_size, P_pipeline_model_parallel_size,
        P_context_parallel_size,      P_expert_model_parallel_size,
        P_micro_batch_size,           P_seq_length,
        P_recompute_granularity,
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!fact_is_known(facts_get(f, names[i]))) return false;
    return true;
}
