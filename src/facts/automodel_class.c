/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about the model: the shape by its name and what the recipe overrides, and what its
   class offers. */
#include <stdlib.h>

#include "facts/automodel.h"
#include "facts/checkout.h"
#include "facts/model.h"
#include "facts/param_ids.h"

static void set(struct facts *f, int param, struct value v, enum fact_origin origin,
                const struct node *node, struct str written)
{
    facts_set(f, param, v, origin, node, written);
}

/* ---- shape ---- */

/* The Hugging Face id or path of the model, under whichever key. */
static const struct node *model_id(const struct node *document)
{
    static const char *const paths[] = {"model.pretrained_model_name_or_path",
                                        "model.config.pretrained_model_name_or_path",
                                        "model.config"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct node *n = node_at(document, str_of(paths[i]));
        if (n && n->kind == NODE_SCALAR && n->text.n) return n;
    }
    return NULL;
}

/* Configuration fields that a recipe may override beside the model's id. */
static const struct {
    const char *key;
    int param;
} overridable[] = {
    {"num_hidden_layers", P_num_layers},         {"num_attention_heads", P_num_attention_heads},
    {"num_key_value_heads", P_num_query_groups}, {"n_routed_experts", P_num_moe_experts},
    {"num_experts", P_num_moe_experts},          {"num_local_experts", P_num_moe_experts},
    {"moe_num_experts", P_num_moe_experts},      {"tie_word_embeddings", P_tie_word_embeddings},
};

static void apply_overrides(struct facts *f, const struct node *map)
{
    for (size_t i = 0; i < sizeof overridable / sizeof *overridable; i++) {
        const struct node *n = node_get(map, str_of(overridable[i].key));
        if (!n || n->kind != NODE_SCALAR) continue;
        struct value v = node_value(f->arena, n, SCALAR_AUTOMODEL);
        bool good = v.kind == VALUE_INT || v.kind == VALUE_BOOL;
        set(f, overridable[i].param, good ? v : value_unknown(), ORIGIN_FILE, n,
            str_of(overridable[i].key));
    }
}

static bool id_matches(struct str id, struct str pattern)
{
    bool other = id.n && pattern.n && pattern.p[0] != id.p[0] && pattern.p[0] != '*'; /* most */
    if (other) return false;
    size_t star = str_find(pattern, '*');
    struct str start = str_slice(pattern, 0, star), end = str_slice(pattern, star + 1, pattern.n);
    if (star == pattern.n) return str_eq(id, pattern);
    return id.n >= start.n + end.n && str_starts(id, start) && str_ends(id, end);
}

static const struct automodel_class *class_of_model(struct str id)
{
    for (uint32_t i = 0; i < automodel_class_count; i++)
        for (size_t k = 0; k < automodel_classes[i].n_models; k++)
            if (id_matches(id, automodel_classes[i].models[k])) return &automodel_classes[i];
    return NULL;
}

/* Encoders and classifiers wrap the model in classes of their own. */
static bool is_loaded_by_id(const struct facts *f)
{
    return str_is_any(facts_str(f, P_recipe_kind), "llm|benchmark|kd|vlm|vlm_kd");
}

static void set_class_of_id(struct facts *f, struct str id)
{
    const struct automodel_class *class = is_loaded_by_id(f) ? class_of_model(id) : NULL;
    if (class && !fact_is_known(facts_get(f, P_model_architecture)))
        set(f, P_model_architecture, value_string(class->name), ORIGIN_CATALOGUE, NULL, id);
}

void automodel_model_facts(struct facts *f)
{
    static const char *const places[] = {"model", "model.text_config", "model.config",
                                         "model.config.text_config"};
    const struct node *id = model_id(f->document);
    const struct model_input *m = id ? model_find(f->arena, id->text) : NULL;
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
    if (id) set_class_of_id(f, id->text);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        apply_overrides(f, node_at(f->document, str_of(places[i])));
}

/* ---- class ---- */

static int by_name(const void *name, const void *class)
{
    return str_cmp(*(const struct str *)name, ((const struct automodel_class *)class)->name);
}

static const struct automodel_class *class_find(struct str name)
{
    return bsearch(&name, automodel_classes, automodel_class_count, sizeof *automodel_classes,
                   by_name);
}

/* Fills what nothing has said yet. */
static void fill(struct facts *f, int param, struct value v, const char *from)
{
    if (!fact_is_known(facts_get(f, param))) set(f, param, v, ORIGIN_CATALOGUE, NULL, str_of(from));
}

static void fill_known(struct facts *f, int param, enum known known)
{
    if (known != KNOWN_NOT)
        fill(f, param, value_bool(known == KNOWN_YES), "AutoModel's model class");
}

