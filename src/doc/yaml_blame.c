/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/yaml_blame.h"

/* A line of the text: [from, to), and where its first word begins. */
struct line {
    size_t from, to, word;
};

static struct line line_at(struct str text, size_t from)
{
    struct line l = {.from = from};
    l.to = from + str_find(str_slice(text, from, text.n), '\n');
    for (l.word = from; l.word < l.to && text.p[l.word] == ' ';)
        l.word++;
    return l;
}

static bool next_line(struct str text, struct line *l)
{
    if (l->to >= text.n) return false;
    *l = line_at(text, l->to + 1);
    return true;
}

static struct line line_of(struct str text, size_t byte)
{
    size_t from = byte < text.n ? byte : text.n;
    while (from > 0 && text.p[from - 1] != '\n')
        from--;
    return line_at(text, from);
}

static bool is_empty(struct str text, const struct line *l)
{
    return l->word == l->to || text.p[l->word] == '#' || text.p[l->word] == '\r';
}

/* ---- quotes ---- */

/* The byte of the quote that a line's value or item begins with and does not close; text.n: there
   is none. */
static size_t open_quote(struct str text, const struct line *l)
{
    size_t at = l->word;
    while (at + 1 < l->to && text.p[at] == '-' && text.p[at + 1] == ' ')
        for (at++; at < l->to && text.p[at] == ' ';)
            at++;
    for (size_t i = at; i + 1 < l->to && text.p[at] != '"' && text.p[at] != '\''; i++)
        if (text.p[i] == ':' && text.p[i + 1] == ' ')
            for (at = i + 1; at < l->to && text.p[at] == ' ';)
                at++;
    if (at >= l->to || (text.p[at] != '"' && text.p[at] != '\'')) return text.n;
    for (size_t i = at + 1; i < l->to; i++) {
        if (text.p[i] == '\\' && text.p[at] == '"')
            i++;
        else if (text.p[i] == text.p[at])
            return text.n;
    }
    return at;
}

/* The last quote before the problem that its line leaves open and that the problem's line, or
   nothing, closes. */
static size_t unclosed_quote(struct str text, size_t problem)
{
    struct line l = line_at(text, 0), last = line_of(text, problem);
    size_t best = text.n;
    for (bool more = true; more && l.from <= last.from; more = next_line(text, &l)) {
        size_t quote = is_empty(text, &l) ? text.n : open_quote(text, &l);
        if (quote < text.n) best = quote;
    }
    if (best == text.n) return best;
    size_t close = best + 1 + str_find(str_slice(text, best + 1, text.n), text.p[best]);
    return close >= last.from ? best : text.n;
}

/* ---- columns ---- */

static size_t indent(const struct line *l)
{
    return l->word - l->from;
}

/* How many lines from `from` on begin in the same column, up to `to` or to one further left. */
static size_t count_alike(struct str text, struct line from, size_t to)
{
    struct line l = from;
    size_t n = 0;
    do {
        if (is_empty(text, &l)) continue;
        if (indent(&l) < indent(&from)) break;
        n += indent(&l) == indent(&from);
    } while (next_line(text, &l) && l.from < to);
    return n;
}

/* The first line of the deeper lines right above a line; the line itself when there are none. */
static struct line block_above(struct str text, struct line key)
{
    struct line first = key;
    for (size_t at = key.from; at > 0;) {
        struct line l = line_of(text, at - 1);
        at = l.from;
        if (is_empty(text, &l)) continue;
        if (indent(&l) <= indent(&key)) break;
        first = l;
    }
    return first;
}

/* Of a key and the lines above it that are not in its column what is in the odd place: the lesser
   number, else the odd column. */
static size_t wrong_column(struct str text, size_t problem)
{
    struct line key = line_of(text, problem), map = block_above(text, key);
    size_t keys = count_alike(text, key, text.n), maps = count_alike(text, map, key.from);
    bool odd = indent(&map) % 2 == 1 && indent(&key) % 2 == 0;
    return map.from < key.from && maps == 1 && (odd || keys > maps) ? map.word : key.word;
}

/* ---- blame ---- */

static bool says(const char *words, const char *part)
{
    return strstr(words, part) != NULL;
}

struct yaml_blame yaml_blame(struct str text, size_t problem, size_t context, const char *words)
{
    struct yaml_blame b = {.byte = problem};
    bool expected = says(words, "did not find expected") ||
                    says(words, "unexpected end of stream") ||
                    says(words, "could not find expected ':'");
    size_t quote = expected ? unclosed_quote(text, problem) : text.n;
    if (quote < text.n) {
        b = (struct yaml_blame){quote, "this quote is not closed",
                                "close it at the end of its line"};
    } else if (says(words, "expected key")) {
        b.byte = wrong_column(text, problem);
        b.help = "the keys of a mapping begin in the same column";
    } else if (says(words, "mapping values are not allowed")) {
        b.help =
            "the keys of a mapping begin in the same column, and what is below a key that has a "
            "value cannot belong to it";
    } else if (says(words, "cannot start any token") || says(words, "tab character")) {
        b.help =
            "indent with blanks, not tabs; a value that begins with such a character needs quotes";
    } else if (says(words, "',' or ']'") || says(words, "',' or '}'")) {
        b.byte = context < text.n ? context : problem;
        b.what = "this bracket is not closed, or a comma is missing behind it";
        b.help = "close the bracket, and put commas between its items";
    } else if (says(words, "expected ':'")) {
        b.byte = context < text.n ? context : problem;
        b.what = "a key without a colon behind it";
        b.help = "write it as `key: value`";
    }
    return b;
}
