/* SPDX-License-Identifier: Apache-2.0 */
/* Binds names to slots and variables and infers types, rewriting the tree in place. */
#include "expr/compile.h"
#include "expr/message.h"

static enum expr_type check(struct compiler *c, uint32_t at);

static struct expr_node *node_at(struct compiler *c, uint32_t at)
{
    return &c->nodes.items[at];
}

static struct str constant_text(struct compiler *c, uint32_t constant)
{
    return c->constants.items[constant].s;
}

static struct str source_text(struct compiler *c, uint32_t at)
{
    return str_slice(c->text, node_at(c, at)->from, node_at(c, at)->to);
}

/* What a name or a call cannot mean: an error now, or with free variables one at run time. */
static enum expr_type meaningless(struct compiler *c, uint32_t at, uint32_t to, struct str message,
                                  struct str nearest)
{
    struct expr_node *n = node_at(c, at);
    uint32_t from = n->op == OP_CALL ? c->named.items[at] : n->from;
    if (c->names)
        diag_suggest(c->diags, compile_error(c, from, to, "%.*s", STR_ARG(message)), nearest);
    n->op = OP_ERROR;
    n->a = (uint16_t)compile_constant(c, value_error(message));
    return EXPR_DYN;
}

/* A mistake in types: without names it is left to the evaluation. */
static enum expr_type mistyped(struct compiler *c, uint32_t at, struct str message)
{
    if (c->names)
        compile_error(c, node_at(c, at)->from, node_at(c, at)->to, "%.*s", STR_ARG(message));
    return EXPR_DYN;
}

static enum value_kind kind_of(enum expr_type type)
{
    static const enum value_kind kinds[] = {
        [EXPR_DYN] = VALUE_UNKNOWN,    [EXPR_BOOL] = VALUE_BOOL,     [EXPR_INT] = VALUE_INT,
        [EXPR_UINT] = VALUE_UINT,      [EXPR_DOUBLE] = VALUE_DOUBLE, [EXPR_STRING] = VALUE_STRING,
        [EXPR_LIST] = VALUE_LIST,      [EXPR_MAP] = VALUE_MAP,       [EXPR_NULL] = VALUE_NULL,
        [EXPR_LOOKUP] = VALUE_UNKNOWN,
    };
    return kinds[type];
}

static enum expr_type type_of(struct value v)
{
    static const enum expr_type types[] = {
        [VALUE_UNKNOWN] = EXPR_DYN,   [VALUE_ERROR] = EXPR_DYN,     [VALUE_NULL] = EXPR_NULL,
        [VALUE_BOOL] = EXPR_BOOL,     [VALUE_INT] = EXPR_INT,       [VALUE_UINT] = EXPR_UINT,
        [VALUE_DOUBLE] = EXPR_DOUBLE, [VALUE_STRING] = EXPR_STRING, [VALUE_LIST] = EXPR_LIST,
        [VALUE_MAP] = EXPR_MAP,
    };
    return types[v.kind];
}

/* The type of a value that is one or the other. */
static enum expr_type join(enum expr_type a, enum expr_type b)
{
    if (a == b || b == EXPR_NULL) return a;
    return a == EXPR_NULL ? b : EXPR_DYN;
}

static bool is_number(enum expr_type t)
{
    return t == EXPR_INT || t == EXPR_UINT || t == EXPR_DOUBLE;
}

/* As check, where a table of look-ups will not do. */
static enum expr_type check_value(struct compiler *c, uint32_t at)
{
    enum expr_type type = check(c, at);
    if (type != EXPR_LOOKUP) return type;
    struct str text = source_text(c, at);
    return mistyped(c, at,
                    arena_printf(c->arena,
                                 "%.*s is no value: write %.*s[\"key\"] or \"key\" in %.*s",
                                 STR_ARG(text), STR_ARG(text), STR_ARG(text)));
}

/* ---- names ---- */

/* The number of the macro variable of that name, the innermost first; -1 when there is none. */
static int local_find(struct compiler *c, struct str name)
{
    for (int i = c->n_locals - 1; i >= 0; i--)
        if (str_eq(c->locals[i], name)) return i;
    return -1;
}

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z') && s.p[i] != '_' &&
            !(s.p[i] >= '0' && s.p[i] <= '9'))
            return false;
    return s.n > 0;
}

