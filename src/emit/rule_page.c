/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/rule_page.h"

#include <limits.h>

#include "emit/example_words.h"

enum { MOST_LINES = 8, WIDTH = 110 };
/* What a reader is spared of examples, in facts: a rule that is not applicable, nothing in common
   with the wrong one, a value out of the ordinary, the same words twice. */
enum { IDLE = 4, UNRELATED = 8, ODD = 100, REPEATED = 1000 };

static void heading(struct buf *out, const char *text)
{
    buf_printf(out, "\n## %s\n\n", text);
}

/* "error in Megatron-LM (>= 0.14) and Megatron-Bridge" */
static void where(const struct rule *r, struct buf *out)
{
    const char *what =
        r->role == ROLE_OVERRIDE && !r->message.n ? "done by" : severity_name(r->severity);
    buf_printf(out, "**%s** %s", what, r->role == ROLE_OVERRIDE && !r->message.n ? "" : "in ");
    bool first = true;
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        const struct version_range *range = &r->in[k];
        if (!range->applies) continue;
        buf_printf(out, "%s%s", first ? "" : ", ", framework_full_name((enum framework)k));
        if (range->from.n) buf_printf(out, " from %.*s", STR_ARG(range->from));
        if (range->to.n) buf_printf(out, " before %.*s", STR_ARG(range->to));
        first = false;
    }
    if (r->parameter >= 0) buf_printf(out, " · %.*s", STR_ARG(param_table[r->parameter].name));
    buf_add_char(out, '\n');
    if (r->message.n) buf_printf(out, "\n%.*s\n", STR_ARG(r->message));
}

/* Where a line of an expression that is too long is best broken: at the last of the outermost
   joints within the width; its end when there is none. */
static size_t break_of(struct str s)
{
    size_t best = s.n;
    int depth = 0, least = INT_MAX;
    char quote = '\0';
    for (size_t i = 0; i + 1 < s.n && i < WIDTH; i++) {
        char c = s.p[i];
        bool quoted = quote != '\0';
        if (quoted ? c == quote : c == '"' || c == '\'') quote = quoted ? '\0' : c;
        if (quoted) continue;
        depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
        bool joint = c == ' ' && i && (strchr("&|?:", s.p[i + 1]) || s.p[i - 1] == ',');
        if (!joint || depth > least) continue;
        best = i;
        least = depth;
    }
    return best;
}

/* An expression as its author broke it into lines, the longer of which are broken further. */
static void code(struct buf *out, struct str text)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        size_t at = line.n > WIDTH ? break_of(line) : line.n;
        buf_printf(out, "    %.*s\n", STR_ARG(str_slice(line, 0, at)));
        for (line = str_slice(line, at, line.n); line.n; line = str_slice(line, at, line.n)) {
            at = line.n > WIDTH ? break_of(line) : line.n;
            buf_printf(out, "       %.*s\n", STR_ARG(str_slice(line, 0, at)));
        }
    }
}

static void variables(const struct rule *r, struct buf *out)
{
    struct expr_use_list all = rule_variables(out->arena, r);
    if (all.n) buf_add(out, STR("\nwhere\n\n"));
    for (size_t i = 0; i < all.n; i++) {
        const struct expr_use *use = &all.items[i];
        code(out, arena_printf(out->arena, "%.*s = %.*s", STR_ARG(use->name), STR_ARG(use->text)));
        if (use->doc.n) buf_printf(out, "        // %.*s\n", STR_ARG(use->doc));
    }
}

static void expressions(const struct rule *r, struct buf *out)
{
    if (r->native) return;
    heading(out, "The rule");
    if (r->n_conditions) buf_add(out, STR("When\n\n"));
    for (size_t i = 0; i < r->n_conditions; i++)
        code(out, expr_text(r->conditions[i]));
    if (r->rule) {
        buf_printf(out, "%s\n\n", r->n_conditions ? "\nthis must hold" : "This must hold");
        code(out, expr_text(r->rule));
    }
    if (r->n_set)
        buf_printf(out, "\n%s\n\n",
                   r->role == ROLE_OVERRIDE ? "the framework sets" : "the plan takes");
    for (size_t i = 0; i < r->n_set; i++) {
        struct str name = param_table[r->set[i].param].name, value = expr_text(r->set[i].value);
        code(out, arena_printf(out->arena, "%.*s = %.*s", STR_ARG(name), STR_ARG(value)));
    }
    variables(r, out);
}

static void framework_error(const struct rule *r, struct buf *out)
{
    if (!r->error_type.n && !r->error_pattern.n) return;
    heading(out, "What the framework says");
    struct str rest = r->error_pattern, text = {"", 0};
    do {
        if (rest.n) str_split(&rest, '\n', &text);
        bool both = r->error_type.n && text.n;
        buf_printf(out, "    %.*s%s%.*s\n", STR_ARG(r->error_type), both ? ": … " : "",
                   STR_ARG(text));
    } while (rest.n);
}

