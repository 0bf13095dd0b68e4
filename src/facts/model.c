/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/model.h"

#include <assert.h>

#include "base/io.h"
#include "base/path.h"
#include "base/vec.h"
#include "facts/check.h"
#include "facts/named.h"
#include "facts/param_ids.h"
#include "facts/reader.h"

enum { MAX_BASES = 4 }; /* models that build on one another */

void model_add_field(struct arena *a, struct model_input *m, int param, struct value value,
                     const struct node *node, struct str alias)
{
    *VEC_PUSH(a, &m->fields) = (struct model_field){param, value, node, alias};
}

void model_add_note(struct arena *a, struct model_input *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *VEC_PUSH(a, &m->notes) = arena_vprintf(a, format, args);
    va_end(args);
}

const struct model_field *model_field_get(const struct model_input *m, int param)
{
    int index = param;
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
    model_add_field(a, m, P_model_name, value_string(e->name), NULL, e->id);
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
        const struct param *p = &param_table[param];
        struct value v = f->value;
        if (!value_check_own(a, diags, p, &v, node_span(diags, f->node), f->name)) return false;
        *VEC_PUSH(a, &m->fields) = (struct model_field){param, v, f->node, p->name};
        return true;
    }
    if (diags->n >= MOST_UNKNOWN) return false; /* this is no model, and has been said to be none */
    struct diag *d = diag_add(diags, SEVERITY_ERROR, "unknown-key", node_span(diags, f->key),
                              "%.*s is no field of a model", STR_ARG(f->name));
    diag_suggest(diags, d, param_nearest_in(SCOPE_MODEL, f->name));
    return false;
}

static void unknown_model(struct diags *diags, struct str name, struct span at, struct str why)
{
    struct entry_list known = {catalogue_models, catalogue_model_count};
    struct diag *d = named_unknown(diags, at, name, why, "model", known);
    if (d)
        diag_help(
            diags, d,
            "`moeplan models` lists the catalogue; a config.json or a model file is taken too");
}

static const struct model_input *named(struct arena *a, struct diags *diags, struct str name,
                                       const struct node *by, int depth);

/* What the catalogue's model of this name has, and a list of its sizes seldom says: which experts a
   token may choose from. */
static const int unsaid[] = {P_moe_router_num_groups, P_moe_router_group_topk};
/* By these it is that model. */
static const int telling[] = {P_hidden_size, P_num_moe_experts, P_moe_router_topk,
                              P_moe_ffn_hidden_size};

static void add_unsaid(struct arena *a, struct model_input *m, struct str name)
{
    const struct model_input *known = model_find(a, name);
    if (!known) return;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        const struct model_field *own = model_field_get(m, telling[i]);
        const struct model_field *other = model_field_get(known, telling[i]);
        if (!own || !other || !value_eq(own->value, other->value)) return;
    }
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        const struct model_field *x = model_field_get(known, unsaid[i]);
        if (x && !model_field_get(m, unsaid[i])) *VEC_PUSH(a, &m->fields) = *x;
    }
}

static const struct model_input *from_mapping(struct arena *a, struct diags *diags,
                                              const struct node *node, int depth)
{
    struct entry e;
    struct model_input *m = ARENA_NEW(a, struct model_input);
    bool good = entry_read(a, diags, node, ENTRY_MODEL, &e);
    if (e.base.n > 0) {
        const struct model_input *base = named(a, diags, e.base, e.base_node, depth + 1);
        if (!base) return NULL;
        *m = *base; /* additions go to room of its own */
        m->fields.cap = m->fields.n = 0;
        for (size_t i = 0; i < base->fields.n; i++)
            *VEC_PUSH(a, &m->fields) = base->fields.items[i];
    }
    m->root = node;
    for (size_t i = 0; i < e.n_fields; i++)
        good = add_own_field(a, diags, m, &e.fields[i]) && good;
    if (e.name.n > 0) {
        if (e.base.n == 0) add_unsaid(a, m, e.name);
        m->name = e.name;
        model_add_field(a, m, P_model_name, value_string(e.name), node, STR("name"));
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
    if (node->kind == NODE_SCALAR) return named(a, diags, node->text, node, depth);
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
    struct str name = str_last_part(str_slice(path, 0, end), '/');
    return str_is(name, ".") || str_is(name, "..") ? STR("") : name;
}

/* Names alone may also be those of a model with a mistake or two. */
static bool is_sure(const struct reader *reader, const struct node *doc)
{
    const char *mark = strcmp(reader->name, "megatron") == 0 ? "MODEL_ARGS"
                       : strcmp(reader->name, "plan") == 0   ? "framework"
                                                             : NULL;
    return !doc || !mark || node_get(doc, str_of(mark));
}

/* Says what a text that is no model is instead; false when nobody knows. */
static bool is_recipe(struct diags *diags, struct str path, struct str text, uint32_t source,
                      const struct node *doc)
{
    static const struct {
        const char *format, *words;
    } kinds[] = {{"automodel", "an AutoModel recipe"},
                 {"megatron", "a Megatron-LM launch or its arguments"},
                 {"bridge", "Megatron-Bridge overrides"},
                 {"plan", "a plan that names no model"}};
    const struct reader *reader = reader_detect(text, doc);
    for (size_t i = 0; reader && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(reader->name, kinds[i].format) != 0 || !is_sure(reader, doc)) continue;
        struct diag *d =
            diag_add(diags, SEVERITY_ERROR, "model-config", (struct span){.source = source},
                     "this is %s, no model", kinds[i].words);
        diag_help(diags, d, "`moeplan estimate` and `moeplan validate` read it: %.*s",
                  STR_ARG(path));
        return true;
    }
    return false;
}

