/* SPDX-License-Identifier: Apache-2.0 */
/* How scalars read. Each program that loads these files resolves plain words its own way; a profile
   is a list of recognisers tried in order, and what none of them takes is a string. */
#include <math.h>

#include "base/num.h"
#include "base/vec.h"
#include "doc/literal.h"
#include "doc/node.h"

/* ---- words ---- */

struct word {
    struct str text;
    struct value value;
};

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }
#define WORD_NULL(s)                                                                               \
    {                                                                                              \
        TEXT(s),                                                                                   \
        {                                                                                          \
            .kind = VALUE_NULL                                                                     \
        }                                                                                          \
    }
#define WORD_BOOL(s, on)                                                                           \
    {                                                                                              \
        TEXT(s),                                                                                   \
        {                                                                                          \
            .kind = VALUE_BOOL, .b = on                                                            \
        }                                                                                          \
    }
#define WORD_NUMBER(s, number)                                                                     \
    {                                                                                              \
        TEXT(s),                                                                                   \
        {                                                                                          \
            .kind = VALUE_DOUBLE, .d = number                                                      \
        }                                                                                          \
    }
enum { LONGEST_WORD = 5 };

static const struct word core_words[] = {
    WORD_NULL(""),
    WORD_NULL("~"),
    WORD_NULL("null"),
    WORD_NULL("Null"),
    WORD_NULL("NULL"),
    WORD_BOOL("true", true),
    WORD_BOOL("True", true),
    WORD_BOOL("TRUE", true),
    WORD_BOOL("false", false),
    WORD_BOOL("False", false),
    WORD_BOOL("FALSE", false),
    WORD_NUMBER(".inf", INFINITY),
    WORD_NUMBER(".Inf", INFINITY),
    WORD_NUMBER(".INF", INFINITY),
    WORD_NUMBER("+.inf", INFINITY),
    WORD_NUMBER("+.Inf", INFINITY),
    WORD_NUMBER("+.INF", INFINITY),
    WORD_NUMBER("-.inf", -INFINITY),
    WORD_NUMBER("-.Inf", -INFINITY),
    WORD_NUMBER("-.INF", -INFINITY),
    WORD_NUMBER(".nan", NAN),
    WORD_NUMBER(".NaN", NAN),
    WORD_NUMBER(".NAN", NAN),
};
static const struct word yaml11_words[] = {
    WORD_BOOL("yes", true),  WORD_BOOL("Yes", true),  WORD_BOOL("YES", true),
    WORD_BOOL("on", true),   WORD_BOOL("On", true),   WORD_BOOL("ON", true),
    WORD_BOOL("no", false),  WORD_BOOL("No", false),  WORD_BOOL("NO", false),
    WORD_BOOL("off", false), WORD_BOOL("Off", false), WORD_BOOL("OFF", false),
};
static const struct word json_words[] = {
    WORD_NULL("null"),
    WORD_BOOL("true", true),
    WORD_BOOL("false", false),
};
/* AutoModel's translate_value: strings that become something else before literal_eval is tried. */
static const struct word automodel_words[] = {
    WORD_NULL("none"),       WORD_NULL("None"),         WORD_BOOL("true", true),
    WORD_BOOL("True", true), WORD_BOOL("false", false), WORD_BOOL("False", false),
};

static bool find_word(const struct word *words, size_t n, struct str s, struct value *out)
{
    for (size_t i = 0; s.n <= LONGEST_WORD && i < n; i++) {
        struct str word = words[i].text;
        bool other = word.n != s.n || (s.n && word.p[0] != s.p[0]); /* most are */
        if (other || !str_eq(s, word)) continue;
        *out = words[i].value;
        return true;
    }
    return false;
}

#define FIND_WORD(words, s, out) find_word(words, sizeof words / sizeof *words, s, out)

/* ---- numbers ---- */

/* Digits of a base, with underscores; too large for an int: a double. False when it is none. */
static bool read_digits(struct str s, unsigned base, bool negative, struct value *out)
{
    uint64_t sum = 0;
    double approximate = 0;
    bool fits = true, any = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '_') continue;
        unsigned digit = (unsigned)(s.p[i] >= 'a'   ? s.p[i] - 'a' + 10
                                    : s.p[i] >= 'A' ? s.p[i] - 'A' + 10
                                                    : s.p[i] - '0');
        if (digit >= base) return false;
        any = true;
        approximate = approximate * base + digit;
        fits = fits && !__builtin_mul_overflow(sum, base, &sum) &&
               !__builtin_add_overflow(sum, digit, &sum);
    }
    if (!any) return false;
    fits = fits && sum <= (uint64_t)INT64_MAX;
    *out = fits ? value_int(negative ? -(int64_t)sum : (int64_t)sum)
                : value_double(negative ? -approximate : approximate);
    return true;
}

