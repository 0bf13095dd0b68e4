/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/validate.h"

#include "base/version.h"
#include "choose/refusal.h"
#include "diag/suppress.h"
#include "facts/model.h"
#include "facts/param_ids.h"

enum { MEMORY_RULES = 2 };

struct validation validation_of(struct arena *a, const struct rule_set *rules)
{
    struct rule_reach *worlds = ARENA_ARRAY(a, struct rule_reach, FRAMEWORK_COUNT);
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        worlds[i] = rules_reach_of_world(a, rules, (enum framework)i);
    return (struct validation){.rules = rules,
                               .worlds = worlds,
                               .pinned_rules = validate_pinned_rules(a, rules),
                               .fail_on = SEVERITY_ERROR};
}

/* ---- one configuration ---- */

static bool same_finding(const struct diag *a, const struct diag *b)
{
    return str_eq(a->rule, b->rule) && a->at.line == b->at.line && a->at.column == b->at.column &&
           a->document == b->document && str_eq(a->message, b->message);
}

/* Of a file with several configurations each finding says which it is about, and what all have in
 * common is said once. */
static void label_findings(struct diags *diags, size_t first, struct str label)
{
    size_t kept = first;
    for (size_t i = first; i < diags->n; i++) {
        bool repeated = false;
        for (size_t k = 0; k < first && !repeated; k++)
            repeated = same_finding(&diags->items[k], &diags->items[i]);
        if (repeated) continue;
        diags->items[kept] = diags->items[i];
        diag_note(diags, &diags->items[kept++], "in %.*s", STR_ARG(label));
    }
    diags->n = kept;
}

/* A size that is written but absurd is known: the rules speak about it. */
static bool world_size_known(const struct facts *f)
{
    enum value_kind kind = facts_get(f, P_world_size)->value.kind;
    return kind != VALUE_UNKNOWN && kind != VALUE_NULL;
}

/* Gives whether the memory rules could be decided. */
static bool validate_configuration(struct validation *v, const struct reading *reading,
                                   struct file_report *report)
{
    struct facts *f = reading->facts;
    struct diags *diags = f->diags;
    size_t first = diags->n;
    diags->document = reading->document;
    struct memory_estimate estimate;
    bool memory;
    struct rules_summary sum = check_configuration(v->rules, f, &estimate, &memory, v->scratch);
    report->rules_skipped += sum.skipped;
    report->rules_decided += sum.evaluated;
    validate_newer_software(v, f);
    validate_changed_defaults(v, f);
    if (memory)
        validate_memory(v, f, &estimate);
    else
        report->rules_skipped += MEMORY_RULES;
    if (!world_size_known(f)) {
        v->gpus_unknown = true;
        if (!sum.errors) report->world = validate_world_sizes(v, f);
    }
    if (!f->platform) v->platform_unknown = true;
    if (!fact_is_known(facts_get(f, P_num_layers))) v->model_unknown = true;
    if (facts_int(f, P_seq_length, 0) == 0) v->seq_unknown = true;
    if (reading->label.n) label_findings(diags, first, reading->label);
    diags->document = 0;
    arena_reset(v->scratch);
    return memory;
}

/* ---- suppressions ---- */

struct judge {
    struct validation *v;
    const struct readings *readings;
    bool memory_decided, skipped; /* skipped: nothing of the file was checked */
};

static bool is_undecided(struct validation *v, const struct rule *rule, const struct facts *f)
{
    enum outcome outcome = rule_evaluate(rule, f, v->scratch);
    arena_reset(v->scratch);
    return outcome == OUTCOME_UNKNOWN || outcome == OUTCOME_BROKEN;
}

