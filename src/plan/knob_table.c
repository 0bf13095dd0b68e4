/* SPDX-License-Identifier: Apache-2.0 */
/* The knobs: what each field is where several facts decide it together or a framework fills it in
   by itself, how it is said, and the table of all. Sources: megatron/training/arguments.py
   validate_args, megatron/core/optimizer/optimizer_config.py, NeMo AutoModel's FSDP2 manager. */
#include "facts/param_ids.h"
#include "plan/framework.h"
#include "plan/knob.h"
#include "plan/peft.h"

#include <math.h>

/* ---- what fields are together ---- */

static bool is_true(const struct facts *f, int param)
{
    return facts_bool(f, param, false);
}

/* Of a schedule that takes the local batch: one stage a rank unless it interleaves them, then as
   many as their length makes, two where it has none. */
static int scheduled_stages(const struct facts *f, const struct config *c)
{
    struct str schedule = facts_str(f, P_pp_schedule);
    bool single = !schedule.n || str_eq_nocase(schedule, STR("1f1b")) ||
                  str_eq_nocase(schedule, STR("gpipe")) ||
                  str_eq_nocase(schedule, STR("pipelineschedulesingle"));
    int64_t length = facts_int(f, P_pp_layers_per_stage, 0);
    if (single || c->knobs.pp == 1) return 1;
    if (length <= 0 || length > c->model.num_layers) return 2;
    int stages = layout_stages_of_length(c->model.num_layers, (int)length, c->knobs.pp,
                                         facts_str(f, P_round_virtual_stages_to_pp_multiple));
    return stages / c->knobs.pp;
}

/* An explicit layout decides the virtual stages before whichever of their spellings is used. */
static void settle_stages(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    int64_t vpp = facts_int(f, P_virtual_pipeline_model_parallel_size, 0);
    if (vpp <= 0) vpp = facts_int(f, P_num_virtual_stages_per_pipeline_rank, 0);
    int64_t layers = facts_int(f, P_num_layers_per_virtual_pipeline_stage, 0);
    if (vpp <= 0 && layers > 0 && k->pp > 1) vpp = c->model.num_layers / k->pp / layers;
    if (vpp <= 0 && config_traits(c)->schedule_takes_batch) vpp = scheduled_stages(f, c);
    k->vpp = vpp > 0 ? (int)vpp : 1;
    if (!c->layout_given) return;
    k->vpp = c->layouts[0].n_chunks / k->pp;
    k->layout = 1;
    k->group_size = 0;
}

static void settle_expert_tensor(const struct facts *f, struct config *c)
{
    bool follows = config_traits(c)->experts_follow_tensor && c->model.experts > 0;
    bool said = facts_int(f, P_expert_tensor_parallel_size, 0) > 0;
    if (!said && follows) c->knobs.etp = c->knobs.tp;
    if (c->model.experts == 0) c->knobs.etp = 1; /* whatever the framework lets follow */
}

/* Where a schedule takes the local batch, its microbatches have a key of their own. */
static void settle_microbatch(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    int64_t own = facts_int(f, P_pp_microbatch_size, 0);
    if (config_has_schedule(c) && own > 0 && own < k->mbs) k->mbs = (int)own;
}

/* arguments.py: one microbatch a rank */
static void settle_batch(const struct facts *f, struct config *c)
{
    (void)f;
    if (c->knobs.gbs == 0) c->knobs.gbs = c->knobs.mbs * knobs_dp(&c->knobs);
}

/* A local batch that is stated is what a pass of the schedule takes. A plan that is silent of its
   microbatches means the schedule's, in one pass. */
static void settle_schedules(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    int64_t local = facts_int(f, P_micro_batch_size, 0);
    bool stated = local > k->mbs || fact_is_set(facts_get(f, P_pp_microbatch_size));
    if (!config_has_schedule(c) || !stated || local <= 0) return;
    int64_t passes = k->gbs / (local * knobs_dp(k));
    if (passes > 1 && passes <= INT32_MAX) k->schedules = (int)passes;
}

static void settle_sequence_parallel(const struct facts *f, struct config *c)
{
    (void)f;
    if (c->knobs.tp == 1) c->knobs.sequence_parallel = false;
}

static void settle_recomputed(const struct facts *f, struct config *c)
{
    (void)f;
    if (c->knobs.recompute != RECOMPUTE_SELECTIVE)
        c->knobs.recompute_modules = 0;
    else if (config_traits(c)->repeats_operations)
        c->knobs.recompute_modules = MOD_OPERATIONS;
}

