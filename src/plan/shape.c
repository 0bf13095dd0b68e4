/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of the model from its facts. Defaults are Megatron-core's where the facts hold a
   framework's defaults, and those of a model input (RMSNorm, no biases, untied, gated) where a plan
   leaves them open. */
#include "plan/config.h"

#include <assert.h>

#include "facts/check.h"
#include "facts/entry.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "plan/ops.h"

struct int_field {
    int param; /* whose range keeps every product of sizes below 2^62 */
    size_t offset;
    bool needed;
};
#define FIELD(name) offsetof(struct model_shape, name)

/* Absent ones stay 0 and are filled from the others below. */
static const struct int_field int_fields[] = {
    {P_hidden_size, FIELD(hidden), true},
    {P_num_attention_heads, FIELD(heads), true},
    {P_num_query_groups, FIELD(groups), false},
    {P_kv_channels, FIELD(head_dim), false},
    {P_ffn_hidden_size, FIELD(dense_ffn), false},
    {P_vocab_size, FIELD(vocab), false},
    {P_make_vocab_size_divisible_by, FIELD(vocab_divisible_by), false},
    {P_window_num_attention_heads, FIELD(win_heads), false},
    {P_window_num_query_groups, FIELD(win_groups), false},
    {P_window_kv_channels, FIELD(win_head_dim), false},
    {P_window_v_head_dim, FIELD(win_v_head_dim), false},
    {P_dsa_indexer_n_heads, FIELD(index_heads), false},
    {P_dsa_indexer_head_dim, FIELD(index_dim), false},
    {P_dsa_indexer_topk, FIELD(index_topk), false},
    {P_dsa_indexer_num_layers, FIELD(index_layers), false},
    {P_q_lora_rank, FIELD(q_lora), false},
    {P_kv_lora_rank, FIELD(kv_lora), false},
    {P_o_lora_rank, FIELD(o_lora), false},
    {P_o_lora_groups, FIELD(o_groups), false},
    {P_qk_head_dim, FIELD(qk_nope), false},
    {P_qk_pos_emb_head_dim, FIELD(qk_rope), false},
    {P_v_head_dim, FIELD(mla_v), false},
    {P_num_moe_experts, FIELD(experts), false},
    {P_moe_router_topk, FIELD(topk), false},
    {P_moe_router_num_groups, FIELD(router_groups), false},
    {P_moe_router_group_topk, FIELD(router_group_topk), false},
    {P_moe_ffn_hidden_size, FIELD(expert_ffn), false},
    {P_moe_shared_expert_intermediate_size, FIELD(shared_ffn), false},
    {P_moe_latent_size, FIELD(latent), false},
    {P_mamba_num_heads, FIELD(mamba_heads), false},
    {P_mamba_head_dim, FIELD(mamba_head_dim), false},
    {P_mamba_state_dim, FIELD(mamba_state), false},
    {P_mamba_num_groups, FIELD(mamba_groups), false},
    {P_mamba_conv_kernel_dim, FIELD(mamba_conv), false},
    {P_linear_num_key_heads, FIELD(lin_k_heads), false},
    {P_linear_num_value_heads, FIELD(lin_v_heads), false},
    {P_linear_key_head_dim, FIELD(lin_k_dim), false},
    {P_linear_value_head_dim, FIELD(lin_v_dim), false},
    {P_linear_conv_kernel_dim, FIELD(lin_conv), false},
    {P_mtp_num_layers, FIELD(mtp_layers), false},
    {P_vision_num_layers, FIELD(vision_layers), false},
    {P_vision_hidden_size, FIELD(vision_hidden), false},
    {P_vision_ffn_hidden_size, FIELD(vision_ffn), false},
    {P_vision_num_attention_heads, FIELD(vision_heads), false},
    {P_vision_patch_size, FIELD(vision_patch), false},
    {P_vision_spatial_merge_size, FIELD(vision_merge), false},
    {P_vision_temporal_patch_size, FIELD(vision_temporal), false},
    {P_vision_num_position_embeddings, FIELD(vision_positions), false},
    {P_vision_num_deepstack_layers, FIELD(vision_deepstack), false},
};

