/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/convert_words.h"

#include "facts/automodel.h"
#include "facts/param_ids.h"

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

/* ---- Megatron's words -> AutoModel's ---- */

/* The word FSDP differs: with experts it is Megatron-FSDP there and fsdp2 here, whose megatron_fsdp
   has neither expert nor pipeline parallelism (guide S0.18). */
static void sharding_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool fsdp = facts_bool(f, P_use_megatron_fsdp, false);
    bool plain = facts_int(f, P_expert_model_parallel_size, 1) == 1 &&
                 facts_int(f, P_pipeline_model_parallel_size, 1) == 1 &&
                 !facts_bool(f, P_sequence_parallel, false);
    put_word(out, P_strategy, fsdp && plain ? "megatron_fsdp" : "fsdp2");
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
    if (facts_int(f, P_num_moe_experts, 0) == 0 || !is_said(f, P_moe_token_dispatcher_type)) return;
    bool hybrid = is_word(f, P_moe_flex_dispatcher_backend, "hybridep");
    bool flex = is_word(f, P_moe_token_dispatcher_type, "flex");
    put_word(out, P_backend_dispatcher, !flex ? "torch" : hybrid ? "hybridep" : "deepep");
}

static void recompute_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool full = is_word(f, P_recompute_granularity, "full");
    if (full) put(out, P_activation_checkpointing, value_bool(true));
    if (is_word(f, P_recompute_granularity, "selective")) {
        put_word(out, P_activation_checkpointing, "selective");
        note(a, out, "AutoModel's selective checkpointing chooses its own operators");
    }
    if (full && is_word(f, P_recompute_method, "block"))
        note(a, out, "AutoModel checkpoints every layer, not a block of them");
}

static void precision_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    static const struct {
        const char *word;
        int param;
        const char *value;
    } rows[] = {{"fp8_tensorwise", P_backend_te_fp8_recipe, "current"},
                {"fp8_blockwise", P_backend_te_fp8_recipe, "block"},
                {"mxfp8", P_backend_te_fp8_recipe, "mxfp8"},
                {"fp16", P_mp_policy_param_dtype, "float16"},
                {"fp32", P_mp_policy_param_dtype, "float32"}};
    struct str precision = facts_str(f, P_precision);
    bool known = precision.n == 0 || str_is(precision, "bf16");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(precision, rows[i].word)) {
            put_word(out, rows[i].param, rows[i].value);
            known = true;
        }
    if (known) return;
    *VEC_PUSH(a, &out->lost) = (struct convert_loss){
        STR("precision"), precision, STR("AutoModel has no such number format; bf16 stays")};
}

/* With a pipeline AutoModel's local batch is what one schedule takes: the whole step's here. */
static void batch_to_automodel(const struct facts *f, struct conversion *out)
{
    int64_t mbs = facts_int(f, P_micro_batch_size, 1), batch = 0;
    if (facts_int(f, P_pipeline_model_parallel_size, 1) <= 1) return;
    put(out, P_pp_microbatch_size, value_int(mbs));
    bool interleaved = facts_int(f, P_virtual_pipeline_model_parallel_size, 1) > 1;
    put_word(out, P_pp_schedule, interleaved ? "interleaved1f1b" : "1f1b");
    int64_t chunks = facts_int(f, P_pipeline_chunks, 0), layers = facts_int(f, P_num_layers, 0);
    if (interleaved && chunks > 0 && layers % chunks == 0)
        put(out, P_pp_layers_per_stage, value_int(layers / chunks));
    if (!__builtin_mul_overflow(mbs, facts_int(f, P_num_microbatches, 1), &batch))
        put(out, P_micro_batch_size, value_int(batch));
}

/* A plan that is silent about the run has the framework's default. */
static struct value known_or_default(const struct facts *f, int param)
{
    struct value v = facts_get(f, param)->value;
    const struct param *p = &param_table[param];
    return v.kind == VALUE_UNKNOWN ? p->in[f->framework].default_value : v;
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
    put(out, P_use_megatron_fsdp, value_bool(!ddp && !pipeline));
    put(out, P_use_distributed_optimizer, value_bool(!ddp));
    if (!ddp && !pipeline) {
        put_word(out, P_data_parallel_sharding_strategy, "optim_grads_params");
        note(a, out,
             "fsdp2 is Megatron-FSDP here: it takes expert parallelism, and full sharding is its "
             "optim_grads_params");
    }
    if (!ddp && pipeline)
        note(a, out,
             "fsdp2 with a pipeline becomes the distributed optimizer: it shards the optimizer's "
             "states alone");
}