static void fill_list(struct facts *f, int param, const struct str *words, size_t n)
{
    struct value *items = ARENA_ARRAY(f->arena, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = value_string(words[i]);
    fill(f, param, value_list_of(f->arena, items, n), "AutoModel's model class");
}

static void fill_from_class(struct facts *f, const struct automodel_class *c)
{
    const struct {
        int param;
        enum known known;
    } facts[] = {
        {P_automodel_moe, c->moe},
        {P_model_is_hybrid, c->hybrid},
        {P_automodel_is_custom_model, KNOWN_YES},
        {P_automodel_has_tp_plan, c->tp_plan},
        {P_automodel_has_pp_plan, c->pp_plan},
        {P_automodel_has_backend, c->backend},
        {P_automodel_tp_registered, c->tp_registered},
        {P_automodel_owns_cp, c->owns_cp},
        {P_automodel_cp_sdpa, c->cp_sdpa},
        {P_automodel_thd, c->thd},
        {P_automodel_keeps_forward, c->keeps_forward},
        {P_automodel_eager, c->eager},
    };
    if (c->model_type.n)
        fill(f, P_model_type, value_string(c->model_type), "AutoModel's model class");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        fill_known(f, facts[i].param, facts[i].known);
    fill_list(f, P_automodel_packed_cp, c->packed_cp, c->n_packed_cp);
    if (c->declared) fill_list(f, P_automodel_declares, c->declares, c->n_declares);
}

static bool stated(const struct facts *f, int param)
{
    return facts_get(f, param)->origin == ORIGIN_OPTION;
}

/* A class that is none of AutoModel's own is Hugging Face's: it has none of AutoModel's features.
   Where the user describes a class, what is not said it does not have. */
static void fill_from_outside(struct facts *f, const struct automodel_class *class)
{
    static const int never[] = {P_automodel_moe,     P_automodel_is_custom_model,
                                P_automodel_owns_cp, P_automodel_cp_sdpa,
                                P_automodel_thd,     P_automodel_tp_registered};
    static const int described_as[] = {P_model_is_moe,
                                       P_model_is_hybrid,
                                       P_model_is_encoder_decoder,
                                       P_automodel_has_tp_plan,
                                       P_automodel_has_pp_plan,
                                       P_automodel_is_custom_model,
                                       P_automodel_supports_sdpa,
                                       P_automodel_accepts_seq_lens};
    static const int absent[] = {P_model_is_hybrid, P_model_is_encoder_decoder,
                                 P_tie_word_embeddings, P_automodel_has_tp_plan,
                                 P_automodel_has_pp_plan};
    bool described = false;
    if (class) fill(f, P_model_type, value_string(class->model_type), "its class");
    for (size_t i = 0; i < sizeof described_as / sizeof *described_as; i++)
        described |= stated(f, described_as[i]);
    if (class) fill_known(f, P_automodel_has_tp_plan, class->tp_plan);
    if (class) fill_known(f, P_automodel_has_pp_plan, class->pp_plan);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        fill(f, never[i], value_bool(false), "no class of AutoModel's own");
    fill(f, P_automodel_packed_cp, value_list_of(f->arena, NULL, 0), "no class of AutoModel's own");
    for (size_t i = 0; described && i < sizeof absent / sizeof *absent; i++)
        fill(f, absent[i], value_bool(false), "the description of the model class");
    if (!described) return;
    fill(f, P_automodel_supports_sdpa, value_bool(true), "Hugging Face's classes");
    fill(f, P_model_type, value_string(STR("")), "the description of the model class");
}

static bool checkout_names(const struct facts *f, const struct automodel_class *class,
                           struct str path)
{
    struct str text = checkout_text(f->arena, f->diags, f->source, FRAMEWORK_AUTOMODEL, path);
    return checkout_find(text, class->name) < text.n;
}

/* Whether AutoModel has the class where the file runs: at the release, or in the checkout around
   it, which may be ahead of the release that it names. Its registry lists the classes, or, to
   release 0.3, looks for them in the modules of the models. */
static bool is_there(const struct facts *f, const struct automodel_class *class)
{
    if (class->releases & facts_release(f)) return true;
    struct str module = arena_printf(f->arena, "nemo_automodel/components/models/%.*s/model.py",
                                     STR_ARG(class->model_type));
    return checkout_names(f, class, STR("nemo_automodel/_transformers/registry.py")) ||
           checkout_names(f, class, module);
}

void automodel_class_facts(struct facts *f)
{
    const struct node *force_hf = node_at(f->document, STR("model.force_hf"));
    if (f->model) set_class_of_id(f, f->model->hf_id);
    struct str name = facts_str(f, P_model_architecture);
    bool forced = force_hf && !str_eq_nocase(force_hf->text, STR("false"));
    bool quantised = facts_bool(f, P_load_in_4bit, false) || facts_bool(f, P_load_in_8bit, false);
    const struct automodel_class *class = class_find(name);
    if (stated(f, P_model_is_moe))
        fill(f, P_automodel_moe, facts_get(f, P_model_is_moe)->value, "model.is_moe");
    if (stated(f, P_automodel_is_custom_model))
        fill(f, P_automodel_has_backend, facts_get(f, P_automodel_is_custom_model)->value,
             "automodel.is_custom_model");
    if (!name.n || forced) return;
    if (class && !is_there(f, class)) {
        fill(f, P_model_type, value_string(class->model_type), "its class");
        class = NULL; /* a release before it: Hugging Face's own, whatever that offers */
    }
    /* bitsandbytes loads through Hugging Face's own classes (_transformers/model_init.py). */
    if (class && class->outside != KNOWN_YES && !quantised)
        fill_from_class(f, class);
    else
        fill_from_outside(f, class);
    fill(f, P_automodel_has_backend, facts_get(f, P_automodel_is_custom_model)->value,
         "automodel.is_custom_model");
}
