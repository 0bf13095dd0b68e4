/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/placeholder.h"

#include <ctype.h>

#include "base/buf.h"

enum { LONGEST = 256 }; /* bytes */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c);
}

/* Whether the word stands at the place, in either case, with nothing that goes on before and behind
   it. */
static bool stands_at(struct str text, size_t at, const char *word)
{
    size_t n = strlen(word);
    if (n > text.n - at || !str_eq_nocase(str_slice(text, at, at + n), str_of(word))) return false;
    bool begins = at == 0 || !is_letter(text.p[at - 1]);
    return begins && (at + n == text.n || !is_letter(text.p[at + n]));
}

static bool has_word(struct str text, const char *word)
{
    for (size_t i = 0; i < text.n; i++) /* the first letter is mostly enough */
        if ((text.p[i] | 0x20) == word[0] && stands_at(text, i, word)) return true;
    return false;
}

/* <...>, or <<<...>>>, with a letter right behind its beginning. */
static bool has_brackets(struct str text)
{
    size_t open = str_find(text, '<');
    while (open < text.n && text.p[open] == '<')
        open++;
    struct str rest = str_slice(text, open, text.n);
    size_t close = str_find(rest, '>');
    return close > 0 && close < rest.n && is_letter(rest.p[0]);
}

/* A whole part of a path that is nothing but x: /data/xxx/ckpt. */
static bool has_crosses(struct str text)
{
    enum { FEWEST = 3 };
    size_t n = 0;
    bool only = true;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] != '/') {
            only = only && (text.p[i] == 'x' || text.p[i] == 'X');
            n++;
            continue;
        }
        if (only && n >= FEWEST) return true;
        only = true;
        n = 0;
    }
    return false;
}

/* Words of letters alone that speak of a file: "vocab file for training". */
static bool is_phrase(struct str text)
{
    static const char *const things[] = {"file", "path", "folder", "directory", "dir"};
    bool thing = false;
    if (str_find(text, ' ') == text.n) return false;
    for (size_t i = 0; i < text.n; i++)
        if (!isalpha((unsigned char)text.p[i]) && text.p[i] != ' ') return false;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        thing |= has_word(text, things[i]);
    return thing;
}

/* Whether one of the words for what is to be filled in begins here; their first letters tell of
   most places that none does. */
static bool has_filler(struct str text, size_t at)
{
    static const char *const words[] = {"your",      "path/to",    "path_to", "path to", "changeme",
                                        "change_me", "replace_me", "fill_me", "todo"};
    char first = (char)(text.p[at] | 0x20);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i][0] == first && stands_at(text, at, words[i])) return true;
    return false;
}

bool placeholder_is(struct str text)
{
    if (text.n < 3 || text.n > LONGEST) return false;
    if (str_is(text, "...") || has_brackets(text) || has_crosses(text) || is_phrase(text))
        return true;
    for (size_t i = 0; i < text.n; i++)
        if ((i == 0 || !is_letter(text.p[i - 1])) && has_filler(text, i)) return true;
    return false;
}

bool placeholder_is_words(struct str text)
{
    return str_find(text, ' ') < text.n || str_find(text, '<') < text.n;
}

void placeholder_note(struct facts *f, struct span at, struct str text)
{
    struct placeholders *p = &f->placeholders;
    for (size_t i = 0; i < p->n && i < PLACEHOLDERS_NAMED; i++)
        if (str_eq(p->texts[i], text)) return;
    if (p->n == 0) p->first = at;
    if (p->n < PLACEHOLDERS_NAMED) p->texts[p->n] = str_dup(f->arena, text);
    p->n++;
}

void placeholder_tell(struct facts *f)
{
    const struct placeholders *p = &f->placeholders;
    size_t named = p->n < PLACEHOLDERS_NAMED ? p->n : PLACEHOLDERS_NAMED;
    if (p->n == 0) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_INFO, "placeholder", p->first, "to be filled in: %.*s%s",
                 STR_ARG(str_joined(f->arena, p->texts, named)), p->n > named ? " and others" : "");
    diag_help(f->diags, d, "put your own in; nothing is concluded from what stands there now");
}
