/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face configs. Three tables say how: where a field may stand under which names, what a
   family (model_type) means without saying it, and which layouts of layers there are. Names as in
   transformers' configuration_*.py. */
#include "base/buf.h"
#include "base/num.h"
#include "facts/model.h"

enum { MAX_LAYERS = 1024 };

/* ---- what a family means without saying it ---- */

enum {
    EXPERT_WIDTH = 1, /* intermediate_size is the width of one expert, not of the dense FFN */
    QK_NORM = 2,
    QK_NORM_FULL = 4, /* over all heads */
    QKV_BIAS = 8,
    ALL_BIAS = 16,
    SINKS = 32,
    LAYER_NORM = 64,
    NOT_GATED = 128,
    TIED = 256, /* unless tie_word_embeddings says otherwise */
    POST_NORMS = 512,
    OUTPUT_GATE = 1024,
    SHARED_GATE = 2048,
    EXPERT_BIAS = 4096,
    SHARED_IS_EXPERT = 8192, /* one shared expert of the routed experts' width */
    DENSE_BESIDE = 16384,    /* the dense FFN runs beside the experts of every layer */
    HALF_WINDOW = 32768,     /* every second layer has the window */
    GATED_VISION = 131072,   /* the vision tower's MLPs have a gate */
    SIXTH_FULL = 65536,      /* all layers but every sixth have the window */
};

struct family {
    const char *types; /* model_type words, separated by blanks */
    unsigned traits;
};

