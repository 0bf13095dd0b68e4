/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule.h"

#include "base/quote.h"
#include "cmd/cmd.h"
#include "emit/json_writer.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

/* ---- the list ---- */

static const char *kind_of(const struct rule *r)
{
    if (r->native) return "native";
    if (r->role == ROLE_OVERRIDE) return "override";
    if (r->advice) return "advice";
    return r->rule ? "check" : "guide";
}

static void list_text(struct cmd_context *c, const struct rule_set *set)
{
    struct str suite = STR("");
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *r = set->items[i];
        if (!str_eq(r->suite, suite))
            buf_printf(&c->out, "%s%.*s\n", i ? "\n" : "", LINE_ARG(c->keep, r->suite));
        suite = r->suite;
        const char *severity =
            r->role == ROLE_OVERRIDE && !r->message.n ? "silent" : severity_name(r->severity);
        buf_printf(&c->out, "  %-44.*s %-8s %-8s  " MARK_HANG "%.*s\n", STR_ARG(r->id), kind_of(r),
                   severity, LINE_ARG(c->keep, r->message));
    }
    buf_printf(&c->out, "\n%zu records; moeplan explain ID says more about each\n", set->n);
}

static void frameworks_json(struct json_writer *w, const struct rule *r)
{
    json_open(w, "frameworks", '{');
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        if (!r->in[k].applies) continue;
        json_open(w, framework_name((enum framework)k), '{');
        json_optional_str(w, "from", r->in[k].from);
        json_optional_str(w, "to", r->in[k].to);
        json_close(w, '}');
    }
    json_close(w, '}');
}

static void expressions_json(struct json_writer *w, const struct rule *r)
{
    json_open(w, "conditions", '[');
    for (size_t i = 0; i < r->n_conditions; i++)
        json_str(w, NULL, expr_text(r->conditions[i]));
    json_close(w, ']');
    if (r->rule) json_str(w, "rule", expr_text(r->rule));
    json_open(w, r->role == ROLE_OVERRIDE ? "set" : "decides", '{');
    for (size_t i = 0; i < r->n_set; i++)
        json_str(w, param_table[r->set[i].param].name.p, expr_text(r->set[i].value));
    json_close(w, '}');
}

