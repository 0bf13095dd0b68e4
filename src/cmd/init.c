/* SPDX-License-Identifier: Apache-2.0 */
/* init: looks at a repository and writes what makes moeplan a step of its checks. */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/paths.h"
#include "cmd/project.h"
#include "emit/init_files.h"

struct init {
    struct cmd_context *c;
    struct str folder; /* with its "/" */
    struct str release;
    bool dry, overwrite, failed;
    struct init_survey survey;
    struct validation validation;
    struct read_options options; /* none */
    struct projects projects;    /* what git ignores is none of the recipes */
};

static bool look_at_recipes(struct init *in)
{
    struct cmd_context *c = in->c;
    struct path_list files = {0};
    struct str error, text;
    struct path_filter filter = {projects_leave_out, &in->projects};
    if (!paths_expand(c->keep, in->folder, filter, &files, &error)) {
        cmd_usage_error(c, "%.*s %.*s", STR_ARG(in->folder), STR_ARG(error));
        return false;
    }
    for (size_t i = 0; i < files.n; i++) {
        struct arena_mark mark = arena_mark(c->scratch);
        if (io_read_regular(c->scratch, files.items[i].p, 0, &text, &error))
            init_count(&in->survey, c->scratch, files.items[i], text);
        arena_pop(c->scratch, mark);
    }
    return true;
}

static void write_file(struct init *in, struct str path, struct str text)
{
    struct str error;
    if (io_make_folders(in->c->keep, path) && io_write(in->c->keep, path.p, text, &error)) return;
    in->failed = true;
    cmd_usage_error(in->c, "%.*s cannot be written: %s", STR_ARG(path), strerror(errno));
}

/* One file: written, or left as it is, and said so. */
static void offer(struct init *in, const char *name, struct str text)
{
    struct buf *out = &in->c->out;
    struct str path = path_join(in->c->keep, in->folder, str_of(name));
    bool there = io_is_file(path.p);
    if (there && !in->overwrite) {
        buf_printf(out, "%s is there already and stays as it is (--overwrite)\n", name);
        return;
    }
    if (in->dry)
        buf_printf(out, "%s would be written%s:\n\n%.*s\n", name, there ? " over" : "",
                   STR_ARG(text));
    else
        write_file(in, path, text);
    if (!in->dry && !in->failed) buf_printf(out, "%s written%s\n", name, there ? " over" : "");
}

static void offer_gitlab(struct init *in)
{
    struct str job = init_gitlab(in->c->keep, in->release);
    const char *path = path_join(in->c->keep, in->folder, STR(".gitlab-ci.yml")).p;
    if (!io_is_file(path)) {
        offer(in, ".gitlab-ci.yml", job);
        return;
    }
    offer(in, ".gitlab/moeplan.yml", job);
    buf_add(&in->c->out, STR("  .gitlab-ci.yml takes it in with\n\n"
                             "  include: [{local: .gitlab/moeplan.yml}]\n\n"));
}

static void offer_pre_commit(struct init *in)
{
    struct arena *a = in->c->keep;
    if (!in->survey.pre_commit)
        offer(in, ".pre-commit-config.yaml", init_pre_commit(a, true));
    else
        buf_printf(&in->c->out, "add to the repos of .pre-commit-config.yaml:\n\n%.*s\n",
                   STR_ARG(init_pre_commit(a, false)));
}

static void say_survey(struct init *in)
{
    const struct init_survey *s = &in->survey;
    struct buf *out = &in->c->out;
    buf_printf(out, "%zu recipe%s", s->all, s->all == 1 ? "" : "s");
    const char *before = ": ";
    for (int i = 0; i < FRAMEWORK_COUNT; i++) {
        if (!s->recipes[i]) continue;
        buf_printf(out, "%s%zu %s", before, s->recipes[i], framework_full_name((enum framework)i));
        before = ", ";
    }
    buf_add_char(out, '\n');
}

static void offer_all(struct init *in)
{
    const struct init_survey *s = &in->survey;
    offer(in, SETTINGS_NAME, init_settings(in->c->keep, s));
    if (s->github)
        offer(in, ".github/workflows/moeplan.yml", init_github(in->c->keep, in->release));
    if (s->gitlab) offer_gitlab(in);
    if (s->pre_commit || (!s->github && !s->gitlab)) offer_pre_commit(in);
    if ((s->github || s->gitlab) && !in->release.n)
        buf_add(&in->c->out, STR("the variable MOEPLAN_RELEASE must say where a release lies: the "
                                 "address of its SHA256SUMS, less the name (or --release)\n"));
}

/* What may stand in a YAML file and a command line as it is. */
static bool is_address(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("\"'`$\\#", s.p[i])) return false;
    return true;
}

static int run(struct cmd_context *c)
{
    struct init in = {.c = c,
                      .release = option_value(c, "release"),
                      .dry = option_given(c, "dry-run"),
                      .overwrite = option_given(c, "overwrite")};
    struct str folder = c->n_arguments ? c->arguments[0] : STR(".");
    in.folder = str_dup(c->keep, folder);
    if (!io_is_folder(in.folder.p)) return cmd_usage_error(c, "%.*s is no folder", STR_ARG(folder));
    if (!is_address(in.release))
        return cmd_usage_error(c, "--release %.*s is no address", STR_ARG(in.release));
    in.validation = validation_of(c->keep, rules_builtin());
    if (!projects_open(&in.projects, c, &in.validation, &in.options) || !look_at_recipes(&in))
        return STATUS_CANNOT;
    init_look(&in.survey, c->keep, in.folder);
    say_survey(&in);
    if (!in.survey.all) return cmd_usage_error(c, "there is no recipe below %.*s", STR_ARG(folder));
    offer_all(&in);
    return in.failed ? STATUS_CANNOT : STATUS_OK;
}

static const struct option options[] = {
    {"release", "URL", "where a release lies that CI fetches: the folder of its SHA256SUMS"},
    {"dry-run", NULL, "show what would be written"},
    {"overwrite", NULL, "write over files that are there"},
    {0},
};

const struct command command_init = {
    .name = "init",
    .arguments = "[FOLDER]",
    .max_arguments = 1,
    .help = "Set a repository of recipes up: settings, and the step of its CI or pre-commit",
    .details =
        "Looks for recipes below FOLDER (.) and at what the repository is checked by, and writes\n"
        ".moeplan.yaml, and a workflow of GitHub, a job of GitLab or a hook of pre-commit. A file "
        "that\n"
        "is there stays as it is.\n",
    .options = options,
    .run = run,
};
