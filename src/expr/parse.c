/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent, one function a rule; binary operators by precedence. After the first mistake
   every token is TOKEN_END, so that the functions return without looking further. */
#include "expr/compile.h"
#include "expr/func.h"

enum { MAX_DEPTH = 100, LOOSEST = 1 };

struct node_list {
    uint32_t *items;
    size_t n, cap;
};

static uint32_t parse_expression(struct compiler *c);
static uint32_t parse_unary(struct compiler *c);

static const struct {
    enum token_kind token;
    uint8_t precedence;
    enum expr_op op;
} operators[] = {
    {TOKEN_OR, LOOSEST, OP_OR}, {TOKEN_AND, 2, OP_AND},    {TOKEN_EQ, 3, OP_EQ},
    {TOKEN_NE, 3, OP_NE},       {TOKEN_LT, 3, OP_LT},      {TOKEN_LE, 3, OP_LE},
    {TOKEN_GT, 3, OP_GT},       {TOKEN_GE, 3, OP_GE},      {TOKEN_IN, 3, OP_IN},
    {TOKEN_PLUS, 4, OP_ADD},    {TOKEN_MINUS, 4, OP_SUB},  {TOKEN_TIMES, 5, OP_MUL},
    {TOKEN_DIVIDE, 5, OP_DIV},  {TOKEN_MODULO, 5, OP_MOD},
};

/* Words of the language that are no names; after a dot they are fields like any other. */
/* What people write who think of another language. */
static const struct {
    const char *word, *instead;
} habits[] = {
    {"and", "&&"},
    {"or", "||"},
    {"is", "=="},
    {"if", "condition ? a : b"},
};

static void unexpected(struct compiler *c, const char *wanted)
{
    struct token t = c->token;
    if (c->failed) return;
    struct str text = str_slice(c->text, t.from, t.to);
    if (t.kind == TOKEN_END)
        compile_error(c, t.from, t.to, "expected %s, found the end of the expression", wanted);
    for (size_t i = 0; t.kind == TOKEN_IDENT && i < sizeof habits / sizeof *habits; i++)
        if (str_is(text, habits[i].word))
            compile_error(c, t.from, t.to, "expected %s, found '%.*s': write %s", wanted,
                          STR_ARG(text), habits[i].instead);
    if (!c->failed)
        compile_error(c, t.from, t.to, "expected %s, found '%.*s'", wanted, STR_ARG(text));
    c->token.kind = TOKEN_END;
}

static bool accept(struct compiler *c, enum token_kind kind)
{
    if (c->token.kind != kind) return false;
    token_next(c);
    return true;
}

static void expect(struct compiler *c, enum token_kind kind, const char *name)
{
    if (!accept(c, kind)) unexpected(c, name);
}

static bool enter(struct compiler *c)
{
    if (++c->depth <= MAX_DEPTH) return true;
    if (!c->failed)
        compile_error(c, c->token.from, c->token.to, "the expression is nested too deeply");
    c->token.kind = TOKEN_END;
    return false;
}

/* list = [ expression { "," expression } [ "," ] ] close; *to is the end of the closing token */
static struct node_list parse_list(struct compiler *c, enum token_kind close, const char *name,
                                   uint32_t *to)
{
    struct node_list list = {0};
    while (c->token.kind != close && !c->failed) {
        *VEC_PUSH(c->arena, &list) = parse_expression(c);
        if (!accept(c, TOKEN_COMMA)) break;
    }
    *to = c->token.to;
    expect(c, close, name);
    return list;
}

/* map = "{" [ expression ":" expression { "," expression ":" expression } [ "," ] ] "}" */
static uint32_t parse_map(struct compiler *c)
{
    struct node_list list = {0};
    uint32_t from = c->token.from;
    token_next(c);
    while (c->token.kind != TOKEN_CLOSE_MAP && !c->failed) {
        *VEC_PUSH(c->arena, &list) = parse_expression(c);
        expect(c, TOKEN_COLON, "':'");
        *VEC_PUSH(c->arena, &list) = parse_expression(c);
        if (!accept(c, TOKEN_COMMA)) break;
    }
    uint32_t to = c->token.to;
    expect(c, TOKEN_CLOSE_MAP, "'}'");
    return compile_over(c, OP_MAP, list.items, list.n, list.n / 2, from, to);
}

/* "[" list "]" */
static uint32_t parse_list_literal(struct compiler *c)
{
    uint32_t from = c->token.from;
    token_next(c);
    uint32_t to;
    struct node_list list = parse_list(c, TOKEN_CLOSE_LIST, "']'", &to);
    return compile_over(c, OP_LIST, list.items, list.n, list.n, from, to);
}

/* number = [ "-" ] digits…; the sign belongs to the number, as the least int has no positive
   twin */
