/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/project.h"

#include <stdlib.h>
#include <time.h>

#include "base/io.h"
#include "base/num.h"
#include "base/path.h"
#include "cmd/recipe.h"

enum { LARGEST = 4 << 20 };

/* ---- settings ---- */

/* The rules and parameters of the settings beside those of the command line. */
static bool load_data(struct projects *p, struct project *project)
{
    struct cmd_context *c = p->c;
    const struct settings *s = project->settings;
    const struct rule_set *rules = p->base->rules;
    bool good = true;
    for (size_t i = 0; i < s->rules.n; i++) {
        struct rule_set *more = ARENA_NEW(c->keep, struct rule_set);
        good &= rules_load(c->keep, &c->diags, s->rules.items[i].p, rules, more);
        rules = more;
    }
    if (s->rules.n) project->base = validation_of(c->keep, rules);
    struct param_list *declared = ARENA_NEW(c->keep, struct param_list);
    if (p->given->declared) *declared = *p->given->declared;
    for (size_t i = 0; i < s->rules.n; i++)
        good &= recipe_declared(c, s->rules.items[i], declared);
    for (size_t i = 0; i < s->parameters.n; i++)
        good &= recipe_declared(c, s->parameters.items[i], declared);
    project->declared = declared;
    return good && settings_check_rules(s, rules, &c->diags);
}

static enum severity severity_of(struct str word, enum severity otherwise)
{
    if (str_is(word, "error")) return SEVERITY_ERROR;
    if (str_is(word, "warning")) return SEVERITY_WARNING;
    return str_is(word, "info") ? SEVERITY_INFO : otherwise;
}

/* One that is not there yet is empty. NULL with errors in c->diags when it is none. */
static struct baseline *open_baseline(struct cmd_context *c, struct str path)
{
    struct baseline *b = ARENA_NEW(c->keep, struct baseline);
    struct str text, error;
    b->arena = c->keep;
    path = str_dup(c->keep, path);
    if (!path_exists(path)) return b;
    if (!io_read(c->keep, path.p, &text, &error)) {
        cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error));
        return NULL;
    }
    uint32_t source = source_add(&c->diags.sources, path, text);
    return baseline_read(b, &c->diags, source) ? b : NULL;
}

static bool read_settings(struct projects *p, struct str path, struct project *project)
{
    struct cmd_context *c = p->c;
    struct str text, error, real = STR("");
    bool found = path_real(c->keep, path.p, &real);
    bool open = found && p->opened && p->opened(p->opened_state, c->keep, real, &text);
    if (!open && !(io_read_regular(c->keep, path.p, LARGEST, &text, &error) && found)) {
        cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error));
        return false;
    }
    uint32_t source = source_add(&c->diags.sources, path, text);
    project->base = *p->base;
    project->settings = settings_read(c->keep, &c->diags, source, path_parent(real));
    if (!project->settings || !load_data(p, project)) return false;
    project->base.pin = project->settings->pin;
    if (project->settings->baseline.n && !p->baseline) {
        project->baseline = open_baseline(c, project->settings->baseline);
        if (!project->baseline) return false;
    }
    if (!option_given(c, "fail-on"))
        project->base.fail_on = severity_of(project->settings->fail_on, project->base.fail_on);
    return true;
}

/* One that cannot be used has no settings; the run then answers nothing about its files. */
static struct project *open_project(struct projects *p, struct str path)
{
    struct project *project = ARENA_NEW(p->c->keep, struct project);
    *VEC_PUSH(p->c->keep, &p->all) = project;
    map_put(p->c->keep, &p->project_of, path, (uint32_t)p->all.n - 1);
    if (!read_settings(p, path, project)) {
        project->settings = NULL;
        p->failed = true;
    }
    return project;
}

/* As a user in the current folder would name it. */
static struct str shown(struct projects *p, struct str path)
{
    struct str here;
    if (!path_real(p->c->keep, ".", &here) || !path_is_below(path, here)) return path;
    return path_between(p->c->keep, here, path);
}

static struct project *project_for(struct projects *p, struct str real)
{
    if (p->isolated || p->forced) return p->forced;
    struct str path = settings_find(p->c->keep, real);
    if (!path.n) return NULL;
    path = shown(p, path);
    int64_t known = map_get(&p->project_of, path);
    return known != MAP_NONE ? p->all.items[known] : open_project(p, path);
}

/* ---- .gitignore ---- */

/* The patterns of one folder, and those above it in the same repository. */
struct git_ignores {
    struct str folder; /* real path */
    struct glob_list globs;
    const struct git_ignores *up;
    bool in_repository;
};

