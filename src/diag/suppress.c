/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/suppress.h"

#include "diag/policy.h"

struct suppression {
    struct str rule;
    uint32_t first, last; /* lines; 0 and UINT32_MAX: the whole file */
    struct span at;
    struct str until, reason;
    bool used, expired;
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

/* ---- what a comment above a command is for ---- */

static bool is_comment(struct str line)
{
    return str_starts(str_trim(line), STR("#"));
}

static bool goes_on(struct str line)
{
    return str_ends(line, STR("\\")) && !is_comment(line);
}

/* Whether a line ends inside a text in double quotes, which it may begin in. */
static bool ends_in_quote(struct str line, bool in_double)
{
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '\\')
            i++;
        else if (line.p[i] == '"')
            in_double = !in_double;
        else if (line.p[i] == '\'' && !in_double)
            i += 1 + str_find(str_slice(line, i + 1, line.n), '\'');
    }
    return in_double;
}

/* The last line of the command that begins on a line, or behind the comments there. */
static uint32_t command_end(struct diags *all, uint32_t source, uint32_t line)
{
    enum { MOST_LINES = 1000 };
    uint32_t last = line;
    while (is_comment(source_line(&all->sources, source, last)) && last - line < MOST_LINES)
        last++;
    struct str text = source_line(&all->sources, source, last);
    uint32_t end = last;
    bool quoted = ends_in_quote(text, false);
    while ((goes_on(text) || quoted) && end - line < MOST_LINES) {
        text = source_line(&all->sources, source, ++end);
        quoted = ends_in_quote(text, quoted);
    }
    return end;
}

/* ---- comments ---- */

/* The day behind "until", which is cut off the text; empty: there is none. */
static struct str take_day(struct str *text)
{
    struct str rest = str_trim(*text), word = STR("until ");
    if (!str_starts(rest, word)) return STR("");
    struct str day = str_slice(str_trim(str_slice(rest, word.n, rest.n)), 0, 10);
    if (!day_is_valid(day)) return STR("");
    *text = str_slice(rest, (size_t)(day.p - rest.p) + day.n, rest.n);
    return day;
}

/* What stands behind the "#" of a comment of ours, from the mark on; empty: it is none. */
static struct str body_of(struct str text, size_t hash, bool *file)
{
    struct str mark = STR("moeplan: ignore"), rest = str_slice(text, hash + 1, text.n);
    while (rest.n && rest.p[0] == ' ')
        rest = str_slice(rest, 1, rest.n);
    if (!str_starts(rest, mark)) return STR("");
    rest = str_slice(rest, mark.n, rest.n);
    *file = str_starts(rest, STR("-file["));
    if (!*file && !str_starts(rest, STR("["))) return STR("");
    rest = str_slice(rest, *file ? 6 : 1, rest.n);
    return str_slice(rest, 0, str_find(rest, '\n'));
}

/* A comment whose "#" is at byte `hash`. */
static void parse(struct diags *all, uint32_t source, struct str text, size_t hash,
                  struct str today, struct suppressions *list)
{
    bool file = false;
    struct str line = body_of(text, hash, &file);
    size_t end = str_find(line, ']');
    if (end == line.n) return;
    struct suppression s = {
        .at = source_span(&all->sources, source, hash, (size_t)(line.p - text.p) + end + 1)};
    struct str rest = str_slice(line, end + 1, line.n);
    s.until = take_day(&rest);
    s.reason = str_trim(rest);
    s.expired = day_is_over(s.until, today);
    s.first = file ? 0 : s.at.line;
    s.last = file                ? UINT32_MAX
             : alone(text, hash) ? command_end(all, source, s.at.line + 1)
                                 : s.at.line;
    add_rules(all->arena, list, str_slice(line, 0, end), s);
}

static struct suppressions find_all(struct diags *all, uint32_t source, struct str today)
{
    struct suppressions list = {0};
    struct str text = source_get(&all->sources, source)->text;
    for (size_t at = 0; at < text.n; at++) {
        at += str_find(str_slice(text, at, text.n), '#');
        if (at < text.n) parse(all, source, text, at, today, &list);
    }
    return list;
}

/* The first that holds for the finding; NULL: none. Each that does is marked as used. */
static const struct suppression *silenced_by(struct suppressions *list, const struct diag *d)
{
    const struct suppression *first = NULL;
    for (size_t i = 0; i < list->n; i++) {
        struct suppression *s = &list->items[i];
        bool whole = s->last == UINT32_MAX;
        if (!str_eq(s->rule, d->rule) ||
            (!whole && (d->at.line < s->first || d->at.line > s->last)))
            continue;
        s->used = true;
        if (!first && !s->expired) first = s;
    }
    return diag_is_fatal(d) ? NULL : first;
}

static void report_unused(struct diags *all, const struct suppression *s, suppress_judge *judge,
                          void *state)
{
    struct str help = {"", 0};
    if (s->expired)
        diag_add(all, SEVERITY_WARNING, "expired-suppression", s->at,
                 "findings of rule %.*s were silenced here until %.*s", STR_ARG(s->rule),
                 STR_ARG(s->until));
    if (s->expired || s->used || (judge && !judge(state, s->rule, &help))) return;
    diag_add(all, SEVERITY_WARNING, "unused-suppression", s->at,
             "no finding of rule %.*s is silenced here", STR_ARG(s->rule))
        ->help = help;
}

size_t diags_suppress(struct diags *all, uint32_t source, struct str today, suppress_judge *judge,
                      void *state)
{
    struct suppressions list = find_all(all, source, today);
    if (!list.n) return 0;
    size_t kept = 0, before = all->n;
    for (size_t i = 0; i < all->n; i++) {
        struct diag *d = &all->items[i];
        const struct suppression *s = d->at.source == source ? silenced_by(&list, d) : NULL;
        if (s)
            diag_hide(all, d, DIAG_SILENCED, s->reason);
        else
            all->items[kept++] = *d;
    }
    all->n = kept;
    for (size_t i = 0; i < list.n; i++)
        report_unused(all, &list.items[i], judge, state);
    return before - kept;
}
