/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says beside the files, from the command line or from a request. */
#include "cmd/validate.h"
#include "facts/profile.h"

/* NAME=VALUE; the value reads as in a plan file. False when there is no "=". */
static bool parse_setting(struct arena *a, struct str text, struct setting *out)
{
    size_t equals = str_find(text, '=');
    if (!equals || equals == text.n) return false;
    struct node node = {.kind = NODE_SCALAR, .text = str_slice(text, equals + 1, text.n)};
    *out = (struct setting){.name = str_slice(text, 0, equals), .text = node.text};
    out->value = node_value(a, &node, SCALAR_CORE);
    return true;
}

static bool parse_settings(struct cmd_context *c, const char *option, struct setting **out,
                           size_t *n)
{
    struct str text;
    *out = ARENA_ARRAY(c->keep, struct setting, c->n_given);
    for (*n = 0; option_nth(c, option, *n, &text); (*n)++) {
        if (parse_setting(c->keep, text, &(*out)[*n])) continue;
        cmd_usage_error(c, "--%s wants NAME=VALUE, not \"%.*s\"", option, STR_ARG(text));
        return false;
    }
    return true;
}

bool validate_format(struct cmd_context *c, struct str as, const char *formats)
{
    if (!as.n || reader_find(as)) return true;
    cmd_usage_error(c, "--as must be %s, not \"%.*s\"", formats, STR_ARG(as));
    return false;
}

static bool parse_framework(struct cmd_context *c, struct read_options *o)
{
    struct str word = option_value(c, "framework");
    if (!option_given(c, "framework")) return true;
    o->framework_given = framework_from_name(word, &o->framework);
    if (!o->framework_given)
        cmd_usage_error(c, "--framework must be megatron, bridge or automodel, not \"%.*s\"",
                        STR_ARG(word));
    return o->framework_given;
}

/* The version must be one of the framework's, or of some framework when none is given. */
static bool check_version(struct cmd_context *c, const struct read_options *o)
{
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        enum framework framework = (enum framework)i;
        if (o->framework_given && framework != o->framework) continue;
        if (profile_find(framework, o->version)) return true;
    }
    cmd_usage_error(c, "no profile of version \"%.*s\"; moeplan version lists them",
                    STR_ARG(o->version));
    return false;
}

bool validate_options(struct cmd_context *c, struct read_options *o)
{
    *o = (struct read_options){.version = option_value(c, "framework-version"),
                               .platform = option_value(c, "platform"),
                               .model = option_value(c, "model"),
                               .env_given = option_given(c, "env")};
    o->platforms = ARENA_NEW(c->keep, struct platform_cache);
    o->platforms->arena = c->keep;
    struct span nowhere = {0};
    return option_int(c, "gpus", 1, &o->gpus) && parse_framework(c, o) && check_version(c, o) &&
           parse_settings(c, "set", &o->set, &o->n_set) &&
           parse_settings(c, "env", &o->env, &o->n_env) &&
           (!o->platform.n || platform_load(o->platforms, &c->diags, o->platform, nowhere));
}

struct str validate_unused_settings(struct arena *a, const struct read_options *o)
{
    struct buf names = buf_new(a);
    for (size_t i = 0; i < o->n_set; i++) {
        if (o->set[i].used) continue;
        buf_printf(&names, "%s%.*s", names.n ? ", " : "", STR_ARG(o->set[i].name));
    }
    return buf_str(&names);
}
