/* SPDX-License-Identifier: Apache-2.0 */
/* Named expressions within others. A program holds those of its variables, each once however often
   it is used, so that it needs nothing else to run and each is evaluated at most once. */
#include "expr/compile.h"

const struct expr_variable *variable_find(const struct compiler *c, struct str name)
{
    for (size_t i = 0; c->names && i < c->names->n_variables; i++)
        if (str_eq(c->names->variables[i].name, name)) return &c->names->variables[i];
    return NULL;
}

static uint32_t number_of(const struct compiler *c, struct str name)
{
    uint32_t i = 0;
    while (i < c->variables.n && !str_eq(c->variables.items[i].name, name))
        i++;
    return i;
}

/* The number of a variable whose program has its root at a node, which counts for a new one. */
static uint32_t use(struct compiler *c, struct expr_use variable)
{
    uint32_t number = number_of(c, variable.name);
    if (number == c->variables.n) *VEC_PUSH(c->arena, &c->variables) = variable;
    return number;
}

static void copy_in(struct compiler *c, const struct expr_variable *v)
{
    const struct expr *e = v->e;
    uint32_t number[EXPR_MAX_VARIABLES], nodes = (uint32_t)c->nodes.n - 1;
    buf_printf(&c->source, "\n%.*s = ", STR_ARG(v->name));
    size_t text = c->source.n;
    buf_add(&c->source, e->source);
    for (uint32_t i = 0; i < e->n_variables; i++) {
        struct expr_use inner = e->variables[i];
        inner.root += nodes;
        number[i] = use(c, inner);
    }
    use(c, (struct expr_use){v->name, expr_text(e), v->doc, nodes + e->root});
    unpack_tree(c, e, text, number);
}

uint32_t variable_refer(struct compiler *c, const struct expr_variable *variable, uint32_t from,
                        uint32_t to)
{
    if (!variable->e) {
        compile_error(c, from, to,
                      "%.*s is used before it has a value: variables use those above them",
                      STR_ARG(variable->name));
        return 0;
    }
    uint32_t number = number_of(c, variable->name);
    bool first = number == c->variables.n;
    bool fits = !first || c->nodes.n + variable->e->n_nodes <= EXPR_MAX_NODES;
    if (first && fits) copy_in(c, variable);
    if (c->variables.n > EXPR_MAX_VARIABLES || !fits) {
        compile_error(c, from, to, "the expression is too long with its variables");
        return 0;
    }
    number = number_of(c, variable->name);
    uint32_t root = c->variables.items[number].root;
    uint32_t node = compile_node(c, OP_VARIABLE, root, number, from, to);
    c->nodes.items[node].type = (uint8_t)expr_result_type(variable->e);
    compile_raise(c, node, root);
    return node;
}
