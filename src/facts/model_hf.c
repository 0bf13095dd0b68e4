/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face configs. Two tables say how: where a field may stand under which names, and what a
   family (model_type) means without saying it (hf.c). Names as in transformers'
   configuration_*.py. */
#include "base/buf.h"
#include "facts/hf.h"
#include "facts/param_ids.h"

/* ---- where a field stands ---- */

/* Names in the order in which they are looked for. A name with a dot is nested. */
struct aliases {
    int param;
    const char *keys;
};

static const struct aliases plain[] = {
    {P_hidden_size, "hidden_size d_model n_embd"},
    {P_num_attention_heads, "num_attention_heads n_heads n_head"},
    {P_kv_channels, "head_dim attention_head_dim kv_channels"},
    {P_vocab_size, "vocab_size padded_vocab_size"},
    {P_q_lora_rank, "q_lora_rank"},
    {P_kv_lora_rank, "kv_lora_rank"},
    {P_o_lora_rank, "o_lora_rank"},
    {P_o_lora_groups, "o_groups"},
    {P_qk_pos_emb_head_dim, "qk_rope_head_dim"},
    {P_v_head_dim, "v_head_dim"},
    {P_num_moe_experts,
     "n_routed_experts num_experts num_local_experts moe_num_experts ffn_config.moe_num_experts "
     "num_routed_experts moe_config.moe_num_experts"},
    {P_moe_router_topk,
     "num_experts_per_tok num_experts_per_token top_k_experts experts_per_token moe_topk moe_top_k "
     "moe_k "
     "ffn_config.moe_top_k moe_config.moe_top_k"},
    {P_moe_latent_size, "moe_latent_size routed_expert_hidden_size"},
    {P_dsa_indexer_n_heads, "index_n_heads"},
    {P_dsa_indexer_head_dim, "index_head_dim"},
    {P_dsa_indexer_topk, "index_topk"},
    {P_mamba_num_heads, "mamba_num_heads mamba_n_heads"},
    {P_mamba_head_dim, "mamba_head_dim mamba_d_head"},
    {P_mamba_state_dim, "ssm_state_size mamba_d_state"},
    {P_mamba_num_groups, "n_groups mamba_n_groups"},
    {P_mamba_conv_kernel_dim, "conv_kernel mamba_d_conv"},
    {P_linear_num_key_heads, "linear_num_key_heads linear_attn_config.num_heads"},
    {P_linear_num_value_heads, "linear_num_value_heads linear_attn_config.num_heads"},
    {P_linear_key_head_dim, "linear_key_head_dim linear_attn_config.head_dim"},
    {P_linear_value_head_dim, "linear_value_head_dim linear_attn_config.head_dim"},
    {P_linear_conv_kernel_dim, "linear_conv_kernel_dim linear_attn_config.short_conv_kernel_size"},
    {P_window_num_attention_heads, "swa_num_attention_heads num_sliding_attention_heads "
                                   "attention_other_setting.num_attention_heads"},
    {P_window_num_query_groups,
     "swa_num_key_value_heads attention_other_setting.num_attention_groups"},
    {P_window_kv_channels, "swa_head_dim"},
    {P_window_v_head_dim, "swa_v_head_dim"},
};

static const struct aliases vision[] = {
    {P_vision_num_layers, "depth num_hidden_layers layers"},
    {P_vision_hidden_size, "embed_dim hidden_size width"}, /* Qwen2-VL: hidden_size is the text's */
    {P_vision_num_attention_heads, "num_heads num_attention_heads"},
    {P_vision_patch_size, "patch_size"},
    {P_vision_spatial_merge_size, "spatial_merge_size merge_size"},
    {P_vision_temporal_patch_size, "temporal_patch_size patch_temporal"},
    {P_vision_num_position_embeddings, "num_position_embeddings"},
};

/* ---- attention ---- */