static const struct family families[] = {
    {"mixtral jamba", EXPERT_WIDTH},
    {"arctic", EXPERT_WIDTH | DENSE_BESIDE},
    {"granitemoe granitemoeshared granitemoehybrid", EXPERT_WIDTH | TIED},
    {"hunyuan_v1_moe", EXPERT_WIDTH},
    {"llama4 llama4_text", EXPERT_WIDTH | SHARED_IS_EXPERT},
    {"gpt_oss", EXPERT_WIDTH | ALL_BIAS | SINKS},
    {"minimax_m2", EXPERT_WIDTH | QK_NORM | QK_NORM_FULL},
    {"minimax_m3 minimax_m3_vl", EXPERT_WIDTH | QK_NORM},
    {"olmoe", EXPERT_WIDTH | QK_NORM | QK_NORM_FULL},
    {"phimoe", EXPERT_WIDTH | QKV_BIAS | LAYER_NORM},
    {"dbrx", LAYER_NORM},
    {"qwen2 qwen2_vl", QKV_BIAS},
    {"qwen2_5_vl", QKV_BIAS | GATED_VISION},
    {"qwen2_moe", QKV_BIAS | SHARED_GATE},
    {"qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text qwen3_omni_moe "
     "qwen3_omni_moe_thinker "
     "qwen3_omni_moe_text",
     QK_NORM},
    {"qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     QK_NORM | SHARED_GATE | OUTPUT_GATE},
    {"glm4_moe glm4_moe_lite glm_moe_dsa", EXPERT_BIAS},
    {"glm4v_moe glm4v_moe_text", EXPERT_BIAS | GATED_VISION},
    {"nemotron_h", NOT_GATED | EXPERT_BIAS},
    {"gemma2", TIED | POST_NORMS | HALF_WINDOW},
    {"gemma3 gemma3_text", TIED | POST_NORMS | QK_NORM | SIXTH_FULL},
    {"gemma4 gemma4_text", TIED | POST_NORMS | QK_NORM | DENSE_BESIDE},
    {"step3p5 step3p7", QK_NORM | EXPERT_BIAS},
    {"deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 deepseek_ref kimi_k2 kimi_k25 kimi_k3 "
     "kimi_linear bailing_moe "
     "bailing_moe_v2 ernie4_5_moe mimo mimo_v2_flash llama mistral nemotron-nas exaone4 exaone4_5 "
     "exaone4_5_text "
     "muse_glimmer muse_glimmer_text",
     0},
};

static bool has_word(const char *words, struct str word)
{
    struct str rest = str_of(words), one;
    while (str_split(&rest, ' ', &one))
        if (str_eq(one, word)) return true;
    return false;
}

static const struct family *family_find(struct str type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (has_word(families[i].types, type)) return &families[i];
    return NULL;
}

/* ---- where a field stands ---- */

/* Names in the order in which they are looked for. A name with a dot is nested. */
struct aliases {
    const char *param;
    const char *keys;
};

static const struct aliases plain[] = {
    {"hidden_size", "hidden_size d_model n_embd"},
    {"num_attention_heads", "num_attention_heads n_heads n_head"},
    {"kv_channels", "head_dim attention_head_dim"},
    {"vocab_size", "vocab_size"},
    {"q_lora_rank", "q_lora_rank"},
    {"kv_lora_rank", "kv_lora_rank"},
    {"qk_pos_emb_head_dim", "qk_rope_head_dim"},
    {"v_head_dim", "v_head_dim"},
    {"num_moe_experts",
     "n_routed_experts num_experts num_local_experts moe_num_experts ffn_config.moe_num_experts "
     "num_routed_experts"},
    {"moe_router_topk",
     "num_experts_per_tok num_experts_per_token top_k_experts experts_per_token moe_topk moe_top_k "
     "moe_k "
     "ffn_config.moe_top_k"},
    {"moe_latent_size", "moe_latent_size routed_expert_hidden_size"},
    {"dsa_indexer_n_heads", "index_n_heads"},
    {"dsa_indexer_head_dim", "index_head_dim"},
    {"dsa_indexer_topk", "index_topk"},
    {"mamba_num_heads", "mamba_num_heads mamba_n_heads"},
    {"mamba_head_dim", "mamba_head_dim mamba_d_head"},
    {"mamba_state_dim", "ssm_state_size mamba_d_state"},
    {"mamba_num_groups", "n_groups mamba_n_groups"},
    {"mamba_conv_kernel_dim", "conv_kernel mamba_d_conv"},
    {"linear_num_key_heads", "linear_num_key_heads linear_attn_config.num_heads"},
    {"linear_num_value_heads", "linear_num_value_heads linear_attn_config.num_heads"},
    {"linear_key_head_dim", "linear_key_head_dim linear_attn_config.head_dim"},
    {"linear_value_head_dim", "linear_value_head_dim linear_attn_config.head_dim"},
    {"linear_conv_kernel_dim", "linear_conv_kernel_dim linear_attn_config.short_conv_kernel_size"},
    {"window_num_attention_heads", "swa_num_attention_heads num_sliding_attention_heads "
                                   "attention_other_setting.num_attention_heads"},
    {"window_num_query_groups",
     "swa_num_key_value_heads attention_other_setting.num_attention_groups"},
    {"window_kv_channels", "swa_head_dim"},
    {"window_v_head_dim", "swa_v_head_dim"},
};

static const struct aliases vision[] = {
    {"vision_num_layers", "depth num_hidden_layers"},
    {"vision_hidden_size", "hidden_size embed_dim"},
    {"vision_ffn_hidden_size", "intermediate_size"},
    {"vision_num_attention_heads", "num_heads num_attention_heads"},
    {"vision_patch_size", "patch_size"},
    {"vision_spatial_merge_size", "spatial_merge_size merge_size"},
    {"vision_temporal_patch_size", "temporal_patch_size patch_temporal"},
    {"vision_num_position_embeddings", "num_position_embeddings"},
};

struct hf {
    struct arena *arena;
    struct diags *diags;
    struct model_input *m;
    const struct node *outer, *text; /* the whole config, and the part about the language model */
    unsigned traits;
    int64_t layers;
    bool good;
};

/* The first of the names that holds something, in the language model's part or around it. */
static const struct node *look(const struct hf *h, const char *keys, struct str *alias)
{
    struct str rest = str_of(keys), key;
    while (str_split(&rest, ' ', &key)) {
        const struct node *n = node_at(h->text, key);
        if (!n) continue;
        struct value v = node_value(h->arena, n, SCALAR_CORE);
        if (v.kind == VALUE_NULL) continue;
        if (alias) *alias = key;
        return n;
    }
    return NULL;
}

static void defect(struct hf *h, const struct node *at, const char *param, const char *what)
{
    struct diag *d =
        diag_add(h->diags, SEVERITY_ERROR, "model-field", node_span(h->diags, at), "%s", what);
    d->parameter = str_of(param);
    h->good = false;
}

static void missing(struct hf *h, const char *param, const char *keys)
{
    struct diag *d = diag_add(h->diags, SEVERITY_ERROR, "model-field", node_span(h->diags, h->text),
                              "the config does not give %s", param);
    d->parameter = str_of(param);
    diag_help(h->diags, d, "looked for %s", keys);
    h->good = false;
}

/* The value of a node; a list with one value a layer is that value when all agree. */
static struct value uniform(struct hf *h, const struct node *n, const char *param)
{
    struct value v = node_value(h->arena, n, SCALAR_CORE);
    if (v.kind != VALUE_LIST) return v;
    for (size_t i = 1; i < v.list->n; i++)
        if (!value_eq(v.list->items[0], v.list->items[i])) {
            model_add_note(h->arena, h->m,
                           "%s differs from layer to layer; the first layer's is taken for all",
                           param);
            break;
        }
    return v.list->n > 0 ? v.list->items[0] : value_null();
}

/* A count of something: a positive integer within int. 0 when absent, null or not positive. */
static int64_t count_in(struct hf *h, const char *param, const char *keys, const struct node **node,
                        struct str *alias)
{
    *node = look(h, keys, alias);
    if (!*node) return 0;
    struct value v = uniform(h, *node, param);
    if (v.kind == VALUE_BOOL || v.kind == VALUE_NULL) return 0;
    if (v.kind == VALUE_INT && v.i >= 0 && v.i <= INT32_MAX) return v.i;
    struct str text = value_text(h->arena, v);
    defect(h, *node, param,
           arena_printf(h->arena, "%s must be a whole number, not %.*s", param, STR_ARG(text)).p);
    return 0;
}

static int64_t add_count(struct hf *h, const char *param, const char *keys)
{
    const struct node *n;
    struct str alias = {0};
    int64_t i = count_in(h, param, keys, &n, &alias);
    if (i > 0) model_add_field(h->arena, h->m, param, value_int(i), n, alias);
    return i;
}

static int64_t count(struct hf *h, const char *keys)
{
    const struct node *n;
    return count_in(h, keys, keys, &n, NULL);
}

static bool truth(const struct hf *h, const char *keys, bool otherwise)
{
    const struct node *n = look(h, keys, NULL);
    struct value v = n ? node_value(h->arena, n, SCALAR_CORE) : value_null();
    return v.kind == VALUE_BOOL ? v.b : otherwise;
}

static struct str word(const struct hf *h, const char *keys)
{
    const struct node *n = look(h, keys, NULL);
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

static void add(struct hf *h, const char *param, struct value v, const char *how)
{
    model_add_field(h->arena, h->m, param, v, NULL, str_of(how));
}

static int64_t given(const struct hf *h, const char *param)
{
    const struct model_field *f = model_field_get(h->m, param);
    return f && f->value.kind == VALUE_INT ? f->value.i : 0;
}

/* ---- attention ---- */

static void read_attention(struct hf *h)
{
    int64_t heads = given(h, "num_attention_heads");
    if (given(h, "kv_lora_rank") > 0) {
        add(h, "multi_latent_attention", value_bool(true), "kv_lora_rank is given");
        add_count(h, "qk_head_dim", "qk_nope_head_dim");
        add(h, "num_query_groups", value_int(heads), "as many as heads: latent attention");
        if (!given(h, "qk_head_dim")) missing(h, "qk_head_dim", "qk_nope_head_dim");
        if (!given(h, "v_head_dim")) missing(h, "v_head_dim", "v_head_dim");
    } else if (add_count(h, "num_query_groups",
                         "num_key_value_heads num_attention_groups attn_config.kv_n_heads") == 0) {
        add(h, "num_query_groups", value_int(heads),
            "as many as heads: num_key_value_heads is not given");
    }
    bool qk_norm = truth(h, "use_qk_norm", false) || h->traits & QK_NORM;
    if (given(h, "kv_lora_rank") > 0) qk_norm = true; /* Megatron's switch for the latents' norms */
    if (has_word("llama4 llama4_text", h->m->model_type))
        qk_norm = false; /* an L2 norm without weights */
    add(h, "qk_layernorm", value_bool(qk_norm), "model_type");
    bool bias = truth(h, "attention_bias qkv_bias use_qkv_bias", h->traits & QKV_BIAS);
    if (bias || h->traits & QKV_BIAS) add(h, "add_qkv_bias", value_bool(true), "attention_bias");
    if (h->traits & QK_NORM_FULL) add(h, "qk_layernorm_full_width", value_bool(true), "model_type");
    if (h->traits & ALL_BIAS) add(h, "add_bias_linear", value_bool(true), "model_type");
    if (h->traits & SINKS) add(h, "softmax_type", value_string(STR("learnable")), "model_type");
    if (h->traits & POST_NORMS) add(h, "post_layernorms", value_bool(true), "model_type");
    if (truth(h, "attn_output_gate mla_use_output_gate attention_output_gate",
              h->traits & OUTPUT_GATE))
        add(h, "attention_output_gate", value_bool(true), "model_type");
    if (truth(h, "use_head_wise_attn_gate", false))
        add(h, "attention_head_gate", value_bool(true), "use_head_wise_attn_gate");
}

/* Gemma 4: full-attention layers have heads of their own; what head_dim and num_key_value_heads say
 * is about the others. */
static void read_global_heads(struct hf *h)
{
    int64_t groups = given(h, "num_query_groups"), width = given(h, "kv_channels");
    if (count(h, "num_global_key_value_heads global_head_dim") == 0) return;
    add(h, "window_num_query_groups", value_int(groups), "num_key_value_heads");
    add(h, "window_kv_channels", value_int(width), "head_dim");
    add_count(h, "num_query_groups", "num_global_key_value_heads");
    add_count(h, "kv_channels", "global_head_dim");
    if (truth(h, "attention_k_eq_v", false))
        add(h, "attention_k_equals_v", value_bool(true), "attention_k_eq_v");
}

/* ---- experts ---- */

static void check_expert_names(struct hf *h)
{
    const struct node *a = node_get(h->text, STR("num_experts")),
                      *b = node_get(h->text, STR("n_routed_experts"));
    if (!a || !b) return;
    struct value x = node_value(h->arena, a, SCALAR_CORE), y = node_value(h->arena, b, SCALAR_CORE);
    if (x.kind == VALUE_INT && y.kind == VALUE_INT && x.i != y.i)
        defect(h, a, "num_moe_experts", "num_experts and n_routed_experts differ");
}

static void read_shared(struct hf *h, int64_t width)
{
    int64_t total = add_count(h, "moe_shared_expert_intermediate_size",
                              "shared_expert_intermediate_size moe_shared_expert_intermediate_size "
                              "shared_intermediate_size share_expert_dim");
    int64_t shared =
        count(h, "n_shared_experts num_shared_experts moe_num_shared_experts num_shared_expert");
    if (total == 0 && h->traits & SHARED_IS_EXPERT) shared = 1;
    if (total == 0 && shared > 0 && width > 0) {
        total = shared * width;
        add(h, "moe_shared_expert_intermediate_size", value_int(total),
            "shared experts x expert width");
    }
    int64_t dense = given(h, "ffn_hidden_size");
    if (total == 0 && h->traits & DENSE_BESIDE && dense > 0) {
        total = dense;
        add(h, "moe_shared_expert_intermediate_size", value_int(dense),
            "the dense FFN beside the experts");
    }
    if (total > 0 && h->traits & SHARED_GATE)
        add(h, "moe_shared_expert_gate", value_bool(true), "model_type");
}

static bool has_expert_bias(const struct hf *h)
{
    return h->traits & EXPERT_BIAS || str_is(word(h, "topk_method"), "noaux_tc") ||
           truth(h,
                 "use_routing_bias use_moe_router_bias moe_router_enable_expert_bias "
                 "use_expert_bias",
                 false);
}

/* A number; `otherwise` when there is none. */
static double number(const struct hf *h, const char *keys, double otherwise,
                     const struct node **node)
{
    *node = look(h, keys, NULL);
    struct value v = *node ? node_value(h->arena, *node, SCALAR_CORE) : value_null();
    return v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : otherwise;
}

/* How the router scores, groups and scales; families with an expert bias score by sigmoid unless
 * they say otherwise. */
static void read_router(struct hf *h)
{
    static const char *const functions[] = {"softmax", "sigmoid", "sqrtsoftplus"};
    struct str said = word(h, "scoring_func score_function moe_router_activation_func");
    bool bias = has_expert_bias(h);
    if (bias) add(h, "moe_router_enable_expert_bias", value_bool(true), "the router's method");
    if (said.n == 0 && bias) said = STR("sigmoid");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(said, functions[i]))
            add(h, "moe_router_score_function", value_string(said),
                "scoring_func, or the expert bias");
    if (count(h, "n_group num_expert_group") > 1) {
        add_count(h, "moe_router_num_groups", "n_group num_expert_group");
        add_count(h, "moe_router_group_topk", "topk_group");
    }
    const struct node *n;
    double scale = number(h, "routed_scaling_factor moe_router_scaling_factor", 1, &n);
    if (scale != 1)
        model_add_field(h->arena, h->m, "moe_router_topk_scaling_factor", value_double(scale), n,
                        STR("routed_scaling_factor"));
}

/* What a norm and the rotary positions need besides their widths. */
static void read_norms(struct hf *h)
{
    const struct node *n;
    double epsilon = number(
        h, "rms_norm_eps layer_norm_epsilon layernorm_epsilon norm_eps layer_norm_eps", 0, &n);
    if (epsilon > 0 && epsilon < 1)
        model_add_field(h->arena, h->m, "layernorm_epsilon", value_double(epsilon), n,
                        STR("rms_norm_eps"));
    double base = number(h, "rope_theta rope_parameters.rope_theta attn_config.rope_theta", 0, &n);
    if (base >= 1 && base <= 1e15 && (double)(int64_t)base == base)
        model_add_field(h->arena, h->m, "rotary_base", value_int((int64_t)base), n,
                        STR("rope_theta"));
    double part = number(h, "partial_rotary_factor rope_parameters.partial_rotary_factor", 1, &n);
    if (part > 0 && part < 1)
        model_add_field(h->arena, h->m, "rotary_percent", value_double(part), n,
                        STR("partial_rotary_factor"));
}

/* The names under which a plain field is looked for. */
static const char *keys_of(const char *param)
{
    size_t i = 0;
    while (strcmp(plain[i].param, param) != 0)
        i++;
    return plain[i].keys;
}

#define EXPERT_WIDTH_KEYS                                                                          \
    "moe_intermediate_size expert_ffn_hidden_size expert_intermediate_size "                       \
    "ffn_config.ffn_hidden_size"

static void read_ffn(struct hf *h)
{
    bool moe = given(h, "num_moe_experts") > 1;
    bool is_expert = moe && h->traits & EXPERT_WIDTH;
    int64_t dense = add_count(h, "ffn_hidden_size",
                              "intermediate_size_mlp dense_intermediate_size ffn_hidden_size");
    if (dense == 0 &&
        (!is_expert || h->traits & DENSE_BESIDE || has_word("jamba", h->m->model_type)))
        add_count(h, "ffn_hidden_size", "intermediate_size");
    bool gated = !(h->traits & NOT_GATED) && !str_is(word(h, "mlp_hidden_act hidden_act"), "relu2");
    add(h, "gated_linear_unit", value_bool(gated), "model_type and hidden_act");
    if (str_is(word(h, "mlp_hidden_act hidden_act"), "relu2"))
        add(h, "mlp_activation", value_string(STR("squared_relu")), "hidden_act");
    if (str_starts(h->m->model_type, STR("gpt_oss")))
        add(h, "mlp_activation", value_string(STR("quick_geglu")), "model_type");
    add(h, "normalization",
        value_string(h->traits & LAYER_NORM ? STR("LayerNorm") : STR("RMSNorm")), "model_type");
    read_norms(h);
    if (!moe) return;
    int64_t width = add_count(h, "moe_ffn_hidden_size", EXPERT_WIDTH_KEYS);
    if (width == 0 && is_expert) width = add_count(h, "moe_ffn_hidden_size", "intermediate_size");
    if (width == 0)
        missing(h, "moe_ffn_hidden_size",
                is_expert ? EXPERT_WIDTH_KEYS " intermediate_size" : EXPERT_WIDTH_KEYS);
    if (!given(h, "moe_router_topk")) missing(h, "moe_router_topk", keys_of("moe_router_topk"));
    read_shared(h, width);
    read_router(h);
    check_expert_names(h);
}

/* ---- which layer is what ---- */

/* One flag a layer. */
struct flags {
    int64_t n;
    bool on[MAX_LAYERS];
};

/* A list of numbers or words a layer, where `on` is one of the words. */
static bool flags_of_list(const struct hf *h, const char *key, const char *on, struct flags *out)
{
    const struct node *list = node_get(h->text, str_of(key));
    if (!list || list->kind != NODE_LIST || list->n == 0 || list->n > MAX_LAYERS) return false;
    out->n = (int64_t)list->n;
    for (size_t i = 0; i < list->n; i++)
        out->on[i] = list->items[i]->kind == NODE_SCALAR && has_word(on, list->items[i]->text);
    return true;
}

/* Sparse layers numbered one by one: moe_layers_enum as a list or a comma string, mlp_only_layers
 * as the dense ones. */
static bool flags_of_numbers(const struct hf *h, const char *key, bool on, struct flags *out)
{
    const struct node *n = node_get(h->text, str_of(key));
    if (!n || (n->kind == NODE_LIST && n->n == 0)) return false;
    struct str rest = n->kind == NODE_SCALAR ? n->text : (struct str){"", 0}, part;
    VEC(struct str) words = {0};
    if (n->kind == NODE_LIST)
        for (size_t i = 0; i < n->n; i++)
            *VEC_PUSH(h->arena, &words) = n->items[i]->text;
    while (str_split(&rest, ',', &part))
        *VEC_PUSH(h->arena, &words) = str_trim(part);
    for (size_t i = 0; i < words.n; i++) {
        int64_t layer;
        if (num_parse_int(words.items[i], &layer) && layer >= 0 && layer < out->n)
            out->on[layer] = on;
    }
    return words.n > 0;
}

/* Layers from, to, step and offset as several families say it. */
static void flags_of_rules(struct hf *h, struct flags *moe)
{
    int64_t first = count(h, "first_k_dense_replace num_dense_layers moe_layer_start_index");
    int64_t step = count(
        h, "decoder_sparse_step interleave_moe_layer_step moe_layer_interval expert_layer_period "
           "moe_layer_frequency moe_every_n_layer");
    const struct node *end_node = look(h, "moe_layer_end_index", NULL),
                      *freq = look(h, "moe_layer_freq", NULL);
    struct value end = end_node ? node_value(h->arena, end_node, SCALAR_CORE) : value_null();
    int64_t last = end.kind == VALUE_INT && end.i >= 0 ? end.i : moe->n - 1,
            n = step > 0 ? step : 1;
    struct value f = freq ? node_value(h->arena, freq, SCALAR_CORE) : value_null();
    bool by_period = look(h, "expert_layer_period", NULL) != NULL;
    int64_t offset = by_period ? count(h, "expert_layer_offset") : n - 1;
    if (f.kind == VALUE_INT && f.i > 1)
        n = f.i, offset = 0; /* DeepSeek: layer_idx % moe_layer_freq == 0 */
    for (int64_t i = 0; i < moe->n; i++)
        moe->on[i] = i >= first && i <= last && i % n == offset % n;
}

static void set_moe_layers(struct hf *h, const struct flags *moe)
{
    int64_t first = 0, on = 0;
    while (first < moe->n && !moe->on[first])
        first++;
    for (int64_t i = first; i < moe->n; i++)
        on += moe->on[i];
    if (on == moe->n) return;
    if (on == moe->n - first) {
        add(h, "first_k_dense_replace", value_int(first), "the config's MoE layers");
        return;
    }
    struct value *list = ARENA_ARRAY(h->arena, struct value, (size_t)moe->n);
    for (int64_t i = 0; i < moe->n; i++)
        list[i] = value_int(moe->on[i]);
    add(h, "moe_layer_freq", value_list_of(h->arena, list, (size_t)moe->n),
        "the config's MoE layers");
}

static void read_moe_layers(struct hf *h)
{
    if (given(h, "num_moe_experts") <= 1) return;
    struct flags moe = {.n = h->layers}, listed = {.n = h->layers};
    flags_of_rules(h, &moe);
    bool has_list = flags_of_list(h, "mlp_layer_types", "sparse", &listed) ||
                    flags_of_list(h, "moe_layer_freq", "1 true", &listed);
    if (has_list && listed.n != h->layers)
        defect(h, h->text, "moe_layer_freq",
               "the list of MoE layers is not as long as there are layers");
    if (has_list) moe = listed;
    struct flags numbered = {.n = h->layers};
    if (flags_of_numbers(h, "moe_layers_enum", true, &numbered)) moe = numbered;
    flags_of_numbers(h, "mlp_only_layers", false, &moe);
    set_moe_layers(h, &moe);
    int64_t dense = 0;
    for (int64_t i = 0; i < moe.n; i++)
        dense += !moe.on[i];
    if (dense > 0 && !given(h, "ffn_hidden_size"))
        missing(h, "ffn_hidden_size",
                "intermediate_size intermediate_size_mlp dense_intermediate_size");
}

/* The n for which every n-th layer is off and the others on; 0 when there is none. */
static int64_t every_nth_off(const struct flags *f)
{
    int64_t n = 0;
    while (n < f->n && f->on[n])
        n++;
    n++;
    for (int64_t i = 0; i < f->n; i++)
        if (f->on[i] != ((i + 1) % n != 0)) return 0;
    return n <= f->n ? n : 0;
}

static struct value pattern_value(struct hf *h, const struct flags *f)
{
    int64_t n = every_nth_off(f);
    if (n > 1) return value_int(n);
    struct value *list = ARENA_ARRAY(h->arena, struct value, (size_t)f->n);
    for (int64_t i = 0; i < f->n; i++)
        list[i] = value_int(f->on[i]);
    return value_list_of(h->arena, list, (size_t)f->n);
}

static bool any_on(const struct flags *f)
{
    for (int64_t i = 0; i < f->n; i++)
        if (f->on[i]) return true;
    return false;
}

/* sliding_window_pattern: 6 (every sixth layer is full) or "LLLG" (L slides). */
static bool flags_of_window_pattern(struct hf *h, struct flags *out)
{
    const struct node *n = look(h, "sliding_window_pattern", NULL);
    if (!n || n->kind != NODE_SCALAR) return false;
    int64_t every;
    bool is_number = num_parse_int(n->text, &every);
    if ((is_number && every < 2) || n->text.n == 0) return false;
    for (int64_t i = 0; i < out->n; i++)
        out->on[i] = is_number ? (i + 1) % every != 0 : n->text.p[(size_t)i % n->text.n] == 'L';
    return true;
}

static void read_windows(struct hf *h)
{
    struct flags window = {.n = h->layers};
    const struct node *n;
    struct str alias = {0};
    int64_t size = count_in(h, "window_size", "sliding_window sliding_window_size", &n, &alias);
    if (size == 0 || !truth(h, "use_sliding_window", true)) return;
    if (size >= count(h, "max_position_embeddings") && count(h, "max_position_embeddings") > 0)
        return;
    bool mimo = has_word("mimo_v2_flash", h->m->model_type);
    bool listed = flags_of_list(h, "layer_types", "sliding_attention", &window) ||
                  (mimo && flags_of_list(h, "hybrid_layer_pattern", "1", &window)) ||
                  flags_of_window_pattern(h, &window);
    if (!listed && h->traits & (HALF_WINDOW | SIXTH_FULL)) {
        int64_t every = h->traits & HALF_WINDOW ? 2 : 6;
        for (int64_t i = 0; i < window.n; i++)
            window.on[i] = (i + 1) % every != 0;
        listed = true;
    }
    if (window.n != h->layers)
        defect(h, h->text, "window_attn_skip_freq",
               "layer_types is not as long as there are layers");
    if (listed && !any_on(&window)) return;
    model_add_field(h->arena, h->m, "window_size", value_int(size), n, alias);
    if (listed) add(h, "window_attn_skip_freq", pattern_value(h, &window), "layer_types");
}

static void read_linear(struct hf *h)
{
    if (!given(h, "linear_num_key_heads")) return;
    struct flags linear = {.n = h->layers};
    int64_t interval = count(h, "full_attention_interval");
    const struct node *full = node_at(h->text, STR("linear_attn_config.full_attn_layers"));
    if (full && full->kind == NODE_LIST) { /* layers counted from 1 */
        for (int64_t i = 0; i < linear.n; i++)
            linear.on[i] = true;
        for (size_t i = 0; i < full->n; i++) {
            int64_t layer;
            if (num_parse_int(full->items[i]->text, &layer) && layer >= 1 && layer <= linear.n)
                linear.on[layer - 1] = false;
        }
    } else if (!flags_of_list(h, "layer_types", "linear_attention", &linear)) {
        for (int64_t i = 0; i < linear.n; i++)
            linear.on[i] = interval > 0 && (i + 1) % interval != 0;
    }
    if (linear.n != h->layers)
        defect(h, h->text, "linear_attention_freq",
               "layer_types is not as long as there are layers");
    if (any_on(&linear)) add(h, "linear_attention_freq", pattern_value(h, &linear), "layer_types");
}

/* ---- hybrids ---- */

/* Megatron's letters from a list of block names or from letters already. */
static struct str letters(struct hf *h, const struct node *n)
{
    static const struct {
        const char *word;
        char letter;
    } blocks[] = {{"mamba", 'M'}, {"moe", 'E'}, {"attention", '*'}, {"mlp", '-'}};
    if (n->kind == NODE_SCALAR) return n->text;
    struct buf b = buf_new(h->arena);
    for (size_t i = 0; i < n->n; i++) {
        size_t k = 0, count_of = sizeof blocks / sizeof *blocks;
        while (k < count_of && !str_is(n->items[i]->text, blocks[k].word))
            k++;
        if (k == count_of) {
            defect(h, n->items[i], "hybrid_layer_pattern",
                   "a kind of block that moeplan does not know");
            return (struct str){"", 0};
        }
        buf_add_char(&b, blocks[k].letter);
    }
    return buf_str(&b);
}

/* Jamba: a mixer and an FFN a layer, attention and experts at their periods. */
static struct str jamba_letters(struct hf *h)
{
    int64_t period = count(h, "attn_layer_period"), offset = count(h, "attn_layer_offset");
    int64_t sparse = count(h, "expert_layer_period"), at = count(h, "expert_layer_offset");
    struct buf b = buf_new(h->arena);
    for (int64_t i = 0; i < h->layers; i++) {
        buf_add_char(&b, period > 0 && i % period == offset ? '*' : 'M');
        buf_add_char(&b, sparse > 0 && i % sparse == at ? 'E' : '-');
    }
    model_add_note(h->arena, h->m,
                   "Mamba-1 layers are reckoned as Mamba-2 layers of the same width");
    return buf_str(&b);
}

static void read_hybrid(struct hf *h)
{
    if (has_word("mimo_v2_flash", h->m->model_type)) return;
    struct str alias = {0};
    const struct node *n =
        look(h, "hybrid_override_pattern layers_block_type hybrid_layer_pattern", &alias);
    bool jamba = look(h, "attn_layer_period", NULL) != NULL;
    if (!n && !jamba) return;
    struct str pattern = n ? letters(h, n) : jamba_letters(h);
    if (h->layers == 0) h->layers = (int64_t)pattern.n;
    if (!jamba && (int64_t)pattern.n != h->layers)
        defect(h, n, "hybrid_layer_pattern", "the pattern is not as long as there are layers");
    const struct node *depth = look(h, "mtp_hybrid_override_pattern mtp_layers_block_type", NULL);
    struct str part = depth ? letters(h, depth) : STR("*E");
    for (int64_t i = 0; i < given(h, "mtp_num_layers") && i < 16; i++)
        pattern = arena_printf(h->arena, "%.*s/%.*s", STR_ARG(pattern), STR_ARG(part));
    model_add_field(h->arena, h->m, "hybrid_layer_pattern", value_string(pattern), n, alias);
}

/* ---- the rest ---- */

static void read_vision(struct hf *h)
{
    const struct node *root = node_get(h->outer, STR("thinker_config"));
    const struct node *config = node_get(root ? root : h->outer, STR("vision_config"));
    if (!config || config->kind != NODE_MAP) return;
    struct hf v = *h;
    v.text = config;
    for (size_t i = 0; i < sizeof vision / sizeof *vision; i++)
        add_count(&v, vision[i].param, vision[i].keys);
    const struct node *levels = node_get(config, STR("deepstack_visual_indexes"));
    if (levels && levels->kind == NODE_LIST && levels->n > 0 && levels->n < MAX_LAYERS)
        model_add_field(h->arena, h->m, "vision_num_deepstack_layers",
                        value_int((int64_t)levels->n), levels, STR("deepstack_visual_indexes"));
    if (h->traits & GATED_VISION || str_is(word(&v, "hidden_act"), "silu"))
        add(h, "vision_gated_linear_unit", value_bool(true),
            "model_type and hidden_act of the vision tower");
    if (!given(h, "vision_num_layers") || !given(h, "vision_hidden_size") ||
        !given(h, "vision_ffn_hidden_size"))
        model_add_note(h->arena, h->m, "the vision tower's sizes are not given: it is left out");
    h->good = h->good && v.good;
}

static void read_embeddings(struct hf *h)
{
    const struct node *n = look(h, "tie_word_embeddings tie_embedding", NULL);
    if (!n) n = node_get(h->outer, STR("tie_word_embeddings"));
    struct value v = n ? node_value(h->arena, n, SCALAR_CORE) : value_null();
    bool tied = v.kind == VALUE_BOOL ? v.b : h->traits & TIED;
    model_add_field(h->arena, h->m, "untie_embeddings_and_output_weights", value_bool(!tied),
                    v.kind == VALUE_BOOL ? n : NULL,
                    v.kind == VALUE_BOOL ? STR("tie_word_embeddings") : STR("model_type"));
    const struct node *types = node_get(h->text, STR("indexer_types"));
    int64_t own = 0;
    for (size_t i = 0; types && types->kind == NODE_LIST && i < types->n; i++)
        own += str_is(types->items[i]->text, "full");
    if (own > 0)
        model_add_field(h->arena, h->m, "dsa_indexer_num_layers", value_int(own), types,
                        STR("indexer_types"));
}

/* MTP depths: what the publisher trained. A switch may turn them off. */
static void read_mtp(struct hf *h)
{
    if (!truth(h, "use_mtp", true)) return;
    int64_t n = add_count(h, "mtp_num_layers",
                          "num_nextn_predict_layers mtp_num_hidden_layers num_mtp_modules");
    if (n == 0) add(h, "mtp_num_layers", value_int(0), "none is given");
}

/* Llama-Nemotron: block_configs sizes every layer for itself; the first whole layer stands for all.
 */
static void read_blocks(struct hf *h)
{
    const struct node *blocks = node_get(h->text, STR("block_configs"));
    if (!blocks || blocks->kind != NODE_LIST || blocks->n == 0) return;
    model_add_note(h->arena, h->m,
                   "block_configs differ by layer; all layers are reckoned as the first one");
    struct hf b = *h;
    b.text = blocks->items[0];
    int64_t heads = given(h, "num_attention_heads"),
            ratio = count(&b, "attention.n_heads_in_group");
    if (ratio > 0) add(h, "num_query_groups", value_int(heads / ratio), "block_configs");
    const struct node *mult = node_at(b.text, STR("ffn.ffn_mult"));
    struct value v = mult ? node_value(h->arena, mult, SCALAR_CORE) : value_null();
    double f = v.kind == VALUE_DOUBLE ? v.d : v.kind == VALUE_INT ? (double)v.i : 0;
    if (f <= 0 || f > 64) return;
    int64_t width =
        (int64_t)(2 * f * (double)given(h, "hidden_size") / 3); /* DeciLM: rounded up to 256 */
    add(h, "ffn_hidden_size", value_int((width + 255) / 256 * 256), "block_configs");
}

static void note_unmodelled(struct hf *h)
{
    static const struct {
        const char *key, *what;
    } parts[] = {
        {"o_lora_rank", "grouped low-rank output projections are reckoned as full ones"},
        {"compress_ratios",
         "compressed sparse attention is reckoned as attention over the whole sequence"},
        {"hc_mult", "hyper-connections are left out"},
        {"sparse_attention_config",
         "block-sparse attention is reckoned as full attention, its index heads left out"},
        {"attention_chunk_size", "chunked attention is reckoned as full attention"},
        {"zero_expert_num", "identity experts are left out"},
        {"hidden_size_per_layer_input", "per-layer embeddings are left out"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct str value = word(h, parts[i].key);
        bool off = str_is(value, "0") || str_is(value, "false");
        if (look(h, parts[i].key, NULL) && !off)
            model_add_note(h->arena, h->m, "%s", parts[i].what);
    }
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
    const struct family *f = family_find(type);
    if (!f && inner.n > 0) f = family_find(inner);
    h->m->model_type = type;
    h->traits = f ? f->traits : 0;
    const struct node *classes = node_get(h->outer, STR("architectures"));
    if (classes && classes->kind == NODE_LIST && classes->n > 0 &&
        classes->items[0]->kind == NODE_SCALAR)
        h->m->architecture = classes->items[0]->text;
    if (f) return;
    bool wide = look(h, EXPERT_WIDTH_KEYS, NULL) != NULL;
    if (!wide) h->traits |= EXPERT_WIDTH;
    model_add_note(h->arena, h->m,
                   "model_type %.*s is not known: RMSNorm, a gated FFN and no biases are assumed%s",
                   STR_ARG(type.n > 0 ? type : STR("(none)")),
                   wide
                       ? ", and intermediate_size as the width of the dense FFN"
                       : ", and intermediate_size as the width of the experts where there are any");
}

static void read_layers(struct hf *h)
{
    struct str alias = {0};
    const struct node *n;
    h->layers =
        count_in(h, "num_layers", "num_hidden_layers n_layers num_layers n_layer", &n, &alias);
    if (h->layers > MAX_LAYERS) {
        defect(h, n, "num_layers", "more layers than moeplan can hold");
        return;
    }
    read_mtp(h);
    read_hybrid(h);
    if (h->layers == 0) {
        missing(
            h, "num_layers",
            "num_hidden_layers n_layers num_layers, layers_block_type, hybrid_override_pattern");
        return;
    }
    model_add_field(h->arena, h->m, "num_layers", value_int(h->layers), n,
                    n ? alias : STR("length of the layer pattern"));
    if (model_field_get(h->m, "hybrid_layer_pattern")) return;
    read_moe_layers(h);
    read_windows(h);
    read_linear(h);
}

static void check_needed(struct hf *h)
{
    static const char *const needed[] = {"hidden_size", "num_attention_heads", "vocab_size"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!given(h, needed[i])) missing(h, needed[i], keys_of(needed[i]));
    if (given(h, "num_moe_experts") <= 1 && !given(h, "ffn_hidden_size"))
        missing(h, "ffn_hidden_size", "intermediate_size ffn_hidden_size");
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
                   .good = true};
    m->complete = true;
    m->name = scalar_at(config, "_name_or_path");
    read_family(&h);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        add_count(&h, plain[i].param, plain[i].keys);
    if (!given(&h, "hidden_size") && !given(&h, "num_attention_heads")) {
        struct diag *d = diag_add(diags, SEVERITY_ERROR, "model-config", node_span(diags, config),
                                  "this config describes no model that moeplan knows how to read");
        diag_help(
            diags, d,
            "looked for hidden_size and num_attention_heads at the top and under text_config");
        return NULL;
    }
    read_attention(&h);
    read_ffn(&h);
    read_blocks(&h);
    read_layers(&h);
    read_global_heads(&h);
    read_embeddings(&h);
    read_vision(&h);
    note_unmodelled(&h);
    check_needed(&h);
    if (m->name.n == 0) m->name = name;
    if (m->name.n == 0) m->name = m->architecture.n > 0 ? m->architecture : m->model_type;
    model_add_field(a, m, "model_name", value_string(m->name), NULL, STR("config.json"));
    return h.good ? m : NULL;
}