static uint32_t parse_number(struct compiler *c, bool negative, uint32_t from)
{
    struct token t = c->token;
    struct value v = value_double(negative ? -t.d : t.d);
    if (t.kind == TOKEN_UINT) v = value_uint(t.u);
    if (t.kind == TOKEN_INT) v = value_int((int64_t)(negative ? 0 - t.u : t.u));
    bool fits = t.kind != TOKEN_INT || t.u <= (uint64_t)INT64_MAX + negative;
    if (!fits) compile_error(c, from, t.to, "the number does not fit into 64 bits");
    token_next(c);
    return compile_literal(c, v, from, t.to);
}

static bool is_reserved(struct str word)
{
    return str_is_any(word, "as|break|const|continue|else|for|function|if|import|let|loop|"
                            "namespace|package|return|var|void|while");
}

/* Hands the call to the macros, then makes it an ordinary one with the receiver as first
   argument. */
static uint32_t call(struct compiler *c, struct str name, uint32_t receiver, uint32_t from,
                     uint32_t name_from)
{
    token_next(c);
    uint32_t to;
    struct node_list args = parse_list(c, TOKEN_CLOSE, "')'", &to);
    if (c->failed) return 0;
    uint32_t node = macro_expand(c, name, receiver, args.items, args.n, from, to);
    if (node || c->failed) return node;
    struct node_list all = {0};
    if (receiver) *VEC_PUSH(c->arena, &all) = receiver;
    for (size_t i = 0; i < args.n; i++)
        *VEC_PUSH(c->arena, &all) = args.items[i];
    node = compile_over(c, OP_CALL, all.items, all.n, all.n, from, to);
    c->nodes.items[node].c = (uint16_t)compile_constant(c, value_string(name));
    c->named.items[node] = name_from;
    return node;
}

/* identifier = [ "." ] name [ "(" list ")" ] */
static uint32_t parse_identifier(struct compiler *c, bool rooted, uint32_t from)
{
    struct token t = c->token;
    if (is_reserved(t.text)) {
        unexpected(c, "a name");
        return 0;
    }
    token_next(c);
    if (c->token.kind == TOKEN_OPEN) return call(c, t.text, 0, from, t.from);
    if (str_is(t.text, "true")) return compile_literal(c, value_bool(true), from, t.to);
    if (str_is(t.text, "false")) return compile_literal(c, value_bool(false), from, t.to);
    if (str_is(t.text, "null")) return compile_literal(c, value_null(), from, t.to);
    const struct expr_variable *variable = rooted ? NULL : variable_find(c, t.text);
    if (variable) return variable_refer(c, variable, from, t.to);
    return compile_node(c, OP_IDENT, compile_constant(c, value_string(t.text)), rooted, from, t.to);
}

/* "(" expression ")" */
static uint32_t parse_parentheses(struct compiler *c)
{
    uint32_t from = c->token.from;
    token_next(c);
    uint32_t node = parse_expression(c), to = c->token.to;
    expect(c, TOKEN_CLOSE, "')'");
    if (c->failed) return 0;
    c->nodes.items[node].from = from; /* so that a message quotes it with its parentheses */
    c->nodes.items[node].to = to;
    return node;
}

/* primary = number | string | identifier | "(" expression ")" | "[" list "]" | map */
static uint32_t parse_primary(struct compiler *c)
{
    struct token t = c->token;
    switch (t.kind) {
    case TOKEN_INT:
    case TOKEN_UINT:
    case TOKEN_DOUBLE: return parse_number(c, false, t.from);
    case TOKEN_STRING: token_next(c); return compile_literal(c, value_string(t.text), t.from, t.to);
    case TOKEN_IDENT: return parse_identifier(c, false, t.from);
    case TOKEN_OPEN: return parse_parentheses(c);
    case TOKEN_OPEN_LIST: return parse_list_literal(c);
    case TOKEN_OPEN_MAP: return parse_map(c);
    default: break;
    }
    if (t.kind == TOKEN_DOT) {
        token_next(c);
        if (c->token.kind == TOKEN_IDENT) return parse_identifier(c, true, t.from);
    }
    unexpected(c, "a value");
    return 0;
}

/* math.least: a dot that belongs to a function's name. */
static struct str qualified(struct compiler *c, uint32_t node, struct str name)
{
    const struct expr_node *n = &c->nodes.items[node];
    if (n->op != OP_IDENT) return (struct str){0};
    struct str dotted =
        arena_printf(c->arena, "%.*s.%.*s", STR_ARG(c->constants.items[n->a].s), STR_ARG(name));
    return func_named(dotted) ? dotted : (struct str){0};
}

