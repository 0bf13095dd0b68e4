/* SPDX-License-Identifier: Apache-2.0 */
#include "base/edit.h"
#include "base/io.h"
#include "base/quote.h"
#include "cmd/load.h"
#include "emit/markdown.h"
#include "emit/rule_page.h"
#include "emit/words.h"
#include "facts/failure.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "rules/known.h"

/* ---- from an error text ---- */

/* What the text itself says of where and how much, before the page on what it means. */
static void add_figures(struct cmd_context *c, struct str text)
{
    struct failures f;
    struct str line, rest = text;
    failures_start(&f);
    while (str_split(&rest, '\n', &line))
        failures_line(&f, line);
    if (f.memory.asked > 0)
        buf_printf(&c->out, "%.*s\n%s\n\n",
                   LINE_ARG(c->keep, out_of_memory_text(c->keep, &f.memory)),
                   out_of_memory_advice(&f.memory));
    if (f.collective.lines > 0)
        buf_printf(&c->out, "%.*s\n\n",
                   LINE_ARG(c->keep, collective_timeout_text(c->keep, &f.collective)));
}

/* `unknown`: what is said of a text that no rule knows. */
static int explain_error(struct cmd_context *c, const struct rule_set *set, struct str text,
                         const char *unknown)
{
    struct known_error found[KNOWN_MATCHES];
    size_t n = known_errors_find(known_errors_new(c->keep, set), c->scratch, text, found);
    if (n == 0) {
        buf_printf(&c->out, "%s\n", unknown);
        return STATUS_NO;
    }
    add_figures(c, text);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_add(&c->out, STR("\n---\n\n"));
        rule_page(found[i].rule, set, c->scratch, &c->out);
    }
    return STATUS_OK;
}

/* ---- of a rule ---- */

static int explain_in(struct cmd_context *c, const struct rule *r, const struct rule_set *set)
{
    struct readings readings;
    struct str path = option_value(c, "in");
    if (!load_readings(c, set, &readings)) return STATUS_CANNOT;
    for (size_t i = 0; i < readings.n; i++) {
        struct str label = readings.items[i].label;
        label = arena_printf(c->keep, "In %.*s%s%.*s", STR_ARG(path), label.n ? ", " : "",
                             STR_ARG(label));
        rule_page_verdict(r, readings.items[i].facts, label, c->scratch, &c->out);
    }
    return STATUS_OK;
}

/* ---- of a row of the decision guides ---- */

static const struct guide_row *row_find(const struct rule_set *set, struct str id)
{
    for (size_t i = 0; i < set->n_guides; i++)
        if (str_eq(set->guides[i].id, id)) return &set->guides[i];
    return NULL;
}

/* What the row says, what an older form or another document says, and the rules that follow it. */
static int explain_row(struct cmd_context *c, const struct rule_set *set,
                       const struct guide_row *row)
{
    buf_printf(&c->out, "# %.*s\n\n%.*s\n", STR_ARG(row->id), STR_ARG(row->text));
    if (row->why.n) buf_printf(&c->out, "\n%.*s\n", STR_ARG(row->why));
    buf_add(&c->out, STR("\n## Rules\n\n"));
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *r = set->items[i];
        if (rule_cites(r, row->id))
            buf_printf(&c->out, "- %.*s: %.*s\n", STR_ARG(r->id), LINE_ARG(c->keep, r->message));
    }
    buf_printf(&c->out, "\n## Where it is from\n\n- source: %.*s\n", STR_ARG(row->source));
    if (row->date.n) buf_printf(&c->out, "- as of %.*s\n", STR_ARG(row->date));
    return STATUS_OK;
}

/* ---- of whatever a screen says ---- */

/* What a name is that another command shows, as the end of a sentence; empty: nothing. */
static struct str shown_elsewhere(struct cmd_context *c, struct str name)
{
    if (model_find(c->scratch, name))
        return arena_printf(c->scratch, "; it is a model: moeplan models %.*s", STR_ARG(name));
    struct entry_list platforms = platform_bases();
    for (size_t i = 0; i < platforms.n; i++)
        if (str_eq_nocase(platforms.items[i].id, name))
            return arena_printf(c->scratch, "; it is a platform: moeplan platforms %.*s",
                                STR_ARG(name));
    return STR("");
}