static void configuration(struct str text, struct buf *out)
{
    struct str line;
    while (str_split(&text, '\n', &line))
        buf_printf(out, "    %.*s\n", STR_ARG(line));
}

static void trace(const struct expr *e, const struct facts *f, struct arena *scratch,
                  struct buf *out)
{
    struct expr_scope scope = facts_scope(f);
    struct str lines[2 * MOST_LINES];
    size_t n = e ? expr_trace(e, scratch, &scope, lines, MOST_LINES) : 0;
    if (e) n += expr_trace_variables(e, scratch, &scope, lines + n, MOST_LINES);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "      = note: %.*s\n", STR_ARG(lines[i]));
}

static void headline(const struct diag *d, struct buf *out)
{
    buf_printf(out, "    %s[%.*s]: %.*s\n", severity_name(d->severity), STR_ARG(d->rule),
               STR_ARG(d->message));
}

static void help_line(const struct diag *d, struct buf *out)
{
    if (d->help.n) buf_printf(out, "      = help: %.*s\n", STR_ARG(d->help));
}

/* How much of an example is in the way of reading it, nothing where it is what a user writes: what
   it says beyond the example it stands beside or leaves out of it, and values that nobody writes
   but to try the rule. */
static size_t weight(const struct node *root, const struct node *beside)
{
    size_t sum = beside ? beside->n + UNRELATED : 0, common = 0;
    if (root && rule_example_text(root).n) return 0;
    for (size_t i = 0; root && i < root->n; i++) {
        struct str text = root->items[i]->text;
        bool odd = root->items[i]->kind == NODE_SCALAR &&
                   (str_is(text, "null") || str_is(text, "0") || str_starts(text, STR("-")));
        bool shared = beside && node_get(beside, root->keys[i]->text);
        sum = shared ? sum - 1 : sum + 1;
        if (odd) sum += ODD;
        common += shared;
    }
    return sum - (common ? UNRELATED : 0);
}

static bool meets_conditions(const struct rule *r, const struct rule_set *set,
                             const struct rule_example *example, struct arena *work,
                             struct arena *scratch)
{
    struct diags quiet;
    diags_init(&quiet, work);
    struct facts *f = rule_example_facts(work, &quiet, r, example, set, scratch);
    return f && rule_evaluate(r, f, scratch) == OUTCOME_PASS;
}

static const struct node *mapping_of(const struct rule *r, const struct rule_example *example,
                                     struct arena *work)
{
    struct diags quiet;
    const struct node *root;
    diags_init(&quiet, work);
    rule_example_start(work, &quiet, r, example, &root);
    return root;
}

/* The simplest example of a kind, a good one as near to the bad one as there is; rather one that
   meets the conditions than one they leave out. */
static const struct rule_example *example_pick(const struct rule *r, const struct rule_set *set,
                                               bool good, const struct rule_example *beside,
                                               struct arena *work, struct arena *scratch)
{
    const struct rule_example *best = NULL;
    const struct node *other = beside ? mapping_of(r, beside, work) : NULL;
    struct str shown = beside ? example_words(work, r, beside) : STR("");
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < r->n_examples; i++) {
        const struct rule_example *example = &r->examples[i];
        if (example->good != good) continue;
        size_t w = weight(mapping_of(r, example, work), other);
        bool idle = good && !r->native && !meets_conditions(r, set, example, work, scratch);
        if (idle) w += IDLE;
        if (beside && str_eq(example_words(work, r, example), shown)) w += REPEATED;
        if (w < least) best = example;
        if (w < least) least = w;
    }
    return best;
}

/* Without the origin of operands, which are all written just above. */
static void example_finding(const struct rule *r, const struct facts *f, struct arena *scratch,
                            struct buf *out)
{
    const struct diag *d = rule_report(NULL, r, f, scratch);
    buf_add_char(out, '\n');
    headline(d, out);
    trace(r->rule, f, scratch, out);
    help_line(d, out);
}

/* Overrides, assumptions and guides without a rule find nothing wrong. */
static bool judges(const struct rule *r)
{
    return r->rule || r->native;
}

static void wrong(const struct rule *r, const struct rule_set *set,
                  const struct rule_example *example, struct arena *work, struct arena *scratch,
                  struct buf *out)
{
    heading(out, judges(r) ? "Wrong" : "Applies");
    configuration(example_words(work, r, example), out);
    if (r->native || r->role != ROLE_CHECK) return;
    struct diags found;
    diags_init(&found, work);
    struct facts *f = rule_example_facts(work, &found, r, example, set, scratch);
    if (f) example_finding(r, f, scratch, out);
}