/* A comment may be about what only shows at a certain size or on a certain platform. */
static bool judge_unused(void *state, struct str id, struct str *help)
{
    const struct judge *judge = state;
    const struct rule *rule = rules_find(judge->v->rules, id);
    if (judge->skipped) return false;
    if (!rule) {
        struct str nearest = rules_nearest(judge->v->rules, id);
        *help = nearest.n
                    ? arena_printf(judge->v->arena, "there is no such rule; did you mean %.*s?",
                                   STR_ARG(nearest))
                    : STR("there is no such rule");
        return true;
    }
    if (rule->native) return judge->memory_decided || !str_starts(id, STR("memory-"));
    for (size_t i = 0; i < judge->readings->n; i++)
        if (is_undecided(judge->v, rule, judge->readings->items[i].facts)) return false;
    return true;
}

/* ---- what the repository makes of them ---- */

/* A rule that is newer than what the repository relies on breaks nobody's CI. */
static void hold_to_pin(const struct validation *v, struct diags *diags)
{
    for (size_t i = 0; i < diags->n && v->pin.n; i++) {
        const struct rule *rule = rules_find(v->rules, diags->items[i].rule);
        if (rule && rule->since.n && version_cmp(rule->since, v->pin) > 0)
            diags->items[i].severity = SEVERITY_INFO;
    }
}

static void settle(struct judge *judge, struct diags *diags, uint32_t source, bool own)
{
    struct validation *v = judge->v;
    struct str today = v->policy ? v->policy->today : STR("");
    rules_describe(v->rules, diags);
    hold_to_pin(v, diags);
    if (!own) diags_suppress(diags, source, today, judge_unused, judge);
    if (v->policy) diags_apply_policy(diags, v->policy);
    diags_sort(diags);
}

/* ---- one file ---- */

static enum file_status status_of(const struct validation *v, const struct diags *diags,
                                  enum recipe_status read)
{
    if (read == RECIPE_UNREADABLE) return FILE_UNREADABLE;
    if (read == RECIPE_SKIPPED) return FILE_SKIPPED;
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity >= v->fail_on) return FILE_INVALID;
    return FILE_OK;
}

/* Whether any setting is known: a file of a known format may hold none that moeplan reads. */
static bool says_something(const struct readings *readings)
{
    for (size_t i = 0; i < readings->n; i++) {
        const struct facts *f = readings->items[i].facts;
        for (int k = facts_next(f, 0); k < (int)param_count; k = facts_next(f, k + 1))
            if (f->own[k].origin == ORIGIN_FILE) return true;
    }
    return false;
}

static bool is_anothers(const struct readings *readings)
{
    for (size_t i = 0; i < readings->n; i++)
        if (program_is_megatrons(readings->items[i].facts)) return false;
    return readings->n > 0;
}

/* Whether anything was found that somebody should mend. */
static bool has_faults(const struct diags *diags)
{
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity > SEVERITY_INFO) return true;
    return false;
}

/* A file in which nothing can be checked is no file without errors. */
static enum recipe_status check_said(const struct recipe *recipe, struct file_report *report)
{
    if (recipe->status == RECIPE_SKIPPED) {
        bool named = recipe->format && recipe->format->title;
        report->why_skipped =
            named ? arena_printf(report->diags->arena, "%s, which moeplan does not check",
                                 recipe->format->title)
                  : STR("no recipe that moeplan knows");
        return recipe->status;
    }
    if (recipe->status == RECIPE_READ && is_anothers(&recipe->readings)) {
        report->diags->n = 0;
        report->why_skipped = STR("arguments of a program that moeplan does not know");
        return RECIPE_SKIPPED;
    }
    bool checked = report->rules_decided && says_something(&recipe->readings);
    if (recipe->status != RECIPE_READ || checked || has_faults(report->diags))
        return recipe->status;
    report->diags->n = 0;
    report->why_skipped = STR("nothing in it that moeplan can check");
    return RECIPE_SKIPPED;
}

/* What the head of the file's report says is taken from its first configuration. */
static void describe(struct file_report *report, const struct recipe *recipe)
{
    if (recipe->format) report->format = str_of(recipe->format->name);
    if (!recipe->readings.n) return;
    const struct facts *f = recipe->readings.items[0].facts;
    report->framework = str_of(framework_name(f->framework));
    report->framework_version = f->version;
    if (f->model) report->model = f->model->name;
    report->environment = validate_environment(report->diags->arena, f);
    report->gpus = facts_int(f, P_world_size, 0);
}

