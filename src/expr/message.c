/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/message.h"

#include "base/utf8.h"

enum { LONGEST_QUOTE = 100 };

const char *message_sign(enum expr_op op)
{
    static const char *const signs[] = {
        [OP_NOT] = "!", [OP_NEG] = "-",    [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*",
        [OP_DIV] = "/", [OP_MOD] = "%",    [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",
        [OP_LE] = "<=", [OP_GT] = ">",     [OP_GE] = ">=", [OP_IN] = "in", [OP_AND] = "&&",
        [OP_OR] = "||", [OP_COND] = "? :",
    };
    return (size_t)op < sizeof signs / sizeof *signs ? signs[op] : NULL;
}

struct str message_quote(struct arena *a, struct str text)
{
    uint32_t point;
    size_t end = 0;
    while (end < text.n && end < LONGEST_QUOTE)
        end += utf8_next(text, end, &point);
    if (end >= text.n) return text;
    return arena_printf(a, "%.*s…", (int)end, text.p);
}

static bool is_number(enum value_kind kind)
{
    return kind == VALUE_INT || kind == VALUE_UINT || kind == VALUE_DOUBLE;
}

static bool is_relation(enum expr_op op)
{
    return op >= OP_LT && op <= OP_GE;
}

/* "; write double(plan.ep)": the advice for two operands of one operator, or nothing. */
static struct str advice(struct arena *a, struct str left, struct str right,
                         const struct expr_node *nodes, const struct expr_node *n,
                         enum value_kind l, enum value_kind r)
{
    enum expr_op op = (enum expr_op)n->op;
    bool arithmetic = op >= OP_ADD && op <= OP_MOD;
    if (l == VALUE_NULL || r == VALUE_NULL) {
        struct str null = l == VALUE_NULL ? left : right;
        return arena_printf(a, ": %.*s is null, write orValue(%.*s, …) where it may be",
                            STR_ARG(null), STR_ARG(null));
    }
    if (op == OP_MOD && (l == VALUE_DOUBLE || r == VALUE_DOUBLE))
        return STR(": the remainder is for integers only");
    if (arithmetic && is_number(l) && is_number(r)) {
        bool is_double = l == VALUE_DOUBLE || r == VALUE_DOUBLE;
        struct str other =
            is_double ? (l == VALUE_DOUBLE ? right : left) : (l == VALUE_UINT ? left : right);
        return arena_printf(a, ": kinds of numbers are not mixed, write %s(%.*s)",
                            is_double ? "double" : "int", STR_ARG(other));
    }
    if (op == OP_ADD && (l == VALUE_STRING || r == VALUE_STRING))
        return arena_printf(a, ": write string(%.*s)", STR_ARG(l == VALUE_STRING ? right : left));
    if (is_relation(op) && l == VALUE_BOOL && is_relation((enum expr_op)nodes[n->a].op))
        return STR(": comparisons do not chain, write a < b && b < c");
    return STR("");
}

struct str message_operands(struct arena *a, struct str text, const struct expr_node *nodes,
                            uint32_t at, enum value_kind left, enum value_kind right)
{
    const struct expr_node *n = &nodes[at], *l = &nodes[n->a], *r = &nodes[n->b];
    struct str hint =
        advice(a, message_quote(a, str_slice(text, l->from, l->to)),
               message_quote(a, str_slice(text, r->from, r->to)), nodes, n, left, right);
    return arena_printf(a, "no such overload: %s %s %s%.*s", value_kind_name(left),
                        message_sign((enum expr_op)n->op), value_kind_name(right), STR_ARG(hint));
}

struct str message_argument(struct arena *a, const struct func *f, size_t argument, struct str text,
                            enum value_kind kind)
{
    struct str kinds = func_kinds(a, f, argument), quote = message_quote(a, text);
    const char *more = kind == VALUE_NULL ? ", write orValue() where it may be null" : "";
    return arena_printf(a, "no such overload: %s() takes %.*s here, %.*s is %s%s", f->name,
                        STR_ARG(kinds), STR_ARG(quote), value_kind_name(kind), more);
}
