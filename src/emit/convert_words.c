/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/convert_words.h"

#include "facts/automodel.h"

static void put(struct conversion *out, const char *name, struct value v)
{
    facts_set(out->facts, param_find(str_of(name)), v, ORIGIN_OPTION, NULL, (struct str){"", 0});
}

static void put_word(struct conversion *out, const char *name, const char *word)
{
    put(out, name, value_string(str_of(word)));
}

static void note(struct arena *a, struct conversion *out, const char *text)
{
    *VEC_PUSH(a, &out->notes) = str_of(text);
}

static bool is_word(const struct facts *f, const char *name, const char *word)
{
    return str_is(facts_str(f, name), word);
}

static bool is_said(const struct facts *f, const char *name)
{
    const struct fact *x = facts_get(f, name);
    return fact_is_set(x) || x->origin == ORIGIN_OVERRIDE;
}

/* ---- Megatron's words -> AutoModel's ---- */

/* The word FSDP differs: with experts it is Megatron-FSDP there and fsdp2 here, whose megatron_fsdp
   has neither expert nor pipeline parallelism (guide S0.18). */
static void sharding_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool fsdp = facts_bool(f, "use_megatron_fsdp", false);
    bool plain = facts_int(f, "expert_model_parallel_size", 1) == 1 &&
                 facts_int(f, "pipeline_model_parallel_size", 1) == 1 &&
                 !facts_bool(f, "sequence_parallel", false);
    put_word(out, "strategy", fsdp && plain ? "megatron_fsdp" : "fsdp2");
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
    if (facts_int(f, "num_moe_experts", 0) == 0 || !is_said(f, "moe_token_dispatcher_type")) return;
    bool hybrid = is_word(f, "moe_flex_dispatcher_backend", "hybridep");
    bool flex = is_word(f, "moe_token_dispatcher_type", "flex");
    put_word(out, "backend_dispatcher", !flex ? "torch" : hybrid ? "hybridep" : "deepep");
}

static void recompute_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    bool full = is_word(f, "recompute_granularity", "full");
    if (full) put(out, "activation_checkpointing", value_bool(true));
    if (is_word(f, "recompute_granularity", "selective")) {
        put_word(out, "activation_checkpointing", "selective");
        note(a, out, "AutoModel's selective checkpointing chooses its own operators");
    }
    if (full && is_word(f, "recompute_method", "block"))
        note(a, out, "AutoModel checkpoints every layer, not a block of them");
}

static void precision_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    static const struct {
        const char *word, *param, *value;
    } rows[] = {{"fp8_tensorwise", "backend_te_fp8_recipe", "current"},
                {"fp8_blockwise", "backend_te_fp8_recipe", "block"},
                {"mxfp8", "backend_te_fp8_recipe", "mxfp8"},
                {"fp16", "mp_policy_param_dtype", "float16"},
                {"fp32", "mp_policy_param_dtype", "float32"}};
    struct str precision = facts_str(f, "precision");
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
    int64_t mbs = facts_int(f, "micro_batch_size", 1), batch = 0;
    if (facts_int(f, "pipeline_model_parallel_size", 1) <= 1) return;
    put(out, "pp_microbatch_size", value_int(mbs));
    bool interleaved = facts_int(f, "virtual_pipeline_model_parallel_size", 1) > 1;
    put_word(out, "pp_schedule", interleaved ? "interleaved1f1b" : "1f1b");
    int64_t chunks = facts_int(f, "pipeline_chunks", 0), layers = facts_int(f, "num_layers", 0);
    if (interleaved && chunks > 0 && layers % chunks == 0)
        put(out, "pp_layers_per_stage", value_int(layers / chunks));
    if (!__builtin_mul_overflow(mbs, facts_int(f, "num_microbatches", 1), &batch))
        put(out, "micro_batch_size", value_int(batch));
}

/* A plan that is silent about the run has the framework's default. */
static struct value known_or_default(const struct facts *f, const char *name)
{
    struct value v = facts_get(f, name)->value;
    const struct param *p = &param_table[param_named(name)];
    return v.kind == VALUE_UNKNOWN ? p->in[f->framework].default_value : v;
}

/* AutoModel hands torch's optimizer a pair, Megatron has two flags. */
static void betas_to_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value betas[] = {known_or_default(f, "adam_beta1"), known_or_default(f, "adam_beta2")};
    bool said = is_said(f, "adam_beta1") || is_said(f, "adam_beta2");
    if (said && value_is_number(betas[0]) && value_is_number(betas[1]))
        put(out, "optimizer_betas", value_list_of(a, betas, 2));
}

