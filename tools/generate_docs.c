/* SPDX-License-Identifier: Apache-2.0 */
/* generate_docs FOLDER: writes the reference pages that follow from data: one page in rules/ for
   each rule file and an index, guides.md, parameters.md and the manual page moeplan.1. FOLDER and
   FOLDER/rules must be there. generate_docs --manual FOLDER: moeplan.1 and a page for each command.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "cmd/commands.h"
#include "cmd/option.h"
#include "docs_rows.h"
#include "emit/rule_page.h"
#include "facts/check.h"

#define GENERATED "Generated from the program's data by `cmake --build build --target docs`.\n\n"

struct generator {
    struct arena *arena, *scratch;
    const char *folder;
    const struct rule_set *set;
    bool failed;
};

static void write_page(struct generator *g, struct str name, struct buf *text)
{
    struct str error, path = arena_printf(g->arena, "%s/%.*s", g->folder, STR_ARG(name));
    if (io_write(g->arena, path.p, buf_str(text), &error)) return;
    fprintf(stderr, "%.*s: %.*s\n", STR_ARG(path), STR_ARG(error));
    g->failed = true;
}

/* ---- rules ---- */

/* The page of a rule below a page's own heading: every heading one level deeper. */
static void section(struct generator *g, struct buf *out, const struct rule *r)
{
    struct buf page = buf_new(g->arena);
    struct str line;
    rule_page(r, g->set, g->scratch, &page);
    struct str rest = str_trim(buf_str(&page));
    buf_add_char(out, '\n');
    while (str_split(&rest, '\n', &line))
        buf_printf(out, "%s%.*s\n", str_starts(line, STR("#")) ? "#" : "", STR_ARG(line));
}

static void write_suite(struct generator *g, struct str suite)
{
    struct buf out = buf_new(g->arena);
    buf_printf(&out, "# rules/%.*s\n\n" GENERATED DOCS_TABLE_OF_RECORDS, STR_ARG(suite));
    for (size_t i = 0; i < g->set->n; i++)
        if (str_eq(g->set->items[i]->suite, suite)) docs_row(&out, g->set->items[i], STR(""));
    for (size_t i = 0; i < g->set->n; i++)
        if (str_eq(g->set->items[i]->suite, suite)) section(g, &out, g->set->items[i]);
    write_page(g, arena_printf(g->arena, "rules/%.*s", STR_ARG(docs_page_name(g->arena, suite))),
               &out);
}

static void write_rules(struct generator *g)
{
    size_t n;
    const struct str *list = docs_suites(g->arena, g->set, &n);
    struct buf out = buf_new(g->arena);
    buf_printf(&out, "# Rules\n\n" GENERATED DOCS_OF_RECORDS, g->set->n);
    for (size_t i = 0; i < n; i++) {
        struct str page = docs_page_name(g->arena, list[i]);
        write_suite(g, list[i]);
        buf_printf(&out, "\n## [%.*s](%.*s)\n\n" DOCS_TABLE_OF_RECORDS, STR_ARG(list[i]),
                   STR_ARG(page));
        for (size_t k = 0; k < g->set->n; k++)
            if (str_eq(g->set->items[k]->suite, list[i])) docs_row(&out, g->set->items[k], page);
    }
    write_page(g, STR("rules/README.md"), &out);
}

static void guide_row(struct generator *g, struct buf *out, const struct guide_row *guide)
{
    buf_printf(out, "| %.*s | ", STR_ARG(guide->id));
    docs_cell(out, guide->text);
    if (guide->why.n) buf_add(out, STR(" *"));
    docs_cell(out, guide->why);
    buf_add(out, guide->why.n ? STR("* |") : STR(" |"));
    for (size_t i = 0; i < g->set->n; i++) {
        const struct rule *r = g->set->items[i];
        if (!rule_cites(r, guide->id)) continue;
        buf_printf(out, " [%.*s](rules/%.*s#%.*s)", STR_ARG(r->id),
                   STR_ARG(docs_page_name(g->arena, r->suite)), STR_ARG(r->id));
    }
    buf_add(out, STR(" |\n"));
}

static void write_guides(struct generator *g)
{
    struct buf out = buf_new(g->arena);
    struct str document = STR("");
    buf_add(&out,
            STR("# Decision guides\n\n" GENERATED
                "The rows of the decision guides and the records that encode them; in italics "
                "an older form of the row, or what\nanother document says. "
                "`moeplan rules --guides` also counts the scenarios.\n"));
    for (size_t i = 0; i < g->set->n_guides; i++) {
        const struct guide_row *guide = &g->set->guides[i];
        if (i == 0 || !str_eq(guide->source, document))
            buf_printf(&out, "\n## %.*s\n\n| row | guide | records |\n|---|---|---|\n",
                       STR_ARG(guide->source));
        document = guide->source;
        guide_row(g, &out, guide);
    }
    write_page(g, STR("guides.md"), &out);
}

