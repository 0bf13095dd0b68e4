/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/convert_words.h"

#include "facts/automodel.h"
#include "facts/param_ids.h"
#include "facts/reader.h"
#include "plan/framework.h"
#include "plan/knob.h"

static void put(struct conversion *out, int param, struct value v)
{
    facts_set(out->facts, param, v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static void put_word(struct conversion *out, int param, const char *word)
{
    put(out, param, value_string(str_of(word)));
}

static void note(struct arena *a, struct conversion *out, const char *text)
{
    *VEC_PUSH(a, &out->notes) = str_of(text);
}

static bool is_word(const struct facts *f, int param, const char *word)
{
    return str_is(facts_str(f, param), word);
}

static bool is_said(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    return fact_is_set(x) || x->origin == ORIGIN_OVERRIDE;
}

/* Says a knob in the target's words; without any, by its own parameter and what goes with it. */
static void put_knob(struct conversion *out, const struct config *c, int param)
{
    struct knob_saying words = {out->facts, false}, own = {out->facts, true};
    if (!knob_say_words(&words, &c->knobs, knob_of(param))) knob_say(&own, c, knob_of(param));
}

/* The knob as the source has it, in a configuration of the target. */
static struct config carried(const struct facts *f, const struct conversion *out, int param)
{
    struct config c = {.framework = out->facts->framework};
    c.model.experts = (int)facts_int(f, P_num_moe_experts, 0);
    knob_read(f, knob_of(param), &c.knobs);
    return c;
}

/* ---- Megatron's words -> AutoModel's ---- */

/* The word FSDP differs: with experts it is Megatron-FSDP there and fsdp2 here, whose megatron_fsdp
   has neither expert nor pipeline parallelism (guide S0.18). */
static void sharding_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool fsdp = facts_bool(f, P_use_megatron_fsdp, false);
    bool plain = facts_int(f, P_expert_model_parallel_size, 1) == 1 &&
                 facts_int(f, P_pipeline_model_parallel_size, 1) == 1 &&
                 !facts_bool(f, P_sequence_parallel, false);
    struct config c = {.framework = out->facts->framework};
    c.knobs.fsdp = fsdp && plain ? FSDP_OPTIM_GRADS_PARAMS : FSDP_FSDP2;
    put_knob(out, &c, P_use_megatron_fsdp);
    if (fsdp && !plain)
        note(a, out,
             "Megatron-FSDP with expert, pipeline or sequence parallelism is fsdp2 in AutoModel: "
             "its megatron_fsdp has none of them");
    if (!fsdp)
        note(a, out,
             "AutoModel has no distributed optimizer alone: fsdp2 also shards parameters and "
             "gradients over the data-parallel ranks");
}

static void dispatcher_to_automodel(const struct facts *f, struct conversion *out)
{
    struct config c = carried(f, out, P_dispatcher);
    if (c.model.experts > 0 && is_said(f, P_moe_token_dispatcher_type))
        put_knob(out, &c, P_dispatcher);
}

static void recompute_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct config c = carried(f, out, P_recompute_granularity);
    knob_read(f, knob_of(P_recompute_method), &c.knobs);
    if (c.knobs.recompute == RECOMPUTE_NONE) return;
    put_knob(out, &c, P_recompute_granularity);
    if (c.knobs.recompute == RECOMPUTE_SELECTIVE)
        note(a, out, "AutoModel's selective checkpointing chooses its own operators");
    else if (c.knobs.recompute_method == METHOD_BLOCK)
        note(a, out, "AutoModel checkpoints every layer, not a block of them");
}

/* Whether the model is one of AutoModel's own MoE classes, or of none that is known: they alone
   have Transformer Engine's layers (rule `automodel-fp8-layers`). */
static bool has_engine_layers(struct arena *a, const struct facts *target)
{
    struct facts *f = facts_copy(a, target);
    framework_facts(f);
    return facts_get(f, P_num_moe_experts)->value.kind != VALUE_NULL &&
           facts_bool(f, P_automodel_moe, true);
}

