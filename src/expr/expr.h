/* SPDX-License-Identifier: Apache-2.0 */
/* The expression language: the core of CEL (github.com/google/cel-spec) without protobuf, plus a
   few functions. Compiled once into a flat program that can be written out as a C table; evaluated
   many times without allocation for scalar results. Knows nothing of facts: names are bound through
   struct expr_names and struct expr_scope. */
#ifndef MOEPLAN_EXPR_EXPR_H
#define MOEPLAN_EXPR_EXPR_H

#include "base/value.h"
#include "diag/diag.h"

/* What a name means at compile time. Types are those of values, and every named value may also be
   null or unknown. EXPR_DYN is "known only at run time"; EXPR_LOOKUP is no value but a table of
   strings such as raw and env, of which only x["key"], x.key, has(x.key) and "key" in x can be
   asked (expr_scope.index and contains). */
enum expr_type {
    EXPR_DYN,
    EXPR_BOOL,
    EXPR_INT,
    EXPR_UINT,
    EXPR_DOUBLE,
    EXPR_STRING,
    EXPR_LIST,
    EXPR_MAP,
    EXPR_NULL,
    EXPR_LOOKUP,
};

struct expr_ref {
    uint32_t slot; /* handed to expr_scope.get */
    enum expr_type type;
};

/* An expression under a name, for others to use: evaluated where it is used, once an evaluation at
   most. `doc`: its meaning, or nothing. */
struct expr_variable {
    struct str name, doc;
    const struct expr *e; /* NULL: not compiled yet, so that it cannot be used */
};

/* Compile-time names. Variables come first. `resolve` gets a dotted path ("plan.ep", "env.X",
   "version"), longest first (a.b.c, then a.b, then a) and says what it is, or false. With names ==
   NULL every identifier is a free variable, looked up by its dotted name. */
struct expr_names {
    void *context;
    bool (*resolve)(void *context, struct str path, struct expr_ref *out);
    /* The nearest known path for a message, whole as it would be written, or an empty string; may
       be NULL. */
    struct str (*nearest)(void *context, struct arena *a, struct str path);
    const struct expr_variable *variables;
    size_t n_variables;
};

/* Run-time values. `get` gives the value of a slot (UNKNOWN when it cannot be known); `has` answers
   has(path): true, false or UNKNOWN. `index` answers raw["key"] for a slot of type EXPR_LOOKUP:
   VALUE_ERROR when there is no such key; `contains` answers "key" in raw. A function that no
   compiled name needs may be NULL. */
struct expr_scope {
    void *context;
    struct value (*get)(void *context, uint32_t slot);
    struct value (*has)(void *context, uint32_t slot);
    struct value (*index)(void *context, uint32_t slot, struct str key);
    struct value (*contains)(void *context, uint32_t slot, struct str key);
    /* names == NULL at compile time: the value of a free variable by its dotted name, VALUE_ERROR
       when there is none. */
    struct value (*variable)(void *context, struct str name);
};

struct expr; /* a compiled expression */

/* Compiles; NULL with an error `expression` added at `at` (the place of the whole text, with or
   without quotes around it; offsets inside are added when it is one line). With names, types are
   checked as far as they are known; without, all mistakes but those of syntax are errors at run
   time, as CEL without a checker. */
const struct expr *expr_compile(struct arena *a, struct diags *all, struct str text, struct span at,
                                const struct expr_names *names);
/* The same for a text with places for values, which gives a string: "ep is {plan.ep}". {{ is a
   brace. A place shows an unknown value as "unknown" and shortens a long list; an error in it is
   one of the whole. */
const struct expr *expr_compile_text(struct arena *a, struct diags *all, struct str text,
                                     struct span at, const struct expr_names *names);
/* EXPR_DYN when it is known only at run time. */
enum expr_type expr_result_type(const struct expr *e);
/* The slots the expression and its variables read, each once, in order of first appearance. */
size_t expr_slots(const struct expr *e, const uint32_t **slots);
/* Where it asks whether a table of strings has a key. */
struct expr_question {
    uint32_t slot;
    struct str key;
};
/* All such questions, made in `a`; false where it reads more of a table than whether it has literal
   keys. */
bool expr_questions(struct arena *a, const struct expr *e, struct expr_question **out, size_t *n);
/* Evaluates. Never fails: errors and unknowns are values. Work is bounded (100,000 steps).
   `scratch` holds lists and strings of the result. */
struct value expr_eval(const struct expr *e, struct arena *scratch, const struct expr_scope *scope);
/* The text the expression was compiled from, as its author wrote it. */
struct str expr_text(const struct expr *e);
/* The text with its variables' definitions: equal sources are equal programs. */
struct str expr_source(const struct expr *e);
/* The variables of an expression, also those that they use, which come before them. */
struct expr_use {
    struct str name, text, doc;
    uint32_t root; /* of its program */
};
size_t expr_variables(const struct expr *e, const struct expr_use **uses);
/* The sub-expressions worth showing, with values put in: "256 % 48 = 16". At most `most` lines, the
   failing comparison first. */
size_t expr_trace(const struct expr *e, struct arena *scratch, const struct expr_scope *scope,
                  struct str *lines, size_t most);
/* The variables that the text itself names, with values, expressions and meanings: "dp = 8:
   plan.gpus / ranks (copies of the model)". A long expression is left out. At most `most` lines. */
size_t expr_trace_variables(const struct expr *e, struct arena *scratch,
                            const struct expr_scope *scope, struct str *lines, size_t most);
/* Writes the compiled program as C source text of a `static const struct expr NAME` (for the build
   step). */
struct buf;
void expr_write_c(const struct expr *e, struct buf *out, const char *name);

#endif
