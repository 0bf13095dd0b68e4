/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one compilation: text -> tokens -> tree -> names and types bound in place. */
#ifndef MOEPLAN_EXPR_COMPILE_H
#define MOEPLAN_EXPR_COMPILE_H

#include "base/buf.h"
#include "base/vec.h"
#include "expr/program.h"

enum token_kind {
    TOKEN_END,
    TOKEN_IDENT,
    TOKEN_FIELD, /* `back-quoted`: a field name that is no identifier */
    TOKEN_INT,
    TOKEN_UINT,
    TOKEN_DOUBLE,
    TOKEN_STRING,
    TOKEN_OR,
    TOKEN_AND,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LE,
    TOKEN_GE,
    TOKEN_LT,
    TOKEN_GT,
    TOKEN_IN,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DIVIDE,
    TOKEN_MODULO,
    TOKEN_NOT,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_LIST,
    TOKEN_CLOSE_LIST,
    TOKEN_OPEN_MAP,
    TOKEN_CLOSE_MAP,
};

struct token {
    enum token_kind kind;
    uint32_t from, to; /* bytes */
    struct str text;   /* identifiers and fields: the name; strings: the content after unescaping */
    uint64_t u;        /* integers: the magnitude */
    double d;
};

struct compiler {
    struct arena *arena;
    struct diags *diags;
    struct str text;
    struct span at;
    const struct expr_names *names;
    bool failed;
    struct token token; /* the one to be consumed next */
    size_t position;    /* behind it */
    int depth;          /* of the parser's recursion */
    VEC(struct expr_node) nodes;
    /* Of each node what binding names needs and no program. Calls: byte where the name begins;
       macros: first of n_locals args, the variables' names. */
    VEC(uint32_t) named;
    VEC(uint32_t) args;
    VEC(struct value) constants;
    struct buf source;
    VEC(struct expr_use) variables;
    struct str locals[EXPR_MAX_LOCALS]; /* the macros' variables in scope */
    uint8_t n_locals;
};

/* Adds an error at the bytes [from, to) of the text and marks the compilation as failed; in the
   parser only the first counts. */
__attribute__((format(printf, 4, 5))) struct diag *
compile_error(struct compiler *c, uint32_t from, uint32_t to, const char *format, ...);
/* A new node, never 0. */
uint32_t compile_node(struct compiler *c, enum expr_op op, uint32_t a, uint32_t b, uint32_t from,
                      uint32_t to);
/* Makes `node` higher than `child`; an error when that is higher than a tree may be. */
void compile_raise(struct compiler *c, uint32_t node, uint32_t child);
/* A new node above one or two others (b: 0 for one), from the start of the one to the end of the
   other. */
uint32_t compile_above(struct compiler *c, enum expr_op op, uint32_t a, uint32_t b);
/* A new node above any number of others, which become its args: `n` is its field b. */
uint32_t compile_over(struct compiler *c, enum expr_op op, const uint32_t *nodes, size_t count,
                      size_t n, uint32_t from, uint32_t to);
/* Copies node indices into the args; the index of the first. */
uint32_t compile_args(struct compiler *c, const uint32_t *nodes, size_t n);
/* Adds a constant; its index. */
uint32_t compile_constant(struct compiler *c, struct value v);
/* A node that holds a constant. */
uint32_t compile_literal(struct compiler *c, struct value v, uint32_t from, uint32_t to);

/* Reads the next token into c->token; after a mistake that is TOKEN_END. */
void token_next(struct compiler *c);

/* The whole text as one expression, or as words with places; the root node, 0 after a mistake. */
uint32_t parse_text(struct compiler *c);
uint32_t parse_places(struct compiler *c);

/* The variable of that name; NULL when there is none. */
const struct expr_variable *variable_find(const struct compiler *c, struct str name);
/* A node that refers to a variable, whose program is copied in with the first. */
uint32_t variable_refer(struct compiler *c, const struct expr_variable *variable, uint32_t from,
                        uint32_t to);

/* The call range.name(args), or name(args) when range is 0, as the node of a macro; 0 when it is
   none. */
uint32_t macro_expand(struct compiler *c, struct str name, uint32_t range, const uint32_t *args,
                      size_t n, uint32_t from, uint32_t to);

/* How a macro is written, for a message; NULL when there is none of that name. */
const char *macro_usage(struct str name);

/* Binds names and checks types in place; mistakes are errors, and without names become OP_ERROR
   nodes. */
void check_tree(struct compiler *c, uint32_t root);

/* Copies a program behind the nodes there are, its text being at `text` of the source; number[i] is
   what its i-th variable is called here. */
void unpack_tree(struct compiler *c, const struct expr *e, size_t text, const uint32_t *number);
/* Copies what the root needs into *out. */
void pack_tree(struct compiler *c, uint32_t root, struct expr *out);

#endif
