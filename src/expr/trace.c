/* SPDX-License-Identifier: Apache-2.0 */
/* Why an expression is what it is: down to the comparisons that decide, each with values put in. */
#include "base/buf.h"
#include "expr/func.h"
#include "expr/message.h"
#include "expr/run.h"

enum { LONGEST_TEXT = 80 };

struct trace {
    struct run run; /* its steps bound the whole trace */
    struct str *lines;
    size_t n, most;
};

static const struct expr_node *node_at(const struct trace *t, uint32_t at)
{
    return &t->run.e->nodes[at];
}

/* What a variable stands for, the node itself for others. */
static uint32_t behind(const struct trace *t, uint32_t at)
{
    while (node_at(t, at)->op == OP_VARIABLE)
        at = node_at(t, at)->a;
    return at;
}

static const struct expr_node *meant(const struct trace *t, uint32_t at)
{
    return node_at(t, behind(t, at));
}

static void add_line(struct trace *t, struct buf *text)
{
    struct str line = buf_str(text);
    if (!str_among(line, t->lines, t->n) && t->n < t->most) t->lines[t->n++] = line;
}

static bool is_value(struct value v)
{
    return v.kind > VALUE_ERROR;
}

/* Texts stand in quotes. */
static void add_value(struct buf *out, struct value v)
{
    struct str text = message_quote(out->arena, value_brief(out->arena, v));
    const char *quote = v.kind == VALUE_STRING ? "\"" : "";
    buf_printf(out, "%s%.*s%s", quote, STR_ARG(text), quote);
}

static bool is_arithmetic(const struct expr_node *n)
{
    return n->op >= OP_ADD && n->op <= OP_MOD;
}

/* A call worth showing: one that picks a default for a missing value computes nothing. */
static bool is_shown_call(const struct expr_node *n)
{
    return n->op == OP_CALL && strcmp(func_table[n->c].name, "orValue") != 0;
}

/* Whether putting values in shows more than the value itself. */
static bool is_computed(const struct expr_node *n)
{
    return is_arithmetic(n) || is_shown_call(n) || n->op == OP_NEG;
}

static int precedence(const struct expr_node *n)
{
    if (n->op == OP_ADD || n->op == OP_SUB) return 1;
    return is_arithmetic(n) ? 2 : 3;
}

static void render(struct trace *t, struct buf *out, uint32_t at);

static void render_operand(struct trace *t, struct buf *out, uint32_t at, bool in_parentheses)
{
    if (in_parentheses) buf_add_char(out, '(');
    render(t, out, at);
    if (in_parentheses) buf_add_char(out, ')');
}

static void render_call(struct trace *t, struct buf *out, const struct expr_node *n)
{
    buf_printf(out, "%s(", func_table[n->c].name);
    for (uint32_t i = 0; i < n->b; i++) {
        if (i) buf_add(out, STR(", "));
        render(t, out, t->run.e->args[n->a + i]);
    }
    buf_add_char(out, ')');
}

/* The node with values in the places of names: "8 * 4 + 1", "ceilDiv(61, 8)". */
static void render(struct trace *t, struct buf *out, uint32_t at)
{
    const struct expr_node *n = meant(t, at);
    if (is_arithmetic(n)) {
        int mine = precedence(n);
        render_operand(t, out, n->a, precedence(meant(t, n->a)) < mine);
        buf_printf(out, " %s ", message_sign((enum expr_op)n->op));
        render_operand(t, out, n->b, precedence(meant(t, n->b)) <= mine);
    } else if (n->op == OP_NEG) {
        buf_add_char(out, '-');
        render_operand(t, out, n->a, precedence(meant(t, n->a)) < 3);
    } else if (is_shown_call(n)) {
        render_call(t, out, n);
    } else {
        add_value(out, run_node(&t->run, at));
    }
}

/* "256 % 48 = 16" */
static void show_computation(struct trace *t, uint32_t at)
{
    struct buf out = buf_new(t->run.scratch);
    struct value v = run_node(&t->run, at);
    if (!is_computed(meant(t, at)) || !is_value(v)) return;
    render(t, &out, at);
    buf_add(&out, STR(" = "));
    add_value(&out, v);
    add_line(t, &out);
}

/* "32 <= 16 is false", then how the sides came about; a side computed for a literal speaks for
   itself. */
static void show_comparison(struct trace *t, const struct expr_node *n, bool result)
{
    struct buf out = buf_new(t->run.scratch);
    struct value a = run_node(&t->run, n->a), b = run_node(&t->run, n->b);
    const struct expr_node *left = meant(t, n->a), *right = meant(t, n->b);
    bool obvious = (is_computed(left) && right->op == OP_CONST) ||
                   (is_computed(right) && left->op == OP_CONST);
    if (!obvious && is_value(a) && is_value(b)) {
        add_value(&out, a);
        buf_printf(&out, " %s ", message_sign((enum expr_op)n->op));
        add_value(&out, b);
        buf_add(&out, result ? STR(" is true") : STR(" is false"));
        add_line(t, &out);
    }
    show_computation(t, n->a);
    show_computation(t, n->b);
}