static const struct model_input *from_document(struct arena *a, struct diags *diags,
                                               struct str path, const struct node *doc, int depth)
{
    const struct node *model = node_get(doc, STR("model"));
    bool is_plan = node_get(doc, STR("moeplan")) && !node_get(doc, STR("kind")) && model;
    if (model_is_hf(doc)) return model_from_hf(a, diags, doc, folder_name(path));
    return from_node(a, diags, is_plan ? model : doc, depth);
}

/* The model with what its file made warn as notes: who asks for an answer sees no warnings. */
static const struct model_input *with_warnings(struct arena *a, const struct diags *diags,
                                               size_t from, const struct model_input *m)
{
    struct model_input *own = arena_dup(a, m, sizeof *m);
    own->notes.cap = own->notes.n; /* additions go to room of its own */
    for (size_t i = from; i < diags->n; i++) {
        const struct diag *d = &diags->items[i];
        if (d->severity == SEVERITY_WARNING)
            model_add_note(a, own, "line %u: %.*s", d->at.line, STR_ARG(d->message));
    }
    return own;
}

/* A model file, or a config.json. */
static const struct model_input *from_file(struct arena *a, struct diags *diags, struct str path,
                                           struct str text, int depth)
{
    struct node_list docs = {0};
    const struct model_input *m = NULL;
    uint32_t source = source_add(&diags->sources, path, text);
    size_t before = diags->n;
    bool loaded = doc_load(a, diags, source, &docs);
    bool mapping = loaded && docs.n == 1 && docs.items[0]->kind == NODE_MAP;
    if (mapping) m = from_document(a, diags, path, docs.items[0], depth);
    if (m) return with_warnings(a, diags, before, m);
    size_t after = diags->n;
    if (is_recipe(diags, path, text, source, mapping ? docs.items[0] : NULL)) {
        diags->items[before] = diags->items[after]; /* in place of all that it is not */
        diags->n = before + 1;
    } else if (loaded && !mapping) {
        diag_add(diags, SEVERITY_ERROR, "model-config", (struct span){.source = source},
                 "this is no model: expected one mapping");
    }
    return NULL;
}

/* The same of a file that stands in another: what was written in it counts as written where it is
   named. */
static const struct model_input *from_named_file(struct arena *a, struct diags *diags,
                                                 const struct named *file, struct str text,
                                                 const struct node *by, int depth)
{
    struct diags inner;
    assert(by);
    diags_init(&inner, a);
    const struct model_input *m = from_file(a, &inner, file->path, text, depth);
    named_tell(diags, node_span(diags, by), file, &inner, "model");
    if (!m) return NULL;
    struct model_input *own = arena_dup(a, m, sizeof *m);
    own->fields.items = arena_dup(a, m->fields.items, m->fields.n * sizeof *m->fields.items);
    own->fields.cap = own->fields.n;
    own->root = by;
    for (size_t i = 0; i < own->fields.n; i++)
        if (own->fields.items[i].node) own->fields.items[i].node = by;
    return own;
}

/* A file, or a folder with a config.json. */
static bool find_file(struct arena *a, const struct diags *diags, struct str name, struct span at,
                      struct named *out, struct str *why)
{
    if (!named_find(a, diags, name, at, out, why)) return false;
    if (!io_is_folder(out->path.p)) return true;
    if (named_find(a, diags, path_join(a, name, STR("config.json")), at, out, why)) return true;
    if (why->n == 0) *why = STR("is a folder without a config.json");
    return false;
}

static const struct model_input *named(struct arena *a, struct diags *diags, struct str name,
                                       const struct node *by, int depth)
{
    struct span at = by ? node_span(diags, by) : (struct span){0};
    if (depth > MAX_BASES) {
        diag_add(diags, SEVERITY_ERROR, "model-config", at,
                 "models refer to each other through base");
        return NULL;
    }
    const struct model_input *m = model_find(a, name);
    if (m) return m;
    struct named file;
    struct str text, why;
    if (!find_file(a, diags, name, at, &file, &why) || !named_read(a, diags, &file, &text, &why)) {
        unknown_model(diags, name, at, why);
        return NULL;
    }
    return file.inside ? from_named_file(a, diags, &file, text, by, depth)
                       : from_file(a, diags, file.path, text, depth);
}

const struct model_input *model_read(struct arena *a, struct diags *diags, const struct node *node)
{
    return from_node(a, diags, node, 0);
}