static bool cut_sign(struct str *s)
{
    bool negative = s->n && s->p[0] == '-';
    if (s->n && (s->p[0] == '-' || s->p[0] == '+')) *s = str_slice(*s, 1, s->n);
    return negative;
}

/* 0x1F, 0o17, and of YAML 1.1 also 0b101. */
static bool read_prefixed(struct str s, const char *prefix, unsigned base, bool negative,
                          struct value *out)
{
    struct str p = str_of(prefix);
    return str_starts(s, p) && read_digits(str_slice(s, p.n, s.n), base, negative, out);
}

/* Decimal integers of any length and floating point numbers. */
static bool read_decimal(struct str s, struct value *out)
{
    int64_t i;
    double d;
    if (num_parse_int(s, &i)) {
        *out = value_int(i);
        return true;
    }
    if (!num_parse_double(s, &d)) return false;
    *out = value_double(d);
    return true;
}

static bool may_be_number(struct str s)
{
    char c = s.n ? s.p[0] : 'x';
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

static bool core_number(struct str s, struct value *out)
{
    if (!may_be_number(s)) return false;
    return read_prefixed(s, "0x", 16, false, out) || read_prefixed(s, "0o", 8, false, out) ||
           read_decimal(s, out);
}

/* 1:30 is 90 and 1:30.5 is 90.5: groups after the first are 0 to 59. */
static bool read_sexagesimal(struct str s, bool negative, struct value *out)
{
    double sum = 0;
    struct str group, rest = s;
    bool whole = true;
    for (size_t k = 0; str_split(&rest, ':', &group); k++) {
        double d;
        size_t digits = str_find(group, '.');
        bool last = rest.n == 0;
        if (!group.n || group.p[0] < '0' || group.p[0] > '9' || (digits < group.n && !last))
            return false;
        if (!num_parse_double(group, &d) || (k > 0 && (d >= 60 || digits > 2))) return false;
        whole = whole && digits == group.n;
        sum = sum * 60 + d;
    }
    sum = negative ? -sum : sum;
    *out = whole && fabs(sum) < NUM_EXACT ? value_int((int64_t)sum) : value_double(sum);
    return true;
}

static struct str without_underscores(struct arena *a, struct str s)
{
    char *text = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_') text[n++] = s.p[i];
    return (struct str){text, n};
}

/* PyYAML's numbers without base or colons. A float needs its point, and the sign in its exponent:
   1e-5 and 1.0e5 are strings. The sign has been cut off `s`. */
static bool yaml11_decimal(struct arena *a, struct str s, bool negative, struct value *out)
{
    size_t e = 0;
    while (e < s.n && s.p[e] != 'e' && s.p[e] != 'E')
        e++;
    bool signed_exponent = e + 1 < s.n && (s.p[e + 1] == '-' || s.p[e + 1] == '+');
    bool digit_first = s.p[0] >= '0' && s.p[0] <= '9', point = str_find(s, '.') < s.n;
    if (e < s.n && (!point || !signed_exponent)) return false;
    if (!point && s.p[0] == '0' && s.n > 1) return false;
    if (!digit_first && s.p[0] != '.') return false;
    if (!read_decimal(without_underscores(a, s), out)) return false;
    if (negative && out->kind == VALUE_INT) out->i = -out->i;
    if (negative && out->kind == VALUE_DOUBLE) out->d = -out->d;
    return true;
}

/* What most numbers are: digits alone, of which the first is no zero and none is lost. */
static bool read_plain_int(struct str s, struct value *out)
{
    enum { MOST = 18 }; /* digits that fit into 64 bits whatever they are */
    int64_t sum = 0;
    if (s.n > MOST || s.p[0] == '0') return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return false;
        sum = sum * 10 + (s.p[i] - '0');
    }
    *out = value_int(sum);
    return true;
}