/* "plan.sequence_parallel is false" */
static void show_plain(struct trace *t, uint32_t at, bool result)
{
    const struct expr_node *n = node_at(t, at);
    struct buf out = buf_new(t->run.scratch);
    if (n->op == OP_CONST) return;
    if (n->op == OP_CALL)
        render(t, &out, at);
    else
        buf_add(&out, str_slice(t->run.e->source, n->from, n->to));
    buf_add(&out, result ? STR(" is true") : STR(" is false"));
    add_line(t, &out);
}

static void explain(struct trace *t, uint32_t at);

/* The first item whose predicate decided an all() or exists(). */
static bool explain_item(struct trace *t, const struct expr_node *n, bool decider)
{
    struct run_range range;
    if (!run_range_of(run_node(&t->run, n->a), &range)) return false;
    struct value outer[EXPR_MAX_LOCALS]; /* a variable's macros have the same numbers */
    memcpy(outer, t->run.locals, sizeof outer);
    bool found = false;
    for (size_t i = 0; i < range.n && !found; i++) {
        run_bind(&t->run, n, &range, i);
        struct value v = run_node(&t->run, n->b);
        found = v.kind == VALUE_BOOL && v.b == decider;
        if (found) explain(t, n->b);
    }
    memcpy(t->run.locals, outer, sizeof outer);
    return found;
}

/* && and ||: the operands that gave the result. */
static void explain_logic(struct trace *t, const struct expr_node *n, bool result)
{
    uint32_t operands[] = {n->a, n->b};
    for (size_t i = 0; i < 2; i++) {
        struct value v = run_node(&t->run, operands[i]);
        if (v.kind == VALUE_BOOL && v.b == result) explain(t, operands[i]);
    }
}

/* Adds lines for a node that is true or false; others explain nothing. */
static void explain(struct trace *t, uint32_t at)
{
    struct value v = run_node(&t->run, at);
    const struct expr_node *n = node_at(t, at = behind(t, at));
    if (v.kind != VALUE_BOOL || t->n == t->most) return;
    if (n->op == OP_AND || n->op == OP_OR) {
        explain_logic(t, n, v.b);
    } else if (n->op == OP_NOT) {
        explain(t, n->a);
    } else if (n->op == OP_COND) {
        explain(t, run_node(&t->run, n->a).b ? n->b : n->c);
    } else if (n->op >= OP_EQ && n->op <= OP_IN) {
        show_comparison(t, n, v.b);
    } else if (!((n->op == OP_ALL || n->op == OP_EXISTS) && v.b == (n->op == OP_EXISTS) &&
                 explain_item(t, n, v.b))) {
        show_plain(t, at, v.b);
    }
}

size_t expr_trace(const struct expr *e, struct arena *scratch, const struct expr_scope *scope,
                  struct str *lines, size_t most)
{
    struct trace t; /* not cleared, see run_init */
    t.lines = lines;
    t.n = 0;
    t.most = most;
    run_init(&t.run, e, scratch, scope);
    if (run_node(&t.run, e->root).kind == VALUE_BOOL)
        explain(&t, e->root);
    else
        show_computation(&t, e->root);
    return t.n;
}

/* Whether the text, not only a variable in it, names the variable. */
static bool is_named(const struct expr *e, uint32_t number)
{
    for (uint32_t i = 1; i < e->n_nodes; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (n->op == OP_VARIABLE && n->b == number && n->to <= e->n_text) return true;
    }
    return false;
}

size_t expr_trace_variables(const struct expr *e, struct arena *scratch,
                            const struct expr_scope *scope, struct str *lines, size_t most)
{
    struct run run;
    size_t n = 0;
    run_init(&run, e, scratch, scope);
    for (uint32_t i = 0; i < e->n_variables && n < most; i++) {
        const struct expr_use *use = &e->variables[i];
        struct value v = is_named(e, i) ? run_node(&run, use->root) : value_unknown();
        struct buf out = buf_new(scratch);
        if (!is_value(v)) continue;
        bool tells = e->nodes[use->root].op != OP_CONST && use->text.n <= LONGEST_TEXT &&
                     str_find(use->text, '\n') == use->text.n;
        buf_printf(&out, "%.*s = ", STR_ARG(use->name));
        add_value(&out, v);
        if (tells) buf_printf(&out, ": %.*s", STR_ARG(use->text));
        if (use->doc.n) buf_printf(&out, " (%.*s)", STR_ARG(use->doc));
        lines[n++] = buf_str(&out);
    }
    return n;
}
