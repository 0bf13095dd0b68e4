/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/settings.h"

#include "base/buf.h"
#include "base/glob.h"
#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "base/reach.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "facts/shell.h"

struct str settings_find(struct arena *a, struct str folder)
{
    while (folder.n > 0) {
        struct str path = path_join(a, folder, STR(SETTINGS_NAME));
        if (io_is_file(path.p)) return path;
        if (path_exists(path_join(a, folder, STR(".git")))) break;
        folder = path_parent(folder);
    }
    return STR("");
}

/* ---- which groups hold ---- */

struct resolver {
    struct arena *arena;
    const struct settings *settings;
    struct str path;
    struct settings_view *out;
};

static bool matches(struct resolver *r, const struct settings_group *g)
{
    for (size_t i = 0; i < g->match.n; i++) {
        struct glob plain = g->match.items[i];
        plain.pattern = glob_plain(r->arena, plain.pattern);
        if (glob_covers(r->arena, &plain, r->path, false)) return true;
    }
    return false;
}

/* A fact takes the place of one of the same name. */
static void put(struct resolver *r, struct stated_list *list, const struct stated *fact)
{
    size_t i = 0;
    while (i < list->n && !str_eq(list->items[i].name, fact->name))
        i++;
    if (i == list->n) VEC_PUSH(r->arena, list);
    list->items[i] = *fact;
}

static struct stated fact_of(struct resolver *r, struct str name, struct str text, struct span at,
                             struct str how)
{
    struct setting s;
    setting_parse(r->arena, arena_printf(r->arena, "%.*s=%.*s", STR_ARG(name), STR_ARG(text)), &s);
    return (struct stated){.name = s.name, .text = s.text, .setting = s, .at = at, .how = how};
}

static bool is_number(struct str name)
{
    int param = param_find(name);
    bool counted = param >= 0 && param_table[param].type == PARAM_INT;
    return counted || str_is_any(name, "gpus|sequence");
}

/* What stands in the path where a pattern has names. */
static void put_captured(struct resolver *r, const struct settings_group *g)
{
    struct str name, text;
    for (size_t k = 0; k < g->match.n; k++) {
        const struct glob *m = &g->match.items[k];
        struct str pattern =
            m->anchored ? arena_printf(r->arena, "/%.*s", STR_ARG(m->pattern)) : m->pattern;
        for (size_t i = 0; glob_name(pattern, i, &name); i++) {
            if (!glob_capture(r->arena, pattern, r->path, i, is_number(name), &text)) continue;
            struct stated fact = fact_of(r, name, text, g->at, STR("from the path"));
            put(r, &r->out->stated, &fact);
        }
    }
}

/* The name of a launcher's file for this one: {name} is the file's without its ending, {folder} the
   one it lies in. */
static struct str launcher_name(struct resolver *r, struct str pattern)
{
    struct str folder = path_folder(r->path), file = str_slice(r->path, folder.n, r->path.n);
    struct str stem = file, name;
    for (size_t i = file.n; i > 0; i--)
        if (file.p[i - 1] == '.') {
            stem = str_slice(file, 0, i - 1);
            break;
        }
    struct buf out = buf_new(r->arena);
    while (pattern.n) {
        size_t open = str_find(pattern, '{'), close = str_find(pattern, '}');
        buf_add(&out, str_slice(pattern, 0, open));
        if (close >= pattern.n) break;
        name = str_slice(pattern, open + 1, close);
        if (str_is(name, "name")) buf_add(&out, stem);
        if (str_is(name, "folder"))
            buf_add(&out, str_slice(folder, 0, folder.n ? folder.n - 1 : 0));
        pattern = str_slice(pattern, close + 1, pattern.n);
    }
    return buf_str(&out);
}

/* The number of GPUs that a launch script says; 0: none. */
static int64_t gpus_of_script(struct arena *a, struct str path, struct str text)
{
    static const struct read_options nothing;
    struct diags *quiet = ARENA_NEW(a, struct diags);
    struct flag_words words = {0};
    diags_init(quiet, a);
    struct facts *f =
        facts_new(a, quiet, FRAMEWORK_MEGATRON, profile_find(FRAMEWORK_MEGATRON, STR(""))->version);
    f->source = source_add(&quiet->sources, path, text);
    shell_read(f, text, &nothing, &words);
    return facts_int(f, P_world_size, 0);
}

