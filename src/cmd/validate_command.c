/* SPDX-License-Identifier: Apache-2.0 */
/* The command: files -> reports -> one of the output formats, a summary and the exit status. */
#include <stdlib.h>

#include "base/crew.h"
#include "base/diff.h"
#include "base/io.h"
#include "base/map.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "cmd/batch.h"
#include "cmd/check_files.h"
#include "cmd/findings.h"
#include "cmd/paths.h"
#include "cmd/recipe.h"
#include "cmd/show_config.h"
#include "emit/report_ci.h"

enum format {
    FORMAT_TEXT,
    FORMAT_CONCISE,
    FORMAT_JSON,
    FORMAT_JSONL,
    FORMAT_GITHUB,
    FORMAT_SARIF,
    FORMAT_CHECKSTYLE,
    FORMAT_GITLAB
};
enum { SHOWN_SIZES = 10 };

struct run {
    struct cmd_context *c;
    struct validation validation;
    struct read_options options;
    struct projects projects;
    struct str as;
    int format;
    struct report_summary summary;
    struct sarif sarif;
    struct gitlab gitlab;
    struct buf annotations[SEVERITY_ERROR + 1], rows[SEVERITY_ERROR + 1]; /* GitHub's */
    struct findings findings;                                             /* of a screen */
    bool quiet, worlds;
    bool read, unreadable, finding;
    bool recipe; /* of what was read, something takes settings */
    bool writes_baseline;
    bool fixes, unsafe, shows_diff; /* --fix, --unsafe-fixes, --diff */
    size_t fixed, fixed_files, unsafe_left, known;
    struct named_files files;
    struct map seen;         /* the same: one that is named twice is checked once */
    struct map environments; /* that some file was checked for */
};

/* ---- output ---- */

static void print_world(struct buf *out, const struct file_report *report)
{
    const struct world_sizes *world = &report->world;
    if (!world->known || !world->n) return;
    buf_printf(out, "%.*s: valid world sizes:", LINE_ARG(out->arena, report->path));
    for (size_t i = 0; i < world->n && i < SHOWN_SIZES; i++)
        buf_printf(out, "%s %.*s", i ? "," : "", STR_ARG(num_grouped(out->arena, world->sizes[i])));
    if (world->n > SHOWN_SIZES)
        buf_printf(out, ", … (multiples of %lld)", (long long)world->multiple_of);
    buf_add_char(out, '\n');
}

/* GitHub shows ten of each severity: errors come first, also those of later files. */
static void print_github(struct run *r, struct file_report *report)
{
    for (int i = 0; i <= SEVERITY_ERROR; i++)
        github_file(report, (enum severity)i, &r->annotations[i]);
    summary_file(report, SEVERITY_ERROR, &r->rows[SEVERITY_ERROR]);
    summary_file(report, SEVERITY_WARNING, &r->rows[SEVERITY_WARNING]);
}

static void print_report(struct run *r, struct file_report *report)
{
    struct buf *out = &r->c->out;
    switch ((enum format)r->format) {
    case FORMAT_TEXT:
    case FORMAT_CONCISE:
        findings_add(&r->findings, report);
        if (r->worlds) print_world(out, report);
        break;
    case FORMAT_JSON:
        if (r->summary.files > 1) buf_add_char(out, ',');
        report_json(report, out);
        break;
    case FORMAT_JSONL:
        report_json(report, out);
        buf_add_char(out, '\n');
        break;
    case FORMAT_GITHUB: print_github(r, report); break;
    case FORMAT_SARIF: sarif_file(&r->sarif, report, out); break;
    case FORMAT_CHECKSTYLE: checkstyle_file(report, out); break;
    case FORMAT_GITLAB: gitlab_file(&r->gitlab, report, out); break;
    }
}

static void print_head(struct run *r)
{
    struct buf *out = &r->c->out;
    if (r->shows_diff) return;
    if (r->format == FORMAT_JSON) buf_printf(out, "{\"schema\":%d,\"files\":[", REPORT_SCHEMA);
    if (r->format == FORMAT_SARIF) sarif_head(out);
    if (r->format == FORMAT_CHECKSTYLE) checkstyle_head(out);
    if (r->format == FORMAT_GITLAB) gitlab_head(out);
}

