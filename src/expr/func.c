/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/func.h"

#include "base/buf.h"
#include "base/edit.h"
#include "expr/functions.h"

enum {
    BOOL = FUNC_KIND(VALUE_BOOL),
    INT = FUNC_KIND(VALUE_INT),
    UINT = FUNC_KIND(VALUE_UINT),
    DOUBLE = FUNC_KIND(VALUE_DOUBLE),
    NUMBER = INT | UINT | DOUBLE,
    TEXT = FUNC_KIND(VALUE_STRING),
    LIST = FUNC_KIND(VALUE_LIST),
    MAP = FUNC_KIND(VALUE_MAP),
    ANY = FUNC_ANY,
};

const struct func func_table[] = {
    {"size",
     1,
     1,
     {TEXT | LIST | MAP},
     EXPR_INT,
     core_size,
     "characters of a text, items of a list, entries of a map"},
    {"contains",
     2,
     2,
     {TEXT, TEXT},
     EXPR_BOOL,
     text_contains,
     "whether the second text is part of the first"},
    {"startsWith",
     2,
     2,
     {TEXT, TEXT},
     EXPR_BOOL,
     text_starts_with,
     "whether the first text begins with the second"},
    {"endsWith",
     2,
     2,
     {TEXT, TEXT},
     EXPR_BOOL,
     text_ends_with,
     "whether the first text ends with the second"},
    {"int",
     1,
     1,
     {NUMBER | TEXT},
     EXPR_INT,
     core_int,
     "a number or text as an int; a fraction is cut off"},
    {"uint", 1, 1, {NUMBER | TEXT}, EXPR_UINT, core_uint, "a number or text as an unsigned int"},
    {"double", 1, 1, {NUMBER | TEXT}, EXPR_DOUBLE, core_double, "a number or text as a double"},
    {"string", 1, 1, {NUMBER | TEXT | BOOL}, EXPR_STRING, core_string, "a number or bool as text"},
    {"bool", 1, 1, {TEXT | BOOL}, EXPR_BOOL, core_bool, "\"true\" or \"false\" as a bool"},
    {"dyn", 1, 1, {ANY}, EXPR_DYN, core_dyn, "the value itself, its type known only at run time"},
    {"typeOf",
     1,
     1,
     {ANY},
     EXPR_STRING,
     core_type_of,
     "null, bool, int, double, string, list, map"},
    {"text", 1, 1, {ANY}, EXPR_STRING, core_text, "any value as a person would write it"},
    {"orValue",
     2,
     2,
     {ANY, ANY},
     FUNC_JOIN,
     core_or_value,
     "the first value, or the second when the first is null"},
    {"atLeast",
     2,
     2,
     {TEXT, TEXT},
     EXPR_BOOL,
     core_at_least,
     "whether a version is the given one or a later one"},
    {"math.least",
     1,
     FUNC_MAX_ARGS,
     {NUMBER | LIST, NUMBER},
     FUNC_JOIN,
     math_least,
     "the least of the numbers, or of a list of them"},
    {"math.greatest",
     1,
     FUNC_MAX_ARGS,
     {NUMBER | LIST, NUMBER},
     FUNC_JOIN,
     math_greatest,
     "the greatest of the numbers, or of a list of them"},
    {"math.abs", 1, 1, {NUMBER}, FUNC_JOIN, math_abs, "the magnitude of a number"},
    {"math.ceil", 1, 1, {DOUBLE}, EXPR_DOUBLE, math_ceil, "the next whole double above"},
    {"math.floor", 1, 1, {DOUBLE}, EXPR_DOUBLE, math_floor, "the next whole double below"},
    {"math.round",
     1,
     1,
     {DOUBLE},
     EXPR_DOUBLE,
     math_round,
     "the nearest whole double, halves away from zero"},
    {"math.trunc", 1, 1, {DOUBLE}, EXPR_DOUBLE, math_trunc, "the double without its fraction"},
    {"math.sign",
     1,
     1,
     {NUMBER},
     FUNC_JOIN,
     math_sign,
     "-1, 0 or 1, as the number is below, at or above zero"},
    {"math.sqrt", 1, 1, {NUMBER}, EXPR_DOUBLE, math_sqrt, "the square root"},
    {"math.isNaN", 1, 1, {DOUBLE}, EXPR_BOOL, math_is_nan, "whether the double is not a number"},
    {"math.isInf", 1, 1, {DOUBLE}, EXPR_BOOL, math_is_inf, "whether the double is infinite"},
    {"math.isFinite",
     1,
     1,
     {DOUBLE},
     EXPR_BOOL,
     math_is_finite,
     "whether the double is neither infinite nor not a number"},
    {"math.bitAnd",
     2,
     2,
     {INT | UINT, INT | UINT},
     FUNC_JOIN,
     math_bit_and,
     "the bits set in both"},
    {"math.bitOr",
     2,
     2,
     {INT | UINT, INT | UINT},
     FUNC_JOIN,
     math_bit_or,
     "the bits set in one or both"},
    {"math.bitXor",
     2,
     2,
     {INT | UINT, INT | UINT},
     FUNC_JOIN,
     math_bit_xor,
     "the bits set in one of the two"},
    {"math.bitNot", 1, 1, {INT | UINT}, FUNC_JOIN, math_bit_not, "the bits not set"},
    {"math.bitShiftLeft",
     2,
     2,
     {INT | UINT, INT},
     EXPR_DYN,
     math_shift_left,
     "the bits n places further left"},
    {"math.bitShiftRight",
     2,
     2,
     {INT | UINT, INT},
     EXPR_DYN,
     math_shift_right,
     "the bits n places further right, zeros behind them"},
    {"divisors",
     1,
     1,
     {INT},
     EXPR_LIST,
     math_divisors,
     "the divisors of a positive int, ascending"},
    {"gcd", 2, 2, {INT, INT}, EXPR_INT, math_gcd, "the greatest common divisor"},
    {"lcm", 2, 2, {INT, INT}, EXPR_INT, math_lcm, "the least common multiple"},
    {"ceilDiv", 2, 2, {INT, INT}, EXPR_INT, math_ceil_div, "the quotient of two ints, rounded up"},
    {"isPowerOfTwo",
     1,
     1,
     {INT},
     EXPR_BOOL,
     math_is_power_of_two,
     "whether an int is 1, 2, 4, 8, ..."},
    {"nearest",
     2,
     2,
     {NUMBER, LIST},
     EXPR_DYN,
     list_nearest,
     "the number of the list nearest to n, the first of equals"},
    {"sum", 1, 1, {LIST}, EXPR_DYN, list_sum, "the sum of a list of numbers; 0 for an empty list"},
    {"min", 1, 1, {LIST}, EXPR_DYN, list_min, "the least item of a list of numbers"},
    {"max", 1, 1, {LIST}, EXPR_DYN, list_max, "the greatest item of a list of numbers"},
    {"join",
     1,
     2,
     {LIST, TEXT},
     EXPR_STRING,
     list_join,
     "the texts of a list with a separator between them"},
    {"count", 2, 2, {LIST, ANY}, EXPR_INT, list_count, "how often a value is in a list"},
    {"distinct",
     1,
     1,
     {LIST},
     EXPR_LIST,
     list_distinct,
     "the items of a list, each once, in order of appearance"},
    {"range", 1, 1, {INT}, EXPR_LIST, list_range, "the ints from 0 up to n - 1"},
    {"lowerAscii",
     1,
     1,
     {TEXT},
     EXPR_STRING,
     text_lower,
     "the text with ASCII letters in lower case"},
    {"upperAscii",
     1,
     1,
     {TEXT},
     EXPR_STRING,
     text_upper,
     "the text with ASCII letters in upper case"},
    {"split",
     2,
     3,
     {TEXT, TEXT, INT},
     EXPR_LIST,
     text_split,
     "the parts between separators; at most n parts, all for -1"},
    {"charAt",
     2,
     2,
     {TEXT, INT},
     EXPR_STRING,
     text_char_at,
     "the character at a place, \"\" at the end"},
    {"substring",
     2,
     3,
     {TEXT, INT, INT},
     EXPR_STRING,
     text_substring,
     "the text from a place on, up to another"},
    {"indexOf",
     2,
     3,
     {TEXT, TEXT, INT},
     EXPR_INT,
     text_index_of,
     "where the second text first is, from a place on; -1 for nowhere"},
    {"lastIndexOf",
     2,
     3,
     {TEXT, TEXT, INT},
     EXPR_INT,
     text_last_index_of,
     "where the second text last is, up to a place; -1 for nowhere"},
    {"replace",
     3,
     4,
     {TEXT, TEXT, TEXT, INT},
     EXPR_STRING,
     text_replace,
     "the text with one part in the place of another, at most n times"},
    {"trim", 1, 1, {TEXT}, EXPR_STRING, text_trim, "the text without blanks at its ends"},
    {"reverse",
     1,
     1,
     {TEXT},
     EXPR_STRING,
     text_reverse,
     "the characters from the last to the first"},
    {"strings.quote",
     1,
     1,
     {TEXT},
     EXPR_STRING,
     text_quote,
     "the text in double quotes, with escapes"},
    {"format",
     2,
     2,
     {TEXT, LIST},
     EXPR_STRING,
     format_text,
     "the text with %s %d %.2f %e %x %X %o %b replaced by the items"},
};

