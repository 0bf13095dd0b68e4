/* SPDX-License-Identifier: Apache-2.0 */
/* Macros: calls whose arguments are not values but a variable and expressions over it. */
#include "expr/compile.h"

/* By the number of variables and of expressions behind them; map(x, e) has no predicate, map(x, p,
   e) has one. */
static const struct {
    const char *name;
    uint8_t variables, expressions;
    enum expr_op op;
} macros[] = {
    {"all", 1, 1, OP_ALL},
    {"all", 2, 1, OP_ALL},
    {"exists", 1, 1, OP_EXISTS},
    {"exists", 2, 1, OP_EXISTS},
    {"exists_one", 1, 1, OP_EXISTS_ONE},
    {"exists_one", 2, 1, OP_EXISTS_ONE},
    {"existsOne", 1, 1, OP_EXISTS_ONE},
    {"existsOne", 2, 1, OP_EXISTS_ONE},
    {"filter", 1, 1, OP_FILTER},
    {"map", 1, 1, OP_MAP_LIST},
    {"map", 1, 2, OP_MAP_LIST},
    {"transformList", 2, 1, OP_MAP_LIST},
    {"transformList", 2, 2, OP_MAP_LIST},
    {"transformMap", 2, 1, OP_MAP_MAP},
    {"transformMap", 2, 2, OP_MAP_MAP},
};

static const struct {
    const char *name, *usage;
} usages[] = {
    {"has", "has(plan.x)"},
    {"all", "list.all(x, x > 0)"},
    {"exists", "list.exists(x, x > 0)"},
    {"exists_one", "list.exists_one(x, x > 0)"},
    {"existsOne", "list.existsOne(x, x > 0)"},
    {"filter", "list.filter(x, x > 0)"},
    {"map", "list.map(x, x + 1) or list.map(x, x > 0, x + 1)"},
    {"transformList", "list.transformList(i, x, i + x)"},
    {"transformMap", "map.transformMap(k, x, x + 1)"},
};

const char *macro_usage(struct str name)
{
    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++)
        if (str_is(name, usages[i].name)) return usages[i].usage;
    return NULL;
}

/* has(operand.field) */
static uint32_t expand_has(struct compiler *c, const uint32_t *args, size_t n, uint32_t from,
                           uint32_t to)
{
    const struct expr_node *select = n == 1 ? &c->nodes.items[args[0]] : NULL;
    if (!select || select->op != OP_SELECT) {
        compile_error(c, from, to, "has() takes a field: has(a.b)");
        return 0;
    }
    uint32_t node = compile_node(c, OP_HAS, args[0], 0, from, to);
    compile_raise(c, node, args[0]);
    return node;
}

static bool check_variables(struct compiler *c, const uint32_t *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct expr_node *v = &c->nodes.items[args[i]];
        if (v->op == OP_IDENT && !v->b) continue;
        struct str text = str_slice(c->text, v->from, v->to);
        if (v->op == OP_VARIABLE)
            compile_error(c, v->from, v->to, "%.*s is a variable of the rules: take another name",
                          STR_ARG(text));
        else
            compile_error(c, v->from, v->to, "expected the name of a variable");
        return false;
    }
    return true;
}

uint32_t macro_expand(struct compiler *c, struct str name, uint32_t range, const uint32_t *args,
                      size_t n, uint32_t from, uint32_t to)
{
    if (!range) return str_is(name, "has") ? expand_has(c, args, n, from, to) : 0;
    size_t i = 0, count = sizeof macros / sizeof *macros;
    while (i < count && !(str_is(name, macros[i].name) &&
                          n == (size_t)macros[i].variables + macros[i].expressions))
        i++;
    if (i == count || !check_variables(c, args, macros[i].variables)) return 0;
    bool maps = macros[i].op == OP_MAP_LIST || macros[i].op == OP_MAP_MAP;
    uint32_t last = args[n - 1], before = macros[i].expressions == 2 ? args[n - 2] : 0;
    uint32_t node = compile_node(c, macros[i].op, range, maps ? before : last, from, to);
    c->nodes.items[node].c = (uint16_t)(maps ? last : 0);
    c->nodes.items[node].n_locals = macros[i].variables;
    c->named.items[node] = compile_args(c, args, macros[i].variables);
    compile_raise(c, node, range);
    for (size_t k = macros[i].variables; k < n; k++)
        compile_raise(c, node, args[k]);
    return node;
}
