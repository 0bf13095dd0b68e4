/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/literal.h"

#include "base/num.h"
#include "base/vec.h"

enum { MAX_DEPTH = 100 };

struct reader {
    struct arena *arena;
    struct str text;
    size_t at;
    int depth;
};

static char peek(const struct reader *r)
{
    return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->text.n && strchr(" \t\r\n", r->text.p[r->at]))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (peek(r) != c || r->at >= r->text.n) return false;
    r->at++;
    return true;
}

/* Bytes from the opening quote to the one that ends the string, or to the end of the text. */
static size_t string_room(const struct reader *r)
{
    size_t at = r->at + 1;
    while (at < r->text.n && r->text.p[at] != r->text.p[r->at])
        at += r->text.p[at] == '\\' ? 2 : 1;
    return at - r->at;
}

/* 'text' or "text" with the common escapes; others stay as written, as Python leaves unknown
   ones. */
static bool string(struct reader *r, struct value *out)
{
    static const char from[] = "\\'\"ntr", to[] = "\\'\"\n\t\r";
    char *text = arena_alloc(r->arena, string_room(r) + 1), quote = r->text.p[r->at++];
    size_t n = 0;
    while (r->at < r->text.n && r->text.p[r->at] != quote) {
        char c = r->text.p[r->at++];
        const char *escape = c == '\\' && peek(r) ? strchr(from, peek(r)) : NULL;
        if (escape) {
            c = to[escape - from];
            r->at++;
        }
        text[n++] = c;
    }
    if (!take(r, quote)) return false;
    *out = value_string((struct str){text, n});
    return true;
}

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
}

/* A number as Python writes it: 8, 1_000, 1., 1e-5; without the underscores for num_parse_*. */
static bool number(struct reader *r, struct str word, struct value *out)
{
    char *text = arena_alloc(r->arena, word.n + 1);
    size_t n = 0, digits = 0;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '_' && (i == 0 || i + 1 == word.n || word.p[i - 1] == '_')) return false;
        if (word.p[i] != '_') text[n++] = word.p[i];
        digits += word.p[i] >= '0' && word.p[i] <= '9';
    }
    struct str plain = {text, n};
    int64_t i;
    double d;
    if (n > 1 && digits == n && plain.p[0] == '0')
        return false; /* 010 is a syntax error in Python */
    if (num_parse_int(plain, &i)) {
        *out = value_int(i);
        return true;
    }
    if (!num_parse_double(plain, &d)) return false;
    *out = value_double(d);
    return true;
}

/* The word from here: letters, digits, points, and a sign inside an exponent. */
static struct str word_here(struct reader *r)
{
    size_t from = r->at;
    for (; r->at < r->text.n; r->at++) {
        char c = r->text.p[r->at], before = r->at > from ? r->text.p[r->at - 1] : '\0';
        bool exponent_sign = (c == '-' || c == '+') && (before == 'e' || before == 'E');
        if (!is_word_char(c) && !exponent_sign) break;
    }
    return str_slice(r->text, from, r->at);
}

static bool negate(struct value *v)
{
    if (v->kind == VALUE_INT && v->i != INT64_MIN)
        v->i = -v->i;
    else if (v->kind == VALUE_DOUBLE)
        v->d = -v->d;
    else
        return false;
    return true;
}

static bool word(struct reader *r, struct value *out)
{
    bool negative = take(r, '-');
    if (!negative) take(r, '+');
    skip_blanks(r);
    struct str w = word_here(r);
    if (!w.n) return false;
    if (!negative && str_is(w, "None"))
        *out = value_null();
    else if (!negative && (str_is(w, "True") || str_is(w, "False")))
        *out = value_bool(w.p[0] == 'T');
    else if (!number(r, w, out))
        return false;
    return !negative || negate(out);
}

static bool value(struct reader *r, struct value *out);

/* The rest of a list or tuple after its bracket; a single item in round brackets without a comma is
   just that item. */
static bool items(struct reader *r, char end, struct value *out)
{
    VEC(struct value) list = {0};
    bool comma = false;
    while (!take(r, end)) {
        if (list.n && !comma) return false;
        struct value item;
        if (!value(r, &item)) return false;
        *VEC_PUSH(r->arena, &list) = item;
        comma = take(r, ',');
    }
    *out = end == ')' && list.n == 1 && !comma ? list.items[0]
                                               : value_list_of(r->arena, list.items, list.n);
    return true;
}

static bool dictionary(struct reader *r, struct value *out)
{
    VEC(struct value) keys = {0}, values = {0};
    bool comma = true;
    while (!take(r, '}')) {
        struct value key, item;
        if (!comma || !value(r, &key) || !take(r, ':') || !value(r, &item)) return false;
        bool allowed = key.kind == VALUE_BOOL || key.kind == VALUE_INT || key.kind == VALUE_STRING;
        if (!allowed) return false;
        *VEC_PUSH(r->arena, &keys) = key;
        *VEC_PUSH(r->arena, &values) = item;
        comma = take(r, ',');
    }
    *out = value_map_of(r->arena, keys.items, values.items, keys.n);
    return true;
}

static bool value(struct reader *r, struct value *out)
{
    skip_blanks(r);
    if (r->depth == MAX_DEPTH) return false;
    r->depth++;
    bool ok;
    if (peek(r) == '\'' || peek(r) == '"')
        ok = string(r, out);
    else if (take(r, '['))
        ok = items(r, ']', out);
    else if (take(r, '('))
        ok = items(r, ')', out);
    else if (take(r, '{'))
        ok = dictionary(r, out);
    else
        ok = word(r, out);
    r->depth--;
    return ok;
}

bool literal_eval(struct arena *a, struct str text, struct value *out)
{
    struct reader r = {.arena = a, .text = str_trim(text)};
    char first = peek(&r);
    bool candidate = r.text.n && (strchr("[({'\"+-.", first) || (first >= '0' && first <= '9') ||
                                  strchr("NTF", first));
    struct value v;
    if (!candidate || !value(&r, &v)) return false;
    skip_blanks(&r);
    if (r.at < r.text.n) return false;
    *out = v;
    return true;
}