static void settle_offloaded(const struct facts *f, struct config *c)
{
    if (!is_true(f, P_fine_grained_activation_offloading)) c->knobs.offload_modules = 0;
}

static void settle_layers_offloaded(const struct facts *f, struct config *c)
{
    if (!facts_bool(f, P_cpu_offloading, true)) c->knobs.layers_offloaded = 0;
}

/* FSDP2's optimizer is PyTorch's on the sharded parameters: its states are in their format. */
static bool states_as_params(const struct config *c)
{
    return config_traits(c)->states_as_params && c->knobs.fsdp == FSDP_FSDP2;
}

/* Both frameworks refuse a narrow format where the optimizer is another one: who states a format
   and no optimizer gets that one (rule `optimizer-is-precision-aware`). */
static void settle_precise(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    bool narrow = k->grad_bytes < 4 || k->main_param_bytes < 4 || k->exp_avg_bytes < 4 ||
                  k->exp_avg_sq_bytes < 4;
    bool stated = fact_is_set(facts_get(f, P_use_precision_aware_optimizer));
    if (narrow && !stated) k->precision_aware = true;
}

static void settle_grads(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    const struct fact *accumulate = facts_get(f, P_accumulate_allreduce_grads_in_fp32);
    bool said_no =
        fact_is_set(accumulate) && accumulate->value.kind == VALUE_BOOL && !accumulate->value.b;
    bool own = k->precision_aware && k->grad_bytes == 2;
    bool narrow = own || said_no || is_true(f, P_grad_reduce_in_bf16) ||
                  k->precision == PREC_FP16 || states_as_params(c);
    k->grad_bytes = narrow ? 2 : 4;
}

static void settle_main_params(const struct facts *f, struct config *c)
{
    (void)f;
    struct knobs *k = &c->knobs;
    if (!k->precision_aware) k->main_param_bytes = 4;
    if (states_as_params(c)) k->main_param_bytes = 0;
}

static void settle_moments(const struct facts *f, struct config *c)
{
    (void)f;
    struct knobs *k = &c->knobs;
    if (!k->precision_aware) k->exp_avg_bytes = k->exp_avg_sq_bytes = 4;
    if (states_as_params(c)) k->exp_avg_bytes = k->exp_avg_sq_bytes = 2;
}

static void settle_optimizer_offload(const struct facts *f, struct config *c)
{
    if (!is_true(f, P_optimizer_cpu_offload)) c->knobs.optimizer_offload = 0;
}

static void settle_optimizer(const struct facts *f, struct config *c)
{
    struct str name = facts_str(f, P_optimizer);
    c->knobs.muon = str_find_str(name, STR("muon")) < name.n;
    c->knobs.layer_wise_optimizer = str_starts(name, STR("dist_"));
}

static void settle_attention(const struct facts *f, struct config *c)
{
    (void)f;
    if (!c->knobs.transformer_engine) c->knobs.attention = ATTN_UNFUSED;
}

/* Sparse attention writes the gather in one word (megatron/core/transformer/
   transformer_config.py). */
static void settle_context(const struct facts *f, struct config *c)
{
    struct value v = facts_get(f, P_cp_comm_type)->value;
    if (v.kind == VALUE_LIST && v.list->n > 0) v = v.list->items[0];
    if (v.kind == VALUE_STRING && str_is(v.s, "allgather")) c->knobs.cp_comm = CP_GATHER;
}

/* Megatron-core's experts (core/models/gpt/moe_module_specs.py): one after the other unless grouped
   (a plan that is silent means grouped ones, as every tuned run has them); grouped tensors are one
   kernel; with the op fuser one operation (core/transformer/moe/experts.py _with_fused_impl). */
static void settle_experts(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    if (!config_traits(c)->megatron_words) return;
    bool silent = str_is(f->format, "plan") && !fact_is_set(facts_get(f, P_moe_grouped_gemm));
    bool grouped = silent || k->grouped_gemm;
    k->experts = !grouped                               ? EXPERTS_LOOP
                 : k->op_fuser                          ? EXPERTS_FUSED
                 : is_true(f, P_moe_use_grouped_tensor) ? EXPERTS_GROUPED
                                                        : EXPERTS_TE;
}

/* torch.compile makes few kernels of many operations. */
static bool runs_eagerly(const struct facts *f)
{
    return facts_bool(f, P_automodel_eager, false) && !facts_bool(f, P_compile_enabled, false);
}

/* Models of Hugging Face's own classes have one word for their attention; everything else is
   PyTorch's, expert by expert. */
