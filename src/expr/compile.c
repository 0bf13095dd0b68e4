/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/compile.h"

#include "base/utf8.h"

static uint32_t characters(struct str s)
{
    return (uint32_t)utf8_count(s);
}

/* The place of the bytes [from, to) when the text stands on one line as it is, perhaps in quotes;
   else of the whole. */
static struct span place(const struct compiler *c, uint32_t from, uint32_t to)
{
    struct span at = c->at;
    uint32_t width = characters(c->text), seen = at.end_column - at.column;
    bool quoted = seen == width + 2;
    if (!at.line || at.line != at.end_line || (seen != width && !quoted)) return at;
    uint32_t start = at.column + quoted;
    at.column = start + characters(str_slice(c->text, 0, from));
    at.end_column = start + characters(str_slice(c->text, 0, to));
    return at;
}

struct diag *compile_error(struct compiler *c, uint32_t from, uint32_t to, const char *format, ...)
{
    c->failed = true;
    va_list args;
    va_start(args, format);
    struct diag *d =
        diag_vadd(c->diags, SEVERITY_ERROR, "expression", place(c, from, to), format, args);
    va_end(args);
    if (c->at.line != c->at.end_line || !c->at.line)
        diag_note(c->diags, d, "at character %u of: %.*s",
                  characters(str_slice(c->text, 0, from)) + 1, STR_ARG(c->text));
    return d;
}

uint32_t compile_node(struct compiler *c, enum expr_op op, uint32_t a, uint32_t b, uint32_t from,
                      uint32_t to)
{
    if (c->nodes.n >= EXPR_MAX_NODES && !c->failed)
        compile_error(c, from, to, "the expression is too long");
    *VEC_PUSH(c->arena, &c->nodes) = (struct expr_node){
        .op = (uint8_t)op, .a = (uint16_t)a, .b = (uint16_t)b, .from = from, .to = to};
    *VEC_PUSH(c->arena, &c->named) = 0;
    return (uint32_t)c->nodes.n - 1;
}

void compile_raise(struct compiler *c, uint32_t node, uint32_t child)
{
    struct expr_node *n = &c->nodes.items[node];
    int height = c->nodes.items[child].height + 1;
    if (height > EXPR_MAX_HEIGHT && !c->failed)
        compile_error(c, n->from, n->to, "the expression is nested too deeply");
    if (height <= EXPR_MAX_HEIGHT && height > n->height) n->height = (uint8_t)height;
}

uint32_t compile_above(struct compiler *c, enum expr_op op, uint32_t a, uint32_t b)
{
    uint32_t from = c->nodes.items[a].from, to = c->nodes.items[b ? b : a].to;
    uint32_t node = compile_node(c, op, a, b, from, to);
    compile_raise(c, node, a);
    if (b) compile_raise(c, node, b);
    return node;
}

uint32_t compile_args(struct compiler *c, const uint32_t *nodes, size_t n)
{
    uint32_t first = (uint32_t)c->args.n;
    for (size_t i = 0; i < n; i++)
        *VEC_PUSH(c->arena, &c->args) = nodes[i];
    return first;
}

uint32_t compile_over(struct compiler *c, enum expr_op op, const uint32_t *nodes, size_t count,
                      size_t n, uint32_t from, uint32_t to)
{
    uint32_t node = compile_node(c, op, compile_args(c, nodes, count), (uint32_t)n, from, to);
    for (size_t i = 0; i < count; i++)
        compile_raise(c, node, nodes[i]);
    return node;
}

uint32_t compile_constant(struct compiler *c, struct value v)
{
    *VEC_PUSH(c->arena, &c->constants) = v;
    return (uint32_t)c->constants.n - 1;
}

uint32_t compile_literal(struct compiler *c, struct value v, uint32_t from, uint32_t to)
{
    return compile_node(c, OP_CONST, compile_constant(c, v), 0, from, to);
}

static bool reads_slot(const struct expr_node *n)
{
    return n->op == OP_SLOT || n->op == OP_SLOT_HAS || n->op == OP_LOOKUP || n->op == OP_LOOKUP_HAS;
}

static void collect_slots(struct arena *a, struct expr *e)
{
    uint32_t *slots = ARENA_ARRAY(a, uint32_t, e->n_nodes);
    for (uint32_t i = 1; i < e->n_nodes; i++) {
        const struct expr_node *n = &e->nodes[i];
        uint32_t k = 0;
        if (!reads_slot(n)) continue;
        while (k < e->n_slots && slots[k] != n->a)
            k++;
        if (k == e->n_slots) slots[e->n_slots++] = n->a;
    }
    e->slots = slots;
}

static const struct expr *compile(struct arena *a, struct diags *all, struct str text,
                                  struct span at, const struct expr_names *names,
                                  uint32_t (*parse)(struct compiler *c))
{
    struct compiler c = {.arena = a,
                         .diags = all,
                         .text = str_dup(a, text),
                         .at = at,
                         .names = names,
                         .source = buf_new(a)};
    buf_add(&c.source, text);
    compile_node(&c, OP_ERROR, 0, 0, 0, 0); /* node 0 stands for none */
    if (text.n > EXPR_MAX_TEXT) compile_error(&c, 0, 0, "the expression is too long");
    uint32_t root = parse(&c);
    if (root) check_tree(&c, root);
    if (c.failed) return NULL;
    struct expr *e = ARENA_NEW(a, struct expr);
    e->source = buf_str(&c.source);
    e->n_text = (uint32_t)text.n;
    pack_tree(&c, root, e);
    collect_slots(a, e);
    return e;
}

const struct expr *expr_compile(struct arena *a, struct diags *all, struct str text, struct span at,
                                const struct expr_names *names)
{
    return compile(a, all, text, at, names, parse_text);
}

const struct expr *expr_compile_text(struct arena *a, struct diags *all, struct str text,
                                     struct span at, const struct expr_names *names)
{
    return compile(a, all, text, at, names, parse_places);
}

enum expr_type expr_result_type(const struct expr *e)
{
    return (enum expr_type)e->nodes[e->root].type;
}

size_t expr_slots(const struct expr *e, const uint32_t **slots)
{
    *slots = e->slots;
    return e->n_slots;
}

bool expr_questions(struct arena *a, const struct expr *e, struct expr_question **out, size_t *n)
{
    *out = ARENA_ARRAY(a, struct expr_question, e->n_nodes);
    *n = 0;
    for (uint32_t i = 1; i < e->n_nodes; i++) {
        const struct expr_node *node = &e->nodes[i], *key = &e->nodes[node->b];
        if (node->op == OP_LOOKUP) return false;
        if (node->op != OP_LOOKUP_HAS) continue;
        if (key->op != OP_CONST || e->constants[key->a].kind != VALUE_STRING) return false;
        (*out)[(*n)++] = (struct expr_question){node->a, e->constants[key->a].s};
    }
    return true;
}

struct str expr_text(const struct expr *e)
{
    return str_slice(e->source, 0, e->n_text);
}

struct str expr_source(const struct expr *e)
{
    return e->source;
}

size_t expr_variables(const struct expr *e, const struct expr_use **uses)
{
    *uses = e->variables;
    return e->n_variables;
}
