/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/model.h"

#include <assert.h>

#include "base/io.h"
#include "base/vec.h"

enum { MAX_BASES = 4 }; /* models that build on one another */

void model_add_field(struct arena *a, struct model_input *m, const char *param, struct value value,
                     const struct node *node, struct str alias)
{
    int index = param_find(str_of(param));
    assert(index >= 0);
    *VEC_PUSH(a, &m->fields) = (struct model_field){index, value, node, alias};
}

void model_add_note(struct arena *a, struct model_input *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *VEC_PUSH(a, &m->notes) = arena_vprintf(a, format, args);
    va_end(args);
}

const struct model_field *model_field_get(const struct model_input *m, const char *param)
{
    int index = param_find(str_of(param));
    for (size_t i = m->fields.n; i > 0; i--) /* the last one wins */
        if (m->fields.items[i - 1].param == index) return &m->fields.items[i - 1];
    return NULL;
}

/* ---- the catalogue ---- */

static int model_param(struct str name)
{
    int param = param_find(name);
    return param >= 0 && param_table[param].scope == SCOPE_MODEL ? param : -1;
}

static const struct model_input *from_entry(struct arena *a, const struct entry *e)
{
    struct model_input *m = ARENA_NEW(a, struct model_input);
    *m = (struct model_input){.name = e->name,
                              .id = e->id,
                              .hf_id = e->hf_id,
                              .source = e->source,
                              .published_total = e->published_total,
                              .published_active = e->published_active,
                              .complete = true};
    for (size_t i = 0; i < e->n_fields; i++) {
        int param = model_param(e->fields[i].name);
        assert(param >= 0);
        *VEC_PUSH(a, &m->fields) = (struct model_field){param, e->fields[i].value, NULL, e->id};
    }
    model_add_field(a, m, "model_name", value_string(e->name), NULL, e->id);
    return m;
}

const struct model_input *model_catalogue(struct arena *a, size_t i)
{
    return from_entry(a, &catalogue_models[i]);
}

const struct model_input *model_find(struct arena *a, struct str name)
{
    const struct entry *e = entry_find(catalogue_models, catalogue_model_count, name);
    return e ? from_entry(a, e) : NULL;
}

/* ---- moeplan's own mapping ---- */

enum { MOST_UNKNOWN = 1000 };

static bool add_own_field(struct arena *a, struct diags *diags, struct model_input *m,
                          const struct entry_field *f)
{
    int param = model_param(f->name);
    if (param >= 0) {
        struct value v = fact_coerce(a, param, f->value);
        *VEC_PUSH(a, &m->fields) = (struct model_field){param, v, f->node, param_table[param].name};
        return true;
    }
    if (diags->n >= MOST_UNKNOWN) return false; /* this is no model, and has been said to be none */
    struct diag *d = diag_add(diags, SEVERITY_ERROR, "unknown-key", node_span(diags, f->node),
                              "%.*s is no field of a model", STR_ARG(f->name));
    struct str near = param_nearest_in(SCOPE_MODEL, f->name);
    if (near.n > 0) diag_help(diags, d, "did you mean %.*s?", STR_ARG(near));
    return false;
}

static void unknown_model(struct arena *a, struct diags *diags, struct str name, struct span at)
{
    struct diag *d = diag_add(diags, SEVERITY_ERROR, "unknown-model", at,
                              "there is no model and no readable file called %.*s", STR_ARG(name));
    struct str near = entry_nearest(a, catalogue_models, catalogue_model_count, name);
    if (near.n > 0)
        diag_help(diags, d, "did you mean %.*s?", STR_ARG(near));
    else
        diag_help(
            diags, d,
            "`moeplan models` lists the catalogue; a config.json or a model file is taken too");
}

static const struct model_input *named(struct arena *a, struct diags *diags, struct str name,
                                       struct span at, int depth);

static const struct model_input *from_mapping(struct arena *a, struct diags *diags,
                                              const struct node *node, int depth)
{
    struct entry e;
    struct model_input *m = ARENA_NEW(a, struct model_input);
    bool good = entry_read(a, diags, node, ENTRY_MODEL, &e);
    if (e.base.n > 0) {
        const struct model_input *base =
            named(a, diags, e.base, node_span(diags, e.base_node), depth + 1);
        if (!base) return NULL;
        *m = *base; /* additions go to room of its own */
        m->fields.cap = m->fields.n = 0;
        for (size_t i = 0; i < base->fields.n; i++)
            *VEC_PUSH(a, &m->fields) = base->fields.items[i];
    }
    for (size_t i = 0; i < e.n_fields; i++)
        good = add_own_field(a, diags, m, &e.fields[i]) && good;
    if (e.name.n > 0) {
        m->name = e.name;
        model_add_field(a, m, "model_name", value_string(e.name), node, STR("name"));
    }
    return good ? m : NULL;
}