static void examples(const struct rule *r, const struct rule_set *set, struct arena *scratch,
                     struct buf *out)
{
    struct arena *work = arena_child(scratch, 0);
    const struct rule_example *bad = example_pick(r, set, false, NULL, work, scratch);
    const struct rule_example *good = example_pick(r, set, true, bad, work, scratch);
    if (bad) wrong(r, set, bad, work, scratch, out);
    if (good) {
        heading(out, judges(r) ? "Right" : "Does not apply");
        configuration(example_words(work, r, good), out);
    }
    arena_free(work);
}

static void list(const char *what, const struct str *items, size_t n, struct buf *out)
{
    if (!n) return;
    buf_printf(out, "- %s", what);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s %.*s", i ? "," : "", STR_ARG(items[i]));
    buf_add_char(out, '\n');
}

static void origin(const struct rule *r, struct buf *out)
{
    heading(out, "Where it is from");
    if (r->source.n) buf_printf(out, "- source: %.*s\n", STR_ARG(r->source));
    if (r->date.n) buf_printf(out, "- as of %.*s\n", STR_ARG(r->date));
    list("guide:", r->guides, r->n_guides, out);
    list("states completely:", r->covers, r->n_covers, out);
    buf_printf(out, "- file: rules/%.*s\n", STR_ARG(r->suite));
}

void rule_page(const struct rule *r, const struct rule_set *set, struct arena *scratch,
               struct buf *out)
{
    buf_printf(out, "# %.*s\n\n", STR_ARG(r->id));
    where(r, out);
    if (r->why.n) buf_printf(out, "\n%.*s\n", STR_ARG(r->why));
    if (r->help.n) buf_printf(out, "\nHelp: %.*s\n", STR_ARG(r->help));
    expressions(r, out);
    framework_error(r, out);
    examples(r, set, scratch, out);
    origin(r, out);
}

/* ---- on a configuration ---- */

/* The first condition that does not hold; NULL when all do. */
static const struct expr *condition_against(const struct rule *r, const struct facts *f,
                                            enum value_kind kind, struct arena *scratch)
{
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < r->n_conditions; i++) {
        struct value v = expr_eval(r->conditions[i], scratch, &scope);
        if (v.kind == kind && !(kind == VALUE_BOOL && v.b)) return r->conditions[i];
    }
    return NULL;
}

static void not_applicable(const struct rule *r, const struct facts *f, struct arena *scratch,
                           struct buf *out)
{
    const struct expr *e = condition_against(r, f, VALUE_BOOL, scratch);
    struct str text = e ? expr_text(e) : STR("");
    buf_printf(out, "    not applicable: %.*s does not hold\n", STR_ARG(text));
    trace(e, f, scratch, out);
}

static void undecided(const struct rule *r, const struct facts *f, struct arena *scratch,
                      struct buf *out)
{
    const struct expr *e = condition_against(r, f, VALUE_UNKNOWN, scratch);
    if (!e) e = r->rule;
    struct str text = expr_text(e);
    buf_printf(out, "    skipped: %.*s cannot be decided\n", STR_ARG(text));
    const uint32_t *slots;
    size_t n = expr_slots(e, &slots);
    for (size_t i = 0; i < n; i++) {
        int param = facts_slot_param(slots[i]);
        if (param >= 0 && !fact_is_known(facts_get(f, param)))
            buf_printf(out, "      = note: %.*s is unknown\n", STR_ARG(param_table[param].name));
    }
}

static void finding(const struct diag *d, struct buf *out)
{
    headline(d, out);
    for (size_t i = 0; i < d->notes.n; i++)
        buf_printf(out, "      = note: %.*s\n", STR_ARG(d->notes.items[i]));
    help_line(d, out);
}

void rule_page_verdict(const struct rule *r, const struct facts *f, struct str label,
                       struct arena *scratch, struct buf *out)
{
    heading(out, label.p);
    if (r->native || !rule_is_for(r, f)) {
        buf_add(out, r->native ? STR("    see validate: this is found while the file is read\n")
                               : STR("    not for this framework or version\n"));
        return;
    }
    switch (rule_evaluate(r, f, scratch)) {
    case OUTCOME_NOT_APPLICABLE: not_applicable(r, f, scratch, out); break;
    case OUTCOME_UNKNOWN: undecided(r, f, scratch, out); break;
    case OUTCOME_BROKEN: buf_add(out, STR("    skipped: the rule itself is broken\n")); break;
    case OUTCOME_PASS:
        buf_add(out, STR("    holds\n"));
        trace(r->rule, f, scratch, out);
        break;
    case OUTCOME_FAIL: finding(rule_report(NULL, r, f, scratch), out); break;
    }
}