/* What belongs to a form alone, behind all files. */
static void print_end(struct run *r)
{
    struct buf *out = &r->c->out;
    if (r->format == FORMAT_JSON) {
        buf_add(out, STR("],\"summary\":"));
        report_summary_json(&r->summary, out);
        buf_add(out, STR("}\n"));
    }
    if (r->format == FORMAT_SARIF) sarif_foot(&r->sarif, out);
    if (r->format == FORMAT_CHECKSTYLE) checkstyle_foot(out);
    if (r->format == FORMAT_GITLAB) gitlab_foot(out);
    for (int i = SEVERITY_ERROR; i >= 0 && r->format == FORMAT_GITHUB; i--)
        buf_add(out, buf_str(&r->annotations[i]));
}

/* The summary of a step of GitHub's: added to what earlier commands of the step wrote. */
static void write_step_summary(struct run *r)
{
    enum { LARGEST = 512 << 10 }; /* GitHub refuses more than 1 MiB */
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    FILE *file = r->format == FORMAT_GITHUB && path && *path ? fopen(path, "a") : NULL;
    struct buf text = buf_new(r->c->keep);
    if (!file) return;
    summary_head(&r->summary, &text);
    for (int i = SEVERITY_ERROR; i >= SEVERITY_WARNING; i--)
        if (text.n + r->rows[i].n < LARGEST) buf_add(&text, buf_str(&r->rows[i]));
    buf_add_char(&text, '\n');
    fwrite(text.p, 1, text.n, file);
    if (fclose(file)) cmd_usage_error(r->c, "%s cannot be written", path);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* "; --gpus, --platform would tell more" */
static void print_missing(struct buf *out, const struct validation *v)
{
    const struct {
        bool missing;
        const char *option;
    } options[] = {{v->gpus_unknown, "--gpus"},
                   {v->platform_unknown, "--platform"},
                   {v->model_unknown, "--model"},
                   {v->seq_unknown, "--set seq_length"}};
    const char *before = "; ";
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].missing) continue;
        buf_printf(out, "%s%s", before, options[i].option);
        before = ", ";
    }
    if (*before == ',') buf_add(out, STR(" would tell more"));
}

/* "3 files: 1 error, 0 warnings, 2 infos; 1 no recipe (2 AutoModel recipes)", and what was not
   checked. */
static void print_summary(struct run *r)
{
    const struct report_summary *s = &r->summary;
    struct buf *out = &r->c->err;
    buf_printf(out, "%zu file%s: %zu error%s, %zu warning%s, %zu info%s", s->files,
               plural(s->files), s->errors, plural(s->errors), s->warnings, plural(s->warnings),
               s->infos, plural(s->infos));
    if (s->skipped) buf_printf(out, "; %zu no recipe", s->skipped);
    findings_kinds(&r->findings, out);
    buf_add_char(out, '\n');
    if (!s->rules_skipped) return;
    struct str skipped = num_grouped(r->c->keep, (int64_t)s->rules_skipped);
    buf_printf(out, "not checked: %.*s rule%s skipped for lack of facts", STR_ARG(skipped),
               plural(s->rules_skipped));
    print_missing(out, &r->validation);
    buf_add_char(out, '\n');
}

/* The software that was assumed, once for all files of a release. */
static void note_environment(struct run *r, const struct file_report *report)
{
    if (r->quiet) return;
    if (!report->environment.n || map_get(&r->environments, report->environment) != MAP_NONE)
        return;
    struct str environment = str_dup(r->c->keep, report->environment);
    map_put(r->c->keep, &r->environments, environment, 0);
    buf_printf(&r->c->err, "environment: %.*s\n", STR_ARG(environment));
}

/* "2 findings in 1 file fixed; --unsafe-fixes mends 3 more, which may change the run" */
static void print_fixed(const struct run *r)
{
    struct buf *out = &r->c->err;
    if (!r->fixes && !r->shows_diff) return;
    buf_printf(out, "%zu finding%s in %zu file%s %s", r->fixed, plural(r->fixed), r->fixed_files,
               plural(r->fixed_files), r->shows_diff ? "would be fixed" : "fixed");
    if (r->unsafe_left)
        buf_printf(out, "; --unsafe-fixes mends %zu more, which may change the run",
                   r->unsafe_left);
    buf_add_char(out, '\n');
}