static void read_latent_attention(struct hf *h, int64_t heads)
{
    hf_add(h, P_multi_latent_attention, value_bool(true), "kv_lora_rank is given");
    hf_add_count(h, P_qk_head_dim, "qk_nope_head_dim");
    hf_add(h, P_num_query_groups, value_int(heads), "as many as heads: latent attention");
    int64_t width = hf_given(h, P_qk_head_dim);
    if (!width) hf_missing(h, P_qk_head_dim, "qk_nope_head_dim");
    if (!hf_given(h, P_v_head_dim)) hf_missing(h, P_v_head_dim, "v_head_dim");
    /* Megatron wants kv_channels, of no use here, where it cannot divide it out */
    bool divides = heads > 0 && hf_given(h, P_hidden_size) % heads == 0;
    if (width && !divides && !hf_given(h, P_kv_channels))
        hf_add(h, P_kv_channels, value_int(width), "qk_nope_head_dim");
}

static void read_attention(struct hf *h)
{
    int64_t heads = hf_given(h, P_num_attention_heads);
    if (hf_given(h, P_kv_lora_rank) > 0) {
        read_latent_attention(h, heads);
    } else if (hf_add_count(h, P_num_query_groups,
                            "num_key_value_heads num_attention_groups attn_config.kv_n_heads "
                            "n_kv_heads multi_query_group_num") == 0) {
        hf_add(h, P_num_query_groups, value_int(heads),
               "as many as heads: num_key_value_heads is not given");
    }
    bool qk_norm = hf_truth(h, "use_qk_norm qk_norm qk_layernorm", false) || h->traits & HF_QK_NORM;
    if (hf_given(h, P_kv_lora_rank) > 0)
        qk_norm = true; /* Megatron's switch for the latents' norms */
    if (h->traits & HF_L2_QK_NORM) qk_norm = false;
    hf_add(h, P_qk_layernorm, value_bool(qk_norm), "model_type");
    if (hf_truth(h, "attention_bias qkv_bias use_qkv_bias add_qkv_bias", h->traits & HF_QKV_BIAS) ||
        h->traits & HF_QKV_BIAS)
        hf_add(h, P_add_qkv_bias, value_bool(true), "attention_bias");
    if (h->traits & HF_QK_NORM_FULL)
        hf_add(h, P_qk_layernorm_full_width, value_bool(true), "model_type");
    if (h->traits & HF_ALL_BIAS) hf_add(h, P_add_bias_linear, value_bool(true), "model_type");
    if (h->traits & HF_SINKS)
        hf_add(h, P_softmax_type, value_string(STR("learnable")), "model_type");
    if (h->traits & HF_POST_NORMS) hf_add(h, P_post_layernorms, value_bool(true), "model_type");
    if (hf_truth(h, "attn_output_gate mla_use_output_gate attention_output_gate",
                 h->traits & HF_OUTPUT_GATE))
        hf_add(h, P_attention_output_gate, value_bool(true), "model_type");
    if (h->traits & HF_K_IS_V) hf_add(h, P_attention_k_equals_v, value_bool(true), "model_type");
    if (hf_truth(h, "use_head_wise_attn_gate", false))
        hf_add(h, P_attention_head_gate, value_bool(true), "use_head_wise_attn_gate");
}

/* Gemma 4: full-attention layers have heads of their own; what head_dim and num_key_value_heads say
   is about the others. */
static void read_global_heads(struct hf *h)
{
    int64_t groups = hf_given(h, P_num_query_groups), width = hf_given(h, P_kv_channels);
    if (hf_count(h, "num_global_key_value_heads global_head_dim") == 0) return;
    hf_add(h, P_window_num_query_groups, value_int(groups), "num_key_value_heads");
    hf_add(h, P_window_kv_channels, value_int(width), "head_dim");
    hf_add_count(h, P_num_query_groups, "num_global_key_value_heads");
    hf_add_count(h, P_kv_channels, "global_head_dim");
    if (hf_truth(h, "attention_k_eq_v", false))
        hf_add(h, P_attention_k_equals_v, value_bool(true), "attention_k_eq_v");
}

/* ---- experts ---- */