static void settle_classes(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    if (config_traits(c)->megatron_words) return;
    if (runs_eagerly(f)) k->norms = NORM_EAGER, k->linears = LINEARS_TORCH;
    if (facts_bool(f, P_automodel_moe, true) || k->norms == NORM_EAGER) return;
    k->experts = EXPERTS_LOOP, k->norms = NORM_TORCH, k->linears = LINEARS_TORCH;
}

/* AutoModel checkpoints the parts of a layer, which are then recomputed each on its own
   (components/distributed/activation_checkpointing.py apply_submodule_checkpointing), but whole
   layers of its MoE classes where anything is sharded (components/moe/parallelizer.py apply_ac),
   and of Hugging Face's own classes, whose code does it (parallelizer.py
   _should_use_hf_native_gradient_checkpointing). */
static void settle_parts(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    bool own = facts_bool(f, P_automodel_is_custom_model, true);
    bool whole = c->model.experts > 0 && facts_bool(f, P_automodel_moe, true) && k->gpus > 1;
    k->repeats_parts = config_traits(c)->checkpoints_parts && own && !whole;
}

static void settle_activation(const struct facts *f, struct config *c)
{
    if (!c->model.gated)
        c->knobs.act_fusion = facts_bool(f, P_use_fused_weighted_squared_relu, true);
}

/* Megatron's silence means learned positions. */
static bool has_rotary_positions(const struct facts *f)
{
    struct str positions = facts_str(f, P_position_embedding_type);
    return !str_is(positions, "learned_absolute") && !str_is(positions, "relative") &&
           !str_is(positions, "none");
}

/* The fused kernel is for plain rotary positions alone (megatron/training/arguments.py; Bridge's
   utils/fusions.py, validate_rope_fusion_compatibility). MLA has kernels of its own. */
static void settle_rope(const struct facts *f, struct config *c)
{
    struct str positions = facts_str(f, P_position_embedding_type);
    bool others = str_is(positions, "yarn") || str_is(positions, "mrope");
    bool yarn =
        config_traits(c)->biased_experts_have_yarn && c->model.experts > 0 && c->model.add_bias;
    bool apart = others || yarn || !facts_bool(f, P_apply_rope_fusion, true);
    bool eager = config_traits(c)->megatron_words ? apart : runs_eagerly(f);
    c->knobs.rope_apart = eager && has_rotary_positions(f) && !c->model.mla;
}

/* Below 0 it is over the largest microbatch's rows, which nobody knows before a run. */
static void settle_stash(const struct facts *f, struct config *c)
{
    (void)f;
    c->knobs.stash_factor = fabs(c->knobs.stash_factor);
}

static void settle_exchange_sms(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    if (k->exchange_sms <= 0) k->exchange_sms = (int)facts_int(f, P_backend_dispatcher_num_sms, 0);
}

static void settle_projection(const struct facts *f, struct config *c)
{
    (void)f;
    if (config_traits(c)->projector_in_tower) c->knobs.freeze_projection = c->knobs.freeze_vision;
}

static void settle_adapters(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    if (k->task == TASK_PEFT)
        k->lora_targets = peft_targets(f, &c->model);
    else
        k->lora_rank = 0, k->lora_dropout = 0, k->dora = k->four_bit = k->eight_bit = false;
}

static bool has_moe_class(const struct facts *f, const struct config *c)
{
    return c->model.experts > 0 && facts_bool(f, P_automodel_moe, true);
}

/* The key that says it: of AutoModel's MoE classes their own where it is there. */
static int resharding_param(const struct facts *f, const struct config *c)
{
    bool own = has_moe_class(f, c) && fact_is_set(facts_get(f, P_moe_reshard_after_forward));
    return own ? P_moe_reshard_after_forward : P_reshard_after_forward;
}

/* AutoModel's MoE classes have a key of their own, false by default
   (nemo_automodel/components/moe/parallelizer.py:646); layers of dense models, and of MoE models
   that are Hugging Face's as they are, reshard unless pipelined
   (nemo_automodel/components/distributed/parallelizer_utils.py). */
static void settle_resharding(const struct facts *f, struct config *c)
{
    struct knobs *k = &c->knobs;
    bool moe = has_moe_class(f, c);
    const struct fact *x = facts_get(f, resharding_param(f, c));
    k->reshard_stated = fact_is_set(x) && x->value.kind == VALUE_BOOL;
    k->reshard_after_forward = k->reshard_stated ? x->value.b : !moe;
}

/* ---- how fields are said ---- */

static void say_own(const struct knob_saying *s, const struct config *c, int param)
{
    knob_put(s, param, knob_get(s->facts->arena, &c->knobs, knob_of(param)));
}