static void put_launched(struct resolver *r, const struct settings_group *g)
{
    enum { LARGEST = 4 << 20 };
    if (!g->launcher.n) return;
    struct reach reach = reach_of_folder(r->arena, r->settings->folder);
    struct str name = launcher_name(r, g->launcher), path, real, text, error;
    if (reach_find(r->arena, &reach, name, &path, &real) != REACH_FOUND ||
        !io_read_regular(r->arena, real.p, LARGEST, &text, &error))
        return;
    int64_t gpus = gpus_of_script(r->arena, path, text);
    if (!gpus) return;
    struct stated fact = fact_of(r, STR("gpus"), arena_printf(r->arena, "%lld", (long long)gpus),
                                 g->at, arena_printf(r->arena, "from %.*s", STR_ARG(name)));
    put(r, &r->out->stated, &fact);
}

static void add_policy(struct resolver *r, const struct settings_group *g)
{
    struct diag_policy *p = &r->out->policy;
    for (size_t i = 0; i < g->severity.n; i++)
        *VEC_PUSH(r->arena, &p->severity) = g->severity.items[i];
    for (size_t i = 0; i < g->ignore.n; i++)
        *VEC_PUSH(r->arena, &p->ignore) = g->ignore.items[i];
    if (g->select.n) p->wanted.select = g->select;
}

static void add_group(struct resolver *r, const struct settings_group *g)
{
    put_captured(r, g);
    put_launched(r, g);
    for (size_t i = 0; i < g->facts.n; i++)
        put(r, &r->out->stated, &g->facts.items[i]);
    add_policy(r, g);
}

/* ---- the options that come of them ---- */

static const struct stated *find(const struct settings_view *v, const char *name)
{
    for (size_t i = 0; i < v->stated.n; i++)
        if (str_is(v->stated.items[i].name, name)) return &v->stated.items[i];
    return NULL;
}

static struct str text_of(const struct settings_view *v, const char *name)
{
    const struct stated *fact = find(v, name);
    return fact ? fact->text : STR("");
}

static void take_versions(struct read_options *o, struct str version)
{
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        if (version.n && profile_find((enum framework)k, version)) o->versions[k] = version;
}

/* A number that a path has may be none that a run can have. */
static void take_gpus(struct settings_view *v)
{
    int64_t gpus = 0;
    const struct param_range *range = &param_table[P_world_size].range;
    bool number = num_parse_int(text_of(v, "gpus"), &gpus);
    bool good = number && (double)gpus >= range->min && (double)gpus <= range->max;
    v->defaults.gpus = good ? gpus : 0;
}

/* What is no word of its own is a parameter's value. */
static void take_parameters(struct resolver *r, struct settings_view *v)
{
    struct stated_list *facts = &v->stated;
    v->defaults.set = ARENA_ARRAY(r->arena, struct setting, facts->n + 1);
    for (size_t i = 0; i < facts->n; i++) {
        struct setting s = facts->items[i].setting;
        if (str_is(s.name, "sequence")) s.name = STR("seq_length");
        if (settings_is_word(s.name)) continue;
        v->defaults.set[v->defaults.n_set++] = s;
    }
}

static bool names(const struct setting *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].name, name)) return true;
    return false;
}

/* Those of the settings that the command line does not say itself, then its own. */
static void join(struct resolver *r, const struct stated_list *stated, struct setting **list,
                 size_t *n)
{
    struct setting *all = ARENA_ARRAY(r->arena, struct setting, stated->n + *n + 1);
    size_t own = 0;
    for (size_t i = 0; i < stated->n; i++)
        if (!names(*list, *n, stated->items[i].name)) all[own++] = stated->items[i].setting;
    if (*n) memcpy(all + own, *list, *n * sizeof **list);
    *list = all;
    *n += own;
}

