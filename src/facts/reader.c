/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/reader.h"

#include "facts/automodel.h"
#include "facts/bridge.h"
#include "facts/check.h"
#include "facts/checkout.h"
#include "facts/formats.h"
#include "facts/model.h"
#include "facts/param_ids.h"
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

struct str reader_declared(struct str text, const char *name)
{
    struct str line, mark = STR("# moeplan: "), wanted = str_of(name);
    enum { MOST_LINES = 5 };
    for (int i = 0; i < MOST_LINES && str_split(&text, '\n', &line); i++) {
        line = str_trim(line);
        if (!str_starts(line, mark)) continue;
        line = str_trim(str_slice(line, mark.n, line.n));
        if (str_starts(line, wanted) && wanted.n < line.n && line.p[wanted.n] == '=')
            return str_trim(str_slice(line, wanted.n + 1, line.n));
    }
    return (struct str){"", 0};
}

struct facts *reader_facts(struct arena *a, struct diags *diags, uint32_t source,
                           enum framework framework, struct str format, struct str usual,
                           const struct read_options *options)
{
    struct str version = options->version.n ? options->version : options->versions[framework];
    if (!version.n) version = checkout_release(a, diags, source, framework);
    const struct profile *profile = profile_find(framework, version.n ? version : usual);
    if (!profile) profile = profile_find(framework, STR(""));
    struct facts *f = facts_new(a, diags, framework, profile->version);
    f->framework_known = true;
    f->release_told = version.n > 0;
    f->format = format;
    f->source = source;
    f->declared = options->declared;
    return f;
}

/* ---- options over the file ---- */

