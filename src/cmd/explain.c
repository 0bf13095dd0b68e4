/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"
#include "base/quote.h"
#include "cmd/load.h"
#include "emit/rule_page.h"
#include "facts/failure.h"
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

static int explain_error(struct cmd_context *c, const struct rule_set *set)
{
    struct str text = option_value(c, "error"), problem;
    if (str_is(text, "-") && !io_read(c->keep, "-", &text, &problem))
        return cmd_usage_error(c, "standard input cannot be read: %.*s", STR_ARG(problem));
    struct known_error found[KNOWN_MATCHES];
    size_t n = known_errors_find(known_errors_new(c->keep, set), c->scratch, text, found);
    if (n == 0) {
        buf_add(&c->out, STR("no rule knows this error\n"));
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

static int explain_rule(struct cmd_context *c, const struct rule_set *set)
{
    const struct rule *r = rules_find(set, c->arguments[0]);
    const struct guide_row *row = row_find(set, c->arguments[0]);
    if (row) return explain_row(c, set, row);
    if (!r) {
        struct str nearest = rules_nearest(set, c->arguments[0]);
        return cmd_usage_error(c, "there is no rule %.*s%s%.*s%s", STR_ARG(c->arguments[0]),
                               nearest.n ? "; did you mean " : "", STR_ARG(nearest),
                               nearest.n ? "?" : "");
    }
    rule_page(r, set, c->scratch, &c->out);
    return option_given(c, "in") ? explain_in(c, r, set) : STATUS_OK;
}

static int run(struct cmd_context *c)
{
    const struct rule_set *set;
    if (!cmd_load_rules(c, &set)) return STATUS_CANNOT;
    bool by_error = option_given(c, "error");
    if (by_error == (c->n_arguments > 0))
        return cmd_usage_error(
            c, "give the id of a rule or of a guide's row, or --error with the text of an error");
    return by_error ? explain_error(c, set) : explain_rule(c, set);
}

static const struct option options[] = {
    {"error", "TEXT",
     "find the rule by a pasted error or traceback (- reads it from standard input)"},
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
    .arguments = "[RULE]",
    .max_arguments = 1,
    .help = "Explain a rule, a row of the guides (S1.3), or the rule behind an error",
    .options = options,
    .loads_rules = true,
    .run = run,
};
