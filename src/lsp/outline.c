/* SPDX-License-Identifier: Apache-2.0 */
#include "lsp/outline.h"

#include "base/buf.h"

/* ---- a command line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '(';
}

static struct str last_word(struct str line)
{
    size_t from = line.n;
    while (from > 0 && !is_blank(line.p[from - 1]))
        from--;
    return str_slice(line, from, line.n);
}

/* A value stands behind KEY=, or behind a flag. */
static void outline_words(struct outline *o)
{
    o->word = last_word(o->before);
    size_t equals = str_find(o->word, '=');
    if (equals < o->word.n) {
        o->key = str_slice(o->word, 0, equals);
        o->word = str_slice(o->word, equals + 1, o->word.n);
        return;
    }
    struct str flag = last_word(str_trim(str_slice(o->before, 0, o->before.n - o->word.n)));
    if (str_starts(flag, STR("--")) && !str_starts(o->word, STR("-"))) o->key = flag;
}

/* ---- YAML ---- */

/* A line of YAML: the column of its key, behind the dash where it begins an item. */
struct entry_line {
    size_t column;
    struct str text; /* from the key on */
};

static struct entry_line entry_of(struct str line)
{
    struct entry_line e = {.text = line};
    while (e.column < line.n && line.p[e.column] == ' ')
        e.column++;
    while (e.column + 1 < line.n && line.p[e.column] == '-' && line.p[e.column + 1] == ' ')
        e.column += 2;
    e.text = str_slice(line, e.column, line.n);
    return e;
}

/* The key of "key:" and "key: value"; empty: the line has none. */
static struct str key_of(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ':' && (i + 1 == text.n || text.p[i + 1] == ' '))
            return str_slice(text, 0, i);
    return STR("");
}

/* The line above the byte at which a line begins, and where it begins; false at the first. */
static bool line_above(struct str text, size_t *start, struct str *line)
{
    if (*start == 0) return false;
    size_t end = *start - 1, from = end;
    while (from > 0 && text.p[from - 1] != '\n')
        from--;
    *line = str_slice(text, from, end);
    *start = from;
    return true;
}

/* The keys of the mappings around a column of the line that begins there, from the innermost
   outwards. */
static struct str path_above(struct arena *a, struct str text, size_t start, size_t column)
{
    struct str path = STR(""), line;
    while (column > 0 && line_above(text, &start, &line)) {
        struct entry_line e = entry_of(line);
        struct str key = key_of(e.text);
        if (!e.text.n || e.text.p[0] == '#') continue;
        if (!key.n || e.column >= column) continue;
        path = path.n ? arena_printf(a, "%.*s.%.*s", STR_ARG(key), STR_ARG(path)) : key;
        column = e.column;
    }
    return path;
}

static void outline_yaml(struct arena *a, struct str text, struct outline *o)
{
    struct entry_line e = entry_of(o->before);
    o->key = key_of(e.text);
    o->word = o->key.n ? last_word(o->before) : e.text;
    o->path = path_above(a, text, (size_t)(o->before.p - text.p), e.column);
}

struct outline outline_at(struct arena *a, struct str text, struct place at, bool yaml)
{
    struct str line = text_line(text, at.line);
    struct outline o = {.yaml = yaml, .before = str_slice(line, 0, text_byte(line, at.unit))};
    if (yaml)
        outline_yaml(a, text, &o);
    else
        outline_words(&o);
    return o;
}