static void betas_from_automodel(const struct facts *f, struct conversion *out)
{
    struct value betas = facts_get(f, "optimizer_betas")->value;
    if (betas.kind != VALUE_LIST || betas.list->n != 2) return;
    put(out, "adam_beta1", betas.list->items[0]);
    put(out, "adam_beta2", betas.list->items[1]);
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
    bool pipeline = facts_int(f, "pipeline_model_parallel_size", 1) > 1;
    bool ddp = is_word(f, "strategy", "ddp");
    put(out, "use_megatron_fsdp", value_bool(!ddp && !pipeline));
    put(out, "use_distributed_optimizer", value_bool(!ddp));
    if (!ddp && !pipeline) {
        put_word(out, "data_parallel_sharding_strategy", "optim_grads_params");
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
    struct str word = facts_str(f, "backend_dispatcher");
    if (facts_int(f, "num_moe_experts", 0) == 0) return;
    bool flex = str_is(word, "deepep") || str_is(word, "hybridep");
    put_word(out, "moe_token_dispatcher_type", flex ? "flex" : "alltoall");
    if (flex) put(out, "moe_flex_dispatcher_backend", value_string(word));
}

static void recompute_from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value v = facts_get(f, "activation_checkpointing")->value;
    if (v.kind == VALUE_BOOL && v.b) {
        put_word(out, "recompute_granularity", "full");
        put_word(out, "recompute_method", "uniform");
        put(out, "recompute_num_layers", value_int(1));
    }
    if (v.kind == VALUE_STRING && str_is(v.s, "selective")) {
        put_word(out, "recompute_granularity", "selective");
        note(a, out,
             "AutoModel's selective checkpointing chooses operators; Megatron's default module is "
             "core_attn");
    }
}

static void from_automodel(struct arena *a, const struct facts *f, struct conversion *out)
{
    struct value precision = facts_get(f, "precision")->value;
    sharding_from_automodel(a, f, out);
    dispatcher_from_automodel(f, out);
    recompute_from_automodel(a, f, out);
    betas_from_automodel(f, out);
    if (precision.kind == VALUE_STRING) put(out, "precision", precision);
    if (facts_int(f, "pipeline_model_parallel_size", 1) > 1)
        put(out, "micro_batch_size", facts_get(f, "pp_microbatch_size")->value);
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
    struct str strategy = facts_str(f, "strategy"), prefix = STR("distributed.");
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
static const char *const stand_ins[][2] = {
    {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"},
    {"num_layers_per_virtual_pipeline_stage", "virtual_pipeline_model_parallel_size"},
    {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"},
    {"virtual_pipeline_model_parallel_size", "pipeline_model_parallel_layout"},
    {"virtual_pipeline_model_parallel_size", "pp_layers_per_stage"},
    {"mixed_precision", "precision"},
    {"precision", "bf16"},
    {"precision", "fp16"},
    {"recompute_activations", "recompute_granularity"},
    {"moe_layer_recompute", "recompute_granularity"},
    {"moe_enable_deepep", "moe_flex_dispatcher_backend"},
    {"swiglu", "gated_linear_unit"},
    {"gated_linear_unit", "swiglu"},
    {"group_query_attention", "num_query_groups"},
    {"first_k_dense_replace", "moe_layer_freq"},
};

/* Said by convert_words between AutoModel and the others. */
static const char *const translated[] = {"strategy",
                                         "use_megatron_fsdp",
                                         "data_parallel_sharding_strategy",
                                         "use_distributed_optimizer",
                                         "backend_dispatcher",
                                         "moe_token_dispatcher_type",
                                         "moe_flex_dispatcher_backend",
                                         "moe_enable_deepep",
                                         "recompute_granularity",
                                         "recompute_method",
                                         "recompute_num_layers",
                                         "recompute_activations",
                                         "activation_checkpointing",
                                         "precision",
                                         "mixed_precision",
                                         "bf16",
                                         "fp16",
                                         "fp8",
                                         "fp8_recipe",
                                         "fp4",
                                         "backend_te_fp8_recipe",
                                         "mp_policy_param_dtype",
                                         "pp_microbatch_size",
                                         "pp_schedule",
                                         "optimizer_betas",
                                         "adam_beta1",
                                         "adam_beta2"};

bool convert_has_word(const struct facts *from, const struct facts *to, int param)
{
    struct str name = param_table[param].name;
    bool crossing =
        (from->framework == FRAMEWORK_AUTOMODEL) != (to->framework == FRAMEWORK_AUTOMODEL);
    for (size_t i = 0; crossing && i < sizeof translated / sizeof *translated; i++)
        if (str_is(name, translated[i])) return true;
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++) {
        if (!str_is(name, stand_ins[i][0])) continue;
        enum value_kind kind = facts_get(to, stand_ins[i][1])->value.kind;
        if (kind != VALUE_UNKNOWN && kind != VALUE_NULL) return true;
    }
    return false;
}
