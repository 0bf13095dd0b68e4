/* SPDX-License-Identifier: Apache-2.0 */
/* Plan files (`moeplan: 1`): parameters by name, symbol or alias, the model and the platform. */
#include "facts/check.h"
#include "facts/model.h"
#include "facts/named.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "facts/reader.h"

/* Without its mark a mapping of parameters is a plan only where one is asked for. */
static int detect(struct str text, const struct node *doc)
{
    (void)text;
    if (!doc || doc->kind != NODE_MAP || node_get(doc, STR("kind"))) return 0;
    if (node_get(doc, STR("moeplan"))) return 95;
    for (size_t i = 0; i < doc->n; i++)
        if (param_find(doc->keys[i]->text) >= 0) return 10;
    return 0;
}

static struct diag *complain(struct facts *f, const char *rule, const struct node *at,
                             struct str message)
{
    return diag_add(f->diags, SEVERITY_ERROR, rule, node_span(f->diags, at), "%.*s",
                    STR_ARG(message));
}

/* ---- head ---- */

static void check_format(struct facts *f, const struct node *doc)
{
    const struct node *mark = node_get(doc, STR("moeplan"));
    if (mark && !str_is(mark->text, "1"))
        complain(f, "value-choice", mark, STR("this program reads plans of format 1"));
}

/* The framework the plan names, else the one asked for, else Megatron-LM. */
static enum framework framework_of(const struct node *doc, const struct read_options *options)
{
    enum framework framework = options->framework_given ? options->framework : FRAMEWORK_MEGATRON;
    const struct node *word = node_get(doc, STR("framework"));
    if (word) framework_from_name(word->text, &framework);
    return framework;
}

static void check_framework(struct facts *f, const struct node *doc)
{
    enum framework framework;
    const struct node *word = node_get(doc, STR("framework"));
    if (!word || framework_from_name(word->text, &framework)) return;
    struct diag *d =
        complain(f, "value-choice", word,
                 arena_printf(f->arena, "there is no framework '%.*s'", STR_ARG(word->text)));
    diag_help(f->diags, d, "one of megatron, bridge, automodel");
}

/* A version on the command line goes before the plan's own. */
static struct str version_of(const struct node *doc, const struct read_options *options)
{
    const struct node *word = node_get(doc, STR("framework_version"));
    return options->version.n || !word ? options->version : word->text;
}

/* The release that is meant; the newest where nobody knows that one. */
static const struct profile *profile_of(enum framework framework, struct str version)
{
    const struct profile *profile = profile_find(framework, version);
    return profile ? profile : profile_find(framework, STR(""));
}

/* A version on the command line is checked with the other options. */
static void check_version(struct facts *f, const struct node *doc,
                          const struct read_options *options)
{
    const struct node *word = node_get(doc, STR("framework_version"));
    if (!word || options->version.n || profile_find(f->framework, word->text)) return;
    struct diag *d =
        complain(f, "value-choice", word,
                 arena_printf(f->arena, "version %.*s is not known", STR_ARG(word->text)));
    diag_help(f->diags, d, "one of %.*s", STR_ARG(profile_list(f->arena, f->framework)));
}

/* ---- body ---- */

static void read_model(struct facts *f, const struct node *value,
                       const struct read_options *options)
{
    const struct model_input *model = named_is_given(f->arena, f->diags, value, options->model)
                                          ? model_load(f->arena, f->diags, options->model)
                                          : model_read(f->arena, f->diags, value);
    if (model) model_apply(f, model, ORIGIN_FILE);
}

static void read_platform(struct facts *f, const struct node *value,
                          const struct read_options *options)
{
    struct platform_cache own = {.arena = f->arena};
    struct platform_cache *cache = options->platforms ? options->platforms : &own;
    if (value->kind != NODE_SCALAR) {
        complain(f, "value-type", value, STR("platform takes the name of a platform or a file"));
        return;
    }
    bool given = named_is_given(f->arena, f->diags, value, options->platform);
    struct span at = given ? (struct span){0} : node_span(f->diags, value);
    const struct platform *platform =
        platform_load(cache, f->diags, given ? options->platform : value->text, at);
    if (platform) platform_apply(f, platform, ORIGIN_FILE);
}

