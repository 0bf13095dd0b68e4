/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"
#include "base/quote.h"
#include "cmd/load.h"
#include "emit/rule_page.h"

enum { MOST_MATCHES = 3 };

/* ---- from an error text ---- */

struct match {
    const struct rule *rule;
    size_t score; /* bytes of the text that the rule's pattern and error type account for */
};

/* Blank and quote differences do not count: tracebacks are wrapped and quoted on their way into a
 * bug report. */
static struct str normalise(struct arena *a, struct str s)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        bool after_blank = !out.n || out.p[out.n - 1] == ' ';
        if (blank && after_blank) continue;
        if (c == '"' || c == '\'' || c == '`') continue;
        buf_add_char(&out, blank ? ' ' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    return str_trim(buf_str(&out));
}

/* Whether the pattern's parts, which "…" separates, stand in the text in their order. */
static bool pattern_matches(struct str text, struct str pattern)
{
    while (pattern.n) {
        size_t end = str_find_str(pattern, STR("…"));
        struct str part = str_trim(str_slice(pattern, 0, end));
        size_t at = str_find_str(text, part);
        if (part.n && at == text.n) return false;
        text = str_slice(text, at + part.n, text.n);
        pattern = str_slice(pattern, end + strlen("…"), pattern.n);
    }
    return true;
}

static size_t score(struct cmd_context *c, struct str text, const struct rule *r)
{
    struct str pattern = normalise(c->scratch, r->error_pattern),
               type = normalise(c->scratch, r->error_type);
    if (!pattern.n || !pattern_matches(text, pattern)) return 0;
    bool typed = type.n && str_find_str(text, type) < text.n;
    return pattern.n + (typed ? type.n : 0);
}

static void insert(struct match *best, const struct rule *r, size_t s)
{
    for (size_t i = 0; i < MOST_MATCHES; i++) {
        if (s <= best[i].score) continue;
        memmove(best + i + 1, best + i, (MOST_MATCHES - i - 1) * sizeof *best);
        best[i] = (struct match){r, s};
        return;
    }
}

static int explain_error(struct cmd_context *c, const struct rule_set *set)
{
    struct str text = option_value(c, "error"), problem;
    if (str_is(text, "-") && !io_read(c->keep, "-", &text, &problem))
        return cmd_usage_error(c, "standard input cannot be read: %.*s", STR_ARG(problem));
    text = normalise(c->keep, text);
    struct match best[MOST_MATCHES] = {0};
    for (size_t i = 0; i < set->n; i++) {
        size_t s = score(c, text, set->items[i]);
        if (s) insert(best, set->items[i], s);
        arena_reset(c->scratch);
    }
    if (!best[0].rule) {
        buf_add(&c->out, STR("no rule knows this error\n"));
        return STATUS_NO;
    }
    for (size_t i = 0; i < MOST_MATCHES && best[i].rule; i++) {
        if (i) buf_add(&c->out, STR("\n---\n\n"));
        rule_page(best[i].rule, set, c->scratch, &c->out);
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