static bool yaml11_number(struct arena *a, struct str s, struct value *out)
{
    if (!may_be_number(s)) return false;
    if (read_plain_int(s, out)) return true;
    size_t whole = s.n;
    bool negative = cut_sign(&s), has_sign = s.n < whole;
    if (!s.n) return false;
    if (read_prefixed(s, "0x", 16, negative, out) || read_prefixed(s, "0b", 2, negative, out))
        return true;
    if (s.p[0] == '0' && s.n > 1 && read_digits(s, 8, negative, out)) return true;
    if (str_find(s, ':') < s.n) return s.p[0] != '0' && read_sexagesimal(s, negative, out);
    if (s.p[0] == '.' && has_sign) return false; /* -.5 is a string */
    return yaml11_decimal(a, s, negative, out);
}

/* ---- profiles ---- */

/* Most scalars are no word of any profile: told by length and first letter. */
static bool may_be_word(struct str s)
{
    static const bool begins[256] = {
        ['~'] = 1, ['n'] = 1, ['N'] = 1, ['t'] = 1, ['T'] = 1, ['f'] = 1, ['F'] = 1,
        ['y'] = 1, ['Y'] = 1, ['o'] = 1, ['O'] = 1, ['.'] = 1, ['+'] = 1, ['-'] = 1};
    return s.n <= LONGEST_WORD && (!s.n || begins[(unsigned char)s.p[0]]);
}

static struct value yaml11(struct arena *a, struct str s)
{
    struct value v = value_string(s);
    bool word = may_be_word(s) && (FIND_WORD(core_words, s, &v) || FIND_WORD(yaml11_words, s, &v));
    if (!word) yaml11_number(a, s, &v);
    return v;
}

static struct value core(struct str s)
{
    struct value v = value_string(s);
    if (!FIND_WORD(core_words, s, &v)) core_number(s, &v);
    return v;
}

static struct value json(struct str s)
{
    struct value v = value_string(s);
    if (!FIND_WORD(json_words, s, &v) && may_be_number(s)) read_decimal(s, &v);
    return v;
}

static struct value automodel(struct arena *a, const struct node *node)
{
    struct value v = node->quoted ? value_string(node->text) : yaml11(a, node->text);
    if (v.kind != VALUE_STRING) return v;
    if (may_be_word(v.s) && FIND_WORD(automodel_words, v.s, &v)) return v;
    literal_eval(a, node->text, &v);
    return v;
}

static struct value scalar(struct arena *a, const struct node *node, enum scalar_profile profile)
{
    bool text = node->quoted || str_is(node->tag, "!!str") || str_is(node->tag, "!");
    if (text && profile != SCALAR_AUTOMODEL) return value_string(node->text);
    switch (profile) {
    case SCALAR_YAML11: return yaml11(a, node->text);
    case SCALAR_AUTOMODEL: return automodel(a, node);
    case SCALAR_JSON: return json(node->text);
    case SCALAR_CORE: return core(node->text);
    }
    return value_string(node->text);
}

/* ---- lists and maps ---- */

static struct value list(struct arena *a, const struct node *node, enum scalar_profile profile)
{
    struct value *items = ARENA_ARRAY(a, struct value, node->n);
    for (size_t i = 0; i < node->n; i++)
        items[i] = node_value(a, node->items[i], profile);
    return value_list_over(a, items, node->n);
}

/* Keys are bool, int, uint or string; anything else is its text. */
static struct value key_value(struct arena *a, const struct node *key, enum scalar_profile profile)
{
    struct value v = node_value(a, key, profile == SCALAR_AUTOMODEL ? SCALAR_YAML11 : profile);
    bool allowed = v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_STRING;
    return allowed ? v : value_string(value_text(a, v));
}

static struct value map(struct arena *a, const struct node *node, enum scalar_profile profile)
{
    struct value *keys = ARENA_ARRAY(a, struct value, node->n);
    struct value *values = ARENA_ARRAY(a, struct value, node->n);
    size_t n = 0;
    for (size_t i = 0; i < node->n; i++) {
        if (node->keys[i]->kind == NODE_SCALAR && node_is_shadowed(node, i)) continue;
        keys[n] = key_value(a, node->keys[i], profile);
        values[n++] = node_value(a, node->items[i], profile);
    }
    return value_map_over(a, keys, values, n);
}

struct value node_value(struct arena *a, const struct node *node, enum scalar_profile profile)
{
    switch (node->kind) {
    case NODE_SCALAR: return scalar(a, node, profile);
    case NODE_LIST: return list(a, node, profile);
    case NODE_MAP: return map(a, node, profile);
    }
    return value_null();
}