/* Where it is not the framework's default, by the key that says it already. */
static void say_resharding(const struct knob_saying *s, const struct config *c,
                           const struct knob *knob)
{
    int param = resharding_param(s->facts, c);
    (void)knob;
    if (c->knobs.reshard_stated || fact_is_set(facts_get(s->facts, param)))
        knob_put(s, param, value_bool(c->knobs.reshard_after_forward));
}

/* What stands beside a knob for some of its values only. */
static void say_beside(const struct knob_saying *s, bool wanted, int param, struct value v)
{
    if (wanted)
        knob_put(s, param, v);
    else if (!s->keep)
        knob_put(s, param, value_null());
}

static void say_own_beside(const struct knob_saying *s, const struct config *c, bool wanted,
                           int param)
{
    say_beside(s, wanted, param, knob_get(s->facts->arena, &c->knobs, knob_of(param)));
}

static void say_nothing(const struct knob_saying *s, const struct config *c,
                        const struct knob *knob)
{
    (void)s, (void)c, (void)knob;
}

static void say_words(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    knob_say_words(s, &c->knobs, knob);
}

/* Where a schedule takes the local batch, the microbatch has a key of its own. */
static void say_microbatch(const struct knob_saying *s, const struct config *c,
                           const struct knob *knob)
{
    knob_put(s, config_has_schedule(c) ? P_pp_microbatch_size : knob->param,
             value_int(c->knobs.mbs));
}

static const char *const cp_comm_words[] = {"p2p", "a2a", "all_gather", "a2a+p2p", NULL};

/* The ring goes without saying; AutoModel has no word for any. The ranks inside a level are
   neighbours (megatron/core/parallel_state.py, create_hierarchical_groups). */
static void say_exchange(const struct knob_saying *s, const struct config *c,
                         const struct knob *knob)
{
    if (!config_traits(c)->megatron_words) return;
    enum cp_comm comm = config_cp_comm(c);
    int dealt = config_cp_dealt(c), cp = c->knobs.cp;
    struct value word = value_string(str_of(cp_comm_words[comm])),
                 levels[] = {value_int(dealt), value_int(cp / dealt)};
    bool two = comm == CP_LEVELS && dealt > 1;
    say_beside(s, comm != CP_RING, knob->param, value_list_of(s->facts->arena, &word, 1));
    say_beside(s, two, P_hierarchical_context_parallel_sizes,
               value_list_of(s->facts->arena, levels, 2));
}

/* On how many ranks there are it depends what attention needs, and how they share its heads. */
static void say_context(const struct knob_saying *s, const struct config *c,
                        const struct knob *knob)
{
    say_own(s, c, knob->param);
    if (c->knobs.cp_comm == CP_NEEDED || c->knobs.cp_comm == CP_LEVELS)
        say_exchange(s, c, knob_of(P_cp_comm_type));
}

void knob_say_local_batch(const struct knob_saying *s, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    if (!config_has_schedule(c)) return;
    knob_put(s, P_pp_microbatch_size, value_int(k->mbs));
    knob_put(s, P_micro_batch_size, value_int(knobs_local_batch(k)));
}

static void say_schedules(const struct knob_saying *s, const struct config *c,
                          const struct knob *knob)
{
    (void)knob;
    knob_say_local_batch(s, c);
}

/* In the words of a schedule that cuts stages by their length. */
static void say_schedule(const struct knob_saying *s, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    bool virtual = k->vpp > 1;
    struct stage_cut cut = {0};
    if (virtual) cut = layout_cut(c->model.num_layers, k->pp * k->vpp, k->pp);
    if (k->pp > 1)
        knob_put(s, P_pp_schedule, value_string(virtual ? STR("interleaved1f1b") : STR("1f1b")));
    say_beside(s, cut.length > 0, P_pp_layers_per_stage, value_int(cut.length));
    say_beside(s, cut.rounded, P_round_virtual_stages_to_pp_multiple,
               value_string(LAYOUT_ROUND_UP));
}

/* Megatron-LM counts the virtual stages only where no layout says them. */
static void say_stages(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    (void)knob;
    const struct knobs *k = &c->knobs;
    const struct param *counted = &param_table[P_num_virtual_stages_per_pipeline_rank];
    bool counts = counted->in[c->framework]->known;
    struct value layout =
        k->layout > 0 ? value_string(layout_text(s->facts->arena, &c->layouts[k->layout - 1]))
                      : value_null();
    say_beside(s, k->layout > 0, P_pipeline_model_parallel_layout, layout);
    bool wanted = k->vpp > 1 && (k->layout == 0 || !counts);
    say_beside(s, wanted && counts, P_num_virtual_stages_per_pipeline_rank, value_int(k->vpp));
    if (!counts)
        say_beside(s, wanted, P_virtual_pipeline_model_parallel_size, value_int(k->vpp));
    else if (!s->keep) /* follows from them */
        facts_forget(s->facts, P_virtual_pipeline_model_parallel_size);
    say_beside(s, false, P_num_layers_per_virtual_pipeline_stage, value_null());
    if (config_traits(c)->schedule_takes_batch) say_schedule(s, c);
}