static void read_globs(struct arena *a, struct str path, struct glob_list *out)
{
    struct str text, error, line;
    if (!io_is_file(path.p) || !io_read_regular(a, path.p, LARGEST, &text, &error)) return;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (line.n && line.p[0] != '#') *VEC_PUSH(a, out) = glob_parse(line);
    }
}

static const struct git_ignores *ignores_for(struct projects *p, struct str real)
{
    struct arena *a = p->c->keep;
    int64_t known = map_get(&p->ignores_of, real);
    if (known != MAP_NONE) return p->ignores.items[known];
    struct git_ignores *own = ARENA_NEW(a, struct git_ignores);
    own->folder = real;
    bool root = path_exists(path_join(a, real, STR(".git")));
    struct str parent = path_parent(real);
    if (!root && parent.n) own->up = ignores_for(p, parent);
    own->in_repository = root || (own->up && own->up->in_repository);
    if (own->in_repository) read_globs(a, path_join(a, real, STR(".gitignore")), &own->globs);
    *VEC_PUSH(a, &p->ignores) = own;
    map_put(a, &p->ignores_of, real, (uint32_t)p->ignores.n - 1);
    return own;
}

/* A real path from a folder above it on. */
static struct str below(struct str real, struct str folder)
{
    return str_slice(real, folder.n + (folder.n > 1), real.n);
}

/* The nearest file that says anything decides, in it the last line. */
static bool is_ignored(struct projects *p, const struct git_ignores *g, struct str real,
                       bool folder)
{
    for (; g; g = g->up)
        for (size_t i = g->globs.n; i-- > 0;)
            if (glob_covers(p->c->scratch, &g->globs.items[i], below(real, g->folder), folder))
                return !g->globs.items[i].negated;
    return false;
}

/* ---- folders ---- */

const struct place *projects_place(struct projects *p, struct str folder)
{
    struct arena *a = p->c->keep;
    int64_t known = map_get(&p->place_of, folder);
    if (known != MAP_NONE) return p->places.items[known];
    folder = str_dup(a, folder);
    struct place *place = ARENA_NEW(a, struct place);
    place->real = STR("");
    if (path_real(a, folder.n ? folder.p : ".", &place->real)) {
        place->project = project_for(p, place->real);
        place->ignores = ignores_for(p, place->real);
    }
    *VEC_PUSH(a, &p->places) = place;
    map_put(a, &p->place_of, folder, (uint32_t)p->places.n - 1);
    return place;
}

bool projects_leave_out(void *projects, struct str path, bool folder)
{
    struct projects *p = projects;
    const struct place *place = projects_place(p, path_folder(path));
    const struct settings *s = place->project ? place->project->settings : NULL;
    struct str name = str_slice(path, path_folder(path).n, path.n);
    struct arena_mark mark = arena_mark(p->c->scratch);
    struct str real = path_join(p->c->scratch, place->real, name);
    bool heeds_git = !p->isolated && (!s || s->gitignore);
    bool out = (heeds_git && is_ignored(p, place->ignores, real, folder)) ||
               (s && path_is_below(real, s->folder) &&
                settings_exclude(p->c->scratch, s, below(real, s->folder), folder));
    arena_pop(p->c->scratch, mark);
    return out;
}

/* ---- one file ---- */

/* What the command line wants of findings comes before what the settings want. */
static void want(struct arena *a, struct diag_policy *policy, const struct diag_selection *wanted)
{
    if (wanted->select.n) policy->wanted.select = wanted->select;
    for (size_t i = 0; i < wanted->ignore.n; i++)
        *VEC_PUSH(a, &policy->wanted.ignore) = wanted->ignore.items[i];
    policy->wanted.least = wanted->least;
}

static void resolve(const struct projects *p, struct arena *a, const struct place *place,
                    struct str name, struct file_view *out)
{
    const struct settings *s = out->project->settings;
    struct str real = path_join(a, place->real, name);
    out->path = path_is_below(real, s->folder) ? below(real, s->folder) : real;
    settings_resolve(a, s, out->path, p->given, &out->settings);
    out->validation = out->project->base;
    out->settings.options.declared = out->project->declared;
}

/* Which settings were used is noted in them: each file has its own. */
static void own_settings(struct arena *a, struct read_options *o)
{
    o->set = arena_dup(a, o->set, o->n_set * sizeof *o->set);
}

/* The baseline that holds for the file, and what it is called there. */
static void know(const struct projects *p, struct arena *a, const struct place *place,
                 struct str name, struct file_view *out)
{
    struct str folder = p->baseline_folder;
    out->baseline = p->baseline;
    if (!out->baseline && place->project) {
        out->baseline = place->project->baseline;
        folder = path_parent(place->project->settings->baseline);
    }
    struct str real = path_join(a, place->real, name);
    if (out->baseline) out->known_as = path_between(a, folder, real);
}