/* The dotted path of a.b.c whose head is no macro variable; empty for anything else. */
static struct str path_of(struct compiler *c, uint32_t at)
{
    const struct expr_node *n = node_at(c, at);
    if (n->op != OP_IDENT && n->op != OP_SELECT) return (struct str){0};
    struct str last = constant_text(c, n->op == OP_SELECT ? n->b : n->a);
    if (n->op == OP_IDENT) return n->b || local_find(c, last) < 0 ? last : (struct str){0};
    if (!is_word(last)) return (struct str){0};
    struct str head = path_of(c, n->a);
    if (!head.n) return head;
    return arena_printf(c->arena, "%.*s.%.*s", STR_ARG(head), STR_ARG(last));
}

static bool resolves(struct compiler *c, struct str path, struct expr_ref *ref)
{
    *ref = (struct expr_ref){0};
    return path.n && c->names->resolve(c->names->context, path, ref);
}

/* Whether the path or the beginning of it has a meaning. */
static bool head_resolves(struct compiler *c, uint32_t at)
{
    struct expr_ref ref;
    for (;; at = node_at(c, at)->a) {
        if (resolves(c, path_of(c, at), &ref)) return true;
        if (node_at(c, at)->op != OP_SELECT) return false;
    }
}

static enum expr_type unknown_name(struct compiler *c, uint32_t at, struct str path)
{
    struct str nearest = {0};
    if (c->names->nearest) nearest = c->names->nearest(c->names->context, c->arena, path);
    return meaningless(c, at, node_at(c, at)->to,
                       arena_printf(c->arena, "unknown name %.*s", STR_ARG(path)), nearest);
}

static uint32_t key_literal(struct compiler *c, uint32_t field, uint32_t from, uint32_t to)
{
    uint32_t key = compile_literal(c, value_string(constant_text(c, field)), from, to);
    node_at(c, key)->type = EXPR_STRING;
    return key;
}

/* operand.field of a value, or has() of it; the operand's type decides. */
static enum expr_type check_field(struct compiler *c, uint32_t at, uint32_t operand, uint32_t field,
                                  bool has)
{
    enum expr_type type = check(c, operand);
    struct expr_node *n = node_at(c, at);
    if (type == EXPR_LOOKUP) {
        uint32_t key = key_literal(c, field, n->from, n->to);
        n = node_at(c, at);
        n->op = has ? OP_LOOKUP_HAS : OP_LOOKUP;
        n->a = node_at(c, operand)->a;
        n->b = (uint16_t)key;
        return has ? EXPR_BOOL : EXPR_DYN;
    }
    n->op = has ? OP_HAS : OP_SELECT;
    n->a = (uint16_t)operand;
    n->b = (uint16_t)field;
    if (type != EXPR_DYN && type != EXPR_MAP)
        mistyped(c, at,
                 arena_printf(c->arena, "%.*s is %s and has no fields",
                              STR_ARG(source_text(c, operand)), value_kind_name(kind_of(type))));
    return has ? EXPR_BOOL : EXPR_DYN;
}

/* a.b.c: the longest path that means something, then fields of its value. */
static enum expr_type check_path(struct compiler *c, uint32_t at)
{
    struct str path = path_of(c, at);
    struct expr_node *n = node_at(c, at);
    if (path.n && !c->names) {
        n->op = OP_FREE;
        n->a = (uint16_t)compile_constant(c, value_string(path));
        return EXPR_DYN;
    }
    struct expr_ref ref;
    if (path.n && resolves(c, path, &ref)) {
        n->op = OP_SLOT;
        n->a = (uint16_t)ref.slot;
        return ref.type;
    }
    if (path.n && !head_resolves(c, at)) return unknown_name(c, at, path);
    if (n->op == OP_SELECT) return check_field(c, at, n->a, n->b, false);
    int local = local_find(c, constant_text(c, n->a));
    n->op = OP_LOCAL;
    n->a = (uint16_t)local;
    return EXPR_DYN;
}