bool model_is_hf(const struct node *node)
{
    static const char *const widths[] = {"hidden_size", "d_model", "n_embd", "text_config"};
    if (!node || node->kind != NODE_MAP || node_get(node, STR("moeplan"))) return false;
    if (node_get(node, STR("recipe")) || node_get(node, STR("distributed"))) return false;
    const struct node *type = node_get(node, STR("model_type")),
                      *classes = node_get(node, STR("architectures"));
    if ((type && type->kind == NODE_SCALAR) || (classes && classes->kind == NODE_LIST)) return true;
    bool layers = node_get(node, STR("num_hidden_layers")) || node_get(node, STR("n_layers"));
    for (size_t i = 0; layers && i < sizeof widths / sizeof *widths; i++)
        if (node_get(node, str_of(widths[i]))) return true;
    return false;
}

static const struct model_input *from_node(struct arena *a, struct diags *diags,
                                           const struct node *node, int depth)
{
    if (node->kind == NODE_SCALAR)
        return named(a, diags, node->text, node_span(diags, node), depth);
    if (model_is_hf(node)) return model_from_hf(a, diags, node, STR(""));
    return from_mapping(a, diags, node, depth);
}

/* Of "x/Model/config.json" the folder's name. */
static struct str folder_name(struct str path)
{
    size_t end = path.n;
    while (end > 0 && path.p[end - 1] != '/')
        end--;
    while (end > 0 && path.p[end - 1] == '/')
        end--;
    size_t from = end;
    while (from > 0 && path.p[from - 1] != '/')
        from--;
    struct str name = str_slice(path, from, end);
    return str_is(name, ".") || str_is(name, "..") ? STR("") : name;
}

/* A file, or a directory with a config.json. */
static const struct model_input *from_file(struct arena *a, struct diags *diags, struct str path,
                                           struct str text, int depth)
{
    struct node_list docs = {0};
    uint32_t source = source_add(&diags->sources, path, text);
    if (!doc_load(a, diags, source, &docs)) return NULL;
    if (docs.n != 1 || docs.items[0]->kind != NODE_MAP) {
        diag_add(diags, SEVERITY_ERROR, "model-config", (struct span){.source = source},
                 "this is no model: expected one mapping");
        return NULL;
    }
    const struct node *kind = node_get(docs.items[0], STR("kind"));
    const struct node *plan_model = node_get(docs.items[0], STR("model"));
    bool is_plan = node_get(docs.items[0], STR("moeplan")) && !kind && plan_model;
    if (model_is_hf(docs.items[0]))
        return model_from_hf(a, diags, docs.items[0], folder_name(path));
    return from_node(a, diags, is_plan ? plan_model : docs.items[0], depth);
}

static const struct model_input *named(struct arena *a, struct diags *diags, struct str name,
                                       struct span at, int depth)
{
    if (depth > MAX_BASES) {
        diag_add(diags, SEVERITY_ERROR, "model-config", at,
                 "models refer to each other through base");
        return NULL;
    }
    const struct model_input *m = model_find(a, name);
    if (m) return m;
    struct str text, error, path = str_dup(a, name);
    if (name.n > 0 && io_read(a, path.p, &text, &error))
        return from_file(a, diags, path, text, depth);
    path = arena_printf(a, "%.*s%sconfig.json", STR_ARG(name), str_ends(name, STR("/")) ? "" : "/");
    if (name.n > 0 && io_read(a, path.p, &text, &error))
        return from_file(a, diags, path, text, depth);
    unknown_model(a, diags, name, at);
    return NULL;
}

const struct model_input *model_read(struct arena *a, struct diags *diags, const struct node *node)
{
    return from_node(a, diags, node, 0);
}

const struct model_input *model_load(struct arena *a, struct diags *diags, struct str name_or_path)
{
    return named(a, diags, name_or_path, (struct span){0}, 0);
}

/* ---- facts ---- */

enum absence { ABSENT_NULL, ABSENT_FALSE };