/* Other ranks cut the model into other stages, whatever says those. */
static void say_pipeline(const struct knob_saying *s, const struct config *c,
                         const struct knob *knob)
{
    knob_put(s, knob->param, value_int(c->knobs.pp));
    knob_say_local_batch(s, c);
    say_stages(s, c, knob);
}

static void say_dispatcher(const struct knob_saying *s, const struct config *c,
                           const struct knob *knob)
{
    say_own(s, c, knob->param);
    if (c->model.experts > 0) knob_say_words(s, &c->knobs, knob);
}

/* AutoModel has one word for all of it. */
static void say_recompute(const struct knob_saying *s, const struct config *c,
                          const struct knob *knob)
{
    (void)knob;
    const struct knobs *k = &c->knobs;
    bool full = k->recompute == RECOMPUTE_FULL;
    bool chosen = k->recompute == RECOMPUTE_SELECTIVE && k->recompute_modules != 0;
    say_own(s, c, P_recompute_granularity);
    if (knob_say_words(s, k, knob_of(P_recompute_granularity))) return;
    say_own_beside(s, c, full, P_recompute_method);
    say_beside(s, full, P_recompute_num_layers,
               value_int(k->recompute_num_layers > 0 ? k->recompute_num_layers : 1));
    say_own_beside(s, c, chosen, P_recompute_modules);
}

static void say_graphs(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    (void)knob;
    say_own(s, c, P_cuda_graph_impl);
    say_own_beside(s, c, c->knobs.graph_impl != GRAPH_NONE, P_cuda_graph_scope);
}

static void say_offloaded(const struct knob_saying *s, const struct config *c,
                          const struct knob *knob)
{
    bool any = c->knobs.offload_modules != 0;
    say_beside(s, any, P_fine_grained_activation_offloading, value_bool(true));
    say_own_beside(s, c, any, knob->param);
}

static void say_optimizer_offload(const struct knob_saying *s, const struct config *c,
                                  const struct knob *knob)
{
    bool any = c->knobs.optimizer_offload > 0;
    say_beside(s, any, P_optimizer_cpu_offload, value_bool(true));
    say_own_beside(s, c, any, knob->param);
}

static void say_state(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    say_own_beside(s, c, c->knobs.precision_aware, knob->param);
}

/* Narrow gradients: Megatron-LM's switch where the optimizer's format does not say so, and Bridge's
   in any case, as there no other one decides what is reduced, and silence of wide ones means
   nothing. FP16 has no others. */
static void say_grads(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    const struct knobs *k = &c->knobs;
    bool any = k->precision != PREC_FP16, narrow = any && k->grad_bytes == 2;
    bool has_switch = param_table[P_grad_reduce_in_bf16].in[c->framework]->known;
    say_state(s, c, knob);
    if (!config_traits(c)->megatron_words) return;
    if (has_switch)
        say_beside(s, narrow && !k->precision_aware, P_grad_reduce_in_bf16, value_bool(true));
    else
        say_beside(s, any, P_accumulate_allreduce_grads_in_fp32, value_bool(!narrow));
}

/* Balance is assumed of most runs: only that it is forced needs a word. */
static void say_balance(const struct knob_saying *s, const struct config *c,
                        const struct knob *knob)
{
    say_beside(s, c->knobs.force_balance, knob->param, value_bool(true));
}

/* Parameters about experts say nothing of a dense model. */
static bool is_about_experts(int param)
{
    struct str name = param_name(param);
    return str_starts(name, STR("moe_")) || str_starts(name, STR("expert_")) ||
           str_find_str(name, STR("_moe_")) < name.n;
}

void knob_say(const struct knob_saying *s, const struct config *c, const struct knob *knob)
{
    if (knob->say)
        knob->say(s, c, knob);
    else if (c->model.experts > 0 || !is_about_experts(knob->param))
        knob_put(s, knob->param, knob_get(s->facts->arena, &c->knobs, knob));
}

/* ---- the table ---- */

static const char *const granularity_words[] = {"", "selective", "full", NULL};
static const char *const method_words[] = {"uniform", "block", NULL};
static const char *const graph_words[] = {"none", "local", "transformer_engine", "full_iteration",
                                          NULL};