/* A name that is nothing: the nearest rule, parameter or word. */
static int unknown(struct cmd_context *c, const struct rule_set *set, struct str name)
{
    struct edit_nearest nearest = {.word = name};
    struct str elsewhere = shown_elsewhere(c, name);
    edit_offer(&nearest, rules_nearest(set, name));
    edit_offer(&nearest, param_nearest(name));
    edit_offer(&nearest, word_nearest(name));
    int meant = param_meant(name);
    if (meant >= 0) nearest.best = param_name(meant);
    if (!elsewhere.n && nearest.best.n)
        elsewhere = arena_printf(c->scratch, "; did you mean %.*s?", STR_ARG(nearest.best));
    return cmd_usage_error(c, "there is no rule, parameter, guide or word %.*s%.*s",
                           LINE_ARG(c->keep, name), STR_ARG(elsewhere));
}

/* A name that is no rule and no row of the guides. */
static int explain_word(struct cmd_context *c, const struct rule_set *set, struct str name)
{
    struct str layout = word_of_layout(name);
    const struct word_entry *word = word_find(layout.n ? layout : name);
    const struct param *coefficient = param_coefficient(name);
    int param = parameter_find(layout.n ? layout : name);
    if (word) word_page(word, &c->out);
    if (word && param >= 0) buf_add_char(&c->out, '\n');
    if (param >= 0) parameter_page(param, set, &c->out);
    if (word || param >= 0) return STATUS_OK;
    if (coefficient) coefficient_page(coefficient, &c->out);
    return coefficient || value_page(name, &c->out) ? STATUS_OK : unknown(c, set, name);
}

static int explain_name(struct cmd_context *c, const struct rule_set *set, struct str name)
{
    const struct rule *r = rules_find(set, name);
    const struct guide_row *row = row_find(set, name);
    if (row) return explain_row(c, set, row);
    if (!r) return explain_word(c, set, name);
    rule_page(r, set, c->scratch, &c->out);
    return option_given(c, "in") ? explain_in(c, r, set) : STATUS_OK;
}

/* An argument of several words that is no name is a pasted error. */
static int explain_words(struct cmd_context *c, const struct rule_set *set)
{
    struct str text = c->arguments[0];
    bool several = str_find(text, ' ') < text.n;
    if (!several || word_find(text)) return explain_name(c, set, text);
    return explain_error(c, set, text,
                         "this is no word of a screen, and no error that a rule knows");
}

static int explain(struct cmd_context *c, const struct rule_set *set)
{
    struct str text = option_value(c, "error"), problem;
    if (!option_given(c, "error")) return explain_words(c, set);
    bool named = str_is(text, "-") || io_is_file(str_dup(c->scratch, text).p);
    if (named && !io_read(c->keep, str_dup(c->scratch, text).p, &text, &problem))
        return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(option_value(c, "error")),
                               STR_ARG(problem));
    return explain_error(c, set, text, "no rule knows this error");
}

static int run(struct cmd_context *c)
{
    const struct rule_set *set;
    int markdown;
    if (!option_choice(c, "format", &markdown) || !cmd_load_rules(c, &set)) return STATUS_CANNOT;
    if (option_given(c, "error") == (c->n_arguments > 0))
        return cmd_usage_error(
            c, "give the name of a rule, a parameter, a guide's row or a word of a screen, or "
               "--error with the text of an error");
    int status = explain(c, set);
    struct str page = str_dup(c->keep, buf_str(&c->out));
    if (markdown) return status;
    c->out.n = 0;
    markdown_screen(page, &c->out);
    return status;
}

static const struct option options[] = {
    {"error", "TEXT",
     "find the rule by a pasted error or traceback, or by a file of one (-: standard input)"},
    {"format", "text|markdown", "for a screen, or as the page is written"},
    {"in", "FILE", "put in the numbers of this recipe; the options below as in validate"},
    {"gpus", "N", "world size"},
    {"platform", "P", "GPU platform"},
    {"model", "M", "model"},
    {"framework", "F", "megatron, bridge or automodel"},
    {"framework-version", "V", "its version"},
    {"set", "NAME=VALUE", "state or override a fact"},
    {"env", "NAME=VALUE", "an environment variable"},
    {0},
};

const struct command command_explain = {
    .name = "explain",
    .arguments = "[NAME]",
    .max_arguments = 1,
    .examples = "ep-divides-experts\ntp\nbubble\n--error \"CUDA out of memory\"",
    .help = "Explain a rule, a parameter, a word of a screen, a row of the guides, or an error",
    .options = options,
    .takes_flags = true,
    .loads_rules = true,
    .run = run,
};
