/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctext.h"
#include "base/map.h"
#include "expr/expr.h"
#include "rules/run.h"

/* Each different expression is written once, under a number, and so is what a record is for. */
struct writer {
    struct buf *out;
    struct map number_of; /* source -> number */
    struct map ranges_of; /* ranges as C -> number */
    uint32_t n;
};

static void define(struct writer *w, const struct expr *e)
{
    if (!e || map_get(&w->number_of, expr_source(e)) >= 0) return;
    map_put(w->out->arena, &w->number_of, expr_source(e), w->n);
    expr_write_c(e, w->out, arena_printf(w->out->arena, "e%u", w->n++).p);
}

static void define_all(struct writer *w, const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        define(w, r->conditions[i]);
    for (size_t i = 0; i < r->n_set; i++)
        define(w, r->set[i].value);
    define(w, r->rule);
    define(w, r->message_expression);
    define(w, r->suggestion);
    define(w, r->help_expression);
    for (size_t i = 0; i < r->fix.n_set; i++)
        define(w, r->fix.set[i].value);
}

static void refer(struct writer *w, const struct expr *e)
{
    buf_printf(w->out, "&e%u", (unsigned)map_get(&w->number_of, expr_source(e)));
}

static void member_expr(struct writer *w, const char *name, const struct expr *e)
{
    if (!e) return;
    buf_printf(w->out, "    .%s = ", name);
    refer(w, e);
    buf_add(w->out, STR(",\n"));
}

static void member_str(struct writer *w, const char *name, struct str s)
{
    if (!s.n) return;
    buf_printf(w->out, "    .%s = ", name);
    ctext_str(w->out, s);
    buf_add(w->out, STR(",\n"));
}

static void member_strs(struct writer *w, const char *name, const struct str *items, size_t n)
{
    if (!n) return;
    buf_printf(w->out, "    .n_%s = %zu, .%s = (const struct str[]){", name, n, name);
    for (size_t i = 0; i < n; i++) {
        ctext_str(w->out, items[i]);
        buf_add(w->out, STR(", "));
    }
    buf_add(w->out, STR("},\n"));
}

static void numbers(struct writer *w, const uint32_t *items, size_t n)
{
    if (!n) {
        buf_add(w->out, STR("NULL"));
        return;
    }
    buf_add(w->out, STR("(const uint32_t[]){"));
    for (size_t i = 0; i < n; i++)
        buf_printf(w->out, "%u, ", items[i]);
    buf_add(w->out, STR("}"));
}

static void expr_list(struct writer *w, const struct expr *const *items, size_t n)
{
    buf_add(w->out, STR("(const struct expr *const[]){"));
    for (size_t i = 0; i < n; i++) {
        refer(w, items[i]);
        buf_add(w->out, STR(", "));
    }
    buf_add(w->out, STR("}"));
}

static void member_conditions(struct writer *w, const struct rule *r)
{
    if (!r->n_conditions) return;
    buf_printf(w->out, "    .n_conditions = %zu, .conditions = ", r->n_conditions);
    expr_list(w, r->conditions, r->n_conditions);
    buf_add(w->out, STR(", .condition_numbers = "));
    numbers(w, r->condition_numbers, r->n_conditions);
    buf_add(w->out, STR(",\n"));
}

static struct str ranges_text(struct arena *a, const struct version_range *in)
{
    struct buf text = buf_new(a);
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        buf_printf(&text, "{%s, ", in[k].applies ? "true" : "false");
        ctext_str(&text, in[k].from);
        buf_add(&text, STR(", "));
        ctext_str(&text, in[k].to);
        buf_add(&text, STR("}, "));
    }
    return buf_str(&text);
}

static void define_ranges(struct writer *w, const struct rule *r)
{
    struct arena *a = w->out->arena;
    struct str text = ranges_text(a, r->in);
    if (map_get(&w->ranges_of, text) >= 0) return;
    buf_printf(w->out, "static const struct version_range in%zu[] = {%.*s};\n", w->ranges_of.n,
               STR_ARG(text));
    map_put(a, &w->ranges_of, text, (uint32_t)w->ranges_of.n);
}

