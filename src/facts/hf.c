/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/hf.h"

struct family {
    const char *types; /* model_type words, separated by blanks */
    unsigned traits;
};

static const struct family families[] = {
    {"mixtral", HF_EXPERT_WIDTH},
    {"jamba", HF_EXPERT_WIDTH | HF_BOTH_WIDTHS | HF_NO_POSITIONS},
    {"arctic", HF_EXPERT_WIDTH | HF_DENSE_BESIDE},
    {"granitemoe granitemoeshared granitemoehybrid", HF_EXPERT_WIDTH | HF_TIED},
    {"hunyuan hunyuan_v1_moe", HF_EXPERT_WIDTH},
    {"hy_v3", HF_QK_NORM | HF_EXPERT_BIAS},
    {"xverse aria aria_text", HF_EXPERT_WIDTH},
    {"grok-1", HF_EXPERT_WIDTH | HF_POST_NORMS},
    {"minimax minimax_text_01 minimax_m1", HF_EXPERT_WIDTH},
    {"llama4 llama4_text", HF_EXPERT_WIDTH | HF_SHARED_IS_EXPERT | HF_L2_QK_NORM | HF_SIGMOID},
    {"gpt_oss", HF_EXPERT_WIDTH | HF_ALL_BIAS | HF_SINKS | HF_CLAMPED_GATE},
    {"minimax_m2", HF_EXPERT_WIDTH | HF_QK_NORM | HF_QK_NORM_FULL},
    {"minimax_m3 minimax_m3_vl minimax_m3_vl_text", HF_EXPERT_WIDTH | HF_QK_NORM},
    {"olmoe flex_olmo", HF_EXPERT_WIDTH | HF_QK_NORM | HF_QK_NORM_FULL},
    {"olmo2 olmo3", HF_QK_NORM | HF_QK_NORM_FULL},
    {"phimoe", HF_EXPERT_WIDTH | HF_QKV_BIAS | HF_LAYER_NORM},
    {"dbrx", HF_LAYER_NORM},
    {"qwen2 qwen2_vl Dream", HF_QKV_BIAS},
    {"qwen2_5_vl", HF_QKV_BIAS | HF_GATED_VISION},
    {"qwen2_moe", HF_QKV_BIAS | HF_SHARED_GATE},
    {"qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text qwen3_omni_moe "
     "qwen3_omni_moe_thinker qwen3_omni_moe_text sdar sdar_moe llada_moe exaone4 exaone4_5 "
     "exaone4_5_text lfm2_moe mellum",
     HF_QK_NORM},
    {"dots1 exaone_moe", HF_QK_NORM | HF_EXPERT_BIAS},
    {"afmoe", HF_QK_NORM | HF_POST_NORMS | HF_OUTPUT_GATE | HF_EXPERT_BIAS},
    {"apertus", HF_QK_NORM | HF_NOT_GATED},
    {"qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     HF_QK_NORM | HF_SHARED_GATE | HF_OUTPUT_GATE},
    {"glm4_moe glm4_moe_lite glm_moe_dsa solar_open", HF_EXPERT_BIAS},
    {"glm4v_moe glm4v_moe_text", HF_EXPERT_BIAS | HF_GATED_VISION | HF_VISION_OUT},
    {"glm4v glm4v_text", HF_POST_NORMS | HF_GATED_VISION | HF_VISION_OUT},
    {"glm4 ouro", HF_POST_NORMS},
    {"nemotron_h", HF_NOT_GATED | HF_EXPERT_BIAS | HF_NO_POSITIONS},
    {"gemma", HF_TIED},
    {"cohere cohere2", HF_TIED | HF_LAYER_NORM},
    {"cohere2_moe", HF_TIED | HF_LAYER_NORM | HF_EXPERT_WIDTH},
    {"gpt_neox phi starcoder2", HF_NOT_GATED | HF_LAYER_NORM | HF_ALL_BIAS},
    {"gemma2", HF_TIED | HF_POST_NORMS | HF_HALF_WINDOW},
    {"gemma3 gemma3_text", HF_TIED | HF_POST_NORMS | HF_QK_NORM | HF_SIXTH_FULL},
    {"gemma4 gemma4_text", HF_TIED | HF_POST_NORMS | HF_QK_NORM | HF_DENSE_BESIDE},
    {"deepseek_v4 deepseek_ref", HF_K_IS_V},
    {"mimo_v2_flash", HF_WINDOW_FLAGS},
    {"longcat_flash", HF_TWO_ATTENTIONS},
    {"step3p5 step3p7", HF_QK_NORM | HF_EXPERT_BIAS},
    {"deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 kimi_k25 kimi_k3 "
     "kimi_linear bailing_moe bailing_moe_v2 "
     "bailing_moe_linear bailing_hybrid llada2_moe "
     "ernie4_5 ernie4_5_moe mimo llama mistral mistral3 mistral4 nemotron-nas "
     "muse_glimmer muse_glimmer_text deepseek deepseek_vl_v2 kimi_vl step3_vl "
     "hunyuan_v1_dense seed_oss phi3 smollm3 internlm2 baichuan glm granite bamba llada",
     0},
};

bool hf_has_word(const char *words, struct str word)
{
    struct str rest = str_of(words), one;
    while (str_split(&rest, ' ', &one))
        if (str_eq(one, word)) return true;
    return false;
}

bool hf_family(struct str type, unsigned *traits)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!hf_has_word(families[i].types, type)) continue;
        *traits = families[i].traits;
        return true;
    }
    return false;
}