static void take_options(struct resolver *r, const struct read_options *given)
{
    struct settings_view *v = r->out;
    struct read_options *o = &v->options;
    v->defaults = (struct read_options){.platforms = given->platforms};
    *o = *given;
    v->defaults.platform = given->platform.n ? STR("") : text_of(v, "platform");
    v->defaults.model = given->model.n ? STR("") : text_of(v, "model");
    take_gpus(v);
    take_parameters(r, v);
    take_versions(o, text_of(v, "version"));
    struct str framework = text_of(v, "framework");
    if (!given->framework_given && framework.n)
        o->framework_given = framework_from_name(framework, &o->framework);
    join(r, &v->set, &o->set, &o->n_set);
    join(r, &v->env, &o->env, &o->n_env);
    o->otherwise = &v->defaults;
}

void settings_resolve(struct arena *a, const struct settings *s, struct str path,
                      const struct read_options *command_line, struct settings_view *out)
{
    struct resolver r = {a, s, path, out};
    *out = (struct settings_view){0};
    add_group(&r, &s->all);
    for (size_t i = 0; i < s->all.set.n; i++)
        put(&r, &out->set, &s->all.set.items[i]);
    for (size_t i = 0; i < s->all.env.n; i++)
        put(&r, &out->env, &s->all.env.items[i]);
    for (size_t k = 0; k < s->n_paths; k++) {
        const struct settings_group *g = &s->paths[k];
        if (!matches(&r, g)) continue;
        add_group(&r, g);
        for (size_t i = 0; i < g->set.n; i++)
            put(&r, &out->set, &g->set.items[i]);
        for (size_t i = 0; i < g->env.n; i++)
            put(&r, &out->env, &g->env.items[i]);
    }
    take_options(&r, command_line);
}

bool settings_exclude(struct arena *a, const struct settings *s, struct str path, bool folder)
{
    bool out = false;
    for (size_t i = 0; i < s->exclude.n; i++)
        if (glob_covers(a, &s->exclude.items[i], path, folder)) out = !s->exclude.items[i].negated;
    return out;
}

/* ---- rule ids ---- */

bool settings_know_rule(const struct rule_set *rules, struct str pattern)
{
    for (size_t i = 0; i < rules->n; i++)
        if (text_matches(pattern, rules->items[i]->id)) return true;
    return false;
}

static bool check_pattern(const struct rule_set *rules, struct diags *diags, struct str pattern,
                          struct span at)
{
    if (settings_know_rule(rules, pattern)) return true;
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "settings", at, "there is no rule %.*s", STR_ARG(pattern));
    diag_suggest(diags, d, rules_nearest(rules, pattern));
    return false;
}

static bool check_group(const struct settings_group *g, const struct rule_set *rules,
                        struct diags *diags)
{
    bool good = true;
    for (size_t i = 0; i < g->severity.n; i++)
        good &= check_pattern(rules, diags, g->severity.items[i].pattern, g->severity.items[i].at);
    for (size_t i = 0; i < g->ignore.n; i++)
        good &= check_pattern(rules, diags, g->ignore.items[i]->pattern, g->ignore.items[i]->at);
    for (size_t i = 0; i < g->select.n; i++)
        good &= check_pattern(rules, diags, g->select.items[i], g->select_at);
    return good;
}

bool settings_check_rules(const struct settings *s, const struct rule_set *rules,
                          struct diags *diags)
{
    bool good = check_group(&s->all, rules, diags);
    for (size_t i = 0; i < s->n_paths; i++)
        good &= check_group(&s->paths[i], rules, diags);
    return good;
}

/* ---- entries that do nothing ---- */

static void report_group(const struct settings_group *g, struct str today, struct diags *diags)
{
    for (size_t i = 0; i < g->ignore.n; i++) {
        const struct rule_ignore *ignore = g->ignore.items[i];
        if (day_is_over(ignore->until, today))
            diag_add(diags, SEVERITY_WARNING, "expired-suppression", ignore->at,
                     "findings of rule %.*s were ignored until %.*s", STR_ARG(ignore->pattern),
                     STR_ARG(ignore->until));
        else if (!ignore->used)
            diag_add(diags, SEVERITY_WARNING, "unused-suppression", ignore->at,
                     "no finding of rule %.*s is ignored here", STR_ARG(ignore->pattern));
    }
}

void settings_report_unused(const struct settings *s, struct str today, struct diags *diags)
{
    report_group(&s->all, today, diags);
    for (size_t i = 0; i < s->n_paths; i++)
        report_group(&s->paths[i], today, diags);
}