static void unknown_key(struct facts *f, const struct node *key)
{
    struct diag *d =
        complain(f, "unknown-key", key,
                 arena_printf(f->arena, "no parameter is called %.*s", STR_ARG(key->text)));
    diag_suggest(f->diags, d, param_nearest(key->text));
}

/* dp, edp and num_microbatches are assertions, compared by a rule; other derived values cannot be
   given. */
static void note_assertion(struct facts *f, int param, const struct node *key,
                           const struct node *value)
{
    static const int assertions[] = {P_data_parallel_size, P_expert_data_parallel_size,
                                     P_num_microbatches};
    if (param_among(param, assertions, sizeof assertions / sizeof *assertions))
        facts_change(f, param)->node = value;
    if (facts_get(f, param)->node) return;
    complain(f, "unknown-key", key,
             arena_printf(f->arena, "%.*s follows from other parameters and cannot be given",
                          STR_ARG(key->text)));
}

static void read_param(struct facts *f, const struct node *key, const struct node *value)
{
    int param = param_find(key->text);
    if (param < 0 || param_table[param].scope == SCOPE_METRIC) {
        unknown_key(f, key);
        return;
    }
    struct value v = node_value(f->arena, value, SCALAR_CORE);
    struct span at = node_span(f->diags, value);
    bool good = value_check(f, param, &v, at, key->text) &&
                value_check_range(f->arena, f->diags, &param_table[param], v, at, key->text);
    if (param_table[param].scope == SCOPE_DERIVED)
        note_assertion(f, param, key, value);
    else
        facts_set(f, param, good ? v : value_unknown(), ORIGIN_FILE, value, key->text);
}

/* The model and the platform come first: what the plan writes itself goes over what they bring. */
static void read_body(struct facts *f, const struct node *doc, const struct read_options *options)
{
    const struct node *model = node_get(doc, STR("model")),
                      *platform = node_get(doc, STR("platform"));
    if (model) read_model(f, model, options);
    if (platform) read_platform(f, platform, options);
    for (size_t i = 0; i < doc->n; i++) {
        struct str key = doc->keys[i]->text;
        bool head = str_is_any(key, "moeplan|framework|framework_version|model|platform");
        if (!head && node_get(doc, key) == doc->items[i])
            read_param(f, doc->keys[i], doc->items[i]);
    }
}

/* A model of so many layers that says no pattern has none: the pattern would say their number. */
static void assume_plain_layers(struct facts *f)
{
    int pattern = P_hybrid_layer_pattern;
    bool plain = fact_is_known(facts_get(f, P_num_layers));
    if (plain && !fact_is_known(facts_get(f, pattern)))
        *facts_change(f, pattern) = (struct fact){.value = value_null(), .origin = ORIGIN_DEFAULT};
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    if (!doc || doc->kind != NODE_MAP) {
        struct span at = {.source = source};
        diag_add(diags, SEVERITY_ERROR, "plan-syntax", doc ? node_span(diags, doc) : at,
                 "a plan is a mapping of parameters");
        return false;
    }
    enum framework framework = framework_of(doc, options);
    struct facts *f = facts_new_plan(a, diags, framework,
                                     profile_of(framework, version_of(doc, options))->version);
    f->framework_known = node_get(doc, STR("framework")) || options->framework_given;
    f->source = source;
    f->document = doc;
    check_version(f, doc, options);
    check_format(f, doc);
    check_framework(f, doc);
    read_body(f, doc, options);
    assume_plain_layers(f);
    *VEC_PUSH(a, out) = (struct reading){.facts = f};
    return true;
}

const struct reader reader_plan = {.name = "plan", .detect = detect, .read = read};
