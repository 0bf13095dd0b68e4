/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says beside the files, from the command line or from a request. */
#include "cmd/recipe.h"
#include "base/edit.h"
#include "base/io.h"
#include "facts/declared.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "rules/rule.h"

/* A name that a shell could export. */
static bool is_variable(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.n > 0;
}

static bool parse_settings(struct cmd_context *c, const char *option, struct setting **out,
                           size_t *n)
{
    struct str text;
    *out = ARENA_ARRAY(c->keep, struct setting, c->n_given);
    for (*n = 0; option_nth(c, option, *n, &text); (*n)++) {
        struct setting *setting = &(*out)[*n];
        bool env = strcmp(option, "env") == 0;
        if (setting_parse(c->keep, text, setting) && (!env || is_variable(setting->name))) continue;
        cmd_usage_error(c, "--%s wants NAME=VALUE, not \"%.*s\"", option, STR_ARG(text));
        return false;
    }
    return true;
}

bool recipe_as(struct cmd_context *c, struct str as, const char *formats)
{
    if (!as.n || reader_find(as)) return true;
    struct str near = edit_near(c->keep, as, "automodel|megatron|bridge|plan|hf");
    cmd_usage_error(c, "--as must be %s, not \"%.*s\"%.*s", formats, STR_ARG(as), STR_ARG(near));
    return false;
}

static bool parse_framework(struct cmd_context *c, struct read_options *o)
{
    struct str word = option_value(c, "framework");
    if (!option_given(c, "framework")) return true;
    o->framework_given = framework_from_name(word, &o->framework);
    struct str near = edit_near(c->keep, word, FRAMEWORK_WORDS);
    if (!o->framework_given)
        cmd_usage_error(c, "--framework must be megatron, bridge or automodel, not \"%.*s\"%.*s",
                        STR_ARG(word), STR_ARG(near));
    return o->framework_given;
}

bool recipe_version(struct cmd_context *c, const struct read_options *o, const char *option)
{
    struct str version = option_value(c, option);
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        enum framework framework = (enum framework)i;
        if (o->framework_given && framework != o->framework) continue;
        if (profile_find(framework, version)) return true;
    }
    cmd_usage_error(c, "no profile of version \"%.*s\"; moeplan version lists them",
                    STR_ARG(version));
    return false;
}

bool recipe_declared(struct cmd_context *c, struct str path, struct param_list *out)
{
    struct path_list files = {0};
    struct str error, text;
    bool good = true;
    if (!rules_files(c->keep, path, &files, &error)) return true;
    for (size_t i = 0; i < files.n; i++) {
        if (!io_read(c->keep, files.items[i].p, &text, &error)) continue;
        uint32_t source = source_add(&c->diags.sources, files.items[i], text);
        good = declared_read(c->keep, &c->diags, source, out) && good;
    }
    return good;
}

static bool load_declared(struct cmd_context *c, struct read_options *o)
{
    struct param_list *declared = ARENA_NEW(c->keep, struct param_list);
    struct str path;
    for (size_t i = 0; option_nth(c, "rules", i, &path); i++)
        if (!recipe_declared(c, str_dup(c->keep, path), declared)) return false;
    o->declared = declared;
    return true;
}

/* --reserve-memory is --set reserve_memory_gib by another name. */
static bool read_reserve(struct cmd_context *c, struct read_options *o)
{
    struct str gib = option_value(c, "reserve-memory");
    if (!option_given(c, "reserve-memory")) return true;
    struct setting *all = ARENA_ARRAY(c->keep, struct setting, o->n_set + 1);
    for (size_t i = 0; i < o->n_set; i++)
        all[i] = o->set[i];
    o->set = all;
    return setting_parse(c->keep, arena_printf(c->keep, "reserve_memory_gib=%.*s", STR_ARG(gib)),
                         &o->set[o->n_set++]);
}

bool recipe_options(struct cmd_context *c, struct read_options *o)
{
    *o = (struct read_options){.version = option_value(c, "framework-version"),
                               .platform = option_value(c, "platform"),
                               .model = option_value(c, "model"),
                               .env_given = option_given(c, "env")};
    o->platforms = ARENA_NEW(c->keep, struct platform_cache);
    o->platforms->arena = c->keep;
    struct span nowhere = {0};
    return option_param(c, "gpus", P_world_size, &o->gpus) && parse_framework(c, o) &&
           recipe_version(c, o, "framework-version") &&
           parse_settings(c, "set", &o->set, &o->n_set) && read_reserve(c, o) &&
           parse_settings(c, "env", &o->env, &o->n_env) && load_declared(c, o) &&
           (!o->platform.n || platform_load(o->platforms, &c->diags, o->platform, nowhere)) &&
           (!o->model.n || str_is(o->model, "-") || model_load(c->keep, &c->diags, o->model));
}

bool recipe_settings_used(struct cmd_context *c, const struct read_options *options)
{
    struct str errors = settings_error(c->keep, options);
    if (errors.n) cmd_usage_error(c, "--set: %.*s", STR_ARG(errors));
    return errors.n == 0;
}