/* "12 known findings hidden, 3 more are gone: --write-baseline drops them" */
static void print_known(const struct run *r)
{
    struct buf *out = &r->c->err;
    size_t gone = r->writes_baseline ? 0 : projects_gone(&r->projects);
    if (r->known) buf_printf(out, "%zu known finding%s hidden\n", r->known, plural(r->known));
    if (gone)
        buf_printf(out, "%zu finding%s of the baseline %s gone: --write-baseline drops %s\n", gone,
                   plural(gone), gone == 1 ? "is" : "are", gone == 1 ? "it" : "them");
}

static void print_foot(struct run *r)
{
    print_fixed(r);
    print_known(r);
    if (r->shows_diff) return;
    print_end(r);
    write_step_summary(r);
    if (option_given(r->c, "statistics"))
        findings_statistics(&r->findings, r->c->view.width, &r->c->out);
    else
        findings_print(&r->findings, option_given(r->c, "full"), &r->c->out);
    if (!r->quiet) print_summary(r);
}

/* ---- files ---- */

static void count(struct run *r, const struct file_report *report)
{
    report_count(&r->summary, report);
    for (size_t i = 0; i < report->diags->hidden.n; i++)
        r->known += report->diags->hidden.items[i].state == DIAG_KNOWN;
    note_environment(r, report);
    r->read = r->read || report->status == FILE_OK || report->status == FILE_INVALID;
    r->recipe = r->recipe || report->framework.n > 0;
    switch (report->status) {
    case FILE_OK: break;
    case FILE_INVALID: r->finding = true; break;
    case FILE_UNREADABLE: r->unreadable = true; break;
    case FILE_SKIPPED: break;
    }
}

static void add_skip_reason(struct run *r, const struct file_report *report)
{
    if (report->status == FILE_SKIPPED && r->format <= FORMAT_CONCISE && !r->quiet)
        buf_printf(&r->c->err, "%.*s: skipped: %.*s\n", LINE_ARG(r->c->keep, report->path),
                   STR_ARG(report->why_skipped));
}

/* As `git apply` takes it: from the current folder on, by its shortest name. */
static struct str path_for_git(struct arena *a, struct str path)
{
    struct str here, place;
    bool there = path_real(a, ".", &here) && path_place(a, path, &place);
    return there && path_is_below(place, here) ? path_between(a, here, place) : path;
}

/* A file is written whole or not at all; what cannot be written is an unreadable file too. */
static void keep_fixes(struct run *r, struct file_check *check)
{
    struct arena *a = check->view.validation.arena;
    const struct fixed_text *fixed = &check->fixed;
    struct str error;
    r->unsafe_left += fixed->unsafe;
    if (!fixed->fixed) return;
    r->fixed += fixed->fixed;
    r->fixed_files++;
    if (r->shows_diff)
        diff_unified(&r->c->out, path_for_git(a, check->file->path), check->text, fixed->text);
    else if (!io_write(a, str_dup(a, check->file->path).p, fixed->text, &error))
        check->report = validate_unreadable(&check->view.validation, check->file->path, error);
}

/* Known findings are hidden, or all become known. */
static void heed_baseline(struct run *r, struct file_check *check)
{
    const struct file_view *view = &check->view;
    r->sarif.baseline |= view->baseline != NULL;
    if (!view->baseline) return;
    if (r->writes_baseline)
        baseline_add(view->baseline, check->report.diags, view->known_as);
    else
        baseline_hide(view->baseline, check->report.diags, view->known_as, r->projects.today);
    validate_judge(&view->validation, &check->report);
}

/* What some file lacked is told for all. */
static void join_lacks(struct validation *all, const struct validation *one)
{
    all->gpus_unknown |= one->gpus_unknown;
    all->platform_unknown |= one->platform_unknown;
    all->model_unknown |= one->model_unknown;
    all->seq_unknown |= one->seq_unknown;
}