static void precision_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct knobs k = {.precision = PREC_BF16};
    const char *word;
    knob_read(f, knob_of(P_precision), &k);
    if (k.precision == PREC_BF16) return; /* AutoModel's own */
    int param = precision_of_automodel(k.precision, &word);
    bool engine = param != P_backend_te_fp8_recipe || has_engine_layers(a, out->facts);
    bool dense = facts_get(out->facts, P_num_moe_experts)->value.kind == VALUE_NULL;
    if (param != P_NONE && engine) {
        put_word(out, param, word);
    } else if (dense && k.precision == PREC_FP8_TENSORWISE) {
        put(out, P_torchao_fp8_enabled, value_bool(true));
    } else {
        put_word(out, P_precision, precision_words[PREC_BF16]);
        *VEC_PUSH(a, &out->lost) = (struct convert_loss){
            STR("precision"), facts_str(f, P_precision),
            STR("AutoModel computes this in none of the model's layers; bf16 stays")};
    }
}

/* Microbatches of a local batch, which a pass of the pipeline's schedule takes: PyTorch's keeps the
   logits of them all, so that they are the fewest that keep the pipeline busy for twice its ramp.
 */
static int64_t scheduled_of(int64_t microbatches, int64_t pp, bool interleaved)
{
    int64_t passes = microbatches / (2 * pp);
    while (passes > 1 && (microbatches % passes || (interleaved && microbatches / passes % pp)))
        passes--;
    return passes > 1 ? microbatches / passes : microbatches;
}

static void batch_to_automodel(const struct facts *f, struct conversion *out)
{
    int64_t mbs = facts_int(f, P_micro_batch_size, 1), batch = 0;
    int64_t pp = facts_int(f, P_pipeline_model_parallel_size, 1);
    if (pp <= 1) return;
    put(out, P_pp_microbatch_size, value_int(mbs));
    bool interleaved = facts_int(f, P_virtual_pipeline_model_parallel_size, 1) > 1;
    put_word(out, P_pp_schedule, interleaved ? "interleaved1f1b" : "1f1b");
    int64_t chunks = facts_int(f, P_pipeline_chunks, 0), layers = facts_int(f, P_num_layers, 0);
    struct stage_cut cut = {0};
    if (interleaved && chunks > 0 && chunks <= layers)
        cut = layout_cut((int)layers, (int)chunks, (int)pp);
    if (cut.length > 0) put(out, P_pp_layers_per_stage, value_int(cut.length));
    if (cut.rounded) put(out, P_round_virtual_stages_to_pp_multiple, value_string(LAYOUT_ROUND_UP));
    int64_t n = scheduled_of(facts_int(f, P_num_microbatches, 1), pp, interleaved);
    if (!__builtin_mul_overflow(mbs, n, &batch)) put(out, P_micro_batch_size, value_int(batch));
}

/* A plan that is silent about the run has the framework's default. */
static struct value known_or_default(const struct facts *f, int param)
{
    struct value v = facts_get(f, param)->value;
    const struct param *p = &param_table[param];
    return v.kind == VALUE_UNKNOWN ? p->in[f->framework]->default_value : v;
}

/* AutoModel hands torch's optimizer a pair, Megatron has two flags. */
static void betas_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value betas[] = {known_or_default(f, P_adam_beta1), known_or_default(f, P_adam_beta2)};
    bool said = is_said(f, P_adam_beta1) || is_said(f, P_adam_beta2);
    if (said && value_is_number(betas[0]) && value_is_number(betas[1]))
        put(out, P_optimizer_betas, value_list_of(a, betas, 2));
}

static void betas_from_automodel(const struct facts *f, struct conversion *out)
{
    struct value betas = facts_get(f, P_optimizer_betas)->value;
    if (betas.kind != VALUE_LIST || betas.list->n != 2) return;
    put(out, P_adam_beta1, betas.list->items[0]);
    put(out, P_adam_beta2, betas.list->items[1]);
}