struct bool_field {
    int param;
    size_t offset;
    bool otherwise; /* of a model input */
};

static const struct bool_field bool_fields[] = {
    {P_add_bias_linear, FIELD(add_bias), false},
    {P_add_qkv_bias, FIELD(qkv_bias), false},
    {P_qk_layernorm, FIELD(qk_layernorm), false},
    {P_qk_layernorm_full_width, FIELD(qk_norm_full), false},
    {P_attention_output_gate, FIELD(attention_output_gate), false},
    {P_attention_head_gate, FIELD(head_gate), false},
    {P_post_layernorms, FIELD(post_norms), false},
    {P_attention_k_equals_v, FIELD(k_equals_v), false},
    {P_multi_latent_attention, FIELD(mla), false},
    {P_moe_shared_expert_gate, FIELD(shared_gate), false},
    {P_moe_router_enable_expert_bias, FIELD(router_bias), false},
    {P_mtp_use_repeated_layer, FIELD(mtp_repeated), false},
    {P_vision_gated_linear_unit, FIELD(vision_gated), false},
};

/* What is being read: facts, the shape, and whether defects are said. */
struct reader {
    const struct facts *f;
    struct model_shape *m;
    bool quiet, good;
};

static struct span span_of(const struct facts *f, const struct fact *x)
{
    return x->node ? node_span(f->diags, x->node) : (struct span){.source = f->source};
}

/* Where a model that stands in a file begins, else the recipe as a whole. */
static struct span model_span(const struct facts *f)
{
    const struct node *root = f->model ? f->model->root : NULL;
    return root ? node_span(f->diags, root) : (struct span){.source = f->source};
}

static void missing(struct reader *r, int param)
{
    r->good = false;
    if (r->quiet) return;
    struct diag *d = diag_add(r->f->diags, SEVERITY_ERROR, "missing-fact", model_span(r->f),
                              "the model's %.*s is not given", STR_ARG(param_name(param)));
    d->parameter = param_name(param);
    diag_help(r->f->diags, d,
              "write %.*s in the model, give it as --set %.*s=..., or name a model that has it: "
              "--model NAME (moeplan models)",
              STR_ARG(param_name(param)), STR_ARG(param_name(param)));
}

static void bad_value(struct reader *r, int param, const char *why)
{
    r->good = false;
    if (r->quiet) return;
    const struct fact *x = facts_get(r->f, param);
    struct str text = value_text(r->f->arena, x->value);
    struct diag *d = diag_add(r->f->diags, SEVERITY_ERROR, "model-field", span_of(r->f, x),
                              "%.*s %.*s %s", STR_ARG(param_name(param)), STR_ARG(text), why);
    d->parameter = param_name(param);
}

static void out_of_range(struct reader *r, int param)
{
    const struct fact *x = facts_get(r->f, param);
    const struct param *p = &param_table[param];
    r->good = false;
    if (!r->quiet)
        value_check_range(r->f->arena, r->f->diags, p, x->value, span_of(r->f, x), p->name);
}

static void read_int(struct reader *r, const struct int_field *field)
{
    int param = field->param;
    assert(param >= 0 && param_table[param].range.has_max);
    struct value v = facts_get(r->f, param)->value;
    if (v.kind != VALUE_INT) v = value_int(0);
    if (v.i == 0 && field->needed)
        missing(r, field->param);
    else if (v.i != 0 && !value_in_range(&param_table[param], v))
        out_of_range(r, param);
    else
        *(int *)((char *)r->m + field->offset) = (int)v.i;
}

/* A gated MLP under any of its names. Unknown activations are taken as gated: all model inputs of
   today's kind are, unless they say squared ReLU. */
