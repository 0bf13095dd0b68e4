/* SPDX-License-Identifier: Apache-2.0 */
/* Named expressions are put in place of their names before an expression is compiled: equal texts
   stay equal, so conditions that share a variable are still evaluated once. */
#include "base/buf.h"
#include "rules/record.h"

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_end(struct str s, size_t at)
{
    while (at < s.n && is_word(s.p[at]))
        at++;
    return at;
}

static bool is_raw_prefix(struct str text, size_t quote)
{
    return quote && (text.p[quote - 1] == 'r' || text.p[quote - 1] == 'R');
}

/* The end of the string literal that begins with a quote at `at`, which may be one of three. */
static size_t string_end(struct str s, size_t at)
{
    struct str quote = str_slice(s, at, at + 1), three = str_slice(s, at, at + 3);
    if (three.n == 3 && three.p[1] == quote.p[0] && three.p[2] == quote.p[0]) quote = three;
    bool raw = is_raw_prefix(s, at);
    for (at += quote.n; at < s.n; at++) {
        if (str_starts(str_slice(s, at, s.n), quote)) return at + quote.n;
        if (s.p[at] == '\\' && !raw) at++;
    }
    return s.n;
}

static bool is_comment(struct str s, size_t at)
{
    return str_starts(str_slice(s, at, s.n), STR("//"));
}

/* The byte before (step -1) or after a place, blanks skipped; 0 at either end. */
static char neighbour(struct str s, size_t at, int step)
{
    for (;;) {
        if (step < 0 && at == 0) return 0;
        if (step < 0) at--;
        if (at >= s.n) return 0;
        if (s.p[at] != ' ' && s.p[at] != '\n') return s.p[at];
        if (step > 0) at++;
    }
}

/* A name stands for itself as a field (x.name) and as a function (name(…)). */
static const struct rule_variable *variable_at(struct loader *l, struct str text, size_t from,
                                               size_t to)
{
    int64_t i = map_get(&l->variable_of, str_slice(text, from, to));
    if (i < 0 || neighbour(text, from, -1) == '.' || neighbour(text, to, 1) == '(') return NULL;
    return &l->variables.items[i];
}

struct str record_expand(struct loader *l, struct str text)
{
    if (!l->variables.n) return text;
    struct buf out = buf_new(l->arena);
    for (size_t at = 0, end; at < text.n && out.n <= RECORD_LONGEST; at = end) {
        const struct rule_variable *variable = NULL;
        if (text.p[at] == '"' || text.p[at] == '\'')
            end = string_end(text, at);
        else if (is_comment(text, at))
            end = at + str_find(str_slice(text, at, text.n), '\n');
        else if (is_word(text.p[at])) {
            end = word_end(text, at);
            variable = variable_at(l, text, at, end);
        } else
            end = at + 1;
        buf_add(&out, variable ? variable->text : str_slice(text, at, end));
    }
    return str_dup(l->arena, buf_str(&out));
}
