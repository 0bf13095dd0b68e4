/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/suppress.h"

#include "diag/select.h"

struct suppression {
    struct str rule;
    uint32_t first, last; /* lines; 0 and UINT32_MAX: the whole file */
    struct span at;
    bool used;
};

struct suppressions {
    struct suppression *items;
    size_t n, cap;
};

/* The ids between the brackets, each as a suppression of its own. */
static void add_rules(struct arena *a, struct suppressions *list, struct str ids,
                      struct suppression like)
{
    struct str id;
    while (str_split(&ids, ',', &id)) {
        like.rule = str_trim(id);
        *VEC_PUSH(a, list) = like;
    }
}

/* Whether nothing but blanks stands before the byte on its line: the comment is then for the next
 * line. */
static bool alone(struct str text, size_t at)
{
    while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t'))
        at--;
    return at == 0 || text.p[at - 1] == '\n';
}

/* A comment whose "#" is at byte `hash`. */
static void parse(struct diags *all, uint32_t source, struct str text, size_t hash,
                  struct suppressions *list)
{
    struct str mark = STR("moeplan: ignore"), rest = str_slice(text, hash + 1, text.n);
    while (rest.n && rest.p[0] == ' ')
        rest = str_slice(rest, 1, rest.n);
    if (!str_starts(rest, mark)) return;
    rest = str_slice(rest, mark.n, rest.n);
    bool file = str_starts(rest, STR("-file["));
    if (!file && !str_starts(rest, STR("["))) return;
    rest = str_slice(rest, file ? 6 : 1, rest.n);
    struct str line = str_slice(rest, 0, str_find(rest, '\n'));
    size_t end = str_find(line, ']');
    if (end == line.n) return;
    struct suppression s = {
        .at = source_span(&all->sources, source, hash, (size_t)(line.p - text.p) + end + 1)};
    s.first = file ? 0 : s.at.line;
    s.last = file ? UINT32_MAX : s.at.line + alone(text, hash);
    add_rules(all->arena, list, str_slice(line, 0, end), s);
}

static struct suppressions find_all(struct diags *all, uint32_t source)
{
    struct suppressions list = {0};
    struct str text = source_get(&all->sources, source)->text;
    for (size_t at = 0; at < text.n; at++) {
        at += str_find(str_slice(text, at, text.n), '#');
        if (at < text.n) parse(all, source, text, at, &list);
    }
    return list;
}

static bool silenced(struct suppressions *list, const struct diag *d)
{
    bool found = false;
    for (size_t i = 0; i < list->n; i++) {
        struct suppression *s = &list->items[i];
        bool whole = s->last == UINT32_MAX;
        if (!str_eq(s->rule, d->rule) ||
            (!whole && (d->at.line < s->first || d->at.line > s->last)))
            continue;
        s->used = true;
        found = true;
    }
    return found && !diag_is_fatal(d);
}

static void report_unused(struct diags *all, const struct suppression *s, suppress_judge *judge,
                          void *state)
{
    struct str help = {"", 0};
    if (s->used || (judge && !judge(state, s->rule, &help))) return;
    diag_add(all, SEVERITY_WARNING, "unused-suppression", s->at,
             "no finding of rule %.*s is silenced here", STR_ARG(s->rule))
        ->help = help;
}

size_t diags_suppress(struct diags *all, uint32_t source, suppress_judge *judge, void *state)
{
    struct suppressions list = find_all(all, source);
    if (!list.n) return 0;
    size_t kept = 0, before = all->n;
    for (size_t i = 0; i < all->n; i++) {
        struct diag *d = &all->items[i];
        if (d->at.source != source || !silenced(&list, d)) all->items[kept++] = *d;
    }
    all->n = kept;
    for (size_t i = 0; i < list.n; i++)
        report_unused(all, &list.items[i], judge, state);
    return before - kept;
}