static void variables_json(struct json_writer *w, struct arena *a, const struct rule *r)
{
    struct expr_use_list all = rule_variables(a, r);
    json_open(w, "variables", '[');
    for (size_t i = 0; i < all.n; i++) {
        json_open(w, NULL, '{');
        json_str(w, "name", all.items[i].name);
        json_str(w, "expression", all.items[i].text);
        json_optional_str(w, "doc", all.items[i].doc);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void rule_json(struct json_writer *w, struct arena *a, const struct rule *r)
{
    json_open(w, NULL, '{');
    json_str(w, "id", r->id);
    json_str(w, "kind", str_of(kind_of(r)));
    json_str(w, "severity", str_of(severity_name(r->severity)));
    json_str(w, "suite", r->suite);
    frameworks_json(w, r);
    expressions_json(w, r);
    variables_json(w, a, r);
    json_str(w, "message", r->message);
    json_optional_str(w, "why", r->why);
    if (r->parameter >= 0) json_str(w, "parameter", param_table[r->parameter].name);
    json_strs(w, "covers", r->covers, r->n_covers);
    json_strs(w, "guides", r->guides, r->n_guides);
    json_optional_str(w, "source", r->source);
    json_optional_str(w, "date", r->date);
    json_int(w, "examples", (int64_t)r->n_examples);
    json_close(w, '}');
}

static void list_json(struct cmd_context *c, const struct rule_set *set)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_open(&w, "rules", '[');
    for (size_t i = 0; i < set->n; i++)
        rule_json(&w, c->keep, set->items[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

/* ---- guides ---- */

struct guide_count {
    struct guide_row row;
    VEC(struct str) rules; /* ids */
    size_t fires, silent;
};

struct guide_counts {
    struct guide_count *items;
    size_t n, cap;
};

/* Runs the rule's examples and counts those that fire it and those that do not. */
static void count_examples(struct cmd_context *c, const struct rule_set *set, const struct rule *r,
                           struct guide_count *count)
{
    for (size_t i = 0; i < r->n_examples && !r->native; i++) {
        struct arena *work = arena_child(c->scratch, 0);
        struct diags quiet;
        diags_init(&quiet, work);
        struct facts *f = rule_example_facts(work, &quiet, r, &r->examples[i], set, c->scratch);
        bool fires = f && rule_evaluate(r, f, c->scratch) == OUTCOME_FAIL;
        count->fires += fires;
        count->silent += f && !fires;
        arena_free(work);
        arena_reset(c->scratch);
    }
}

static struct guide_counts count_guides(struct cmd_context *c, const struct rule_set *set)
{
    struct guide_counts counts = {0};
    for (size_t i = 0; i < set->n_guides; i++) {
        struct guide_count *count = VEC_PUSH(c->keep, &counts);
        count->row = set->guides[i];
        for (size_t k = 0; k < set->n; k++) {
            if (!rule_cites(set->items[k], count->row.id)) continue;
            *VEC_PUSH(c->keep, &count->rules) = set->items[k]->id;
            count_examples(c, set, set->items[k], count);
        }
    }
    return counts;
}

static void guides_text(struct cmd_context *c, const struct guide_counts *counts)
{
    for (size_t i = 0; i < counts->n; i++) {
        const struct guide_count *g = &counts->items[i];
        buf_printf(&c->out, "%-7.*s %.*s\n", STR_ARG(g->row.id), STR_ARG(g->row.text));
        for (size_t k = 0; k < g->rules.n; k++)
            buf_printf(&c->out, "        %.*s\n", STR_ARG(g->rules.items[k]));
        buf_printf(&c->out, "        %zu scenarios fire, %zu stay silent\n", g->fires, g->silent);
    }
}

static void guides_json(struct cmd_context *c, const struct guide_counts *counts)
{
    struct json_writer w = json_writer_new(&c->out);
    json_open(&w, NULL, '{');
    json_open(&w, "guides", '[');
    for (size_t i = 0; i < counts->n; i++) {
        const struct guide_count *g = &counts->items[i];
        json_open(&w, NULL, '{');
        json_str(&w, "id", g->row.id);
        json_str(&w, "text", g->row.text);
        json_optional_str(&w, "source", g->row.source);
        json_optional_str(&w, "date", g->row.date);
        json_optional_str(&w, "why", g->row.why);
        json_strs(&w, "rules", g->rules.items, g->rules.n);
        json_int(&w, "fires", (int64_t)g->fires);
        json_int(&w, "silent", (int64_t)g->silent);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_add_char(&c->out, '\n');
}

/* ---- test ---- */

/* The files named, and those below the folders named; false with a usage error when not all of
   them can be looked into. */
static bool files_of(struct cmd_context *c, struct path_list *files)
{
    bool all = true;
    struct str error;
    for (size_t i = 1; i < c->n_arguments; i++) {
        if (rules_files(c->keep, c->arguments[i], files, &error)) continue;
        *VEC_PUSH(c->keep, &files->unread) = (struct path_problem){c->arguments[i], error, true};
    }
    for (size_t i = 0; i < files->unread.n; i++, all = false)
        cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(files->unread.items[i].path),
                        STR_ARG(files->unread.items[i].why));
    return all;
}

/* The records of the files beside the built-in ones that they do not replace. */
static bool load_tested(struct cmd_context *c, const struct path_list *files, struct rule_set *own,
                        struct rule_set *all)
{
    if (!rules_load_files(c->keep, &c->diags, files->items, files->n, NULL, own)) return false;
    struct diags quiet;
    diags_init(&quiet, c->keep);
    const struct rule_set *builtin;
    if (!cmd_load_rules(c, &builtin)) return false;
    struct rule_set rest = rules_except(c->keep, builtin, own);
    return rules_load_files(c->keep, &quiet, files->items, files->n, &rest, all);
}

static int test(struct cmd_context *c)
{
    struct path_list files = {0};
    struct rule_set own, all;
    if (c->n_arguments < 2) return cmd_usage_error(c, "test needs a file or folder");
    if (!files_of(c, &files) || !load_tested(c, &files, &own, &all)) return STATUS_CANNOT;
    if (!own.n) return cmd_usage_error(c, "there are no rules in what you named");
    struct rules_tested sum = rules_test(&own, &all, &c->diags);
    buf_printf(&c->out, "records: %zu, examples run: %zu, failures: %zu\n", sum.records,
               sum.examples, sum.failures);
    return sum.failures ? STATUS_NO : STATUS_OK;
}

static int run(struct cmd_context *c)
{
    int format;
    if (!option_choice(c, "format", &format)) return STATUS_CANNOT;
    if (c->n_arguments && str_is(c->arguments[0], "test")) return test(c);
    if (c->n_arguments) return cmd_usage_error(c, "%.*s is not test", STR_ARG(c->arguments[0]));
    const struct rule_set *set;
    if (!cmd_load_rules(c, &set)) return STATUS_CANNOT;
    if (option_given(c, "guides")) {
        struct guide_counts counts = count_guides(c, set);
        (format == FORMAT_JSON ? guides_json : guides_text)(c, &counts);
    } else
        (format == FORMAT_JSON ? list_json : list_text)(c, set);
    return STATUS_OK;
}

static const struct option options[] = {
    {"guides", NULL, "list the rows of the decision guides and what their rules' scenarios show"},
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_rules = {
    .name = "rules",
    .arguments = "[test FILE…]",
    .max_arguments = -1,
    .examples = "\n--guides\ntest my-rules.yaml",
    .help = "List the rules, or run the examples of rule files",
    .details = "`test` loads rule files or folders in place of built-in records of the same ids, "
               "runs their\n"
               "examples, and exits 1 when one fails, 2 when a file is no good rule file.\n",
    .options = options,
    .loads_rules = true,
    .run = run,
};
