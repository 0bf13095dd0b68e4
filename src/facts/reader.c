/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/reader.h"

#include "facts/automodel.h"
#include "facts/formats.h"
#include "facts/model.h"
#include "facts/profile.h"

enum { N_FORMATS = sizeof formats / sizeof *formats };

const struct reader *reader_find(struct str name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (str_is(name, formats[i]->name)) return formats[i];
    return NULL;
}

const struct reader *reader_detect(struct str text, const struct node *doc)
{
    const struct reader *best = NULL;
    int best_score = READER_SURE - 1;
    for (size_t i = 0; i < N_FORMATS; i++) {
        int score = formats[i]->detect(text, doc);
        if (score <= best_score) continue;
        best = formats[i];
        best_score = score;
    }
    return best;
}

struct str reader_declared(struct str text)
{
    struct str line, mark = STR("# moeplan: format=");
    enum { MOST_LINES = 5 };
    for (int i = 0; i < MOST_LINES && str_split(&text, '\n', &line); i++) {
        line = str_trim(line);
        if (str_starts(line, mark)) return str_trim(str_slice(line, mark.n, line.n));
    }
    return (struct str){"", 0};
}

struct facts *reader_facts(struct arena *a, struct diags *diags, uint32_t source,
                           enum framework framework, struct str format,
                           const struct read_options *options)
{
    const struct profile *profile = profile_find(framework, options->version);
    if (!profile) profile = profile_find(framework, STR(""));
    struct facts *f = facts_new(a, diags, framework, profile->version);
    f->framework_known = true;
    f->format = format;
    f->source = source;
    return f;
}

/* ---- options over the file ---- */

const struct setting *setting_use(const struct read_options *options, struct str name)
{
    for (size_t i = 0; i < options->n_set; i++) {
        if (!str_eq(options->set[i].name, name)) continue;
        options->set[i].used = true;
        return &options->set[i];
    }
    return NULL;
}

/* Readers fall back to the newest profile: the error is said here, once a configuration. */
static bool check_version(struct facts *f, struct str version)
{
    if (profile_find(f->framework, version)) return true;
    struct span whole = {.source = f->source};
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "framework-version", whole, "no profile of %s %.*s",
                 framework_name(f->framework), STR_ARG(version));
    diag_help(f->diags, d, "known versions: %.*s", STR_ARG(profile_list(f->arena, f->framework)));
    return false;
}

static int param_of_setting(const struct facts *f, struct str name)
{
    int param = param_find(name);
    if (param < 0) param = param_find_key(f->framework, name, NULL);
    size_t root = str_starts(name, STR("model.")) ? 6 : str_starts(name, STR("plan.")) ? 5 : 0;
    return param < 0 && root ? param_find(str_slice(name, root, name.n)) : param;
}

static void apply_settings(struct facts *f, const struct read_options *options)
{
    for (size_t i = 0; i < options->n_set; i++) {
        struct setting *s = &options->set[i];
        int param = param_of_setting(f, s->name);
        if (param < 0) continue;
        s->used = true;
        facts_set(f, param, s->value, ORIGIN_OPTION, NULL, s->name);
    }
}

void read_options_env(struct facts *f, const struct read_options *options)
{
    for (size_t i = 0; i < options->n_env; i++)
        facts_set_env(f, options->env[i].name, options->env[i].text, false);
    if (options->env_given) f->env_complete = true;
}

static bool has_own_model(const struct facts *f)
{
    static const char *const sizes[] = {"num_layers", "hidden_size", "num_attention_heads"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (fact_is_set(facts_get(f, sizes[i]))) return true;
    return false;
}

static void set_switch(struct facts *f, const struct model_input *m, const char *param,
                       struct value v)
{
    if (!fact_is_set(facts_get(f, param)))
        facts_set(f, param_find(str_of(param)), v, ORIGIN_CATALOGUE, NULL, m->name);
}

/* A launch that leaves its model to the option leaves the switches to it too that Megatron needs
   beside the sizes. */
static void set_switches(struct facts *f, const struct model_input *m)
{
    const struct model_field *groups = model_field_get(m, "num_query_groups");
    const struct model_field *heads = model_field_get(m, "num_attention_heads");
    bool grouped = groups && heads && !value_eq(groups->value, heads->value) &&
                   !model_field_get(m, "multi_latent_attention");
    if (grouped && str_is(f->format, "megatron"))
        set_switch(f, m, "group_query_attention", value_bool(true));
    if (model_field_get(m, "rotary_base"))
        set_switch(f, m, "position_embedding_type", value_string(STR("rope")));
}

static bool apply_model(struct facts *f, struct str model)
{
    if (!model.n) return true;
    bool own = has_own_model(f);
    const struct model_input *input = model_load(f->arena, f->diags, model);
    if (input) model_apply(f, input, ORIGIN_OPTION);
    if (input && !own && f->framework != FRAMEWORK_AUTOMODEL) set_switches(f, input);
    return input;
}

static bool apply_platform(struct facts *f, const struct read_options *options)
{
    if (!options->platform.n) return true;
    struct span nowhere = {0};
    const struct platform *p =
        platform_load(options->platforms, f->diags, options->platform, nowhere);
    if (p) platform_apply(f, p, ORIGIN_OPTION);
    return p;
}

bool read_options_apply(struct facts *f, const struct read_options *options)
{
    bool version = check_version(f, options->version);
    bool model = apply_model(f, options->model);
    bool platform = apply_platform(f, options);
    if (options->gpus)
        facts_set(f, param_find(STR("world_size")), value_int(options->gpus), ORIGIN_OPTION, NULL,
                  STR("gpus"));
    apply_settings(f, options);
    read_options_env(f, options);
    if (f->framework == FRAMEWORK_AUTOMODEL) automodel_class_facts(f);
    return version && model && platform;
}