/* ---- parameters ---- */

static void code_cell(struct buf *out, struct str text)
{
    if (text.n) buf_printf(out, " `%.*s`", STR_ARG(text));
}

static void spelling_cell(struct buf *out, const struct param_spelling *s)
{
    code_cell(out, s->key);
    for (size_t i = 0; i < s->n_flags; i++)
        if (!s->flags[i].removed.n) code_cell(out, s->flags[i].flag);
    buf_add(out, STR(" |"));
}

/* "int, between 1 and 1,024", "number (GiB), at least 0" */
static void value_cell(struct generator *g, struct buf *out, const struct param *p)
{
    static const char *const types[] = {"bool",    "int", "number",  "word", "list",
                                        "mapping", "any", "pattern", "tuple"};
    struct str range = param_range_words(g->arena, p);
    buf_printf(out, " %s", types[p->type]);
    if (p->unit.n && !str_is(p->unit, "1")) buf_printf(out, " (%.*s)", STR_ARG(p->unit));
    buf_printf(out, "%s%.*s |", range.n ? ", " : "", STR_ARG(range));
}

static void meaning_cells(struct generator *g, struct buf *out, const struct param *p)
{
    buf_add_char(out, ' ');
    docs_cell(out, p->doc);
    buf_add(out, STR(" |"));
    value_cell(g, out, p);
}

static void parameter(struct generator *g, struct buf *out, const struct param *p)
{
    buf_printf(out, "| `%.*s` |", STR_ARG(p->name));
    code_cell(out, p->symbol);
    buf_add(out, STR(" |"));
    meaning_cells(g, out, p);
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        spelling_cell(out, p->in[f]);
    buf_add_char(out, '\n');
}

static void write_coefficients(struct generator *g, struct buf *out)
{
    buf_add(out, STR("\n## Coefficients of platform files\n\n| name | meaning | value |\n"
                     "|---|---|---|\n"));
    for (uint32_t i = 0; i < coefficient_count; i++) {
        buf_printf(out, "| `%.*s` |", STR_ARG(coefficient_table[i].name));
        meaning_cells(g, out, &coefficient_table[i]);
        buf_add_char(out, '\n');
    }
}

static void write_parameters(struct generator *g)
{
    static const struct {
        enum param_scope scope;
        const char *title;
    } parts[] = {
        {SCOPE_PLAN, "The plan"},
        {SCOPE_MODEL, "The model"},
        {SCOPE_RUN, "The run"},
        {SCOPE_PLATFORM, "The platform"},
        {SCOPE_DERIVED, "Derived values"},
        {SCOPE_METRIC, "Metrics"},
    };
    struct buf out = buf_new(g->arena);
    buf_add(&out, STR("# Parameters\n\n" GENERATED
                      "The names of plan files, rules and `--set`, their symbols, and their "
                      "spelling in each framework. A value\nis what moeplan's own files and "
                      "options take; what recipes may hold is said by the frameworks' rules.\n"));
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        buf_printf(&out,
                   "\n## %s\n\n| name | symbol | meaning | value | %s | %s | %s |\n"
                   "|---|---|---|---|---|---|---|\n",
                   parts[k].title, framework_full_name(FRAMEWORK_MEGATRON),
                   framework_full_name(FRAMEWORK_BRIDGE), framework_full_name(FRAMEWORK_AUTOMODEL));
        for (uint32_t i = 0; i < param_count; i++)
            if (param_table[i].scope == parts[k].scope) parameter(g, &out, &param_table[i]);
    }
    write_coefficients(g, &out);
    write_page(g, STR("parameters.md"), &out);
}

/* ---- the manual pages ---- */

/* Text for roff: no escapes, no requests, dashes as they are typed. */
static void roff(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        bool starts = i == 0 || text.p[i - 1] == '\n';
        if (starts && (text.p[i] == '.' || text.p[i] == '\'')) buf_add(out, STR("\\&"));
        if (text.p[i] == '\\')
            buf_add(out, STR("\\e"));
        else if (text.p[i] == '-')
            buf_add(out, STR("\\-"));
        else
            buf_add_char(out, text.p[i]);
    }
}