static bool gated(const struct facts *f)
{
    const struct fact *x = facts_get(f, P_gated_linear_unit);
    if (x->value.kind == VALUE_BOOL) return x->value.b;
    if (facts_bool(f, P_swiglu, false) || facts_bool(f, P_quick_geglu, false)) return true;
    return facts_get(f, P_swiglu)->value.kind != VALUE_BOOL &&
           !facts_bool(f, P_squared_relu, false);
}

static int default_ffn(const struct model_shape *m)
{
    return m->gated ? (int)((int64_t)m->hidden * 8 / 3 / 64 * 64)
                    : 4 * m->hidden; /* arguments.py: swiglu */
}

static void fill_int(int *field, int otherwise)
{
    if (*field == 0) *field = otherwise;
}

/* Whether somebody states the parameter: a framework's default of an option that is off says
 * nothing about the model. */
static bool is_stated(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    return fact_is_known(x) && x->origin != ORIGIN_DEFAULT && x->value.kind != VALUE_NULL;
}

static void read_attention(struct reader *r)
{
    struct model_shape *m = r->m;
    const struct facts *f = r->f;
    fill_int(&m->groups, m->heads);
    if (m->heads > 0) fill_int(&m->head_dim, m->hidden / m->heads);
    if (m->head_dim == 0) missing(r, P_kv_channels);
    m->v_head_dim = !m->mla && m->mla_v > 0 && is_stated(f, P_v_head_dim) ? m->mla_v : m->head_dim;
    bool own = m->win_head_dim > 0;
    fill_int(&m->win_heads, m->heads);
    fill_int(&m->win_groups, m->groups);
    fill_int(&m->win_head_dim, m->head_dim);
    fill_int(&m->win_v_head_dim, own ? m->win_head_dim : m->v_head_dim);
    if (!m->mla && !is_stated(f, P_q_lora_rank)) m->q_lora = 0;
    fill_int(&m->o_groups, 1);
    m->sinks = str_is(facts_str(f, P_softmax_type), "learnable");
    if (!m->mla) return;
    if (m->kv_lora == 0) missing(r, P_kv_lora_rank);
    if (m->qk_nope == 0) missing(r, P_qk_head_dim);
    if (m->mla_v == 0) missing(r, P_v_head_dim);
}

static void read_experts(struct reader *r)
{
    struct model_shape *m = r->m;
    if (m->experts == 0) {
        m->topk = m->expert_ffn = m->shared_ffn = m->latent = 0;
        m->shared_gate = m->router_bias = false;
        return;
    }
    if (m->topk == 0) missing(r, P_moe_router_topk);
    if (m->topk > m->experts) bad_value(r, P_moe_router_topk, "is more than there are experts");
    if (m->shared_ffn == 0) m->shared_gate = false;
}

static void read_extras(struct reader *r)
{
    struct model_shape *m = r->m;
    const struct facts *f = r->f;
    m->name = facts_str(f, P_model_name);
    m->layernorm = str_is(facts_str(f, P_normalization), "LayerNorm");
    m->hidden_dropout = facts_double(f, P_hidden_dropout, 0);
    m->attention_dropout = facts_double(f, P_attention_dropout, 0);
    const struct fact *untied = facts_get(f, P_untie_embeddings_and_output_weights);
    m->tied = untied->value.kind == VALUE_BOOL && !untied->value.b;
    fill_int(&m->vocab_divisible_by, 128);
    int64_t positions = facts_int(f, P_max_position_embeddings, 0);
    if (str_is(facts_str(f, P_position_embedding_type), "learned_absolute") && positions > 0 &&
        positions < INT32_MAX / 2)
        m->learned_positions = (int)positions;
    fill_int(&m->mamba_head_dim, 64);
    fill_int(&m->mamba_state, 128);
    fill_int(&m->mamba_groups, 8);
    fill_int(&m->mamba_conv, 4);
    fill_int(&m->mamba_heads, 2 * m->hidden / m->mamba_head_dim); /* expand 2 */
    fill_int(&m->lin_conv, 4);
}