const struct setting *setting_use(const struct read_options *options, struct str name)
{
    if (options->suppose && str_eq(options->suppose->name, name)) return options->suppose;
    for (size_t i = 0; i < options->n_set; i++) {
        if (!str_eq(options->set[i].name, name)) continue;
        options->set[i].used = options->set[i].in_text = true;
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

/* The parameter of a setting's name; -1: none. *key: the name is the framework's own key. */
static int param_of_setting(const struct facts *f, struct str name, bool *key)
{
    int param = param_find(name);
    *key = param < 0;
    if (param < 0) param = param_find_key(f->framework, name, NULL);
    size_t root = str_starts(name, STR("model.")) ? 6 : str_starts(name, STR("plan.")) ? 5 : 0;
    if (param < 0 && root) {
        *key = false;
        param = param_find(str_slice(name, root, name.n));
    }
    return param;
}

bool setting_value(struct arena *a, struct diags *diags, const struct setting *s, int param,
                   struct value *out)
{
    const struct param *p = &param_table[param];
    *out = s->value;
    bool word = out->kind == VALUE_STRING || out->kind == VALUE_NULL;
    if (s->is_text && p->type == PARAM_STRING && !word) *out = value_string(s->text);
    return value_check_own(a, diags, p, out, (struct span){0}, s->name);
}

/* The words of AutoModel's own files, such as none, where one of its keys is set. */
static struct value automodel_value(struct arena *a, const struct setting *s)
{
    struct node node = {.kind = NODE_SCALAR, .text = s->text};
    return s->is_text ? node_value(a, &node, SCALAR_AUTOMODEL) : s->value;
}

static void apply_setting(struct facts *f, struct setting *s)
{
    bool key;
    struct value v;
    struct diags quiet;
    int param = param_of_setting(f, s->name, &key);
    if (param < 0) return;
    diags_init(&quiet, f->arena);
    struct setting as_read = *s;
    if (key && f->framework == FRAMEWORK_AUTOMODEL) as_read.value = automodel_value(f->arena, s);
    s->used = true;
    if (!setting_value(f->arena, &quiet, &as_read, param, &v)) {
        if (s->in_text) return; /* the file's own variable was meant, not a parameter */
        s->bad = true;
        s->param = param;
        return;
    }
    bool inverse = key && param_table[param].in[f->framework]->inverse;
    if (inverse && v.kind == VALUE_BOOL) v.b = !v.b;
    facts_set(f, param, v, ORIGIN_OPTION, NULL, s->name);
}

void read_options_env(struct facts *f, const struct read_options *options)
{
    for (size_t i = 0; i < options->n_env; i++)
        facts_set_env(f, options->env[i].name, options->env[i].text, false);
    if (options->env_given) f->env_complete = true;
}

/* How many of the sizes that no model is without the text says. */
enum { OWN_SIZES = 3 };

static int own_sizes(const struct facts *f)
{
    static const int sizes[OWN_SIZES] = {P_num_layers, P_hidden_size, P_num_attention_heads};
    int n = 0;
    for (size_t i = 0; i < OWN_SIZES; i++)
        n += facts_get(f, sizes[i])->origin == ORIGIN_FILE;
    return n;
}

/* Whether a text says itself what of its model a field of a given one is: what it writes is what
   the framework gets, and a launch that spells its model out has no part that it leaves out. A plan
   is the exception: there another model is a question. */
static bool text_says(const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    if (str_is(f->format, "plan")) return false;
    if (x->origin == ORIGIN_FILE) return true;
    const struct param *p = &param_table[param];
    bool left_out = x->origin == ORIGIN_DEFAULT && p->in[FRAMEWORK_MEGATRON]->n_flags;
    return str_is(f->format, "megatron") && left_out && p->absent.kind != VALUE_UNKNOWN &&
           own_sizes(f) == OWN_SIZES;
}

/* Whether a plan of the same model writes it beside the model: its decision, as of no MTP. */
static bool plan_says(const struct facts *f, int param)
{
    return facts_get(f, param)->origin == ORIGIN_FILE;
}

static bool apply_model(struct facts *f, struct str model)
{
    if (!model.n) return true;
    bool own = own_sizes(f) > 0;
    const struct model_input *input = model_load(f->arena, f->diags, model);
    bool same = input && f->model && str_is(f->format, "plan") && input->name.n &&
                str_eq(f->model->name, input->name);
    if (input) model_apply_beside(f, input, same ? plan_says : text_says);
    if (input && !own && f->framework != FRAMEWORK_AUTOMODEL) model_set_switches(f, input);
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

void framework_facts(struct facts *f)
{
    if (f->framework == FRAMEWORK_AUTOMODEL) automodel_class_facts(f);
    if (f->framework == FRAMEWORK_BRIDGE) bridge_facts(f);
}

static void apply_gpus(struct facts *f, int64_t gpus)
{
    if (gpus) facts_set(f, P_world_size, value_int(gpus), ORIGIN_OPTION, NULL, STR("gpus"));
}

/* What nobody has said so far. */
static bool apply_otherwise(struct facts *f, const struct read_options *o)
{
    bool key, model = true, platform = true;
    if (!fact_is_known(facts_get(f, P_num_layers))) model = apply_model(f, o->model);
    if (!f->platform) platform = apply_platform(f, o);
    if (!fact_is_known(facts_get(f, P_world_size))) apply_gpus(f, o->gpus);
    for (size_t i = 0; i < o->n_set; i++) {
        int param = param_of_setting(f, o->set[i].name, &key);
        if (param >= 0 && !fact_is_set(facts_get(f, param))) apply_setting(f, &o->set[i]);
    }
    return model && platform;
}

bool read_options_apply(struct facts *f, const struct read_options *options)
{
    bool version = check_version(f, options->version);
    bool model = apply_model(f, options->model);
    bool platform = apply_platform(f, options);
    apply_gpus(f, options->gpus);
    for (size_t i = 0; i < options->n_set; i++)
        apply_setting(f, &options->set[i]);
    if (options->otherwise) platform &= apply_otherwise(f, options->otherwise);
    read_options_env(f, options);
    framework_facts(f);
    return version && model && platform;
}

/* ---- settings ---- */

bool setting_parse(struct arena *a, struct str text, struct setting *out)
{
    size_t equals = str_find(text, '=');
    if (!equals || equals == text.n) return false;
    struct node node = {.kind = NODE_SCALAR, .text = str_slice(text, equals + 1, text.n)};
    *out = (struct setting){.name = str_slice(text, 0, equals), .text = node.text, .is_text = true};
    out->value = node_value(a, &node, SCALAR_CORE);
    return true;
}

/* The nearest name that a setting can have: a parameter's, or a framework's own key. */
static struct str setting_nearest(struct str name)
{
    int meant = param_meant(name);
    struct str near = meant >= 0 ? param_name(meant) : param_nearest(name);
    for (int f = 0; f < FRAMEWORK_COUNT && !near.n; f++)
        near = param_nearest_key((enum framework)f, name);
    return near;
}

/* Why its parameter does not take the value of a setting. */
static struct str bad_setting(struct arena *a, const struct setting *s)
{
    struct diags found;
    struct value v;
    diags_init(&found, a);
    if (setting_value(a, &found, s, s->param, &v)) /* as the file's own words it is none */
        return arena_printf(a, "%.*s does not take %.*s", STR_ARG(s->name), STR_ARG(s->text));
    const struct diag *d = &found.items[0];
    return arena_printf(a, "%.*s (%.*s)", STR_ARG(d->message), STR_ARG(d->help));
}

/* What is wrong with one setting; empty when nothing is. */
static struct str setting_error(struct arena *a, const struct setting *s)
{
    if (s->bad) return bad_setting(a, s);
    if (s->used) return (struct str){"", 0};
    struct str near = setting_nearest(s->name);
    return arena_printf(a, "nothing is called %.*s%s%.*s%s", STR_ARG(s->name),
                        near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
}

struct str settings_error(struct arena *a, const struct read_options *o)
{
    struct buf errors = buf_new(a);
    for (size_t i = 0; i < o->n_set; i++) {
        struct str error = setting_error(a, &o->set[i]);
        if (error.n) buf_printf(&errors, "%s%.*s", errors.n ? "; " : "", STR_ARG(error));
    }
    return buf_str(&errors);
}