static void to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    sharding_to_automodel(a, f, out);
    dispatcher_to_automodel(f, out);
    recompute_to_automodel(a, f, out);
    precision_to_automodel(a, f, out);
    batch_to_automodel(f, out);
    betas_to_automodel(a, f, out);
}

/* ---- AutoModel's words -> Megatron's ---- */

static void sharding_from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool pipeline = facts_int(f, P_pipeline_model_parallel_size, 1) > 1;
    bool ddp = is_word(f, P_strategy, "ddp");
    struct config c = {.framework = out->facts->framework};
    c.knobs.fsdp = !ddp && !pipeline ? FSDP_OPTIM_GRADS_PARAMS : FSDP_NONE;
    put_knob(out, &c, P_use_megatron_fsdp);
    put(out, P_use_distributed_optimizer, value_bool(!ddp));
    if (!ddp && !pipeline)
        note(a, out,
             "fsdp2 is Megatron-FSDP here: it takes expert parallelism, and full sharding is its "
             "optim_grads_params");
    if (!ddp && pipeline)
        note(a, out,
             "fsdp2 with a pipeline becomes the distributed optimizer: it shards the optimizer's "
             "states alone");
}

static void dispatcher_from_automodel(const struct facts *f, struct conversion *out)
{
    struct config c = carried(f, out, P_dispatcher);
    if (c.model.experts > 0) put_knob(out, &c, P_dispatcher);
}

static void recompute_from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct config c = carried(f, out, P_recompute_granularity);
    if (c.knobs.recompute != RECOMPUTE_NONE) put_knob(out, &c, P_recompute_granularity);
    if (c.knobs.recompute == RECOMPUTE_SELECTIVE)
        note(a, out,
             "AutoModel's selective checkpointing chooses operators; Megatron's default module is "
             "core_attn");
}

static void from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value precision = facts_get(f, P_precision)->value;
    sharding_from_automodel(a, f, out);
    dispatcher_from_automodel(f, out);
    recompute_from_automodel(a, f, out);
    betas_from_automodel(f, out);
    if (precision.kind == VALUE_STRING) put(out, P_precision, precision);
    if (facts_int(f, P_pipeline_model_parallel_size, 1) > 1)
        put(out, P_micro_batch_size, facts_get(f, P_pp_microbatch_size)->value);
}

/* The switches of Megatron-LM's command line that make the MLP; a model that the target knows by
   its name comes with its own. */
static void mlp_to_bridge(const struct facts *f, struct conversion *out)
{
    static const int switches[] = {P_gated_linear_unit, P_squared_relu, P_quick_geglu};
    bool flags = f->framework == FRAMEWORK_MEGATRON && !str_is(f->format, "plan");
    if (!flags || out->facts->framework != FRAMEWORK_BRIDGE || out->facts->model) return;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        struct value v = facts_get(f, switches[i])->value;
        if (v.kind == VALUE_BOOL) put(out, switches[i], v);
    }
}

/* Bridge's one switch for the fused activation is each of Megatron-LM's two in its turn
   (core_transformer_config_from_args). */
static void fusion_to_bridge(const struct facts *f, struct conversion *out)
{
    bool swiglu = facts_bool(f, P_swiglu, false);
    struct value fused = facts_get(f, swiglu ? P_bias_swiglu_fusion : P_bias_gelu_fusion)->value;
    if (fused.kind == VALUE_BOOL) put(out, P_bias_swiglu_fusion, fused);
}

/* A constant weight decay is the optimizer's alone in Megatron-LM, which makes both ends of it; in
   Bridge the schedule's ends are what holds, and its recipes set them. */
static void decay_to_bridge(const struct facts *f, struct conversion *out)
{
    struct value decay = facts_get(f, P_weight_decay)->value;
    if (!is_word(f, P_weight_decay_incr_style, "constant") || decay.kind != VALUE_DOUBLE) return;
    put(out, P_start_weight_decay, decay);
    put(out, P_end_weight_decay, decay);
}