/* ---- vocabulary ---- */

/* The vocabulary of the catalogue's model whose tokenizer is named; whoever hosts a copy of it. */
static int64_t vocabulary_of_model(struct str tokenizer)
{
    struct str name = str_last_part(tokenizer, '/');
    for (size_t i = 0; i < catalogue_model_count && name.n > 0; i++) {
        const struct entry *e = &catalogue_models[i];
        bool same = str_eq_nocase(str_last_part(e->hf_id, '/'), name) || str_eq_nocase(e->id, name);
        for (size_t k = 0; k < e->n_aliases && !same; k++)
            same = str_eq_nocase(str_last_part(e->aliases[k], '/'), name);
        for (size_t k = 0; same && k < e->n_fields; k++)
            if (str_eq(e->fields[k].name, param_name(P_vocab_size))) return e->fields[k].value.i;
    }
    return 0;
}

/* Tokenizers whose vocabulary is part of what they are. */
static int64_t vocabulary_of_type(struct str type)
{
    if (str_is(type, "GPT2BPETokenizer")) return 50257;
    return str_is(type, "Llama2Tokenizer") ? 32000 : 0;
}

/* Megatron takes the vocabulary from the tokenizer when no size is given. */
static void read_vocabulary(struct reader *r)
{
    const struct facts *f = r->f;
    if (r->m->vocab > 0) return;
    int64_t n = facts_int(f, P_padded_vocab_size, 0);
    struct str model = facts_str(f, P_tokenizer_model), type = facts_str(f, P_tokenizer_type);
    if (n <= 0) n = vocabulary_of_model(model);
    if (n <= 0) n = vocabulary_of_type(type);
    if (n <= 0 || !value_in_range(&param_table[P_vocab_size], value_int(n)))
        missing(r, P_vocab_size);
    else
        r->m->vocab = (int)n;
}

/* ---- which layer is what ---- */

int model_kind(const struct model_shape *m, struct layer_kind kind)
{
    for (int k = 0; k < m->n_kinds; k++)
        if (m->kinds[k].mixer == kind.mixer && m->kinds[k].ffn == kind.ffn) return k;
    return -1;
}

static void add_layer(struct reader *r, struct layer_kind kind)
{
    struct model_shape *m = r->m;
    if (m->num_layers == MODEL_MAX_LAYERS) {
        if (r->good) bad_value(r, P_num_layers, "is more than moeplan can hold");
        return;
    }
    int k = model_kind(m, kind);
    if (k < 0) k = m->n_kinds++;
    assert(k < MODEL_MAX_KINDS);
    m->kinds[k] = kind;
    m->layers[m->num_layers++] = (uint8_t)k;
}

/* The next layer's. Where not all layers have an indexer, those that do stand evenly from the first
   on. */
static enum mixer full_attention(const struct reader *r)
{
    const struct model_shape *m = r->m;
    int64_t layers = facts_int(r->f, P_num_layers, 0), own = m->index_layers;
    enum mixer plain = m->mla ? MIXER_MLA : MIXER_ATTENTION;
    bool all = own == 0 || layers == 0;
    if (m->index_heads == 0 || (!all && m->num_layers * own % layers >= own)) return plain;
    return mixer_with_indexer(plain);
}

/* A letter of hybrid_layer_pattern: megatron/core/ssm/mamba_hybrid_layer_allocation.py Symbols. */
static bool kind_of_letter(const struct reader *r, char c, struct layer_kind *out)
{
    switch (c) {
    case 'M': *out = (struct layer_kind){MIXER_MAMBA, FFN_NONE}; return true;
    case 'G': *out = (struct layer_kind){MIXER_LINEAR, FFN_NONE}; return true;
    case '*':
    case 'D': *out = (struct layer_kind){full_attention(r), FFN_NONE}; return true;
    case '-': *out = (struct layer_kind){MIXER_NONE, FFN_DENSE}; return true;
    case 'E': *out = (struct layer_kind){MIXER_NONE, FFN_MOE}; return true;
    default: return false;
    }
}