static void check_expert_names(struct hf *h)
{
    hf_asked(h, "num_experts n_routed_experts");
    const struct node *a = node_get(h->text, STR("num_experts")),
                      *b = node_get(h->text, STR("n_routed_experts"));
    struct value x = hf_value(h, a), y = hf_value(h, b);
    if (x.kind == VALUE_INT && y.kind == VALUE_INT && x.i != y.i)
        hf_defect(h, a, P_num_moe_experts, "num_experts and n_routed_experts differ");
}

static void read_shared(struct hf *h, int64_t width)
{
    int64_t total =
        hf_add_count(h, P_moe_shared_expert_intermediate_size,
                     "shared_expert_intermediate_size moe_shared_expert_intermediate_size "
                     "shared_intermediate_size share_expert_dim");
    int64_t shared =
        hf_count(h, "n_shared_experts num_shared_experts moe_num_shared_experts num_shared_expert");
    if (total == 0 && h->traits & HF_SHARED_IS_EXPERT) shared = 1;
    if (total == 0 && shared > 0 && width > 0) {
        total = shared * width;
        hf_add(h, P_moe_shared_expert_intermediate_size, value_int(total),
               "shared experts x expert width");
    }
    int64_t dense = hf_given(h, P_ffn_hidden_size);
    bool beside = h->traits & HF_DENSE_BESIDE || hf_truth(h, "residual_moe", false);
    if (total == 0 && beside && dense > 0) {
        total = dense;
        hf_add(h, P_moe_shared_expert_intermediate_size, value_int(dense),
               "the dense FFN beside the experts");
    }
    if (total > 0 && h->traits & HF_SHARED_GATE)
        hf_add(h, P_moe_shared_expert_gate, value_bool(true), "model_type");
}

static bool has_expert_bias(const struct hf *h)
{
    return h->traits & HF_EXPERT_BIAS || str_is(hf_word(h, "topk_method"), "noaux_tc") ||
           hf_truth(h,
                    "use_routing_bias use_moe_router_bias moe_router_enable_expert_bias "
                    "use_expert_bias",
                    false);
}

/* How the router scores, groups and scales; families with an expert bias, and Llama 4, score by
   sigmoid unless they say otherwise. */
static void read_router(struct hf *h)
{
    struct str said = hf_word(h, "scoring_func score_function score_func "
                                 "moe_router_activation_func moe_router_score_function");
    bool bias = has_expert_bias(h);
    if (bias) hf_add(h, P_moe_router_enable_expert_bias, value_bool(true), "the router's method");
    bool known = str_is_any(said, "softmax|sigmoid|sqrtsoftplus"); /* dots.llm1: noaux_tc */
    if (!known && (bias || h->traits & HF_SIGMOID)) said = STR("sigmoid"), known = true;
    if (known)
        hf_add(h, P_moe_router_score_function, value_string(said),
               "scoring_func, or the expert bias");
    if (hf_count(h, "n_group num_expert_group") > 1) {
        hf_add_count(h, P_moe_router_num_groups, "n_group num_expert_group");
        hf_add_count(h, P_moe_router_group_topk, "topk_group");
    }
    const struct node *n;
    double scale = hf_number(
        h, "routed_scaling_factor moe_router_scaling_factor router_scaling_factor route_scale", 1,
        &n);
    if (scale != 1)
        model_add_field(h->arena, h->m, P_moe_router_topk_scaling_factor, value_double(scale), n,
                        STR("routed_scaling_factor"));
}

