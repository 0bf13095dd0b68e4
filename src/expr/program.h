/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled expression: a tree in one array. Plain data without pointers between nodes, so that a
   program can be written out as C tables. Only this folder and the generated tables look inside. */
#ifndef MOEPLAN_EXPR_PROGRAM_H
#define MOEPLAN_EXPR_PROGRAM_H

#include "expr/expr.h"

/* What the fields a, b, c of a node mean; "node" is an index into nodes, "constant" one into
   constants. */
enum expr_op {
    OP_ERROR,    /* a: constant, the message */
    OP_CONST,    /* a: constant */
    OP_IDENT,    /* syntax only. a: constant, the name; b: 1 when written with a leading dot */
    OP_SELECT,   /* a: node; b: constant, the field */
    OP_HAS,      /* a: node; b: constant, the field. Syntax only: a: node of the whole selection */
    OP_INDEX,    /* a[b] */
    OP_SLOT,     /* a: slot */
    OP_SLOT_HAS, /* a: slot */
    OP_LOOKUP,   /* a: slot; b: node of the key */
    OP_LOOKUP_HAS, /* a: slot; b: node of the key */
    OP_LOCAL,      /* a: number of a macro's variable */
    OP_VARIABLE,   /* a: node of its program; b: number of the variable */
    OP_FREE,       /* a: constant, the dotted name */
    OP_NOT,        /* a */
    OP_NEG,        /* a */
    OP_ADD,        /* a, b, as all below up to OP_OR */
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IN,
    OP_AND,
    OP_OR,
    OP_COND, /* a ? b : c */
    OP_TEXT, /* a: first of b args, the parts of a text with places */
    OP_LIST, /* a: first of b args */
    OP_MAP,  /* a: first of 2 b args, keys and values in turn */
    OP_CALL, /* a: first of b args; c: number of the function (func.h).
                Syntax only: c: constant, its name */
    OP_ALL,  /* macros from here: a: node of the range; b: of the predicate */
    OP_EXISTS,
    OP_EXISTS_ONE,
    OP_FILTER,
    OP_MAP_LIST, /* b: node of the predicate, 0 for none; c: of the new item */
    OP_MAP_MAP,  /* the same, of the new value under the old key */
};

struct expr_node {
    uint8_t op, type; /* enum expr_op, enum expr_type */
    uint8_t height;   /* longest way down to a leaf, at most EXPR_MAX_HEIGHT */
    uint8_t local; /* macros: number of the variable; of two (index or key, then value) the first */
    uint8_t n_locals;  /* macros: 1 or 2 */
    uint16_t a, b, c;  /* EXPR_MAX_NODES bounds what they count */
    uint32_t from, to; /* bytes of the source */
};

struct expr {
    struct str source;             /* the text, then a line for each variable */
    const struct expr_node *nodes; /* [0] is never used */
    const uint32_t *args;          /* node indices of lists, maps and calls */
    const struct value *constants;
    const uint32_t *slots;
    const struct expr_use *variables;
    uint32_t n_text, n_nodes, n_args, n_constants, n_slots, n_variables, root;
};

enum {
    EXPR_MAX_TEXT = 64 * 1024, /* bytes */
    EXPR_MAX_NODES = 10000,
    EXPR_MAX_HEIGHT = 200, /* of the tree, which bounds the recursion of everything that walks it */
    EXPR_MAX_LOCALS = 16,  /* macros within each other */
    EXPR_MAX_VARIABLES = 64, /* of one expression, those of its variables counted */
    EXPR_MAX_STEPS = 100000  /* of one evaluation */
};

#endif
