/* SPDX-License-Identifier: Apache-2.0 */
/* moeplan's own data: model, platform, rule and parameter files. They are told by their mark,
   moeplan: 1 and a kind; a model also by its keys where it is asked for by name. */
#include "base/edit.h"
#include "base/path.h"
#include "facts/model.h"
#include "facts/param_file.h"
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "flow/estimate.h"
#include "flow/settings.h"
#include "flow/validate.h"

/* One file that is being checked. */
struct check {
    struct validation *v;
    struct file_report *report;
    uint32_t source;
    const struct node_list *docs;
};

static bool is_single(const struct check *c)
{
    if (c->docs->n == 1) return true;
    diag_add(c->report->diags, SEVERITY_ERROR, "no-recipe",
             node_span(c->report->diags, c->docs->items[1]), "such a file holds one mapping");
    return false;
}

static void check_model(const struct check *c)
{
    struct diags *diags = c->report->diags;
    struct arena *a = c->v->arena;
    if (!is_single(c)) return;
    const struct model_input *m = model_read(a, diags, c->docs->items[0]);
    struct model_shape *shape = ARENA_NEW(a, struct model_shape);
    if (!m) return;
    c->report->model = m->name;
    estimate_shape(a, diags, m, c->v->scratch, shape);
}

static void check_platform(const struct check *c)
{
    if (is_single(c))
        platform_read(c->v->arena, c->report->diags, c->docs->items[0], platform_bases());
}

static void check_rules(const struct check *c)
{
    struct rules_tested tested;
    rules_test_text(c->v->arena, c->report->diags, c->source, c->v->rules, &tested);
}

static void check_parameters(const struct check *c)
{
    struct param_list list = {0};
    for (size_t i = 0; i < c->docs->n; i++)
        param_file_read(c->v->arena, c->report->diags, c->docs->items[i], &list);
}

/* Its folder is what its patterns are from; one that is not on disk yet is as it is named. */
static void check_settings(const struct check *c)
{
    struct str folder = path_folder(c->report->path), real;
    if (!path_real(c->v->arena, folder.n ? str_dup(c->v->arena, folder).p : ".", &real))
        real = folder;
    settings_read(c->v->arena, c->report->diags, c->source, real);
}

static const struct kind {
    const char *name, *format;
    void (*check)(const struct check *c);
} kinds[] = {{"Model", "model", check_model},
             {"Platform", "platform", check_platform},
             {"Rules", "rules", check_rules},
             {"Parameters", "parameters", check_parameters},
             {"Settings", "settings", check_settings}};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void unknown_kind(const struct check *c, const struct node *kind)
{
    struct diags *diags = c->report->diags;
    struct edit_nearest nearest = {.word = kind->text};
    for (int i = 0; i < KIND_COUNT; i++)
        edit_offer(&nearest, str_of(kinds[i].name));
    struct diag *d = diag_add(diags, SEVERITY_ERROR, "value-choice", node_span(diags, kind),
                              "there is no kind %.*s", STR_ARG(kind->text));
    const char *known = "one of Model, Platform, Rules, Parameters, Settings";
    if (nearest.best.n)
        diag_help(diags, d, "did you mean %.*s? %s", STR_ARG(nearest.best), known);
    else
        diag_help(diags, d, "%s", known);
}

/* Whether a mapping without a mark has the keys that every model has, or starts from one. */
static bool is_model(struct arena *a, const struct node *doc)
{
    static const char *const depths[] = {"num_layers", "hybrid_layer_pattern"};
    static const int widths[] = {P_hidden_size, P_num_attention_heads, P_vocab_size};
    bool deep = false, wide = false;
    if (!doc || doc->kind != NODE_MAP || model_is_hf(doc)) return false;
    const struct node *base = node_get(doc, STR("base"));
    if (base && base->kind == NODE_SCALAR && model_find(a, base->text)) return true;
    for (size_t i = 0; i < 2; i++)
        deep = deep || node_get(doc, str_of(depths[i]));
    for (size_t i = 0; i < 3; i++)
        wide = wide || node_get(doc, param_name(widths[i]));
    return (deep || base) && wide;
}

/* Whether a text may be one of ours at all: told before it is parsed. */
static bool is_marked(struct str text)
{
    /* few texts have the second word, and few its first letter */
    return str_find_str(text, STR("kind")) < text.n && str_find_str(text, STR("moeplan")) < text.n;
}

/* The documents of the text; their duplicate keys are said only when the file is ours. */
static bool load(const struct check *c, struct node_list *docs)
{
    struct diags *diags = c->report->diags;
    size_t before = diags->n;
    if (doc_load(c->v->arena, diags, c->source, docs) && docs->n > 0) return true;
    diags->n = before;
    return false;
}

static void run_check(struct check *c, const struct kind *kind)
{
    c->report->format = str_of(kind->format);
    kind->check(c);
}

/* Settings are told by their name, and need no mark. */
static bool is_settings(struct str path)
{
    struct str folder = path_folder(path);
    return str_is(str_slice(path, folder.n, path.n), SETTINGS_NAME);
}

bool validate_own(struct validation *v, struct file_report *report, uint32_t source)
{
    struct node_list docs = {0};
    struct check c = {v, report, source, &docs};
    size_t before = report->diags->n;
    if (is_settings(report->path)) {
        run_check(&c, &kinds[KIND_COUNT - 1]);
        return true;
    }
    if (!is_marked(source_get(&report->diags->sources, source)->text) || !load(&c, &docs))
        return false;
    const struct node *first = docs.items[0], *kind = node_get(first, STR("kind"));
    if (!node_get(first, STR("moeplan")) || !kind || reader_is_built_in(first)) {
        report->diags->n = before;
        return false;
    }
    for (int i = 0; i < KIND_COUNT; i++)
        if (str_is(kind->text, kinds[i].name)) {
            run_check(&c, &kinds[i]);
            return true;
        }
    unknown_kind(&c, kind);
    return true;
}

bool validate_own_model(struct validation *v, struct file_report *report, uint32_t source)
{
    struct node_list docs = {0};
    struct check c = {v, report, source, &docs};
    size_t before = report->diags->n;
    if (load(&c, &docs) && docs.n == 1 && is_model(v->arena, docs.items[0])) {
        run_check(&c, &kinds[0]);
        return true;
    }
    report->diags->n = before;
    return false;
}