/* What a norm and the rotary positions need besides their widths. */
static void read_norms(struct hf *h)
{
    const struct node *n;
    double epsilon = hf_number(
        h, "rms_norm_eps layer_norm_epsilon layernorm_epsilon norm_eps layer_norm_eps", 0, &n);
    if (epsilon > 0 && epsilon < 1)
        model_add_field(h->arena, h->m, P_layernorm_epsilon, value_double(epsilon), n,
                        STR("rms_norm_eps"));
    struct str positions = hf_word(h, "position_embedding_type");
    if (str_is(positions, "nope") || str_is(positions, "none") || h->traits & HF_NO_POSITIONS)
        hf_add(h, P_position_embedding_type, value_string(STR("none")), "the model's positions");
    double base =
        hf_number(h, "rope_theta rope_parameters.rope_theta attn_config.rope_theta", 0, &n);
    if (base >= 1 && base <= 1e15 && (double)(int64_t)base == base)
        model_add_field(h->arena, h->m, P_rotary_base, value_int((int64_t)base), n,
                        STR("rope_theta"));
    double part =
        hf_number(h, "partial_rotary_factor rope_parameters.partial_rotary_factor", 1, &n);
    if (part > 0 && part < 1)
        model_add_field(h->arena, h->m, P_rotary_percent, value_double(part), n,
                        STR("partial_rotary_factor"));
}

/* The names under which a plain field is looked for. */
static const char *keys_of(int param)
{
    size_t i = 0;
    while (plain[i].param != param)
        i++;
    return plain[i].keys;
}

#define EXPERT_WIDTH_KEYS                                                                          \
    "moe_intermediate_size expert_ffn_hidden_size expert_intermediate_size "                       \
    "ffn_config.ffn_hidden_size moe_config.ffn_hidden_size"

#define DENSE_WIDTH_KEYS                                                                           \
    "intermediate_size_mlp dense_intermediate_size ffn_hidden_size mlp_hidden_size"

static void read_ffn(struct hf *h)
{
    bool moe = hf_given(h, P_num_moe_experts) > 1;
    bool is_expert = moe && h->traits & HF_EXPERT_WIDTH;
    int64_t dense = hf_add_count(h, P_ffn_hidden_size, DENSE_WIDTH_KEYS);
    if (dense == 0 && (!is_expert || h->traits & (HF_DENSE_BESIDE | HF_BOTH_WIDTHS)))
        hf_add_count(h, P_ffn_hidden_size, "intermediate_size");
    struct str act = hf_word(h, "mlp_hidden_act hidden_act hidden_activation activation_type");
    bool gated = !(h->traits & HF_NOT_GATED) && !str_is(act, "relu2");
    hf_add(h, P_gated_linear_unit, value_bool(gated), "model_type and hidden_act");
    if (str_is(act, "relu2"))
        hf_add(h, P_mlp_activation, value_string(STR("squared_relu")), "hidden_act");
    else if (gated && str_starts(act, STR("gelu")))
        hf_add(h, P_mlp_activation, value_string(STR("gelu")), "hidden_act");
    if (h->traits & HF_CLAMPED_GATE)
        hf_add(h, P_mlp_activation, value_string(STR("quick_geglu")), "model_type");
    hf_add(h, P_normalization,
           value_string(h->traits & HF_LAYER_NORM ? STR("LayerNorm") : STR("RMSNorm")),
           "model_type");
    read_norms(h);
    if (!moe) return;
    int64_t width = hf_add_count(h, P_moe_ffn_hidden_size, EXPERT_WIDTH_KEYS);
    if (width == 0 && is_expert)
        width = hf_add_count(h, P_moe_ffn_hidden_size, "intermediate_size");
    if (width == 0)
        hf_missing(h, P_moe_ffn_hidden_size,
                   is_expert ? EXPERT_WIDTH_KEYS " intermediate_size" : EXPERT_WIDTH_KEYS);
    if (!hf_given(h, P_moe_router_topk))
        hf_missing(h, P_moe_router_topk, keys_of(P_moe_router_topk));
    read_shared(h, width);
    read_router(h);
    check_expert_names(h);
}

/* ---- the rest ---- */

/* mlp_ratio: the width of a vision block's FFN over the block's own. */
static void read_ratio(struct hf *v)
{
    const struct node *n;
    double ratio = hf_number(v, "mlp_ratio", 0, &n);
    int64_t width = hf_given(v, P_vision_hidden_size);
    if (hf_given(v, P_vision_ffn_hidden_size) || !(ratio > 0 && ratio <= 64) || width <= 0) return;
    model_add_field(v->arena, v->m, P_vision_ffn_hidden_size,
                    value_int((int64_t)(ratio * (double)width + 0.5)), n, STR("mlp_ratio"));
}