/* A file_taker. */
static void take_file(void *state, struct file_check *check)
{
    struct run *r = state;
    if (!check->settled) return;
    keep_fixes(r, check);
    if (check->view.settings.options.set) projects_close_view(&r->projects, &check->view);
    heed_baseline(r, check);
    join_lacks(&r->validation, &check->view.validation);
    count(r, &check->report);
    if (!r->shows_diff) print_report(r, &check->report);
    if (check->file->explicit) add_skip_reason(r, &check->report);
}

/* The same for all words for a file; a link is a file of its own. */
static struct str place_of(struct run *r, struct str path)
{
    struct str place;
    bool one = r->c->n_arguments < 2 || str_is(path, "-");
    return !one && path_place(r->c->keep, path, &place) ? place : path;
}

/* A file that an earlier argument named too has been said everything about. */
static void add_file(struct run *r, struct named_file file)
{
    if (map_put(r->c->keep, &r->seen, place_of(r, file.path), 0))
        *VEC_PUSH(r->c->keep, &r->files) = file;
}

/* The files of one argument; false when it names none. */
static bool add_argument(struct run *r, struct str argument)
{
    struct path_list files = {0};
    struct str error;
    struct path_filter filter = {projects_leave_out, &r->projects};
    if (io_is_folder(str_dup(r->c->keep, argument).p)) projects_note_folder(&r->projects, argument);
    if (!paths_expand(r->c->keep, argument, filter, &files, &error)) {
        cmd_usage_error(r->c, "%.*s %.*s", STR_ARG(argument), STR_ARG(error));
        return false;
    }
    for (size_t i = 0; i < files.n; i++)
        add_file(r, (struct named_file){.path = files.items[i],
                                        .explicit = str_eq(files.items[i], argument)});
    for (size_t i = 0; i < files.unread.n; i++) {
        const struct path_problem *p = &files.unread.items[i];
        add_file(r, (struct named_file){.path = p->path, .why = p->why});
    }
    return true;
}

/* The run then answers that the file is written; where some files cannot be read, that of the
 * others.
 */
static int write_baseline(struct run *r, int status)
{
    struct cmd_context *c = r->c;
    struct str path = str_dup(c->keep, option_value(c, "write-baseline")), error;
    struct buf text = buf_new(c->keep);
    const struct baseline *b = r->projects.baseline;
    bool some = r->read && r->unreadable && !r->projects.failed;
    if (status == STATUS_CANNOT && !some) return status;
    baseline_write(r->projects.baseline, &text);
    if (!io_write(c->keep, path.p, buf_str(&text), &error))
        return cmd_usage_error(c, "%.*s cannot be written: %.*s", STR_ARG(path), STR_ARG(error));
    buf_printf(&c->err, "%zu different finding%s written to %.*s\n", b->n, plural(b->n),
               LINE_ARG(c->keep, path));
    if (!some) return STATUS_OK;
    buf_add(&c->err, STR("what cannot be read is not in it: mend or `exclude` those files\n"));
    return status;
}

static int exit_status(const struct run *r, bool all_found)
{
    if (r->unreadable || r->projects.failed || !all_found) return STATUS_CANNOT;
    if (r->shows_diff ? r->fixed > 0 : r->finding) return STATUS_NO;
    return r->read ? STATUS_OK : STATUS_CANNOT; /* nothing checked is no success */
}

/* A setting that cannot be used is said alone: what was found without it is no answer. */
static int refuse_settings(struct run *r, size_t out, size_t err)
{
    r->c->out.n = out;
    r->c->err.n = err;
    recipe_settings_used(r->c, &r->options);
    return STATUS_CANNOT;
}

/* A rule that neither the program nor a project's own rules have: a name that is misspelt would
   leave everything out, or nothing. Empty: there is none. */
static struct str unknown_rule(const struct run *r, const struct rule_patterns *patterns)
{
    for (size_t i = 0; i < patterns->n; i++) {
        struct str pattern = patterns->items[i];
        bool known = settings_know_rule(r->validation.rules, pattern);
        for (size_t k = 0; k < r->projects.all.n && !known; k++)
            known = settings_know_rule(r->projects.all.items[k]->base.rules, pattern);
        if (!known) return pattern;
    }
    return (struct str){"", 0};
}