static enum expr_type check_has(struct compiler *c, uint32_t at)
{
    struct expr_node *n = node_at(c, at);
    uint32_t select = n->a, operand = node_at(c, select)->a, field = node_at(c, select)->b;
    struct str path = c->names ? path_of(c, select) : (struct str){0};
    struct expr_ref ref;
    if (path.n && resolves(c, path, &ref)) {
        n->op = OP_SLOT_HAS;
        n->a = (uint16_t)ref.slot;
        return EXPR_BOOL;
    }
    if (path.n && !head_resolves(c, select)) return unknown_name(c, select, path);
    return check_field(c, at, operand, field, true);
}

/* ---- operators ---- */

static enum expr_type check_index(struct compiler *c, uint32_t at)
{
    struct expr_node *n = node_at(c, at);
    uint32_t operand = n->a, key = n->b;
    enum expr_type type = check(c, operand), index = check_value(c, key);
    n = node_at(c, at);
    if (type == EXPR_LOOKUP) {
        n->op = OP_LOOKUP;
        n->a = node_at(c, operand)->a;
        if (index == EXPR_STRING || index == EXPR_DYN) return EXPR_DYN;
        return mistyped(c, key, STR("the key must be a string"));
    }
    if (type == EXPR_DYN || type == EXPR_MAP) return EXPR_DYN;
    if (type != EXPR_LIST)
        return mistyped(c, at,
                        arena_printf(c->arena, "%.*s is %s and has no items",
                                     STR_ARG(source_text(c, operand)),
                                     value_kind_name(kind_of(type))));
    if (index == EXPR_DYN || is_number(index)) return EXPR_DYN;
    return mistyped(c, key, STR("the index of a list must be an int"));
}

static enum expr_type check_in(struct compiler *c, uint32_t at)
{
    uint32_t item = node_at(c, at)->a, container = node_at(c, at)->b;
    enum expr_type left = check_value(c, item), right = check(c, container);
    struct expr_node *n = node_at(c, at);
    if (right == EXPR_LOOKUP) {
        n->op = OP_LOOKUP_HAS;
        n->a = node_at(c, container)->a;
        n->b = (uint16_t)item;
        if (left != EXPR_STRING && left != EXPR_DYN)
            mistyped(c, item, STR("the key must be a string"));
    } else if (right != EXPR_LIST && right != EXPR_MAP && right != EXPR_DYN) {
        mistyped(c, at,
                 arena_printf(c->arena, "no such overload: %s in %s",
                              value_kind_name(kind_of(left)), value_kind_name(kind_of(right))));
    }
    return EXPR_BOOL;
}

static bool arithmetic_type(enum expr_op op, enum expr_type t)
{
    if (t == EXPR_INT || t == EXPR_UINT || t == EXPR_DYN) return true;
    if (t == EXPR_DOUBLE) return op != OP_MOD;
    return op == OP_ADD && (t == EXPR_STRING || t == EXPR_LIST);
}

static enum expr_type bad_operands(struct compiler *c, uint32_t at, enum expr_type l,
                                   enum expr_type r)
{
    return mistyped(
        c, at, message_operands(c->arena, c->text, c->nodes.items, at, kind_of(l), kind_of(r)));
}

/* + - * / %: both operands have one type, which is the result's. */
static enum expr_type check_arithmetic(struct compiler *c, uint32_t at)
{
    enum expr_op op = (enum expr_op)node_at(c, at)->op;
    enum expr_type l = check_value(c, node_at(c, at)->a), r = check_value(c, node_at(c, at)->b);
    enum expr_type known = l == EXPR_DYN ? r : l;
    bool same = l == r || l == EXPR_DYN || r == EXPR_DYN;
    if (same && arithmetic_type(op, known)) return known;
    return bad_operands(c, at, l, r);
}

/* == != < <= > >=: numbers with numbers, else one type; null may be compared for equality with
   anything. */
static enum expr_type check_comparison(struct compiler *c, uint32_t at)
{
    enum expr_op op = (enum expr_op)node_at(c, at)->op;
    enum expr_type l = check_value(c, node_at(c, at)->a), r = check_value(c, node_at(c, at)->b);
    bool equality = op == OP_EQ || op == OP_NE;
    bool ordered = is_number(l) || l == EXPR_STRING || l == EXPR_BOOL || l == EXPR_DYN;
    bool fits = l == r || l == EXPR_DYN || r == EXPR_DYN || (is_number(l) && is_number(r));
    if (equality && (l == EXPR_NULL || r == EXPR_NULL)) return EXPR_BOOL;
    if (!fits || !(equality || ordered)) bad_operands(c, at, l, r);
    return EXPR_BOOL;
}