bool projects_view_in(const struct projects *p, struct arena *a, const struct place *place,
                      struct str path, struct file_view *out)
{
    struct str folder = path_folder(path);
    *out = (struct file_view){.validation = *p->base,
                              .settings.options = *p->given,
                              .project = place->project,
                              .path = path};
    if (place->project && !place->project->settings) return false;
    struct str name = str_slice(path, folder.n, path.n);
    if (place->project)
        resolve(p, a, place, name, out);
    else
        own_settings(a, &out->settings.options);
    know(p, a, place, name, out);
    want(a, &out->settings.policy, &p->wanted);
    out->settings.policy.today = p->today;
    out->validation.policy = &out->settings.policy;
    return true;
}

bool projects_view(struct projects *p, struct arena *a, struct str path, struct file_view *out)
{
    return projects_view_in(p, a, projects_place(p, path_folder(path)), path, out);
}

void projects_close_view(struct projects *p, const struct file_view *view)
{
    const struct read_options *o = &view->settings.options;
    size_t own = o->n_set - p->given->n_set; /* of the settings, before those of the command line */
    for (size_t i = 0; i < p->given->n_set; i++) {
        struct setting *all = &p->given->set[i], *one = &o->set[own + i];
        all->used |= one->used;
        all->bad |= one->bad;
        if (one->bad) all->param = one->param;
    }
}

/* ---- what did nothing ---- */

void projects_note_folder(struct projects *p, struct str folder)
{
    struct str real;
    if (path_real(p->c->keep, str_dup(p->c->keep, folder).p, &real))
        *VEC_PUSH(p->c->keep, &p->looked_at) = real;
}

void projects_report_unused(struct projects *p)
{
    for (size_t i = 0; i < p->all.n; i++) {
        const struct settings *s = p->all.items[i]->settings;
        bool whole = false;
        for (size_t k = 0; s && k < p->looked_at.n; k++)
            whole = whole || path_is_below(s->folder, p->looked_at.items[k]);
        if (whole) settings_report_unused(s, p->today, &p->c->diags);
    }
}

size_t projects_gone(const struct projects *p)
{
    size_t gone = p->baseline ? baseline_gone(p->baseline) : 0;
    for (size_t i = 0; i < p->all.n; i++)
        if (p->all.items[i]->baseline) gone += baseline_gone(p->all.items[i]->baseline);
    return gone;
}

/* ---- the command line ---- */

/* The baseline that is read, or the one that is to be written, which is empty. */
static bool open_given_baseline(struct projects *p)
{
    struct cmd_context *c = p->c;
    bool writes = option_given(c, "write-baseline");
    struct str path = option_value(c, writes ? "write-baseline" : "baseline");
    struct str until = option_value(c, "until");
    if (until.n && (!writes || !day_is_valid(until))) {
        cmd_usage_error(c, "--until goes with --write-baseline, and is a day such as 2026-12-31");
        return false;
    }
    if (!path.n) return true;
    struct str folder = path_folder(path);
    if (!path_real(c->keep, folder.n ? str_dup(c->keep, folder).p : ".", &p->baseline_folder)) {
        cmd_usage_error(c, "there is no folder %.*s", STR_ARG(folder));
        return false;
    }
    p->baseline = writes ? ARENA_NEW(c->keep, struct baseline) : open_baseline(c, path);
    if (writes) *p->baseline = (struct baseline){.arena = c->keep, .until = until};
    return p->baseline;
}

/* As 2026-12-31, or of SOURCE_DATE_EPOCH, which makes a run repeatable. */
static struct str day_of_run(struct arena *a)
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds;
    time_t now = time(NULL);
    struct tm day;
    char text[32];
    if (fixed && num_parse_int(str_of(fixed), &seconds)) now = (time_t)seconds;
    if (!gmtime_r(&now, &day) || !strftime(text, sizeof text, "%Y-%m-%d", &day)) return STR("");
    return str_dup(a, str_of(text));
}

bool projects_open(struct projects *p, struct cmd_context *c, const struct validation *base,
                   const struct read_options *given)
{
    *p = (struct projects){.c = c, .base = base, .given = given, .today = day_of_run(c->keep)};
    struct str config = option_value(c, "config");
    p->isolated = option_given(c, "isolated");
    if (!open_given_baseline(p)) return false;
    if (!config.n) return true;
    if (p->isolated) {
        cmd_usage_error(c, "--config and --isolated cannot both hold");
        return false;
    }
    p->forced = open_project(p, str_dup(c->keep, config));
    return !p->failed;
}