static void read_vision(struct hf *h)
{
    const struct node *root = node_get(h->outer, STR("thinker_config"));
    const struct node *config = node_get(root ? root : h->outer, STR("vision_config"));
    if (!config || config->kind != NODE_MAP) return;
    struct hf v = *h;
    size_t before = h->m->fields.n;
    v.text = config;
    for (size_t i = 0; i < sizeof vision / sizeof *vision; i++)
        hf_add_count(&v, vision[i].param, vision[i].keys);
    hf_add_count(&v, P_vision_ffn_hidden_size,
                 h->traits & HF_VISION_OUT ? "out_hidden_size" : "intermediate_size");
    read_ratio(&v);
    const struct node *levels = node_get(config, STR("deepstack_visual_indexes"));
    if (levels && levels->kind == NODE_LIST && levels->n > 0 && levels->n < HF_MAX_LAYERS)
        model_add_field(h->arena, h->m, P_vision_num_deepstack_layers,
                        value_int((int64_t)levels->n), levels, STR("deepstack_visual_indexes"));
    if (h->traits & HF_GATED_VISION || str_is(hf_word(&v, "hidden_act"), "silu"))
        hf_add(h, P_vision_gated_linear_unit, value_bool(true),
               "model_type and hidden_act of the vision tower");
    if (!hf_given(h, P_vision_num_layers) || !hf_given(h, P_vision_hidden_size) ||
        !hf_given(h, P_vision_ffn_hidden_size)) {
        model_add_note(h->arena, h->m, "the vision tower's sizes are not given: it is left out");
        h->m->fields.n = before;
    }
    h->good = h->good && v.good;
}

static void read_embeddings(struct hf *h)
{
    /* beside the vision part's config, what the whole model says is what counts: transformers 5
       and Bridge's vision-language bridges read it there alone */
    const struct node *n = node_get(h->outer, STR("tie_word_embeddings")),
                      *own = hf_look(h, "tie_word_embeddings tie_embedding weight_tying", NULL);
    if (hf_value(h, n).kind != VALUE_BOOL) n = own;
    struct value v = hf_value(h, n);
    bool tied = v.kind == VALUE_BOOL ? v.b : h->traits & HF_TIED;
    model_add_field(h->arena, h->m, P_untie_embeddings_and_output_weights, value_bool(!tied),
                    v.kind == VALUE_BOOL ? n : NULL,
                    v.kind == VALUE_BOOL ? STR("tie_word_embeddings") : STR("model_type"));
    if (v.kind != VALUE_BOOL && !h->known)
        model_add_note(h->arena, h->m,
                       "tie_word_embeddings is not given: an output layer of its own is assumed");
    const struct node *types = hf_list(h, "indexer_types");
    int64_t full = 0;
    for (size_t i = 0; types && i < types->n; i++)
        full += str_is(types->items[i]->text, "full");
    if (full > 0)
        model_add_field(h->arena, h->m, P_dsa_indexer_num_layers, value_int(full), types,
                        STR("indexer_types"));
}

/* Llama-Nemotron: block_configs sizes every layer for itself; the first whole layer stands for
   all. */
static void read_blocks(struct hf *h)
{
    const struct node *blocks = hf_list(h, "block_configs");
    if (!blocks) return;
    model_add_note(h->arena, h->m,
                   "block_configs differ by layer; all layers are counted as the first one");
    struct hf b = *h;
    b.text = blocks->items[0];
    int64_t heads = hf_given(h, P_num_attention_heads),
            ratio = hf_count(&b, "attention.n_heads_in_group");
    if (ratio > 0) hf_add(h, P_num_query_groups, value_int(heads / ratio), "block_configs");
    const struct node *mult;
    double f = hf_number(&b, "ffn.ffn_mult", 0, &mult);
    if (f <= 0 || f > 64) return;
    int64_t width =
        (int64_t)(2 * f * (double)hf_given(h, P_hidden_size) / 3); /* DeciLM: rounded up to 256 */
    hf_add(h, P_ffn_hidden_size, value_int((width + 255) / 256 * 256), "block_configs");
}