static void want_bool(struct compiler *c, uint32_t at)
{
    enum expr_type type = check_value(c, at);
    if (type == EXPR_BOOL || type == EXPR_DYN) return;
    struct str text = source_text(c, at);
    mistyped(c, at,
             arena_printf(c->arena, "%.*s is %s, a bool is needed: compare it with something",
                          STR_ARG(text), value_kind_name(kind_of(type))));
}

static enum expr_type check_condition(struct compiler *c, uint32_t at)
{
    want_bool(c, node_at(c, at)->a);
    enum expr_type then = check_value(c, node_at(c, at)->b);
    return join(then, check_value(c, node_at(c, at)->c));
}

static enum expr_type check_negation(struct compiler *c, uint32_t at)
{
    enum expr_type type = check_value(c, node_at(c, at)->a);
    if (type == EXPR_INT || type == EXPR_DOUBLE || type == EXPR_DYN) return type;
    return mistyped(
        c, at, arena_printf(c->arena, "no such overload: -%s", value_kind_name(kind_of(type))));
}

/* ---- lists, maps, calls, macros ---- */

/* A list of constants is a constant: `x in ["a", "b"]` then builds nothing. */
static void fold_list(struct compiler *c, uint32_t at)
{
    uint32_t first = node_at(c, at)->a, n = node_at(c, at)->b;
    struct value *items = ARENA_ARRAY(c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct expr_node *item = node_at(c, c->args.items[first + i]);
        if (item->op != OP_CONST) return;
        items[i] = c->constants.items[item->a];
    }
    node_at(c, at)->op = OP_CONST;
    node_at(c, at)->a = (uint16_t)compile_constant(c, value_list_of(c->arena, items, n));
}

static void check_args(struct compiler *c, uint32_t at)
{
    uint32_t first = node_at(c, at)->a, n = node_at(c, at)->b;
    for (uint32_t i = 0; i < n; i++)
        check_value(c, c->args.items[first + i]);
}

static enum expr_type check_list(struct compiler *c, uint32_t at)
{
    check_args(c, at);
    fold_list(c, at);
    return EXPR_LIST;
}

static enum expr_type check_map(struct compiler *c, uint32_t at)
{
    uint32_t first = node_at(c, at)->a, n = node_at(c, at)->b;
    for (uint32_t i = 0; i < n; i++) {
        enum expr_type key = check_value(c, c->args.items[first + 2 * i]);
        if (key == EXPR_DOUBLE || key == EXPR_LIST || key == EXPR_MAP || key == EXPR_NULL)
            mistyped(c, c->args.items[first + 2 * i],
                     STR("the key of a map must be a bool, an int or a string"));
        check_value(c, c->args.items[first + 2 * i + 1]);
    }
    return EXPR_MAP;
}

/* No function of that name, or not with so many arguments, or a macro written otherwise. */
static enum expr_type unknown_function(struct compiler *c, uint32_t at, struct str name)
{
    uint32_t to = c->named.items[at] + (uint32_t)name.n;
    const struct func *f = func_named(name);
    const char *usage = macro_usage(name);
    struct str message = arena_printf(c->arena, "unknown function %.*s", STR_ARG(name));
    if (f)
        message = arena_printf(c->arena, "wrong number of arguments, write %s(%.*s)", f->name,
                               STR_ARG(func_arguments(c->arena, f)));
    else if (usage)
        message = arena_printf(c->arena, "%.*s() is written %s", STR_ARG(name), usage);
    return meaningless(c, at, to, message, f || usage ? (struct str){0} : func_nearest(name));
}

