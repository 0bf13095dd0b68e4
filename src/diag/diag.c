/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/diag.h"

#include <assert.h>

#include "base/buf.h"
#include "base/edit.h"
#include "base/sort.h"

void diags_init(struct diags *all, struct arena *arena)
{
    *all = (struct diags){.arena = arena, .sources.arena = arena};
}

struct diag *diag_add(struct diags *all, enum severity severity, const char *rule, struct span at,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct diag *d = diag_vadd(all, severity, rule, at, format, args);
    va_end(args);
    return d;
}

struct diag *diag_vadd(struct diags *all, enum severity severity, const char *rule, struct span at,
                       const char *format, va_list args)
{
    struct diag *d = VEC_PUSH(all->arena, all);
    *d = (struct diag){.rule = str_of(rule),
                       .severity = severity,
                       .at = at,
                       .message = arena_vprintf(all->arena, format, args),
                       .document = all->document};
    return d;
}

void diag_remove(struct diags *all, size_t index)
{
    assert(index < all->n);
    all->n--;
    for (size_t i = index; i < all->n; i++)
        all->items[i] = all->items[i + 1];
}

bool diag_is_told(const struct diags *all, size_t n, struct span at)
{
    for (size_t i = 0; i < n; i++) {
        struct span told = all->items[i].at;
        if (told.source == at.source && told.line == at.line && told.column == at.column)
            return true;
    }
    return false;
}

void diag_note(struct diags *all, struct diag *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *VEC_PUSH(all->arena, &d->notes) = arena_vprintf(all->arena, format, args);
    va_end(args);
}

void diag_help(struct diags *all, struct diag *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->help = arena_vprintf(all->arena, format, args);
    va_end(args);
}

void diag_edit(struct diags *all, struct diag *d, size_t from, size_t to, struct str text)
{
    *VEC_PUSH(all->arena, &d->edits) = (struct text_edit){d->at.source, from, to, text};
}

static char plain_letter(char c)
{
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Whether words differ in nothing but their case, and - for _. */
static bool same_letters(struct str a, struct str b)
{
    for (size_t i = 0; i < a.n && a.n == b.n; i++)
        if (plain_letter(a.p[i]) != plain_letter(b.p[i])) return false;
    return a.n == b.n;
}

/* A slip of the keyboard, and hardly another word: a few letters, not among the first, where short
   names of parallel dimensions differ. */
static bool is_slip(struct str word, struct str near)
{
    enum { HEAD = 2, SHORT = 6, LONG = 10, VERY_LONG = 18 };
    size_t head = 0;
    while (head < word.n && word.p[head] == '-')
        head++;
    if (same_letters(word, near)) return true;
    if (word.n < SHORT || near.n < SHORT ||
        !str_eq(str_slice(word, 0, head + HEAD), str_slice(near, 0, head + HEAD)))
        return false;
    return edit_is_slip(word, near, word.n >= VERY_LONG ? 3 : word.n >= LONG ? 2 : 1);
}

/* The wrong word where the finding stands: the text there, or what it begins with up to a "=". */
static struct str wrong_word(struct diags *all, const struct diag *d, size_t *from)
{
    size_t to;
    struct str text = source_bytes(&all->sources, d->at, from, &to);
    text = str_slice(text, 0, str_find(text, '='));
    while (text.n && strchr("+\"'", text.p[0])) {
        text = str_slice(text, 1, text.n);
        ++*from;
    }
    while (text.n && strchr("\"'", text.p[text.n - 1]))
        text.n--;
    return text;
}

static void write_instead(struct diags *all, struct diag *d, struct str near)
{
    size_t from;
    struct str word = wrong_word(all, d, &from);
    size_t distance = edit_distance(word, near);
    if (!word.n || !distance || distance > (word.n + 2) / 3) return;
    diag_edit(all, d, from, from + word.n, near);
    d->safe = is_slip(word, near);
}

void diag_suggest(struct diags *all, struct diag *d, struct str near)
{
    if (!near.n) return;
    diag_help(all, d, "did you mean %.*s?", STR_ARG(near));
    write_instead(all, d, near);
}

void diag_choices(struct diags *all, struct diag *d, struct str wrong, const struct str *choices,
                  size_t n)
{
    struct edit_nearest near = {.word = wrong};
    for (size_t i = 0; i < n; i++)
        edit_offer(&near, choices[i]);
    struct str list = str_joined(all->arena, choices, n);
    diag_suggest(all, d, near.best);
    if (near.best.n)
        diag_help(all, d, "did you mean %.*s? one of %.*s", STR_ARG(near.best), STR_ARG(list));
    else
        diag_help(all, d, "one of %.*s", STR_ARG(list));
}

void diag_hide(struct diags *all, const struct diag *d, enum diag_state state, struct str reason)
{
    struct diag *hidden = VEC_PUSH(all->arena, &all->hidden);
    *hidden = *d;
    hidden->state = state;
    hidden->reason = reason;
}

struct str diag_values(struct diags *all, const struct diag *d)
{
    enum { LONGEST = 200 };
    size_t from, to;
    if (d->values.n) return d->values;
    struct str text = str_trim(source_bytes(&all->sources, d->at, &from, &to));
    text = str_slice(text, 0, str_find(text, '\n'));
    return str_trim(str_slice(text, 0, LONGEST));
}

static int cmp_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_diags(const void *left, const void *right)
{
    const struct diag *a = left, *b = right;
    int order = cmp_u32(a->at.source, b->at.source);
    if (!order) order = cmp_u32(a->at.line, b->at.line);
    if (!order) order = cmp_u32(a->at.column, b->at.column);
    if (!order) order = (int)b->severity - (int)a->severity;
    if (!order) order = str_cmp(a->rule, b->rule);
    if (!order) order = str_cmp(a->message, b->message);
    return order ? order : a->document - b->document;
}

void diags_sort(struct diags *all)
{
    if (all->n < 2) return;
    sort_items(all->items, all->n, sizeof *all->items, cmp_diags);
    size_t kept = 1;
    for (size_t i = 1; i < all->n; i++)
        if (cmp_diags(&all->items[i], &all->items[kept - 1]) != 0)
            all->items[kept++] = all->items[i];
    all->n = kept;
}

size_t diags_count(const struct diags *all, enum severity severity)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->items[i].severity == severity;
    return n;
}

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"info", "warning", "error"};
    return names[severity];
}