static void add_mtp_kind(struct model_shape *m, struct layer_kind kind)
{
    if (m->n_mtp_kinds < (int)(sizeof m->mtp_kinds / sizeof *m->mtp_kinds))
        m->mtp_kinds[m->n_mtp_kinds++] = kind;
}

static void read_mtp_pattern(struct reader *r, struct str pattern)
{
    struct layer_kind kind;
    for (size_t i = 0; i < pattern.n && pattern.p[i] != '/'; i++)
        if (kind_of_letter(r, pattern.p[i], &kind)) add_mtp_kind(r->m, kind);
}

/* The decoder layers up to the first slash, then one part a depth; a bar only cuts the pipeline. */
static void read_hybrid(struct reader *r, int param, struct str pattern)
{
    struct str rest = pattern, decoder = {0};
    str_split(&rest, '/', &decoder);
    for (size_t i = 0; i < decoder.n; i++) {
        struct layer_kind kind;
        if (decoder.p[i] == '|') continue;
        if (!kind_of_letter(r, decoder.p[i], &kind)) {
            bad_value(r, param, "has a letter that is none of M G * D - E");
            return;
        }
        add_layer(r, kind);
    }
    bool has_depths = decoder.n < pattern.n;
    struct str depth = has_depths ? rest : facts_str(r->f, P_mtp_hybrid_override_pattern);
    read_mtp_pattern(r, depth.n > 0 ? depth : STR("*E"));
    if (has_depths && !is_stated(r->f, P_mtp_num_layers)) {
        int depths = 1;
        for (size_t i = 0; i < rest.n && depths < 64; i++)
            depths += rest.p[i] == '/';
        r->m->mtp_layers = depths;
    }
}

/* A per-layer pattern: an int n or a 0/1 list. `regular(n, i)` is what an int means for layer i. */
static bool pattern_at(struct value v, int i, bool (*regular)(int64_t n, int i), bool otherwise)
{
    if (v.kind == VALUE_INT && v.i > 0) return regular(v.i, i);
    if (v.kind == VALUE_LIST && (size_t)i < v.list->n)
        return v.list->items[i].kind == VALUE_INT && v.list->items[i].i != 0;
    return otherwise;
}

static bool every_nth_from_first(int64_t n, int i)
{
    return i % n == 0;
}

static bool all_but_every_nth(int64_t n, int i)
{
    return (i + 1) % n != 0;
}

static bool is_list_of(struct value v, int64_t n)
{
    return v.kind != VALUE_LIST || v.list->n == (size_t)n;
}

static void read_layers(struct reader *r, int64_t layers)
{
    struct model_shape *m = r->m;
    const struct facts *f = r->f;
    struct value moe = facts_get(f, P_moe_layer_freq)->value,
                 skip = facts_get(f, P_window_attn_skip_freq)->value;
    struct value linear = facts_get(f, P_linear_attention_freq)->value;
    int64_t dense_first = facts_int(f, P_first_k_dense_replace, 0);
    if (m->experts > 0 && !is_list_of(moe, layers))
        bad_value(r, P_moe_layer_freq, "has another length than num_layers");
    bool has_linear =
        m->lin_k_heads > 0 && linear.kind != VALUE_NULL && linear.kind != VALUE_UNKNOWN;
    for (int i = 0; i < layers && r->good; i++) {
        struct layer_kind kind = {full_attention(r), FFN_DENSE};
        if (has_linear && pattern_at(linear, i, all_but_every_nth, false))
            kind.mixer = MIXER_LINEAR;
        else if (m->window > 0 && !m->mla && pattern_at(skip, i, all_but_every_nth, true))
            kind.mixer = MIXER_WINDOW;
        if (m->experts > 0 && i >= dense_first && pattern_at(moe, i, every_nth_from_first, true))
            kind.ffn = FFN_MOE;
        add_layer(r, kind);
    }
    if (m->num_layers > 0) add_mtp_kind(m, m->kinds[m->layers[m->num_layers - 1]]);
}