const struct model_input *model_load(struct arena *a, struct diags *diags, struct str name_or_path)
{
    return named(a, diags, name_or_path, NULL, 0);
}

/* ---- facts ---- */

/* What a complete input does not mention is not there. */
static void set_absent(struct facts *f, const struct model_input *m)
{
    for (int i = 0; i < (int)param_count; i++) {
        const struct value *absent = &param_table[i].absent;
        if (absent->kind == VALUE_UNKNOWN || fact_is_set(facts_get(f, i))) continue;
        if (!model_field_get(m, (int)i))
            facts_set(f, (int)i, *absent, ORIGIN_CATALOGUE, NULL, m->name);
    }
}

void model_assume(struct facts *f)
{
    for (int i = 0; i < (int)param_count; i++) {
        const struct param *p = &param_table[i];
        if (p->absent.kind != VALUE_UNKNOWN && !p->asked && !fact_is_known(facts_get(f, i)))
            facts_set(f, (int)i, p->absent, ORIGIN_ASSUMED, NULL, STR("the model"));
    }
}

/* The word without which Megatron-core builds plain attention in every layer, whatever the sizes of
   indexers and linear layers say (core/models/gpt/experimental_attention_variant_module_specs.py).
   */
static struct value attention_variant(const struct model_input *m)
{
    const struct model_field *latent = model_field_get(m, P_multi_latent_attention);
    bool mla = latent && latent->value.kind == VALUE_BOOL && latent->value.b;
    if (mla && model_field_get(m, P_dsa_indexer_n_heads)) return value_string(STR("dsa"));
    if (model_field_get(m, P_linear_attention_freq)) return value_string(STR("gated_delta_net"));
    return value_null();
}

/* How many layers have experts, and whether others do not: what rules and AutoModel's checks ask
   about a model. */
static void set_kind(struct facts *f, const struct model_input *m)
{
    const struct model_field *experts = model_field_get(m, P_num_moe_experts);
    const struct model_field *untied = model_field_get(m, P_untie_embeddings_and_output_weights);
    bool hybrid =
        model_field_get(m, P_hybrid_layer_pattern) || model_field_get(m, P_linear_attention_freq);
    /* Multimodal classes split themselves, tied or not: what the text part says decides nothing. */
    bool says_tied =
        untied && untied->value.kind == VALUE_BOOL && !model_field_get(m, P_vision_num_layers);
    const struct {
        int param;
        struct value value;
    } all[] = {
        {P_model_is_moe,
         value_bool(experts && experts->value.kind == VALUE_INT && experts->value.i > 0)},
        {P_model_is_hybrid, value_bool(hybrid)},
        {P_experimental_attention_variant, attention_variant(m)},
        {P_tie_word_embeddings, says_tied ? value_bool(!untied->value.b) : value_unknown()},
        {P_model_type, m->model_type.n > 0 ? value_string(m->model_type) : value_unknown()},
        {P_model_architecture,
         m->architecture.n > 0 ? value_string(m->architecture) : value_unknown()},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value.kind != VALUE_UNKNOWN && !fact_is_set(facts_get(f, all[i].param)))
            facts_set(f, all[i].param, all[i].value, ORIGIN_CATALOGUE, NULL, m->name);
}

static void apply_fields(struct facts *f, const struct model_input *m, enum fact_origin origin,
                         bool (*says)(const struct facts *f, int param))
{
    f->model = m;
    for (size_t i = 0; i < m->fields.n; i++) {
        const struct model_field *x = &m->fields.items[i];
        if (says && says(f, x->param)) continue;
        enum fact_origin from = x->node || origin == ORIGIN_OPTION ? origin : ORIGIN_CATALOGUE;
        if (from == ORIGIN_CATALOGUE && fact_is_set(facts_get(f, x->param))) continue;
        facts_set(f, x->param, x->value, from, x->node, x->alias);
    }
    if (!m->complete) return;
    set_absent(f, m);
    set_kind(f, m);
}

static void set_switch(struct facts *f, const struct model_input *m, int param, struct value v)
{
    if (!fact_is_set(facts_get(f, param))) facts_set(f, param, v, ORIGIN_CATALOGUE, NULL, m->name);
}

void model_set_switches(struct facts *f, const struct model_input *m)
{
    const struct model_field *groups = model_field_get(m, P_num_query_groups);
    const struct model_field *heads = model_field_get(m, P_num_attention_heads);
    bool grouped = groups && heads && !value_eq(groups->value, heads->value) &&
                   !model_field_get(m, P_multi_latent_attention);
    if (grouped && str_is(f->format, "megatron"))
        set_switch(f, m, P_group_query_attention, value_bool(true));
    if (model_field_get(m, P_rotary_base))
        set_switch(f, m, P_position_embedding_type, value_string(STR("rope")));
}

void model_apply(struct facts *f, const struct model_input *m, enum fact_origin origin)
{
    apply_fields(f, m, origin, NULL);
}

void model_apply_beside(struct facts *f, const struct model_input *m,
                        bool (*says)(const struct facts *f, int param))
{
    apply_fields(f, m, ORIGIN_OPTION, says);
}