/* ---- look-ups ---- */

struct value hf_value(const struct hf *h, const struct node *node)
{
    return node ? node_value(h->arena, node, SCALAR_CORE) : value_null();
}

void hf_asked(const struct hf *h, const char *keys)
{
    struct str rest = str_of(keys), key;
    while (str_split(&rest, ' ', &key)) {
        struct str top;
        str_split(&key, '.', &top);
        if (node_get(h->text, top)) *VEC_PUSH(h->arena, &h->asked->names) = top;
    }
}

const struct node *hf_look(const struct hf *h, const char *keys, struct str *alias)
{
    struct str rest = str_of(keys), key;
    hf_asked(h, keys);
    while (str_split(&rest, ' ', &key)) {
        const struct node *n = node_at(h->text, key);
        if (hf_value(h, n).kind == VALUE_NULL) continue;
        if (alias) *alias = key;
        return n;
    }
    return NULL;
}

const struct node *hf_list(const struct hf *h, const char *key)
{
    hf_asked(h, key);
    const struct node *n = node_at(h->text, str_of(key));
    return n && n->kind == NODE_LIST && n->n > 0 ? n : NULL;
}

static void defect(struct hf *h, const struct node *at, struct str name, const char *what)
{
    struct diag *d =
        diag_add(h->diags, SEVERITY_ERROR, "model-field", node_span(h->diags, at), "%s", what);
    d->parameter = name;
    h->good = false;
}

void hf_defect(struct hf *h, const struct node *at, int param, const char *what)
{
    defect(h, at, param_name(param), what);
}

/* Whether what the config gives for it was refused already. */
static bool is_refused(const struct hf *h, struct str name)
{
    for (size_t i = 0; i < h->diags->n; i++)
        if (str_eq(h->diags->items[i].parameter, name)) return true;
    return false;
}

void hf_missing(struct hf *h, int param, const char *keys)
{
    if (!h->good && is_refused(h, param_name(param))) return;
    struct diag *d = diag_add(h->diags, SEVERITY_ERROR, "model-field", node_span(h->diags, h->text),
                              "the config does not give %.*s", STR_ARG(param_name(param)));
    d->parameter = param_name(param);
    diag_help(h->diags, d, "looked for %s", keys);
    h->good = false;
}

/* The value of a node; a list with one value a layer is that value when all agree. */
static struct value uniform(struct hf *h, const struct node *n, const char *name)
{
    struct value v = hf_value(h, n);
    if (v.kind != VALUE_LIST) return v;
    for (size_t i = 1; i < v.list->n; i++)
        if (!value_eq(v.list->items[0], v.list->items[i])) {
            model_add_note(h->arena, h->m,
                           "%s is a list of %zu values that differ; the first is taken for all "
                           "layers and experts",
                           name, v.list->n);
            break;
        }
    return v.list->n > 0 ? v.list->items[0] : value_null();
}

/* `name`: what notes and errors call it. */
static int64_t count_at(struct hf *h, const char *name, const char *keys, const struct node **node,
                        struct str *alias)
{
    *node = hf_look(h, keys, alias);
    if (!*node) return 0;
    struct value v = uniform(h, *node, name);
    if (v.kind == VALUE_BOOL || v.kind == VALUE_NULL) return 0;
    if (v.kind == VALUE_INT && v.i >= 0 && v.i <= INT32_MAX) return v.i;
    struct str text = value_text(h->arena, v);
    defect(h, *node, str_of(name),
           arena_printf(h->arena, "%s must be a whole number, not %.*s", name, STR_ARG(text)).p);
    return 0;
}

int64_t hf_count_in(struct hf *h, int param, const char *keys, const struct node **node,
                    struct str *alias)
{
    return count_at(h, param_name(param).p, keys, node, alias);
}

int64_t hf_add_count(struct hf *h, int param, const char *keys)
{
    const struct node *n;
    struct str alias = {0};
    int64_t i = hf_count_in(h, param, keys, &n, &alias);
    if (i > 0) model_add_field(h->arena, h->m, param, value_int(i), n, alias);
    return i;
}

int64_t hf_count(struct hf *h, const char *keys)
{
    const struct node *n;
    return count_at(h, keys, keys, &n, NULL);
}

bool hf_truth(const struct hf *h, const char *keys, bool otherwise)
{
    struct value v = hf_value(h, hf_look(h, keys, NULL));
    return v.kind == VALUE_BOOL ? v.b : otherwise;
}

struct str hf_word(const struct hf *h, const char *keys)
{
    const struct node *n = hf_look(h, keys, NULL);
    return n && n->kind == NODE_SCALAR ? n->text : (struct str){"", 0};
}

void hf_add(struct hf *h, int param, struct value v, const char *how)
{
    model_add_field(h->arena, h->m, param, v, NULL, str_of(how));
}

int64_t hf_given(const struct hf *h, int param)
{
    const struct model_field *f = model_field_get(h->m, param);
    return f && f->value.kind == VALUE_INT ? f->value.i : 0;
}

double hf_number(const struct hf *h, const char *keys, double otherwise, const struct node **node)
{
    *node = hf_look(h, keys, NULL);
    struct value v = hf_value(h, *node);
    return v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : otherwise;
}