static const char *const attention_words[] = {"flash", "fused", "unfused", "sdpa",
                                              "flex",  "auto",  NULL};
static const char *const experts_words[] = {"te", "grouped", "loop", "torch", "fused", NULL};
static const char *const norms_words[] = {"te", "torch", "torch_fp32", "eager", NULL};
static const char *const linears_words[] = {"te", "torch", NULL};
static const char *const dispatcher_words[] = {"allgather", "alltoall", "deepep",
                                               "hybridep",  "torch",    NULL};
static const char *const task_words[] = {"pretrain", "sft", "peft", NULL};
static const char *const loss_words[] = {"none",   "native",      "te", "linear",
                                         "masked", "masked_fp32", NULL};
static const char *const module_words[] = {
    "core_attn",   "layernorm", "moe_act",         "mlp",        "shared_experts",
    "mla_up_proj", "moe",       "expert_fc1",      "qkv_linear", "attn_proj",
    "attn_norm",   "mlp_norm",  "fused_group_mlp", "operations", NULL};
static const char *const scope_words[] = {"attn", "moe_router", "moe_preprocess", "mamba", "mlp",
                                          "moe",  NULL};

static const char *const numerics_words[] = {"gradients",   "moments",        "parameters",
                                             "fp8_moments", "dynamic_graphs", NULL};

#define NONE (-1)
#define FIELD(name) offsetof(struct knobs, name)
/* A field that the parameter's value is; one that has words; one that more goes into. */
#define PLAIN(param, kind, field, absent)                                                          \
    {                                                                                              \
        param, kind, FIELD(field), NULL, absent, NULL, NULL                                        \
    }
#define WORDS(param, kind, field, words, absent, say)                                              \
    {                                                                                              \
        param, kind, FIELD(field), words, absent, NULL, say                                        \
    }
#define CODE(param, kind, field, absent, settle, say)                                              \
    {                                                                                              \
        param, kind, FIELD(field), NULL, absent, settle, say                                       \
    }

enum { DECIDED = 56 }; /* rows of what a plan decides */