/* selector = "." field [ "(" list ")" ] */
static uint32_t parse_selector(struct compiler *c, uint32_t operand)
{
    token_next(c);
    struct token t = c->token;
    bool is_field = t.kind == TOKEN_IDENT || t.kind == TOKEN_FIELD;
    if (!is_field) {
        unexpected(c, "a name after '.'");
        return 0;
    }
    token_next(c);
    uint32_t from = c->nodes.items[operand].from;
    if (t.kind == TOKEN_IDENT && c->token.kind == TOKEN_OPEN) {
        struct str whole = qualified(c, operand, t.text);
        return whole.n ? call(c, whole, 0, from, from) : call(c, t.text, operand, from, t.from);
    }
    uint32_t field = compile_constant(c, value_string(t.text));
    uint32_t node = compile_node(c, OP_SELECT, operand, field, from, t.to);
    compile_raise(c, node, operand);
    return node;
}

/* member = primary { selector | "[" expression "]" } */
static uint32_t parse_member(struct compiler *c, uint32_t node)
{
    while (!c->failed) {
        if (c->token.kind == TOKEN_DOT) {
            node = parse_selector(c, node);
        } else if (accept(c, TOKEN_OPEN_LIST)) {
            uint32_t key = parse_expression(c), to = c->token.to;
            expect(c, TOKEN_CLOSE_LIST, "']'");
            node = compile_above(c, OP_INDEX, node, key);
            c->nodes.items[node].to = to;
        } else {
            return node;
        }
    }
    return 0;
}

/* unary = "!" unary | "-" unary | member */
static uint32_t parse_unary(struct compiler *c)
{
    struct token t = c->token;
    if (t.kind != TOKEN_NOT && t.kind != TOKEN_MINUS) return parse_member(c, parse_primary(c));
    if (!enter(c)) return 0;
    token_next(c);
    uint32_t node;
    if (t.kind == TOKEN_MINUS && (c->token.kind == TOKEN_INT || c->token.kind == TOKEN_DOUBLE)) {
        node = parse_member(c, parse_number(c, true, t.from));
    } else {
        node = compile_above(c, t.kind == TOKEN_NOT ? OP_NOT : OP_NEG, parse_unary(c), 0);
        c->nodes.items[node].from = t.from;
    }
    c->depth--;
    return node;
}

/* binary(p) = binary(p + 1) { operator of precedence p, binary(p + 1) }; all are
   left-associative */
static uint32_t parse_binary(struct compiler *c, int loosest)
{
    uint32_t left = parse_unary(c);
    while (!c->failed) {
        size_t i = 0, n = sizeof operators / sizeof *operators;
        while (i < n && operators[i].token != c->token.kind)
            i++;
        if (i == n || operators[i].precedence < loosest) return left;
        token_next(c);
        uint32_t right = parse_binary(c, operators[i].precedence + 1);
        left = compile_above(c, operators[i].op, left, right);
    }
    return 0;
}

/* expression = binary [ "?" binary ":" expression ] */
static uint32_t parse_expression(struct compiler *c)
{
    if (!enter(c)) return 0;
    uint32_t node = parse_binary(c, LOOSEST);
    if (accept(c, TOKEN_QUESTION)) {
        uint32_t then = parse_binary(c, LOOSEST);
        expect(c, TOKEN_COLON, "':'");
        uint32_t otherwise = parse_expression(c);
        node = compile_above(c, OP_COND, node, then);
        c->nodes.items[node].c = (uint16_t)otherwise;
        c->nodes.items[node].to = c->nodes.items[otherwise].to;
        compile_raise(c, node, otherwise);
    }
    c->depth--;
    return node;
}

uint32_t parse_text(struct compiler *c)
{
    token_next(c);
    uint32_t root = parse_expression(c);
    if (!c->failed && c->token.kind != TOKEN_END) unexpected(c, "an operator or the end");
    return c->failed ? 0 : root;
}

static bool at_place(const struct compiler *c)
{
    struct str rest = str_slice(c->text, c->position, c->text.n);
    return str_starts(rest, STR("{")) && !str_starts(rest, STR("{{"));
}

/* place = "{" expression "}" */
static uint32_t parse_place(struct compiler *c)
{
    c->position++;
    token_next(c);
    uint32_t node = parse_expression(c);
    if (!c->failed && c->token.kind != TOKEN_CLOSE_MAP) unexpected(c, "an operator or '}'");
    return node;
}

/* words = { character | "{{" } */
static uint32_t parse_words(struct compiler *c)
{
    size_t from = c->position;
    struct buf words = buf_new(c->arena);
    while (c->position < c->text.n && !at_place(c)) {
        c->position += c->text.p[c->position] == '{';
        buf_add_char(&words, c->text.p[c->position++]);
    }
    return compile_literal(c, value_string(buf_str(&words)), (uint32_t)from, (uint32_t)c->position);
}

/* text = { place | words } */
uint32_t parse_places(struct compiler *c)
{
    struct node_list parts = {0};
    while (c->position < c->text.n && !c->failed)
        *VEC_PUSH(c->arena, &parts) = at_place(c) ? parse_place(c) : parse_words(c);
    if (c->failed) return 0;
    return compile_over(c, OP_TEXT, parts.items, parts.n, parts.n, 0, (uint32_t)c->text.n);
}