static void assignments(struct writer *w, const struct assignment *set, size_t n)
{
    buf_add(w->out, STR("(const struct assignment[]){"));
    for (size_t i = 0; i < n; i++) {
        buf_printf(w->out, "{%d, ", set[i].param);
        refer(w, set[i].value);
        buf_add(w->out, STR("}, "));
    }
    buf_add(w->out, STR("}"));
}

static void member_set(struct writer *w, const struct rule *r)
{
    if (!r->n_set) return;
    buf_printf(w->out, "    .n_set = %zu, .set = ", r->n_set);
    assignments(w, r->set, r->n_set);
    buf_add(w->out, STR(",\n"));
}

static void member_fix(struct writer *w, const struct rule_fix *fix)
{
    if (!fix->n_set && !fix->n_remove) return;
    buf_printf(w->out, "    .fix = {.safe = %d", fix->safe);
    if (fix->n_set) {
        buf_printf(w->out, ", .n_set = %zu, .set = ", fix->n_set);
        assignments(w, fix->set, fix->n_set);
    }
    if (fix->n_remove)
        buf_printf(w->out, ", .n_remove = %zu, .remove = (const int[]){", fix->n_remove);
    for (size_t i = 0; i < fix->n_remove; i++)
        buf_printf(w->out, "%d, ", fix->remove[i]);
    buf_add(w->out, fix->n_remove ? STR("}},\n") : STR("},\n"));
}

static void member_examples(struct writer *w, const struct rule *r)
{
    if (!r->n_examples) return;
    buf_printf(w->out, "    .n_examples = %zu, .examples = (const struct rule_example[]){",
               r->n_examples);
    for (size_t i = 0; i < r->n_examples; i++) {
        buf_printf(w->out, "\n        {%s, ", r->examples[i].good ? "true" : "false");
        ctext_str(w->out, r->examples[i].facts);
        buf_add(w->out, STR("},"));
    }
    buf_add(w->out, STR("},\n"));
}

static void member_at_defaults(struct writer *w, const struct rule *r)
{
    buf_add(w->out, STR("    .at_defaults = {"));
    for (int k = 0; k < FRAMEWORK_COUNT; k++)
        buf_printf(w->out, "%d, ", expr_at_defaults(r->rule, (enum framework)k, w->out->arena));
    buf_add(w->out, STR("},\n"));
}

static void write_rule(struct writer *w, const struct rule *r, size_t number)
{
    buf_printf(w->out, "static const struct rule r%zu = {\n", number);
    member_str(w, "id", r->id);
    buf_printf(w->out, "    .severity = %d, .phase = %d, .advice = %d,\n", (int)r->severity,
               (int)r->phase, (int)r->advice);
    buf_printf(w->out,
               "    .role = %d, .native = %d, .plans_silent = %d, .plans_estimated = %d, "
               ".plans_never = %d,\n",
               (int)r->role, r->native, r->plans_silent, r->plans_estimated, r->plans_never);
    buf_printf(w->out, "    .everywhere = %d,\n", r->everywhere);
    buf_printf(w->out, "    .of_trainer = %d,\n", r->of_trainer);
    buf_printf(w->out, "    .confidence = %a, .margin = %a, .parameter = %d,\n", r->confidence,
               r->margin, r->parameter);
    buf_printf(w->out, "    .upwards_free = %d, .uneven = %a,\n", r->upwards_free, r->uneven);
    buf_printf(w->out, "    .in = in%u,\n",
               (unsigned)map_get(&w->ranges_of, ranges_text(w->out->arena, r->in)));
    member_conditions(w, r);
    member_expr(w, "rule", r->rule);
    member_at_defaults(w, r);
    member_set(w, r);
    member_expr(w, "message_expression", r->message_expression);
    member_expr(w, "suggestion", r->suggestion);
    member_expr(w, "help_expression", r->help_expression);
    member_fix(w, &r->fix);
    member_str(w, "message", r->message);
    member_str(w, "why", r->why);
    member_str(w, "help", r->help);
    member_str(w, "source", r->source);
    member_str(w, "date", r->date);
    member_str(w, "error_type", r->error_type);
    member_str(w, "error_pattern", r->error_pattern);
    member_str(w, "since", r->since);
    member_str(w, "suite", r->suite);
    member_strs(w, "covers", r->covers, r->n_covers);
    member_strs(w, "guides", r->guides, r->n_guides);
    member_examples(w, r);
    buf_add(w->out, STR("};\n"));
}