const struct knob knob_table[] = {
    PLAIN(P_world_size, KNOB_INT64, gpus, NONE),
    PLAIN(P_tensor_model_parallel_size, KNOB_INT, tp, NONE),
    CODE(P_pipeline_model_parallel_size, KNOB_INT, pp, NONE, NULL, say_pipeline),
    CODE(P_virtual_pipeline_model_parallel_size, KNOB_INT, vpp, 1, settle_stages, say_stages),
    CODE(P_context_parallel_size, KNOB_INT, cp, NONE, NULL, say_context),
    PLAIN(P_expert_model_parallel_size, KNOB_INT, ep, NONE),
    CODE(P_expert_tensor_parallel_size, KNOB_INT, etp, NONE, settle_expert_tensor, NULL),
    CODE(P_micro_batch_size, KNOB_INT, mbs, NONE, settle_microbatch, say_microbatch),
    CODE(P_global_batch_size, KNOB_INT64, gbs, NONE, settle_batch, NULL),
    PLAIN(P_seq_length, KNOB_INT, seq, NONE),
    CODE(P_sequence_parallel, KNOB_BOOL, sequence_parallel, NONE, settle_sequence_parallel, NULL),
    WORDS(P_precision, KNOB_WORD, precision, precision_words, NONE, NULL),
    PLAIN(P_fp8_param_gather, KNOB_BOOL, fp8_param_gather, NONE),
    WORDS(P_recompute_granularity, KNOB_LADDER, recompute, granularity_words, RECOMPUTE_NONE,
          say_recompute),
    WORDS(P_recompute_method, KNOB_WORD, recompute_method, method_words, NONE, say_recompute),
    CODE(P_recompute_num_layers, KNOB_INT, recompute_num_layers, 0, NULL, say_recompute),
    {P_recompute_modules, KNOB_MODULES, FIELD(recompute_modules), module_words, 0,
     settle_recomputed, say_recompute},
    {P_offload_modules, KNOB_MODULES, FIELD(offload_modules), module_words, 0, settle_offloaded,
     say_offloaded},
    WORDS(P_cuda_graph_impl, KNOB_WORD, graph_impl, graph_words, NONE, say_graphs),
    WORDS(P_cuda_graph_scope, KNOB_MODULES, graph_scope, scope_words, 0, say_graphs),
    PLAIN(P_use_distributed_optimizer, KNOB_BOOL, distributed_optimizer, NONE),
    CODE(P_use_precision_aware_optimizer, KNOB_BOOL, precision_aware, NONE, settle_precise, NULL),
    CODE(P_main_grads_dtype, KNOB_DTYPE, grad_bytes, NONE, settle_grads, say_grads),
    CODE(P_main_params_dtype, KNOB_DTYPE, main_param_bytes, NONE, settle_main_params, say_nothing),
    CODE(P_exp_avg_dtype, KNOB_DTYPE, exp_avg_bytes, NONE, settle_moments, say_state),
    CODE(P_exp_avg_sq_dtype, KNOB_DTYPE, exp_avg_sq_bytes, NONE, NULL, say_state),
    CODE(P_optimizer_offload_fraction, KNOB_DOUBLE, optimizer_offload, 0, settle_optimizer_offload,
         say_optimizer_offload),
    PLAIN(P_overlap_grad_reduce, KNOB_BOOL, overlap_grad_reduce, NONE),
    PLAIN(P_overlap_param_gather, KNOB_BOOL, overlap_param_gather, NONE),
    PLAIN(P_tp_comm_overlap, KNOB_BOOL, tp_comm_overlap, NONE),
    PLAIN(P_overlap_moe_expert_parallel_comm, KNOB_BOOL, overlap_ep, NONE),
    PLAIN(P_delay_wgrad_compute, KNOB_BOOL, delay_wgrad, NONE),
    PLAIN(P_moe_shared_expert_overlap, KNOB_BOOL, shared_expert_overlap, NONE),
    PLAIN(P_moe_permute_fusion, KNOB_BOOL, permute_fusion, NONE),
    PLAIN(P_moe_grouped_gemm, KNOB_BOOL, grouped_gemm, NONE),
    {P_attention_backend, KNOB_WORD, FIELD(attention), attention_words, NONE, settle_attention,
     say_nothing},
    WORDS(P_task, KNOB_WORD, task, task_words, NONE, NULL),
    CODE(P_moe_router_force_load_balancing, KNOB_BOOL, force_balance, NONE, NULL, say_balance),
    PLAIN(P_moe_pad_expert_input_to_capacity, KNOB_BOOL, pad_to_capacity, NONE),
    PLAIN(P_offload_optimizer_states, KNOB_BOOL, offload_optimizer_states, NONE),
    PLAIN(P_moe_expert_capacity_factor, KNOB_DOUBLE, capacity_factor, 0),
    PLAIN(P_num_layers_in_first_pipeline_stage, KNOB_INT, first_stage_layers, 0),
    PLAIN(P_num_layers_in_last_pipeline_stage, KNOB_INT, last_stage_layers, 0),
    PLAIN(P_account_for_embedding_in_pipeline_split, KNOB_BOOL, account_embedding, NONE),
    PLAIN(P_account_for_loss_in_pipeline_split, KNOB_BOOL, account_loss, NONE),
    PLAIN(P_freeze_vision_model, KNOB_BOOL, freeze_vision, NONE),
    CODE(P_freeze_vision_projection, KNOB_BOOL, freeze_projection, NONE, settle_projection, NULL),
    PLAIN(P_freeze_language_model, KNOB_BOOL, freeze_language, NONE),
    PLAIN(P_image_tokens, KNOB_INT, image_tokens, 0),
    PLAIN(P_images_per_sequence, KNOB_INT, images, 1),
    WORDS(P_dispatcher, KNOB_WORD, dispatcher, dispatcher_words, NONE, say_dispatcher),
    CODE(P_use_megatron_fsdp, KNOB_SHARDED, fsdp, NONE, NULL, say_words),
    PLAIN(P_dp_replicate_size, KNOB_INT, dp_replicate, 1),
    CODE(P_reshard_after_forward, KNOB_BOOL, reshard_after_forward, NONE, settle_resharding,
         say_resharding),
    PLAIN(P_num_distributed_optimizer_instances, KNOB_INT, optimizer_instances, NONE),
    {P_cp_comm_type, KNOB_EACH, FIELD(cp_comm), cp_comm_words, CP_NEEDED, settle_context,
     say_exchange},
    [DECIDED] =
        WORDS(P_cross_entropy_loss_fusion, KNOB_WORD, ce_fusion, loss_words, NONE, say_words),
    CODE(P_NONE, KNOB_INT, layout, 0, NULL, say_stages),
    CODE(P_NONE, KNOB_INT, schedules, 1, settle_schedules, say_schedules),
    CODE(P_NONE, KNOB_BOOL, muon, NONE, settle_optimizer, say_nothing),
    CODE(P_NONE, KNOB_BOOL, layer_wise_optimizer, NONE, NULL, say_nothing),
    CODE(P_bias_swiglu_fusion, KNOB_BOOL, act_fusion, NONE, settle_activation, say_nothing),
    CODE(P_NONE, KNOB_BOOL, reshard_stated, NONE, NULL, say_resharding),
    CODE(P_NONE, KNOB_BOOL, repeats_parts, NONE, settle_parts, say_nothing),
    CODE(P_optimizer_foreach, KNOB_BOOL, steps_singly, NONE, NULL, say_nothing),
    CODE(P_peft_dim, KNOB_INT, lora_rank, 0, settle_adapters, say_nothing),
    CODE(P_NONE, KNOB_MODULES, lora_targets, 0, NULL, say_nothing),
    CODE(P_peft_scheme, KNOB_BOOL, dora, NONE, NULL, say_nothing),
    PLAIN(P_peft_dropout, KNOB_DOUBLE, lora_dropout, 0),
    PLAIN(P_peft_a2a_experimental, KNOB_BOOL, lora_all_to_all, NONE),
    PLAIN(P_load_in_4bit, KNOB_BOOL, four_bit, NONE),
    PLAIN(P_load_in_8bit, KNOB_BOOL, eight_bit, NONE),
    PLAIN(P_bnb_4bit_use_double_quant, KNOB_BOOL, double_quant, NONE),
    CODE(P_transformer_impl, KNOB_BOOL, transformer_engine, NONE, NULL, say_nothing),
    CODE(P_cpu_offloading_num_layers, KNOB_INT, layers_offloaded, 0, settle_layers_offloaded,
         say_nothing),
    CODE(P_moe_flex_dispatcher_num_sms, KNOB_INT, exchange_sms, 0, settle_exchange_sms,
         say_nothing),
    CODE(P_moe_expert_rank_capacity_factor, KNOB_DOUBLE, rank_capacity, 0, NULL, say_nothing),
    CODE(P_moe_paged_stash, KNOB_BOOL, paged_stash, NONE, NULL, say_nothing),
    CODE(P_moe_paged_stash_buffer_size_factor_cuda, KNOB_DOUBLE, stash_factor, 0, settle_stash,
         say_nothing),
    WORDS(P_open_numerics, KNOB_MODULES, open_numerics, numerics_words, 0, say_nothing),
    PLAIN(P_microbatch_group_size_per_vp_stage, KNOB_INT, group_size, 0),
    PLAIN(P_document_tokens, KNOB_DOUBLE, document_tokens, 0),
    PLAIN(P_document_mean, KNOB_DOUBLE, document_mean, 0),
    PLAIN(P_document_spread, KNOB_DOUBLE, document_spread, 0),
    PLAIN(P_document_cut, KNOB_DOUBLE, document_cut, 0),
    PLAIN(P_sequence_padding, KNOB_DOUBLE, padding, 0),
    PLAIN(P_gradient_accumulation_fusion, KNOB_BOOL, grad_accumulation_fusion, NONE),
    PLAIN(P_overlap_p2p_comm, KNOB_BOOL, overlap_p2p, NONE),
    PLAIN(P_deterministic_mode, KNOB_BOOL, deterministic, NONE),
    {P_backend_experts, KNOB_WORD, FIELD(experts), experts_words, NONE, settle_experts,
     say_nothing},
    {P_backend_rms_norm, KNOB_WORD, FIELD(norms), norms_words, NONE, settle_classes, say_nothing},
    {P_backend_linear, KNOB_WORD, FIELD(linears), linears_words, NONE, NULL, say_nothing},
    PLAIN(P_use_transformer_engine_op_fuser, KNOB_BOOL, op_fuser, NONE),
    PLAIN(P_fp8_dot_product_attention, KNOB_BOOL, fp8_attention, NONE),
    PLAIN(P_fp8_output_proj, KNOB_BOOL, fp8_output, NONE),
    CODE(P_NONE, KNOB_BOOL, rope_apart, NONE, settle_rope, say_nothing),
    PLAIN(P_activation_func_fp8_input_store, KNOB_BOOL, fp8_activation_store, NONE),
    PLAIN(P_defer_embedding_wgrad_compute, KNOB_BOOL, defer_embedding_wgrad, NONE),
    PLAIN(P_wgrad_deferral_limit, KNOB_INT, wgrad_deferral_limit, 0),
};
const size_t knob_count = DECIDED;
const size_t knob_field_count = sizeof knob_table / sizeof *knob_table;

const char *knobs_dispatcher(const struct knobs *k)
{
    return dispatcher_words[k->dispatcher];
}