/* --select or --ignore names no rule: what was found with it is no answer. */
static int refuse_selection(struct run *r, struct str word, size_t out, size_t err)
{
    struct str near = rules_nearest(r->validation.rules, word);
    r->c->out.n = out;
    r->c->err.n = err;
    return cmd_usage_error(r->c, "there is no rule %.*s%s%.*s%s", STR_ARG(word),
                           near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
}

/* What holds for the files that are named, instead of what is found in them. */
static int show_files(struct run *r)
{
    bool json = r->format == FORMAT_JSON || r->format == FORMAT_JSONL, good = true;
    for (size_t i = 0; i < r->c->n_arguments; i++)
        good &= show_config(&r->projects, r->c->arguments[i], json, &r->c->out);
    return good && !r->projects.failed ? STATUS_OK : STATUS_CANNOT;
}

static int validate_files(struct run *r)
{
    bool all_found = true;
    size_t out = r->c->out.n, err = r->c->err.n;
    if (option_given(r->c, "show-config")) return show_files(r);
    print_head(r);
    for (size_t i = 0; i < r->c->n_arguments; i++)
        all_found &= add_argument(r, r->c->arguments[i]);
    struct file_checker checker = {.c = r->c,
                                   .projects = &r->projects,
                                   .as = r->as,
                                   .fixes = r->fixes || r->shows_diff,
                                   .unsafe = r->unsafe};
    check_files(&checker, &r->files, take_file, r);
    projects_report_unused(&r->projects);
    print_foot(r);
    bool settled = settings_error(r->c->keep, &r->options).n == 0;
    if (!settled && r->recipe) return refuse_settings(r, out, err);
    struct str chosen = unknown_rule(r, &r->projects.wanted.select),
               left_out = unknown_rule(r, &r->projects.wanted.ignore);
    if (!r->projects.failed && (chosen.n || left_out.n))
        return refuse_selection(r, chosen.n ? chosen : left_out, out, err);
    int status = exit_status(r, all_found);
    return r->writes_baseline ? write_baseline(r, status) : status;
}

/* ---- the command ---- */

#define FORMATS "automodel, megatron, bridge, plan or hf"

/* --select, --ignore and --min-severity. */
static bool read_selection(struct cmd_context *c, struct diag_selection *wanted)
{
    struct str list;
    int least = SEVERITY_INFO;
    for (size_t i = 0; option_nth(c, "select", i, &list); i++)
        rule_patterns_add(c->keep, &wanted->select, list);
    for (size_t i = 0; option_nth(c, "ignore", i, &list); i++)
        rule_patterns_add(c->keep, &wanted->ignore, list);
    bool good = option_choice(c, "min-severity", &least);
    wanted->least = (enum severity)least;
    return good;
}

/* What is fixed, and where it goes. */
static bool read_fixes(struct run *r)
{
    struct cmd_context *c = r->c;
    r->fixes = option_given(c, "fix");
    r->shows_diff = option_given(c, "diff");
    r->unsafe = option_given(c, "unsafe-fixes");
    r->writes_baseline = option_given(c, "write-baseline");
    c->plain = c->plain || r->shows_diff; /* which is for git */
    bool any = r->fixes || r->shows_diff;
    const char *wrong = NULL;
    if (r->unsafe && !any) wrong = "--unsafe-fixes goes with --fix or --diff";
    if (any && option_given(c, "from"))
        wrong = "--from only tells: it goes without --fix and --diff";
    for (size_t i = 0; i < c->n_arguments && r->fixes && !r->shows_diff; i++)
        if (str_is(c->arguments[i], "-"))
            wrong = "--fix cannot write to standard input: --diff shows what it would";
    if (wrong) cmd_usage_error(c, "%s", wrong);
    return !wrong;
}

static bool read_options(struct run *r)
{
    struct cmd_context *c = r->c;
    const struct rule_set *rules;
    int fail_on;
    static const enum severity severities[] = {SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO};
    r->as = option_value(c, "as");
    if (!option_choice(c, "format", &r->format) || !option_choice(c, "fail-on", &fail_on) ||
        !recipe_as(c, r->as, FORMATS) || !recipe_options(c, &r->options) ||
        !recipe_version(c, &r->options, "from") || !cmd_load_rules(c, &rules))
        return false;
    if (!read_fixes(r)) return false;
    r->validation = validation_of(c->keep, rules);
    r->validation.fail_on = severities[fail_on];
    r->validation.from = option_value(c, "from");
    r->validation.scratch = c->scratch;
    r->gitlab.arena = c->keep;
    r->sarif = (struct sarif){.arena = c->keep, .rules = rules};
    for (int i = 0; i <= SEVERITY_ERROR; i++)
        r->annotations[i] = r->rows[i] = buf_new(c->keep);
    r->quiet = option_given(c, "quiet");
    r->worlds = option_given(c, "world-sizes");
    r->findings = (struct findings){.c = c, .heads_only = r->format == FORMAT_CONCISE};
    return projects_open(&r->projects, c, &r->validation, &r->options) &&
           read_selection(c, &r->projects.wanted);
}

static int run_batch(struct run *r)
{
    struct service service = {
        .rules = r->validation.rules, .validation = &r->validation, .options = &r->options};
    return batch_run(r->c, validate_answer, &service, crew_workers());
}

static int run(struct cmd_context *c)
{
    struct run *r = ARENA_NEW(c->keep, struct run);
    r->c = c;
    if (!read_options(r)) return STATUS_CANNOT;
    if (option_given(c, "batch")) return run_batch(r);
    return validate_files(r);
}

static const struct option options[] = {
    RECIPE_OPTIONS(FORMATS),
    {"from", "V",
     "a version that the files are right for: only what the other one changes is told"},
    {"format", "text|concise|json|jsonl|github|sarif|checkstyle|gitlab",
     "how to print; concise: a line a finding"},
    {"select", "RULE,…", "only findings of these rules; * stands for any letters (repeatable)"},
    {"ignore", "RULE,…", "no findings of these rules (repeatable)"},
    {"min-severity", "info|warning|error", "no findings below it"},
    {"statistics", NULL, "how many findings each rule has, instead of the findings"},
    {"full", NULL, "every finding with its lines, however many a rule has"},
    {"world-sizes", NULL, "the numbers of GPUs at which nothing fails, of files that name none"},
    {"quiet", NULL, "findings alone: no summary, nothing about files that were not read (-q)"},
    {"config", "FILE", "settings to use instead of the nearest .moeplan.yaml upward"},
    {"show-config", NULL, "print what holds for FILE beside its own text, and whence"},
    {"isolated", NULL, "no settings, and nothing is left out for .gitignore"},
    {"baseline", "FILE", "findings that are known: only new ones are shown and count"},
    {"write-baseline", "FILE", "make what is found known"},
    {"until", "DAY", "with --write-baseline: the last day on which it is, as 2026-12-31"},
    {"fix", NULL, "write what is fixed without changing what the run was meant to do"},
    {"unsafe-fixes", NULL, "with --fix or --diff: what may change the run, too"},
    {"diff", NULL, "print what --fix would change, for git apply, and change nothing"},
    {"fail-on", "error|warning|info", "least severity that makes the exit status 1"},
    {0},
};

const struct command command_validate = {
    .name = "validate",
    .arguments = "FILE…",
    .min_arguments = 1,
    .max_arguments = -1,
    .examples = "recipes/\nlaunch.sh --gpus 64 --platform h100\nrecipes/ --statistics",
    .help = "Check recipes: AutoModel YAML, Megatron flags, YAML and scripts, Bridge overrides, "
            "plan files",
    .details =
        "FILE is a file, a folder, a pattern such as 'recipes/**/*.yaml', or - for standard "
        "input. Formats are told "
        "by content.\nmoeplan's own model, platform, rule and parameter files (moeplan: 1 "
        "and a kind) are checked too.\nExit status: 0 no finding, 1 findings at or above "
        "--fail-on, 2 "
        "something could not be "
        "read, or nothing in what was read can be checked.\nFlags of a fork are declared with "
        "kind: Parameters in a file for --rules.\nA comment  # moeplan: ignore[rule-id] reason  on "
        "a line or alone above it "
        "silences a finding "
        "there.\n",
    .options = options,
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
