/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_config.h"

#include "base/num.h"
#include "base/quote.h"
#include "emit/json_writer.h"

/* One thing that holds. */
struct held {
    struct str name, value, from;
};
struct held_list {
    struct held *items;
    size_t n, cap;
};

struct shown {
    struct projects *projects;
    struct arena *arena;
    struct held_list list;
};

/* A later one of the same name and value is the same thing. */
static void hold(struct shown *s, struct str name, struct str value, struct str from)
{
    *VEC_PUSH(s->arena, &s->list) = (struct held){name, value, from};
}

/* ".moeplan.yaml:12" */
static struct str place(const struct shown *s, struct span at)
{
    const struct source *source = source_get(&s->projects->c->diags.sources, at.source);
    return source ? arena_printf(s->arena, "%.*s:%u", STR_ARG(source->path), at.line) : STR("");
}

static struct str place_of(const struct shown *s, const struct stated *fact)
{
    struct str at = place(s, fact->at);
    if (!fact->how.n) return at;
    return arena_printf(s->arena, "%.*s, %.*s", STR_ARG(at), STR_ARG(fact->how));
}

/* What the command line says itself; its settings come in their own order. */
static void hold_given(struct shown *s)
{
    const struct read_options *o = s->projects->given;
    struct str line = STR("the command line");
    if (o->gpus) hold(s, STR("gpus"), arena_printf(s->arena, "%lld", (long long)o->gpus), line);
    if (o->platform.n) hold(s, STR("platform"), o->platform, line);
    if (o->model.n) hold(s, STR("model"), o->model, line);
    if (o->version.n) hold(s, STR("version"), o->version, line);
    if (o->framework_given) hold(s, STR("framework"), str_of(framework_name(o->framework)), line);
    for (size_t i = 0; i < o->n_set; i++)
        hold(s, arena_printf(s->arena, "set %.*s", STR_ARG(o->set[i].name)), o->set[i].text, line);
    for (size_t i = 0; i < o->n_env; i++)
        hold(s, arena_printf(s->arena, "env %.*s", STR_ARG(o->env[i].name)), o->env[i].text, line);
}

static bool holds(const struct shown *s, struct str name)
{
    for (size_t i = 0; i < s->list.n; i++)
        if (str_eq(s->list.items[i].name, name)) return true;
    return false;
}

static void hold_stated(struct shown *s, const struct stated_list *facts, const char *prefix)
{
    for (size_t i = 0; i < facts->n; i++) {
        const struct stated *fact = &facts->items[i];
        struct str name = arena_printf(s->arena, "%s%.*s", prefix, STR_ARG(fact->name));
        if (!holds(s, name)) hold(s, name, fact->text, place_of(s, fact));
    }
}

static void hold_policy(struct shown *s, const struct diag_policy *policy)
{
    static const char *const severities[] = {"off", "info", "warning", "error"};
    for (size_t i = 0; i < policy->severity.n; i++) {
        const struct rule_severity *r = &policy->severity.items[i];
        hold(s, arena_printf(s->arena, "severity %.*s", STR_ARG(r->pattern)),
             str_of(severities[r->severity - SEVERITY_OFF]), place(s, r->at));
    }
    for (size_t i = 0; i < policy->ignore.n; i++) {
        const struct rule_ignore *r = policy->ignore.items[i];
        struct str value = arena_printf(s->arena, "%.*s%s%.*s%s%.*s", STR_ARG(r->pattern),
                                        r->parameter.n ? " of " : "", STR_ARG(r->parameter),
                                        r->until.n ? " until " : "", STR_ARG(r->until));
        hold(s, STR("ignore"), value, place(s, r->at));
    }
    for (size_t i = 0; i < policy->wanted.select.n; i++)
        hold(s, STR("select"), policy->wanted.select.items[i], STR(""));
}

static void hold_number(struct shown *s, const char *name, double value, struct str from)
{
    if (value > 0) hold(s, str_of(name), num_double_text(s->arena, value), from);
}

static void hold_settings(struct shown *s, const struct settings *settings)
{
    struct str from = settings->path;
    if (settings->pin.n) hold(s, STR("rules"), settings->pin, from);
    if (settings->fail_on.n) hold(s, STR("fail_on"), settings->fail_on, from);
    if (settings->baseline.n) hold(s, STR("baseline"), settings->baseline, from);
    for (size_t i = 0; i < settings->rules.n; i++)
        hold(s, STR("rules"), settings->rules.items[i], from);
    for (size_t i = 0; i < settings->parameters.n; i++)
        hold(s, STR("parameters"), settings->parameters.items[i], from);
    hold_number(s, "price", settings->price, from);
    hold_number(s, "goodput", settings->goodput, from);
}

static void write_text(const struct shown *s, struct str path, struct str settings, struct buf *out)
{
    buf_printf(out, "%.*s: %.*s\n", LINE_ARG(s->arena, path),
               LINE_ARG(s->arena, settings.n ? settings : STR("no settings")));
    for (size_t i = 0; i < s->list.n; i++) {
        const struct held *h = &s->list.items[i];
        buf_printf(out, "  %-20.*s %-20.*s %.*s\n", LINE_ARG(s->arena, h->name),
                   LINE_ARG(s->arena, h->value), LINE_ARG(s->arena, h->from));
    }
}

static void write_json(const struct shown *s, struct str path, struct str settings, struct buf *out)
{
    struct json_writer w = json_writer_new(out);
    json_open(&w, NULL, '{');
    json_str(&w, "path", path);
    if (settings.n)
        json_str(&w, "settings", settings);
    else
        json_null(&w, "settings");
    json_open(&w, "holds", '[');
    for (size_t i = 0; i < s->list.n; i++) {
        json_open(&w, NULL, '{');
        json_str(&w, "name", s->list.items[i].name);
        json_str(&w, "value", s->list.items[i].value);
        json_str(&w, "from", s->list.items[i].from);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(out, '\n');
}

bool show_config(struct projects *p, struct str path, bool json, struct buf *out)
{
    struct arena *a = p->c->keep;
    struct shown s = {.projects = p, .arena = a};
    struct file_view *view = ARENA_NEW(a, struct file_view);
    if (!projects_view(p, a, path, view)) return false;
    const struct settings *settings = view->project ? view->project->settings : NULL;
    hold_given(&s);
    hold_stated(&s, &view->settings.stated, "");
    hold_stated(&s, &view->settings.set, "set ");
    hold_stated(&s, &view->settings.env, "env ");
    hold_policy(&s, &view->settings.policy);
    if (settings) hold_settings(&s, settings);
    (json ? write_json : write_text)(&s, path, settings ? settings->path : STR(""), out);
    return true;
}