static void dispatcher_from_automodel(const struct facts *f, struct conversion *out)
{
    struct str word = facts_str(f, P_backend_dispatcher);
    if (facts_int(f, P_num_moe_experts, 0) == 0) return;
    bool flex = str_is(word, "deepep") || str_is(word, "hybridep");
    put_word(out, P_moe_token_dispatcher_type, flex ? "flex" : "alltoall");
    if (flex) put(out, P_moe_flex_dispatcher_backend, value_string(word));
}

static void recompute_from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value v = facts_get(f, P_activation_checkpointing)->value;
    if (v.kind == VALUE_BOOL && v.b) {
        put_word(out, P_recompute_granularity, "full");
        put_word(out, P_recompute_method, "uniform");
        put(out, P_recompute_num_layers, value_int(1));
    }
    if (v.kind == VALUE_STRING && str_is(v.s, "selective")) {
        put_word(out, P_recompute_granularity, "selective");
        note(a, out,
             "AutoModel's selective checkpointing chooses operators; Megatron's default module is "
             "core_attn");
    }
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

void convert_words(struct arena *a, const struct facts *effective, struct conversion *out)
{
    bool source = effective->framework == FRAMEWORK_AUTOMODEL,
         target = out->facts->framework == FRAMEWORK_AUTOMODEL;
    if (source && !target) from_automodel(a, effective, out);
    if (!source && target) to_automodel(a, effective, out);
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
    struct str word = str_slice(key, 0, str_find(key, '.'));
    for (size_t i = 0; i < s->n_keys; i++)
        if (str_eq(s->keys[i], word)) return true;
    return false;
}

void convert_drop_keys(struct arena *a, struct conversion *out)
{
    struct facts *f = out->facts;
    struct str strategy = facts_str(f, P_strategy), prefix = STR("distributed.");
    const struct automodel_section *section = section_of(strategy);
    if (f->framework != FRAMEWORK_AUTOMODEL || !section) return;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param_spelling *in = &param_table[i].in[FRAMEWORK_AUTOMODEL];
        struct fact *x = &f->items[i];
        if (!fact_is_set(x) || !str_starts(in->key, prefix)) continue;
        if (reads_key(section, str_slice(in->key, prefix.n, in->key.n))) continue;
        *VEC_PUSH(a, &out->lost) = (struct convert_loss){
            param_table[i].name, value_text(a, x->value),
            arena_printf(a, "strategy %.*s has no such setting", STR_ARG(strategy))};
        *x = (struct fact){.value = in->default_value, .origin = ORIGIN_DEFAULT};
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
};

/* Said by convert_words between AutoModel and the others. */
static const int translated[] = {P_strategy,
                                 P_use_megatron_fsdp,
                                 P_data_parallel_sharding_strategy,
                                 P_use_distributed_optimizer,
                                 P_backend_dispatcher,
                                 P_moe_token_dispatcher_type,
                                 P_moe_flex_dispatcher_backend,
                                 P_moe_enable_deepep,
                                 P_recompute_granularity,
                                 P_recompute_method,
                                 P_recompute_num_layers,
                                 P_recompute_activations,
                                 P_activation_checkpointing,
                                 P_precision,
                                 P_mixed_precision,
                                 P_bf16,
                                 P_fp16,
                                 P_fp8,
                                 P_fp8_recipe,
                                 P_fp4,
                                 P_backend_te_fp8_recipe,
                                 P_mp_policy_param_dtype,
                                 P_pp_microbatch_size,
                                 P_pp_schedule,
                                 P_optimizer_betas,
                                 P_adam_beta1,
                                 P_adam_beta2};

bool convert_has_word(const struct facts *from, const struct facts *to, int param)
{
    bool crossing =
        (from->framework == FRAMEWORK_AUTOMODEL) != (to->framework == FRAMEWORK_AUTOMODEL);
    for (size_t i = 0; crossing && i < sizeof translated / sizeof *translated; i++)
        if (param == translated[i]) return true;
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++) {
        if (param != stand_ins[i][0]) continue;
        enum value_kind kind = facts_get(to, stand_ins[i][1])->value.kind;
        if (kind != VALUE_UNKNOWN && kind != VALUE_NULL) return true;
    }
    return false;
}
