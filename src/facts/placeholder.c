/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/placeholder.h"

#include "base/buf.h"

enum { LONGEST = 256 }; /* bytes */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Whether the word stands in the text, in lower case, with nothing that goes on before and behind
   it. */
static bool has_word(struct str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, word, n) != 0) continue;
        bool begins = i == 0 || !is_letter(text.p[i - 1]);
        bool ends = i + n == text.n || !is_letter(text.p[i + n]);
        if (begins && ends) return true;
    }
    return false;
}

/* <...> with a letter right behind its beginning. */
static bool has_brackets(struct str text)
{
    size_t open = str_find(text, '<');
    struct str rest = str_slice(text, open < text.n ? open + 1 : text.n, text.n);
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
            only = only && text.p[i] == 'x';
            n++;
            continue;
        }
        if (only && n >= FEWEST) return true;
        only = true;
        n = 0;
    }
    return false;
}

bool placeholder_is(struct str text)
{
    static const char *const words[] = {"your",      "path/to",    "path_to", "path to", "changeme",
                                        "change_me", "replace_me", "fill_me", "todo"};
    char lower[LONGEST];
    if (text.n < 3 || text.n > LONGEST) return false;
    for (size_t i = 0; i < text.n; i++)
        lower[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] + 32) : text.p[i];
    struct str s = {lower, text.n};
    if (str_is(s, "...") || has_brackets(s) || has_crosses(s)) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(s, words[i])) return true;
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
