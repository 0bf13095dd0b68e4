/* SPDX-License-Identifier: Apache-2.0 */
/* The program proper: binding names and folding lists leave nodes and constants behind that nothing
   reads. What is read is copied, operands before the operation, so that an evaluation stays within
   few cache lines and the generated tables are small. */
#include "expr/compile.h"

/* Which fields of a node are other nodes or constants. */
enum { NODE_A = 1, NODE_B = 2, NODE_C = 4, CONSTANT_A = 8, CONSTANT_B = 16, ARGS = 32, PAIRS = 64 };

static const uint8_t fields[] = {
    [OP_ERROR] = CONSTANT_A,
    [OP_CONST] = CONSTANT_A,
    [OP_SELECT] = NODE_A | CONSTANT_B,
    [OP_HAS] = NODE_A | CONSTANT_B,
    [OP_INDEX] = NODE_A | NODE_B,
    [OP_LOOKUP] = NODE_B,
    [OP_LOOKUP_HAS] = NODE_B,
    [OP_FREE] = CONSTANT_A,
    [OP_VARIABLE] = NODE_A,
    [OP_NOT] = NODE_A,
    [OP_NEG] = NODE_A,
    [OP_ADD] = NODE_A | NODE_B,
    [OP_SUB] = NODE_A | NODE_B,
    [OP_MUL] = NODE_A | NODE_B,
    [OP_DIV] = NODE_A | NODE_B,
    [OP_MOD] = NODE_A | NODE_B,
    [OP_EQ] = NODE_A | NODE_B,
    [OP_NE] = NODE_A | NODE_B,
    [OP_LT] = NODE_A | NODE_B,
    [OP_LE] = NODE_A | NODE_B,
    [OP_GT] = NODE_A | NODE_B,
    [OP_GE] = NODE_A | NODE_B,
    [OP_IN] = NODE_A | NODE_B,
    [OP_AND] = NODE_A | NODE_B,
    [OP_OR] = NODE_A | NODE_B,
    [OP_COND] = NODE_A | NODE_B | NODE_C,
    [OP_TEXT] = ARGS,
    [OP_LIST] = ARGS,
    [OP_MAP] = ARGS | PAIRS,
    [OP_CALL] = ARGS,
    [OP_ALL] = NODE_A | NODE_B,
    [OP_EXISTS] = NODE_A | NODE_B,
    [OP_EXISTS_ONE] = NODE_A | NODE_B,
    [OP_FILTER] = NODE_A | NODE_B,
    [OP_MAP_LIST] = NODE_A | NODE_B | NODE_C,
    [OP_MAP_MAP] = NODE_A | NODE_B | NODE_C,
};

struct packing {
    const struct compiler *from;
    struct expr_node *nodes;
    uint32_t *args;
    struct value *constants;
    struct expr_use *variables; /* root 0: not copied yet */
    struct expr *to;
};

static uint32_t pack(struct packing *p, uint32_t at);

static uint32_t pack_constant(struct packing *p, uint32_t constant)
{
    p->constants[p->to->n_constants] = p->from->constants.items[constant];
    return p->to->n_constants++;
}

/* The arguments of one node stand together, so they get their places before theirs do. */
static uint32_t pack_args(struct packing *p, uint32_t first, uint32_t n)
{
    uint32_t to = p->to->n_args;
    p->to->n_args += n;
    for (uint32_t i = 0; i < n; i++)
        p->args[to + i] = pack(p, p->from->args.items[first + i]);
    return to;
}

/* Its program stands in the copy once, before all that refer to it. */
static uint32_t pack_variable(struct packing *p, uint32_t number)
{
    struct expr_use *use = &p->variables[number];
    if (!use->root) use->root = pack(p, p->from->variables.items[number].root);
    return use->root;
}

/* The number of the copy; 0 stays 0, which is none. */
static uint32_t pack(struct packing *p, uint32_t at)
{
    if (!at) return 0;
    struct expr_node n = p->from->nodes.items[at];
    uint8_t has = fields[n.op];
    if (n.op == OP_VARIABLE)
        n.a = (uint16_t)pack_variable(p, n.b);
    else if (has & NODE_A)
        n.a = (uint16_t)pack(p, n.a);
    if (has & NODE_B) n.b = (uint16_t)pack(p, n.b);
    if (has & NODE_C) n.c = (uint16_t)pack(p, n.c);
    if (has & CONSTANT_A) n.a = (uint16_t)pack_constant(p, n.a);
    if (has & CONSTANT_B) n.b = (uint16_t)pack_constant(p, n.b);
    if (has & ARGS) n.a = (uint16_t)pack_args(p, n.a, has & PAIRS ? 2u * n.b : n.b);
    p->nodes[p->to->n_nodes] = n;
    return p->to->n_nodes++;
}

void pack_tree(struct compiler *c, uint32_t root, struct expr *out)
{
    struct packing p = {
        .from = c,
        .nodes = ARENA_ARRAY(c->arena, struct expr_node, c->nodes.n),
        .args = ARENA_ARRAY(c->arena, uint32_t, c->args.n),
        .constants = ARENA_ARRAY(c->arena, struct value, c->constants.n),
        .variables = ARENA_ARRAY(c->arena, struct expr_use, c->variables.n),
        .to = out,
    };
    out->n_variables = (uint32_t)c->variables.n;
    for (uint32_t i = 0; i < out->n_variables; i++) {
        p.variables[i] = c->variables.items[i];
        p.variables[i].root = 0;
    }
    out->n_nodes = 1; /* [0] stands for none */
    out->root = pack(&p, root);
    out->nodes = p.nodes;
    out->args = p.args;
    out->constants = p.constants;
    out->variables = p.variables;
}

static void move(uint16_t *index, bool is_one, size_t by)
{
    if (is_one && *index) *index = (uint16_t)(*index + by);
}

void unpack_tree(struct compiler *c, const struct expr *e, size_t text, const uint32_t *number)
{
    size_t nodes = c->nodes.n - 1, args = c->args.n, constants = c->constants.n;
    for (uint32_t i = 1; i < e->n_nodes; i++) {
        struct expr_node n = e->nodes[i];
        uint8_t has = fields[n.op];
        move(&n.a, has & NODE_A, nodes);
        move(&n.b, has & NODE_B, nodes);
        move(&n.c, has & NODE_C, nodes);
        if (has & CONSTANT_A) n.a = (uint16_t)(n.a + constants);
        if (has & CONSTANT_B) n.b = (uint16_t)(n.b + constants);
        if (has & ARGS) n.a = (uint16_t)(n.a + args);
        if (n.op == OP_VARIABLE) n.b = (uint16_t)number[n.b];
        n.from += (uint32_t)text;
        n.to += (uint32_t)text;
        *VEC_PUSH(c->arena, &c->nodes) = n;
        *VEC_PUSH(c->arena, &c->named) = 0;
    }
    for (uint32_t i = 0; i < e->n_args; i++)
        *VEC_PUSH(c->arena, &c->args) = e->args[i] + (uint32_t)nodes;
    for (uint32_t i = 0; i < e->n_constants; i++)
        *VEC_PUSH(c->arena, &c->constants) = e->constants[i];
}