/* The configurations of a recipe: findings into the report. */
static enum recipe_status validate_recipe(struct judge *judge, uint32_t source, struct str as,
                                          const struct read_options *options,
                                          struct file_report *report)
{
    struct recipe *recipe = ARENA_NEW(judge->v->arena, struct recipe);
    *recipe = recipe_read(judge->v->arena, report->diags, source, as, options);
    judge->readings = &recipe->readings;
    for (size_t i = 0; i < recipe->readings.n; i++)
        if (!validate_configuration(judge->v, &recipe->readings.items[i], report))
            judge->memory_decided = false;
    validate_branches(judge->v, recipe, source, as, options, report->diags);
    describe(report, recipe);
    return check_said(recipe, report);
}

/* Whether text that is no YAML is a template of Helm's or Jinja's: a line is a directive, or the
   value of a key is a place to be filled in. */
static bool is_template(struct str text)
{
    if (str_has_line(text, "{%|{{")) return true;
    struct str line;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("- "))) line = str_trim(str_slice(line, 2, line.n));
        size_t at = str_find_str(line, STR(": {{")), blank = str_find(line, ' ');
        if (at < line.n && at + 1 == blank && !strchr("#'\"{[", line.p[0])) return true;
    }
    return false;
}

/* One of moeplan's own files, or a recipe; comments silence findings in recipes only. */
struct file_report validate_text(struct validation *v, struct str path, struct str text,
                                 struct str as, const struct read_options *options)
{
    static const struct readings none;
    struct file_report report = {.path = path, .diags = ARENA_NEW(v->arena, struct diags)};
    diags_init(report.diags, v->arena);
    uint32_t source = source_add(&report.diags->sources, path, text);
    struct judge judge = {.v = v, .readings = &none, .memory_decided = true};
    enum recipe_status status = RECIPE_READ;
    bool own = !as.n && validate_own(v, &report, source);
    if (!own) status = validate_recipe(&judge, source, as, options, &report);
    bool unknown = status == RECIPE_SKIPPED && !as.n && !report.format.n;
    if (unknown && v->named) own = validate_own_model(v, &report, source);
    if (own) status = RECIPE_READ;
    if (status == RECIPE_UNREADABLE && !v->named && is_template(text)) {
        status = RECIPE_SKIPPED;
        report.diags->n = 0;
        report.why_skipped = STR("a template");
    }
    judge.skipped = status == RECIPE_SKIPPED;
    settle(&judge, report.diags, source, own);
    report.status = status_of(v, report.diags, status);
    return report;
}

void validate_judge(const struct validation *v, struct file_report *report)
{
    bool read = report->status == FILE_OK || report->status == FILE_INVALID;
    if (read) report->status = status_of(v, report->diags, RECIPE_READ);
}

/* A report of one finding that is about the whole file. */
static struct file_report unreadable(struct validation *v, struct str path, const char *rule,
                                     const char *what, struct str why)
{
    struct file_report report = {
        .path = path, .diags = ARENA_NEW(v->arena, struct diags), .status = FILE_UNREADABLE};
    diags_init(report.diags, v->arena);
    struct span whole = {.source = source_add(&report.diags->sources, path, STR(""))};
    diag_add(report.diags, SEVERITY_ERROR, rule, whole, "cannot be %s: %.*s", what, STR_ARG(why));
    return report;
}

struct file_report validate_unreadable(struct validation *v, struct str path, struct str why)
{
    return unreadable(v, path, "unreadable-file", "read", why);
}

struct file_report validate_too_large(struct validation *v, struct str path, enum guard_end end)
{
    static const char *const whys[] = {[GUARD_NO_MEMORY] = "out of memory",
                                       [GUARD_TOO_LARGE] = "it needs more than 256 MiB of memory",
                                       [GUARD_TOO_LONG] = "it takes more than 60 seconds"};
    return unreadable(v, path, DOC_TOO_LARGE, "checked", str_of(whys[end]));
}
