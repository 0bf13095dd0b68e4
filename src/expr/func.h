/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the language, as a table: CEL's standard ones and ours. */
#ifndef MOEPLAN_EXPR_FUNC_H
#define MOEPLAN_EXPR_FUNC_H

#include "expr/program.h"

struct run;

/* What a function returns, beyond a plain type: the common type of its arguments. */
enum { FUNC_JOIN = 64 };

enum { FUNC_MAX_ARGS = 32, FUNC_ANY = 0xffff };

/* A set of value kinds. */
#define FUNC_KIND(kind) (1u << (kind))

struct func {
    const char *name;    /* math.least has its dot */
    uint8_t least, most; /* numbers of arguments, the receiver of a.f(b) counted as the first */
    uint16_t params[4];  /* allowed kinds of each argument, the last one for all further ones */
    uint8_t result;      /* enum expr_type or FUNC_JOIN */
    /* Arguments have allowed kinds; none is an error or unknown. */
    struct value (*call)(struct run *r, const struct value *args, size_t n);
    const char *doc;
};

extern const struct func func_table[];
extern const uint32_t func_count;

/* The number of the function that takes n arguments; -1 when there is none. */
int func_find(struct str name, size_t n);
/* The function of a name, however many arguments it takes; NULL when there is none. */
const struct func *func_named(struct str name);
/* The nearest function's name, for a message; may be empty. */
struct str func_nearest(struct str name);
/* The kinds of a function's arguments, as help shows them: "string, string, int?"; ? may be left
   out. */
struct str func_arguments(struct arena *a, const struct func *f);
/* The kinds an argument may have: "int or double". */
struct str func_kinds(struct arena *a, const struct func *f, size_t argument);
/* Whether the argument may be of that kind. */
bool func_takes(const struct func *f, size_t argument, enum value_kind kind);

#endif
