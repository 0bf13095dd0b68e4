/* SPDX-License-Identifier: Apache-2.0 */
/* Values: what facts hold and what expressions compute. Plain data in an arena, never changed once
   made. */
#ifndef MOEPLAN_BASE_VALUE_H
#define MOEPLAN_BASE_VALUE_H

#include "base/arena.h"

enum value_kind {
    VALUE_UNKNOWN, /* cannot be determined from the input: rules that need it are skipped */
    VALUE_ERROR,   /* an expression failed; s is the message */
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_UINT,
    VALUE_DOUBLE,
    VALUE_STRING,
    VALUE_LIST,
    VALUE_MAP,
};

struct value_list;
struct value_map;

struct value {
    enum value_kind kind;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        struct str s; /* VALUE_STRING and VALUE_ERROR */
        const struct value_list *list;
        const struct value_map *map;
    };
};

struct value_list {
    size_t n;
    const struct value *items;
};

/* Entries in the order in which they were written; keys are bool, int, uint or string. */
struct value_map {
    size_t n;
    const struct value *keys, *values;
};

static inline struct value value_unknown(void)
{
    return (struct value){.kind = VALUE_UNKNOWN};
}
static inline struct value value_null(void)
{
    return (struct value){.kind = VALUE_NULL};
}
static inline struct value value_bool(bool b)
{
    return (struct value){.kind = VALUE_BOOL, .b = b};
}
static inline struct value value_int(int64_t i)
{
    return (struct value){.kind = VALUE_INT, .i = i};
}
static inline struct value value_uint(uint64_t u)
{
    return (struct value){.kind = VALUE_UINT, .u = u};
}
static inline struct value value_double(double d)
{
    return (struct value){.kind = VALUE_DOUBLE, .d = d};
}
static inline struct value value_string(struct str s)
{
    return (struct value){.kind = VALUE_STRING, .s = s};
}
static inline struct value value_error(struct str message)
{
    return (struct value){.kind = VALUE_ERROR, .s = message};
}
/* A list or map over these very items, which must live as long as it does. */
struct value value_list_over(struct arena *a, const struct value *items, size_t n);
struct value value_map_over(struct arena *a, const struct value *keys, const struct value *values,
                            size_t n);
/* A list of n items; the items are copied into the arena. */
struct value value_list_of(struct arena *a, const struct value *items, size_t n);
/* A map of n entries; keys and values are copied into the arena. */
struct value value_map_of(struct arena *a, const struct value *keys, const struct value *values,
                          size_t n);

/* CEL equality: numbers of different kinds compare by value and exactly, NaN equals nothing,
   lists by item, maps by key; other kinds are unequal. Neither side may be an error or unknown. */
bool value_eq(struct value a, struct value b);
/* Exact order of two numbers of any kind: -1, 0, 1; 2 when one is NaN. */
int value_number_cmp(struct value a, struct value b);
static inline bool value_is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_DOUBLE;
}
/* The entry of a map under a string key, or NULL. */
const struct value *value_map_get(struct value map, struct str key);
/* A number of any kind; NAN for other values. */
double value_number(struct value v);
/* As a person would write it: 8, 1.5, true, null, alltoall, [a, b], {k: v}; "unknown" when
   unknown. */
struct str value_text(struct arena *a, struct value v);
/* The same, of a long list the first items and how many there are: [a, b, … 35 in all]. */
struct str value_brief(struct arena *a, struct value v);
/* The word for a kind: "int", "string", ... */
const char *value_kind_name(enum value_kind kind);

#endif