static enum expr_type check_call(struct compiler *c, uint32_t at)
{
    uint32_t first = node_at(c, at)->a, n = node_at(c, at)->b;
    struct str name = constant_text(c, node_at(c, at)->c);
    int number = func_find(name, n);
    if (number < 0) return unknown_function(c, at, name);
    const struct func *f = &func_table[number];
    node_at(c, at)->c = (uint16_t)number;
    enum expr_type joined = EXPR_NULL;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t arg = c->args.items[first + i];
        enum expr_type type = check_value(c, arg);
        joined = type == EXPR_LIST ? EXPR_DYN : join(joined, type);
        if (type == EXPR_DYN || func_takes(f, i, kind_of(type))) continue;
        mistyped(c, arg, message_argument(c->arena, f, i, source_text(c, arg), kind_of(type)));
    }
    return f->result == FUNC_JOIN ? joined : (enum expr_type)f->result;
}

static void push_locals(struct compiler *c, uint32_t at)
{
    struct expr_node *n = node_at(c, at);
    if (c->n_locals + n->n_locals > EXPR_MAX_LOCALS) {
        compile_error(c, n->from, n->to, "macros are nested too deeply");
        n->n_locals = 0;
    }
    n->local = c->n_locals;
    for (uint32_t i = 0; i < n->n_locals; i++)
        c->locals[c->n_locals++] =
            constant_text(c, node_at(c, c->args.items[c->named.items[at] + i])->a);
}

static enum expr_type check_macro(struct compiler *c, uint32_t at)
{
    enum expr_type range = check_value(c, node_at(c, at)->a);
    if (range != EXPR_LIST && range != EXPR_MAP && range != EXPR_DYN)
        mistyped(c, node_at(c, at)->a,
                 arena_printf(c->arena, "%.*s is %s, a list or a map is needed",
                              STR_ARG(source_text(c, node_at(c, at)->a)),
                              value_kind_name(kind_of(range))));
    push_locals(c, at);
    if (c->failed && !node_at(c, at)->n_locals) return EXPR_DYN;
    if (node_at(c, at)->b) want_bool(c, node_at(c, at)->b);
    if (node_at(c, at)->c) check_value(c, node_at(c, at)->c);
    c->n_locals = node_at(c, at)->local;
    enum expr_op op = (enum expr_op)node_at(c, at)->op;
    if (op == OP_MAP_MAP) return EXPR_MAP;
    return op == OP_MAP_LIST || op == OP_FILTER ? EXPR_LIST : EXPR_BOOL;
}

static enum expr_type infer(struct compiler *c, uint32_t at)
{
    struct expr_node *n = node_at(c, at);
    switch ((enum expr_op)n->op) {
    case OP_CONST: return type_of(c->constants.items[n->a]);
    case OP_IDENT:
    case OP_SELECT: return check_path(c, at);
    case OP_HAS: return check_has(c, at);
    case OP_INDEX: return check_index(c, at);
    case OP_NOT: want_bool(c, n->a); return EXPR_BOOL;
    case OP_NEG: return check_negation(c, at);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MOD: return check_arithmetic(c, at);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return check_comparison(c, at);
    case OP_IN: return check_in(c, at);
    case OP_AND:
    case OP_OR:
        want_bool(c, n->a);
        want_bool(c, node_at(c, at)->b);
        return EXPR_BOOL;
    case OP_COND: return check_condition(c, at);
    case OP_TEXT: check_args(c, at); return EXPR_STRING;
    case OP_LIST: return check_list(c, at);
    case OP_MAP: return check_map(c, at);
    case OP_CALL: return check_call(c, at);
    case OP_ALL:
    case OP_EXISTS:
    case OP_EXISTS_ONE:
    case OP_FILTER:
    case OP_MAP_LIST:
    case OP_MAP_MAP: return check_macro(c, at);
    case OP_ERROR:
    case OP_SLOT:
    case OP_SLOT_HAS:
    case OP_LOOKUP:
    case OP_LOOKUP_HAS:
    case OP_LOCAL:
    case OP_VARIABLE:    /* made while parsing, with their types */
    case OP_FREE: break; /* made here, met once */
    }
    return (enum expr_type)n->type;
}

static enum expr_type check(struct compiler *c, uint32_t at)
{
    enum expr_type type = infer(c, at);
    node_at(c, at)->type = (uint8_t)type;
    return type;
}

void check_tree(struct compiler *c, uint32_t root)
{
    check_value(c, root);
}