/* The window in tokens: an int, or Megatron's (left, right). */
static int window_of(struct value v)
{
    if (v.kind == VALUE_LIST && v.list->n > 0) v = v.list->items[0];
    return v.kind == VALUE_INT && v.i > 0 && v.i < INT32_MAX ? (int)v.i : 0;
}

static void read_pattern(struct reader *r)
{
    static const int names[] = {P_hybrid_layer_pattern, P_hybrid_override_pattern};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str pattern = facts_str(r->f, names[i]);
        if (pattern.n == 0) continue;
        read_hybrid(r, names[i], pattern);
        return;
    }
    int64_t layers = facts_int(r->f, P_num_layers, 0);
    int param = P_num_layers;
    if (layers == 0)
        missing(r, P_num_layers);
    else if (!value_in_range(&param_table[param], value_int(layers)))
        out_of_range(r, param);
    else
        read_layers(r, layers);
}

bool model_has_ffn(const struct model_shape *m, enum ffn ffn)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].ffn == ffn) return true;
    return false;
}

/* Widths that are not given follow from the others, unless a plan leaves them open: then they are
 * missing. */
static void read_widths(struct reader *r)
{
    struct model_shape *m = r->m;
    bool open = !fact_is_known(facts_get(r->f, P_ffn_hidden_size));
    int dense = m->dense_ffn > 0 ? m->dense_ffn : default_ffn(m);
    if (model_has_ffn(m, FFN_DENSE) && m->dense_ffn == 0) {
        if (open) missing(r, P_ffn_hidden_size);
        m->dense_ffn = dense;
    }
    if (model_has_ffn(m, FFN_MOE) && m->expert_ffn == 0) {
        if (open) missing(r, P_moe_ffn_hidden_size);
        m->expert_ffn = dense;
    }
}

/* Whether the facts say anything about a model at all; if not, one error instead of one a field. */
static bool has_model(struct reader *r)
{
    static const int sizes[] = {P_hidden_size, P_num_attention_heads, P_num_layers,
                                P_hybrid_layer_pattern};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (facts_int(r->f, sizes[i], 0) > 0 || facts_str(r->f, sizes[i]).n > 0) return true;
    if (r->quiet) return false;
    struct diag *d =
        diag_add(r->f->diags, SEVERITY_ERROR, "missing-fact", (struct span){.source = r->f->source},
                 "the model is not known: num_layers, hidden_size, num_attention_heads "
                 "and vocab_size are not given");
    diag_help(
        r->f->diags, d,
        "give it with --model: a catalogue name (moeplan models), a config.json or a model file");
    return false;
}

bool config_model(const struct facts *f, struct model_shape *out, bool quiet)
{
    struct reader r = {.f = f, .m = out, .quiet = quiet, .good = true};
    *out = (struct model_shape){0};
    if (!has_model(&r)) return false;
    for (size_t i = 0; i < sizeof int_fields / sizeof *int_fields; i++)
        read_int(&r, &int_fields[i]);
    for (size_t i = 0; i < sizeof bool_fields / sizeof *bool_fields; i++)
        *(bool *)((char *)out + bool_fields[i].offset) =
            facts_bool(f, bool_fields[i].param, bool_fields[i].otherwise);
    if (out->index_dim == 0 || !is_stated(f, P_dsa_indexer_n_heads))
        out->index_heads = out->index_topk = 0;
    out->gated = gated(f);
    out->window = window_of(facts_get(f, P_window_size)->value);
    read_vocabulary(&r);
    if (r.good) read_attention(&r);
    if (r.good) read_pattern(&r);
    if (r.good) read_widths(&r);
    if (r.good) read_experts(&r);
    if (r.good) read_extras(&r);
    return r.good;
}
