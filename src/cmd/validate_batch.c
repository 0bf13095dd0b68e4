/* SPDX-License-Identifier: Apache-2.0 */
/* validate as an answer to a request. */
#include "cmd/member.h"
#include "emit/report.h"
#include "facts/param_ids.h"

static const struct member members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"path", MEMBER_TEXT, P_NONE},
    {"text", MEMBER_TEXT, P_NONE},
    {"as", MEMBER_TEXT, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"platform", MEMBER_TEXT, P_NONE},
    {"framework", MEMBER_TEXT, P_NONE},
    {"set", MEMBER_MAP, P_NONE},
    {"env", MEMBER_MAP, P_NONE},
    {0},
};

static struct setting *read_settings(const struct batch_request *r, const char *member, size_t *n)
{
    const struct node *map = node_get(r->root, str_of(member));
    *n = map && map->kind == NODE_MAP ? map->n : 0;
    struct setting *settings = ARENA_ARRAY(r->arena, struct setting, *n);
    for (size_t i = 0; i < *n; i++) {
        struct setting *s = &settings[i];
        s->name = map->keys[i]->text;
        s->value = node_value(r->arena, map->items[i], SCALAR_JSON);
        s->text = s->value.kind == VALUE_STRING ? s->value.s : value_text(r->arena, s->value);
    }
    return settings;
}

/* A variable of the environment is a text; numbers and truth values are taken as theirs. */
static bool check_env(const struct read_options *o, struct arena *a, struct str *why)
{
    for (size_t i = 0; i < o->n_env; i++) {
        enum value_kind kind = o->env[i].value.kind;
        if (kind != VALUE_NULL && kind != VALUE_LIST && kind != VALUE_MAP) continue;
        *why = arena_printf(a, "env.%.*s must be a string, not %.*s", STR_ARG(o->env[i].name),
                            STR_ARG(o->env[i].text));
        return false;
    }
    return true;
}

/* The request's options over those of the command line; false with *why set. */
static bool read_request(const struct batch_request *r, struct read_options *o, struct str *why)
{
    if (!members_check(r, r->root, "", members, why)) return false;
    struct str framework = member_text(r->root, "framework"),
               platform = member_text(r->root, "platform");
    int64_t gpus = member_number(r, r->root, "gpus");
    if (gpus) o->gpus = gpus;
    *why = STR("framework must be megatron, bridge or automodel");
    if (framework.n && !(o->framework_given = framework_from_name(framework, &o->framework)))
        return false;
    if (platform.n) o->platform = platform;
    if (node_get(r->root, STR("set"))) o->set = read_settings(r, "set", &o->n_set);
    o->env_given = o->env_given || node_get(r->root, STR("env"));
    if (node_get(r->root, STR("env"))) o->env = read_settings(r, "env", &o->n_env);
    if (!check_env(o, r->arena, why)) return false;
    if (!o->platform.n || platform_load(o->platforms, r->diags, o->platform, (struct span){0}))
        return true;
    *why = member_finding(r, &r->diags->items[r->diags->n - 1]);
    return false;
}

void validate_answer(const struct batch_request *r)
{
    struct validation v = *r->service->validation;
    v.rules = r->service->rules;
    struct read_options options = batch_options(r);
    struct str as = member_text(r->root, "as"), why;
    if (!read_request(r, &options, &why)) {
        batch_error(r, why);
        return;
    }
    if (!node_get(r->root, STR("text"))) {
        batch_error(r, STR("the request has no text"));
        return;
    }
    if (as.n && !reader_find(as)) {
        batch_error(r, arena_printf(r->arena, "no format \"%.*s\"", STR_ARG(as)));
        return;
    }
    v.arena = r->arena;
    v.scratch = r->scratch;
    v.named = true;
    struct file_report report =
        validate_text(&v, member_text(r->root, "path"), member_text(r->root, "text"), as, &options);
    why = settings_error(r->arena, &options);
    if (report.framework.n && why.n)
        batch_error(r, why);
    else
        report_json_members(&report, r->out);
}
