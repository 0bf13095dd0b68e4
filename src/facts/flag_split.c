/* SPDX-License-Identifier: Apache-2.0 */
/* A text of flags as words, as a shell splits them. */
#include "base/buf.h"
#include "base/quote.h"
#include "facts/facts.h"
#include "facts/flags.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

struct splitter {
    struct str text;
    size_t at;
    uint32_t line;
    struct buf word; /* used once a word has quotes or backslashes */
    bool copied;
    size_t from;
};

/* Begins to copy the word, with what was taken of it so far. */
static void copy_word(struct splitter *s, struct arena *a)
{
    if (s->copied) return;
    s->word = buf_new(a);
    buf_add(&s->word, str_slice(s->text, s->from, s->at));
    s->copied = true;
}

/* Takes a quoted part, s->at on its opening quote; false when it is not closed. */
static bool take_quoted(struct splitter *s)
{
    char quote = s->text.p[s->at++];
    for (; s->at < s->text.n && s->text.p[s->at] != quote; s->at++) {
        bool escape = quote == '"' && s->text.p[s->at] == '\\' && s->at + 1 < s->text.n;
        if (escape && memchr("\"\\$`\n", s->text.p[s->at + 1], 5)) s->at++;
        s->line += s->text.p[s->at] == '\n';
        buf_add_char(&s->word, s->text.p[s->at]);
    }
    return s->at++ < s->text.n;
}

static bool take_word(struct splitter *s, struct arena *a)
{
    while (s->at < s->text.n && !is_blank(s->text.p[s->at])) {
        char c = s->text.p[s->at];
        if (c == '$' && s->at + 1 < s->text.n && s->text.p[s->at + 1] == '\'') {
            copy_word(s, a);
            s->at += 2;
            if (!quote_take_ansi(s->text, &s->at, &s->word)) return false;
            continue;
        }
        if (c == '\'' || c == '"') {
            copy_word(s, a);
            if (!take_quoted(s)) return false;
            continue;
        }
        if (c == '\\' && s->at + 1 < s->text.n) {
            copy_word(s, a);
            s->at++;
            s->line += s->text.p[s->at] == '\n';
            if (s->text.p[s->at] != '\n') buf_add_char(&s->word, s->text.p[s->at]);
            s->at++;
            continue;
        }
        if (s->copied) buf_add_char(&s->word, c);
        s->at++;
    }
    return true;
}

static void skip_blanks(struct splitter *s)
{
    for (; s->at < s->text.n; s->at++) {
        char c = s->text.p[s->at];
        if (c == '#') {
            while (s->at + 1 < s->text.n && s->text.p[s->at + 1] != '\n')
                s->at++;
        } else if (c == '\\' && s->at + 1 < s->text.n && is_blank(s->text.p[s->at + 1])) {
            continue;
        } else if (!is_blank(c)) {
            return;
        }
        s->line += c == '\n';
    }
}

/* Where the word's value stands, if it stands there as it is. */
static void set_part(const struct facts *f, struct str text, struct flag_word *w)
{
    struct str raw = str_slice(text, w->from, w->to);
    size_t eq = str_find(w->text, '='), first = eq < w->text.n ? eq + 1 : 0;
    size_t skip = raw.n && strchr("'\"", raw.p[0]) ? 1 : 0;
    if (!str_eq(str_slice(raw, skip, skip + w->text.n), w->text)) return;
    w->part_source = f->source;
    w->part_from = w->from + (uint32_t)(skip + first);
    w->part_to = w->from + (uint32_t)(skip + w->text.n);
}

bool flags_split(struct facts *f, struct str text, struct flag_words *out)
{
    struct splitter s = {.text = text, .line = 1};
    for (skip_blanks(&s); s.at < text.n; skip_blanks(&s)) {
        s.from = s.at;
        s.copied = false;
        uint32_t line = s.line;
        if (!take_word(&s, f->arena)) {
            diag_add(f->diags, SEVERITY_ERROR, "shell-syntax",
                     source_span(&f->diags->sources, f->source, s.from, s.from + 1),
                     "this quote is not closed");
            return false;
        }
        struct str word = s.copied ? buf_str(&s.word) : str_slice(text, s.from, s.at);
        struct flag_word *w = VEC_PUSH(f->arena, out);
        *w = (struct flag_word){.text = word,
                                .known = word.n,
                                .from = (uint32_t)s.from,
                                .to = (uint32_t)s.at,
                                .line = line};
        set_part(f, text, w);
    }
    return true;
}