static void roff_option(void *state, const struct option *option)
{
    struct buf *out = state;
    buf_add(out, STR(".TP\n\\fB"));
    roff(out, STR("--"));
    roff(out, str_of(option->name));
    buf_add(out, STR("\\fR "));
    roff(out, str_of(option->value));
    buf_add_char(out, '\n');
    roff(out, str_of(option->help));
    buf_add_char(out, '\n');
}

static void roff_command(struct buf *out, const struct command *command)
{
    buf_printf(out, ".SS %s ", command->name);
    roff(out, str_of(command->arguments));
    buf_add_char(out, '\n');
    roff(out, str_of(command->help));
    buf_add(out, STR(".\n"));
    if (command->details) {
        buf_add(out, STR(".PP\n"));
        roff(out, str_of(command->details));
    }
    options_each(command, roff_option, out);
}

static void write_manual(struct generator *g)
{
    struct buf out = buf_new(g->arena);
    buf_add(&out,
            STR(".\\\" SPDX-License-Identifier: Apache-2.0\n"
                ".\\\" Generated from the table of commands.\n"
                ".TH MOEPLAN 1 \"\" \"moeplan " MOEPLAN_VERSION "\" \"User Commands\"\n"
                ".SH NAME\nmoeplan \\- plan and check mixture\\-of\\-experts training\n"
                ".SH SYNOPSIS\n.B moeplan\n.I COMMAND\n[options]\n"
                ".SH DESCRIPTION\nPlans training configurations of mixture\\-of\\-experts models "
                "for Megatron\\-LM, Megatron\\-Bridge and NeMo AutoModel, estimates their memory "
                "and step time, and checks recipes before they take GPUs. Nothing is run and "
                "nothing is fetched.\n.SH COMMANDS\n"));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        roff_command(&out, commands[i]);
    buf_add(&out, STR(".SH EXIT STATUS\n.TP\n0\ngood: nothing found, a plan was found\n"
                      ".TP\n1\nthe answer is no: findings, no plan fits\n"
                      ".TP\n2\ncould not answer: usage, unreadable input, bad rules\n"
                      ".TP\n3\na defect of moeplan\n"
                      ".SH EXAMPLES\n.nf\n"
                      "moeplan suggest deepseek\\-v3 \\-\\-gpus 256 \\-\\-platform gb200\n"
                      "moeplan validate recipes/\n"
                      "moeplan estimate plan.yaml \\-\\-explain\n.fi\n"));
    write_page(g, STR("moeplan.1"), &out);
}

/* moeplan-suggest.1: a command on a page of its own. */
static void write_command_page(struct generator *g, const struct command *command)
{
    struct buf out = buf_new(g->arena), title = buf_new(g->arena);
    for (const char *p = command->name; *p; p++)
        buf_add_char(&title, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    buf_printf(&out,
               ".\\\" SPDX-License-Identifier: Apache-2.0\n"
               ".TH MOEPLAN\\-%.*s 1 \"\" \"moeplan " MOEPLAN_VERSION "\" \"User Commands\"\n"
               ".SH NAME\nmoeplan\\-%s \\- ",
               STR_ARG(buf_str(&title)), command->name);
    roff(&out, str_of(command->help));
    buf_printf(&out, "\n.SH SYNOPSIS\n.B moeplan %s\n", command->name);
    roff(&out, str_of(command->arguments));
    buf_add(&out, STR(" [options]\n"));
    if (command->details) {
        buf_add(&out, STR(".SH DESCRIPTION\n"));
        roff(&out, str_of(command->details));
    }
    buf_add(&out, STR(".SH OPTIONS\n"));
    options_each(command, roff_option, &out);
    buf_add(&out, STR(".SH SEE ALSO\n.BR moeplan (1)\n"));
    write_page(g, arena_printf(g->arena, "moeplan-%s.1", command->name), &out);
}

static void write_manuals(struct generator *g)
{
    write_manual(g);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        write_command_page(g, commands[i]);
}

static void write_docs(struct generator *g)
{
    write_rules(g);
    write_guides(g);
    write_parameters(g);
    write_manual(g);
}

int main(int argc, char **argv)
{
    bool manual = argc == 3 && strcmp(argv[1], "--manual") == 0;
    if (argc != 2 && !manual) {
        fprintf(stderr, "usage: generate_docs [--manual] FOLDER\n");
        return EXIT_FAILURE;
    }
    struct generator g = {.arena = arena_new(0), .scratch = arena_new(0), .folder = argv[argc - 1]};
    g.set = rules_builtin();
    if (manual)
        write_manuals(&g);
    else
        write_docs(&g);
    arena_free(g.scratch);
    arena_free(g.arena);
    return g.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