static void note_unmodelled(struct hf *h)
{
    static const struct {
        const char *key, *what;
    } parts[] = {
        {"compress_ratios compress_rates",
         "compressed sparse attention is counted as attention over the whole sequence"},
        {"hc_mult", "hyper-connections are left out"},
        {"linear_attn_config.kda_layers",
         "Kimi delta attention is counted as a gated delta net of the same width"},
        {"sparse_attention_config",
         "block-sparse attention is counted as full attention, its index heads left out"},
        {"attention_chunk_size", "chunked attention is counted as full attention"},
        {"zero_expert_num", "identity experts are left out"},
        {"use_cla", "keys and values that layers share are counted in each"},
        {"hidden_size_per_layer_input", "per-layer embeddings are left out"},
        {"share_q_dim", "the query's two factors are counted as one matrix"},
        {"total_ut_steps", "the layers are counted as if they ran once"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct str value = hf_word(h, parts[i].key);
        bool off = str_is(value, "0") || str_is(value, "false");
        if (hf_look(h, parts[i].key, NULL) && !off)
            model_add_note(h->arena, h->m, "%s", parts[i].what);
    }
    if (h->traits & HF_TWO_ATTENTIONS)
        model_add_note(h->arena, h->m,
                       "the second attention and dense FFN of each layer are left out");
}

/* The part about the language model. */
static const struct node *language_part(const struct node *config)
{
    static const char *const paths[] = {"text_config", "thinker_config.text_config",
                                        "language_config", "llm_config"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct node *n = node_at(config, str_of(paths[i]));
        if (n && n->kind == NODE_MAP && n->n > 0) return n;
    }
    return config;
}

static struct str scalar_at(const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

/* The family of the outer type, or of the inner one when the outer is not known. */
static void read_family(struct hf *h)
{
    struct str type = scalar_at(h->outer, "model_type"), inner = scalar_at(h->text, "model_type");
    h->known = hf_family(type, &h->traits) || hf_family(inner, &h->traits);
    h->m->model_type = type;
    const struct node *classes = node_get(h->outer, STR("architectures"));
    if (classes && classes->kind == NODE_LIST && classes->n > 0 &&
        classes->items[0]->kind == NODE_SCALAR)
        h->m->architecture = classes->items[0]->text;
    if (h->known) return;
    bool wide = hf_look(h, EXPERT_WIDTH_KEYS, NULL) != NULL;
    if (!wide) h->traits |= HF_EXPERT_WIDTH;
    bool moe = hf_look(h, keys_of(P_num_moe_experts), NULL) != NULL;
    model_add_note(
        h->arena, h->m,
        "model_type %.*s is not known: RMSNorm, a gated FFN and no biases are assumed%s; "
        "compare the number of parameters with the published one",
        STR_ARG(type.n > 0 ? type : STR("(none)")),
        !moe   ? ""
        : wide ? ", and intermediate_size as the width of the dense FFN"
               : ", and intermediate_size as the width of the experts");
}

/* Whether a key's name has one of the words, which are separated by blanks, in it. */
static bool has_any(struct str key, const char *words)
{
    struct str rest = str_of(words), word;
    while (str_split(&rest, ' ', &word))
        if (str_find_str(key, word) < key.n) return true;
    return false;
}

static bool was_asked(const struct hf *h, struct str key)
{
    for (size_t i = 0; i < h->asked->names.n; i++)
        if (str_eq(h->asked->names.items[i], key)) return true;
    return false;
}

/* Whether a key that nobody has read says, by its name and value, how the layers are built. */
static bool is_structure(const struct hf *h, struct str key, const struct node *said)
{
    static const char structure[] =
        "layer head dim size expert moe mamba ssm conv attn attention rank window block width "
        "hidden ffn mlp shared group kv_ mtp nextn residual recurrent lru step embed gate index "
        "sparse";
    static const char inert[] =
        "dropout dtype multiplier scal topk top_k rotary rope eps time_step cache init cap loss "
        "kernel overlap token position chunk max_ max_window use_grouped beam drop image vision "
        "audio video vocab_size act softmax ep_size";
    if (!has_any(key, structure) || has_any(key, inert)) return false;
    if (said->kind != NODE_SCALAR) return said->n > 0;
    struct value v = hf_value(h, said);
    return (v.kind == VALUE_INT && v.i != 0) || (v.kind == VALUE_BOOL && v.b);
}

/* Of a family that nobody has looked at, what its config says and nothing here has read. */
static void note_unread(struct hf *h)
{
    enum { NAMED = 8 };
    struct buf names = buf_new(h->arena);
    size_t n = 0;
    for (size_t i = 0; !h->known && i < h->text->n; i++) {
        struct str key = h->text->keys[i]->text;
        if (was_asked(h, key) || !is_structure(h, key, h->text->items[i])) continue;
        if (n > 0 && n < NAMED) buf_add(&names, STR(", "));
        if (n++ < NAMED) buf_add(&names, key);
    }
    if (n == 0) return;
    struct str more = n > NAMED ? arena_printf(h->arena, " and %zu more", n - NAMED) : STR("");
    struct str list = buf_str(&names);
    model_add_note(h->arena, h->m, "not read, and so not counted: %.*s%.*s", STR_ARG(list),
                   STR_ARG(more));
}

static void check_needed(struct hf *h)
{
    static const int needed[] = {P_hidden_size, P_num_attention_heads, P_vocab_size};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!hf_given(h, needed[i])) hf_missing(h, needed[i], keys_of(needed[i]));
    if (hf_given(h, P_num_moe_experts) <= 1 && !hf_given(h, P_ffn_hidden_size))
        hf_missing(h, P_ffn_hidden_size, "intermediate_size " DENSE_WIDTH_KEYS);
}

/* Whether the config is of a decoder with attention and of no other kind; says what else it is. */
static bool is_decoder(struct hf *h)
{
    struct diag *d = NULL;
    if (hf_truth(h, "is_encoder_decoder", false))
        d = diag_add(h->diags, SEVERITY_ERROR, "model-config",
                     node_span(h->diags, hf_look(h, "is_encoder_decoder", NULL)),
                     "this is an encoder with a decoder, which moeplan does not know");
    else if (!hf_given(h, P_hidden_size) && !hf_given(h, P_num_attention_heads))
        d = diag_add(h->diags, SEVERITY_ERROR, "model-config", node_span(h->diags, h->outer),
                     "this config describes no model that moeplan knows how to read");
    if (d)
        diag_help(
            h->diags, d,
            "looked for hidden_size and num_attention_heads at the top and under text_config");
    return !d;
}

const struct model_input *model_from_hf(struct arena *a, struct diags *diags,
                                        const struct node *config, struct str name)
{
    struct model_input *m = ARENA_NEW(a, struct model_input);
    struct hf h = {.arena = a,
                   .diags = diags,
                   .m = m,
                   .outer = config,
                   .text = language_part(config),
                   .asked = ARENA_NEW(a, struct hf_asked),
                   .good = true};
    m->complete = true;
    m->root = config;
    m->name = scalar_at(config, "_name_or_path");
    read_family(&h);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        hf_add_count(&h, plain[i].param, plain[i].keys);
    if (!is_decoder(&h)) return NULL;
    read_attention(&h);
    read_ffn(&h);
    read_blocks(&h);
    hf_layers(&h);
    read_global_heads(&h);
    read_embeddings(&h);
    read_vision(&h);
    note_unmodelled(&h);
    check_needed(&h);
    note_unread(&h);
    if (m->name.n == 0) m->name = name;
    if (m->name.n == 0) m->name = m->architecture.n > 0 ? m->architecture : m->model_type;
    model_add_field(a, m, P_model_name, value_string(m->name), NULL, STR("config.json"));
    return h.good ? m : NULL;
}