static void decay_from_bridge(const struct facts *f, struct conversion *out)
{
    static const int ends[] = {P_start_weight_decay, P_end_weight_decay};
    struct value decay = facts_get(f, P_end_weight_decay)->value;
    bool rises =
        is_said(f, P_weight_decay_incr_style) && !is_word(f, P_weight_decay_incr_style, "constant");
    if (rises || decay.kind != VALUE_DOUBLE) return;
    put(out, P_weight_decay, decay);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        put(out, ends[i], value_null());
}

/* What Bridge's recipes have and Megatron-LM refuses: Transformer Engine's fused loss, and the
   overlap of tensor-parallel communication without sequence parallelism, where Bridge has none
   either (training/comm_overlap.py). */
static void kernels_from_bridge(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool split = facts_int(f, P_tensor_model_parallel_size, 1) > 1 &&
                 facts_bool(f, P_sequence_parallel, false);
    if (!split && facts_bool(f, P_tp_comm_overlap, false))
        put(out, P_tp_comm_overlap, value_bool(false));
    if (!facts_bool(f, P_cross_entropy_loss_fusion, false) ||
        !is_word(f, P_cross_entropy_fusion_impl, "te"))
        return;
    put_word(out, P_cross_entropy_fusion_impl, "native");
    note(a, out,
         "Megatron-LM refuses Transformer Engine's fused loss: cross_entropy_fusion_impl is its "
         "own");
}

/* Bridge has local graphs of the whole iteration, and of whole layers where generation's are said
   to be (validate_cuda_graph_configuration); Megatron-LM's default says it of itself. */
static void graphs_to_bridge(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value parts = facts_get(f, P_cuda_graph_scope)->value;
    struct str generation = facts_str(f, P_inference_cuda_graph_scope);
    if (!is_word(f, P_cuda_graph_impl, "local")) return;
    if ((parts.kind == VALUE_LIST && parts.list->n > 0) || str_is(generation, "none")) {
        *VEC_PUSH(a, &out->lost) = (struct convert_loss){
            STR("cuda_graph_impl"), STR("local"),
            STR("bridge captures layers and parts of them with transformer_engine")};
        put_word(out, P_cuda_graph_impl, "none");
        put(out, P_cuda_graph_scope, value_list_of(a, NULL, 0));
    } else {
        put(out, P_inference_cuda_graph_scope,
            value_string(generation.n ? generation : STR("layer")));
    }
}

/* Between Megatron-LM and Bridge: what the same classes are told in other words. */
static void within_core(struct arena *a, const struct facts *f, struct conversion *out)
{
    enum framework to = out->facts->framework;
    bool recipe = !str_is(f->format, "plan");
    if (f->framework == FRAMEWORK_MEGATRON && to == FRAMEWORK_BRIDGE) {
        graphs_to_bridge(a, f, out);
        if (recipe) fusion_to_bridge(f, out);
        if (recipe) decay_to_bridge(f, out);
    }
    if (f->framework == FRAMEWORK_BRIDGE && to == FRAMEWORK_MEGATRON && recipe) {
        kernels_from_bridge(a, f, out);
        decay_from_bridge(f, out);
    }
}

bool convert_is_crossing(const struct facts *from, const struct facts *to)
{
    return framework_traits(from->framework)->megatron_words !=
           framework_traits(to->framework)->megatron_words;
}

/* A silent plan's micro-batch is the schedule's: its local batch is as many as the plan has. */
static bool carries_microbatch(const struct facts *effective, const struct conversion *out)
{
    return facts_get(effective, P_pp_microbatch_size)->origin == ORIGIN_ASSUMED &&
           fact_is_set(facts_get(out->facts, P_pp_microbatch_size));
}

void convert_words(struct arena *a, const struct facts *effective, struct conversion *out)
{
    bool crossing = convert_is_crossing(effective, out->facts);
    bool core = framework_traits(effective->framework)->megatron_words;
    mlp_to_bridge(effective, out);
    within_core(a, effective, out);
    if (crossing && core) to_automodel(a, effective, out);
    if (crossing && !core) from_automodel(a, effective, out);
    if (!crossing && carries_microbatch(effective, out)) batch_to_automodel(effective, out);
}