static void write_lanes(struct writer *w, const struct rule_set *set)
{
    buf_add(w->out, STR("    .lanes = {\n"));
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        const struct rule_lane *lane = &set->lanes[k];
        buf_printf(w->out,
                   "        {.n_overrides = %zu, .n_assumptions = %zu, .n_checks = %zu, "
                   ".n_completions = %zu, .overrides = ",
                   lane->n_overrides, lane->n_assumptions, lane->n_checks, lane->n_completions);
        numbers(w, lane->overrides, lane->n_overrides);
        buf_add(w->out, STR(", .assumptions = "));
        numbers(w, lane->assumptions, lane->n_assumptions);
        buf_add(w->out, STR(", .checks = "));
        numbers(w, lane->checks, lane->n_checks);
        buf_add(w->out, STR(", .firsts = "));
        numbers(w, lane->firsts, lane->n_checks);
        buf_add(w->out, STR(", .completions = "));
        numbers(w, lane->completions, lane->n_completions);
        buf_add(w->out, STR("},\n"));
    }
    buf_add(w->out, STR("    },\n"));
}

static void write_at_defaults(struct writer *w, const struct rule_set *set)
{
    buf_printf(w->out, "    .n_at_defaults = %zu, .at_defaults = {\n", set->n_conditions);
    for (int k = 0; k < FRAMEWORK_COUNT; k++) {
        buf_add(w->out, STR("        (const unsigned char[]){"));
        for (size_t i = 0; i < set->n_conditions; i++)
            buf_printf(w->out, "%d, ",
                       expr_at_defaults(set->conditions[i], (enum framework)k, w->out->arena));
        buf_add(w->out, STR("},\n"));
    }
    buf_add(w->out, STR("    },\n"));
}

static void write_items(struct writer *w, const struct rule_set *set)
{
    if (!set->n) return;
    buf_printf(w->out, "    .n = %zu, .items = (const struct rule *const[]){", set->n);
    for (size_t i = 0; i < set->n; i++)
        buf_printf(w->out, "&r%zu, ", i);
    buf_add(w->out, STR("},\n    .by_id = "));
    numbers(w, set->by_id, set->n);
    buf_add(w->out, STR(",\n"));
}

static void write_guides(struct writer *w, const struct rule_set *set)
{
    if (!set->n_guides) return;
    buf_printf(w->out, "    .n_guides = %zu, .guides = (const struct guide_row[]){\n",
               set->n_guides);
    for (size_t i = 0; i < set->n_guides; i++) {
        buf_add(w->out, STR("        {"));
        const struct guide_row *row = &set->guides[i];
        const struct str members[] = {row->id, row->text, row->source, row->date, row->why};
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
            ctext_str(w->out, members[k]);
            buf_add(w->out, STR(", "));
        }
        buf_add(w->out, STR("},\n"));
    }
    buf_add(w->out, STR("    },\n"));
}

void rules_write_c(const struct rule_set *set, struct buf *out)
{
    struct writer w = {.out = out};
    buf_add(out, STR("/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated from rules/. */\n"
                     "#include \"expr/program.h\"\n#include \"rules/rule.h\"\n\n"));
    for (size_t i = 0; i < set->n_conditions; i++)
        define(&w, set->conditions[i]);
    for (size_t i = 0; i < set->n; i++)
        define_all(&w, set->items[i]);
    for (size_t i = 0; i < set->n; i++)
        define_ranges(&w, set->items[i]);
    for (size_t i = 0; i < set->n; i++)
        write_rule(&w, set->items[i], i);
    buf_add(out, STR("static const struct rule_set builtin = {\n"));
    write_items(&w, set);
    if (set->n_conditions) {
        buf_printf(out, "    .n_conditions = %zu, .conditions = ", set->n_conditions);
        expr_list(&w, set->conditions, set->n_conditions);
        buf_add(out, STR(",\n"));
        write_at_defaults(&w, set);
    }
    write_lanes(&w, set);
    write_guides(&w, set);
    buf_add(out,
            STR("};\n\nconst struct rule_set *rules_builtin(void)\n{\n    return &builtin;\n}\n"));
}