const uint32_t func_count = sizeof func_table / sizeof *func_table;

const struct func *func_named(struct str name)
{
    for (uint32_t i = 0; i < func_count; i++)
        if (str_is(name, func_table[i].name)) return &func_table[i];
    return NULL;
}

int func_find(struct str name, size_t n)
{
    const struct func *f = func_named(name);
    return f && n >= f->least && n <= f->most ? (int)(f - func_table) : -1;
}

struct str func_nearest(struct str name)
{
    struct edit_nearest nearest = {.word = name};
    for (uint32_t i = 0; i < func_count; i++)
        edit_offer(&nearest, str_of(func_table[i].name));
    return nearest.best;
}

bool func_takes(const struct func *f, size_t argument, enum value_kind kind)
{
    size_t last = sizeof f->params / sizeof *f->params - 1, i = argument < last ? argument : last;
    while (i > 0 && !f->params[i])
        i--;
    return f->params[i] & FUNC_KIND(kind);
}

struct str func_kinds(struct arena *a, const struct func *f, size_t argument)
{
    struct buf out = buf_new(a);
    if (func_takes(f, argument, VALUE_NULL)) return STR("any");
    bool number = func_takes(f, argument, VALUE_INT) && func_takes(f, argument, VALUE_UINT) &&
                  func_takes(f, argument, VALUE_DOUBLE);
    if (number) buf_add(&out, STR("number"));
    for (int k = VALUE_BOOL; k <= VALUE_MAP; k++) {
        bool is_number = k == VALUE_INT || k == VALUE_UINT || k == VALUE_DOUBLE;
        if (!func_takes(f, argument, (enum value_kind)k) || (number && is_number)) continue;
        buf_printf(&out, "%s%s", out.n ? " or " : "", value_kind_name((enum value_kind)k));
    }
    return buf_str(&out);
}

struct str func_arguments(struct arena *a, const struct func *f)
{
    struct buf out = buf_new(a);
    bool many = f->most == FUNC_MAX_ARGS;
    for (size_t i = 0; i < (many ? f->least + 1u : f->most); i++) {
        struct str kinds = func_kinds(a, f, i);
        buf_printf(&out, "%s%.*s%s", i ? ", " : "", STR_ARG(kinds), i < f->least ? "" : "?");
    }
    if (many) buf_add(&out, STR(" …"));
    return buf_str(&out);
}