/* What a complete input that does not mention these says about them. */
static const struct {
    const char *param;
    enum absence value;
} absences[] = {
    {"num_moe_experts", ABSENT_NULL},
    {"moe_router_topk", ABSENT_NULL},
    {"moe_ffn_hidden_size", ABSENT_NULL},
    {"moe_shared_expert_intermediate_size", ABSENT_NULL},
    {"moe_shared_expert_gate", ABSENT_FALSE},
    {"moe_router_enable_expert_bias", ABSENT_FALSE},
    {"moe_latent_size", ABSENT_NULL},
    {"moe_layer_freq", ABSENT_NULL},
    {"first_k_dense_replace", ABSENT_NULL},
    {"multi_latent_attention", ABSENT_FALSE},
    {"q_lora_rank", ABSENT_NULL},
    {"kv_lora_rank", ABSENT_NULL},
    {"o_lora_rank", ABSENT_NULL},
    {"qk_head_dim", ABSENT_NULL},
    {"qk_pos_emb_head_dim", ABSENT_NULL},
    {"v_head_dim", ABSENT_NULL},
    {"qk_layernorm", ABSENT_FALSE},
    {"qk_layernorm_full_width", ABSENT_FALSE},
    {"add_bias_linear", ABSENT_FALSE},
    {"add_qkv_bias", ABSENT_FALSE},
    {"attention_output_gate", ABSENT_FALSE},
    {"attention_head_gate", ABSENT_FALSE},
    {"attention_k_equals_v", ABSENT_FALSE},
    {"post_layernorms", ABSENT_FALSE},
    {"softmax_type", ABSENT_NULL},
    {"mlp_activation", ABSENT_NULL},
    {"window_size", ABSENT_NULL},
    {"window_attn_skip_freq", ABSENT_NULL},
    {"window_num_attention_heads", ABSENT_NULL},
    {"window_num_query_groups", ABSENT_NULL},
    {"window_kv_channels", ABSENT_NULL},
    {"window_v_head_dim", ABSENT_NULL},
    {"hybrid_layer_pattern", ABSENT_NULL},
    {"hybrid_override_pattern", ABSENT_NULL},
    {"linear_attention_freq", ABSENT_NULL},
    {"linear_num_key_heads", ABSENT_NULL},
    {"dsa_indexer_n_heads", ABSENT_NULL},
    {"mtp_num_layers", ABSENT_NULL},
    {"mtp_use_repeated_layer", ABSENT_FALSE},
    {"vision_num_layers", ABSENT_NULL},
    {"ffn_hidden_size", ABSENT_NULL},
    {"kv_channels", ABSENT_NULL},
};

static void set_absent(struct facts *f, const struct model_input *m)
{
    for (size_t i = 0; i < sizeof absences / sizeof *absences; i++) {
        const char *name = absences[i].param;
        if (model_field_get(m, name) || fact_is_set(facts_get(f, name))) continue;
        struct value v = absences[i].value == ABSENT_FALSE ? value_bool(false) : value_null();
        facts_set(f, param_find(str_of(name)), v, ORIGIN_CATALOGUE, NULL, m->name);
    }
}

/* How many layers have experts, and whether others do not: what rules and AutoModel's checks ask
   about a model. */
static void set_kind(struct facts *f, const struct model_input *m)
{
    const struct model_field *experts = model_field_get(m, "num_moe_experts");
    const struct model_field *untied = model_field_get(m, "untie_embeddings_and_output_weights");
    bool hybrid =
        model_field_get(m, "hybrid_layer_pattern") || model_field_get(m, "linear_attention_freq");
    /* Multimodal classes split themselves, tied or not: what the text part says decides nothing. */
    bool says_tied =
        untied && untied->value.kind == VALUE_BOOL && !model_field_get(m, "vision_num_layers");
    const struct {
        const char *param;
        struct value value;
    } all[] = {
        {"model_is_moe",
         value_bool(experts && experts->value.kind == VALUE_INT && experts->value.i > 0)},
        {"model_is_hybrid", value_bool(hybrid)},
        {"tie_word_embeddings", says_tied ? value_bool(!untied->value.b) : value_unknown()},
        {"model_type", m->model_type.n > 0 ? value_string(m->model_type) : value_unknown()},
        {"model_architecture",
         m->architecture.n > 0 ? value_string(m->architecture) : value_unknown()},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value.kind != VALUE_UNKNOWN && !fact_is_set(facts_get(f, all[i].param)))
            facts_set(f, param_find(str_of(all[i].param)), all[i].value, ORIGIN_CATALOGUE, NULL,
                      m->name);
}

void model_apply(struct facts *f, const struct model_input *m, enum fact_origin origin)
{
    f->model = m;
    for (size_t i = 0; i < m->fields.n; i++) {
        const struct model_field *x = &m->fields.items[i];
        enum fact_origin from = x->node || origin == ORIGIN_OPTION ? origin : ORIGIN_CATALOGUE;
        if (from == ORIGIN_CATALOGUE && fact_is_set(&f->items[x->param])) continue;
        facts_set(f, x->param, x->value, from, x->node, x->alias);
    }
    if (!m->complete) return;
    set_absent(f, m);
    set_kind(f, m);
}