/* ---- keys of AutoModel's strategies ---- */

static const struct automodel_section *section_of(struct str strategy)
{
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        if (str_is(s->path, "distributed") && str_eq(s->strategy, strategy)) return s;
    }
    return NULL;
}

static bool reads_key(const struct automodel_section *s, struct str key)
{
    return str_among(str_slice(key, 0, str_find(key, '.')), s->keys, s->n_keys);
}

void convert_drop_keys(struct arena *a, struct conversion *out)
{
    struct facts *f = out->facts;
    struct str strategy = facts_str(f, P_strategy), prefix = STR("distributed.");
    const struct automodel_section *section = section_of(strategy);
    if (f->framework != FRAMEWORK_AUTOMODEL || !section) return;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param_spelling *in = param_table[i].in[FRAMEWORK_AUTOMODEL];
        const struct fact *x = facts_get(f, i);
        if (!fact_is_set(x) || !str_starts(in->key, prefix)) continue;
        if (reads_key(section, str_slice(in->key, prefix.n, in->key.n))) continue;
        *VEC_PUSH(a, &out->lost) = (struct convert_loss){
            param_table[i].name, value_text(a, x->value),
            arena_printf(a, "strategy %.*s has no such setting", STR_ARG(strategy))};
        *facts_change(f, i) = (struct fact){.value = in->default_value, .origin = ORIGIN_DEFAULT};
    }
}

/* ---- what is said in other words ---- */

/* Within Megatron-core, and to its own longer words: the second is known wherever it is written. */
static const int stand_ins[][2] = {
    {P_num_virtual_stages_per_pipeline_rank, P_virtual_pipeline_model_parallel_size},
    {P_num_layers_per_virtual_pipeline_stage, P_virtual_pipeline_model_parallel_size},
    {P_virtual_pipeline_model_parallel_size, P_num_virtual_stages_per_pipeline_rank},
    {P_virtual_pipeline_model_parallel_size, P_pipeline_model_parallel_layout},
    {P_virtual_pipeline_model_parallel_size, P_pp_layers_per_stage},
    {P_mixed_precision, P_precision},
    {P_precision, P_bf16},
    {P_precision, P_fp16},
    {P_recompute_activations, P_recompute_granularity},
    {P_moe_layer_recompute, P_recompute_granularity},
    {P_moe_enable_deepep, P_moe_flex_dispatcher_backend},
    {P_swiglu, P_gated_linear_unit},
    {P_gated_linear_unit, P_swiglu},
    {P_group_query_attention, P_num_query_groups},
    {P_first_k_dense_replace, P_moe_layer_freq},
    {P_peft_scheme, P_peft_target},
};

/* Said by convert_words between AutoModel and the others: these knobs in whatever words, and what
   is no knob. */
static bool is_translated(int param)
{
    static const int knobs[] = {P_use_megatron_fsdp,     P_dispatcher,
                                P_recompute_granularity, P_recompute_method,
                                P_recompute_num_layers,  P_precision};
    static const int others[] = {
        P_use_distributed_optimizer, P_moe_enable_deepep, P_pp_microbatch_size, P_pp_schedule,
        P_optimizer_betas,           P_adam_beta1,        P_adam_beta2};
    const struct knob *knob = knob_said_by(param);
    return (knob && param_among(knob->param, knobs, sizeof knobs / sizeof *knobs)) ||
           param_among(param, others, sizeof others / sizeof *others);
}

bool convert_has_word(const struct facts *from, const struct facts *to, int param)
{
    if (convert_is_crossing(from, to) && is_translated(param)) return true;
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++) {
        if (param != stand_ins[i][0]) continue;
        enum value_kind kind = facts_get(to, stand_ins[i][1])->value.kind;
        if (kind != VALUE_UNKNOWN && kind != VALUE_NULL) return true;
    }
    return false;
}
