/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include "base/buf.h"

/* ---- any text ---- */

/* Classes of letters, as the ends of ranges, one behind the other. */
static const struct {
    const char *name, *ranges;
} letter_classes[] = {
    {"[:alnum:]", "09azAZ"}, {"[:alpha:]", "azAZ"},   {"[:digit:]", "09"},
    {"[:lower:]", "az"},     {"[:space:]", "\t\r  "}, {"[:upper:]", "AZ"},
};

static bool is_in_ranges(char c, const char *ranges)
{
    for (const char *r = ranges; *r; r += 2)
        if (r[0] <= c && c <= r[1]) return true;
    return false;
}

/* What stands at a place between brackets: how many bytes it has, and whether it is the letter. */
static size_t bracket_item(struct str rest, char c, bool *is)
{
    for (size_t i = 0; i < sizeof letter_classes / sizeof *letter_classes; i++) {
        struct str name = str_of(letter_classes[i].name);
        if (!str_starts(rest, name)) continue;
        *is = is_in_ranges(c, letter_classes[i].ranges);
        return name.n;
    }
    bool range = rest.n > 2 && rest.p[1] == '-' && rest.p[2] != ']';
    *is = rest.p[0] <= c && c <= rest.p[range ? 2 : 0];
    return range ? 3 : 1;
}

/* bracket := '[' ('!' | '^')? item+ ']', where a ']' that comes first is an item. Its bytes, 0: it
   is none. */
static size_t bracket_length(struct str pattern, char c, bool *matches)
{
    bool negated = pattern.n > 1 && (pattern.p[1] == '!' || pattern.p[1] == '^'), any = false, is;
    size_t first = negated ? 2 : 1, at = first;
    while (at < pattern.n && (pattern.p[at] != ']' || at == first)) {
        at += bracket_item(str_slice(pattern, at, pattern.n), c, &is);
        any |= is;
    }
    *matches = any != negated;
    return at < pattern.n ? at + 1 : 0;
}

/* How many bytes of the pattern stand for the letter, 0: those that it begins with do not. */
static size_t letter_matches(struct str pattern, char c)
{
    bool matches;
    if (!pattern.n) return 0;
    size_t bracket = pattern.p[0] == '[' ? bracket_length(pattern, c, &matches) : 0;
    if (bracket) return matches ? bracket : 0;
    return pattern.p[0] == '?' || pattern.p[0] == c;
}

/* A star takes as little as it can; where the rest then does not match, the last star takes one
   letter more. */
bool text_matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = pattern.n, taken = 0, one;
    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            taken = t;
        } else if ((one = letter_matches(str_slice(pattern, p, pattern.n), text.p[t])) > 0) {
            p += one;
            t++;
        } else if (star < pattern.n) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

/* ---- paths ---- */

/* Whether what a pattern begins with at some byte matches the rest of a path, for each byte of the
   path. `*` stays within a name, `**` also eats slashes, and `**` followed by a slash may eat
   nothing. rows[k] is the same for the pattern k bytes further on, rows[0] is written. */
static void match_from(struct str pattern, struct str path, bool *const rows[4])
{
    bool star = pattern.p[0] == '*', deep = star && pattern.n > 1 && pattern.p[1] == '*';
    bool folders = deep && pattern.n > 2 && pattern.p[2] == '/';
    const bool *rest = rows[deep ? 2 : 1];
    bool eaten = false; /* the star takes what comes up to some match of the rest */
    for (size_t i = path.n + 1; i-- > 0;) {
        char c = i < path.n ? path.p[i] : '\0';
        bool one = i < path.n && (pattern.p[0] == '?' ? c != '/' : c == pattern.p[0]);
        eaten = rest[i] || (eaten && (deep || c != '/'));
        rows[0][i] = star ? eaten || (folders && rows[3][i]) : one && rest[i + 1];
    }
}

static bool is_wild(char c)
{
    return c == '*' || c == '?';
}

/* Takes away what both begin and end with, which decides most pairs; false when they differ there.
   A slash at the end stays, as it may be that of a star that eats folders. */
static bool strip_ends(struct str *pattern, struct str *path)
{
    size_t n = 0;
    while (n < pattern->n && !is_wild(pattern->p[n])) {
        if (n == path->n || path->p[n] != pattern->p[n]) return false;
        n++;
    }
    *pattern = str_slice(*pattern, n, pattern->n);
    *path = str_slice(*path, n, path->n);
    while (pattern->n && !is_wild(pattern->p[pattern->n - 1]) &&
           pattern->p[pattern->n - 1] != '/') {
        if (!path->n || path->p[path->n - 1] != pattern->p[pattern->n - 1]) return false;
        pattern->n--;
        path->n--;
    }
    return pattern->n || !path->n;
}

bool path_matches(struct arena *a, struct str pattern, struct str path)
{
    if (!strip_ends(&pattern, &path)) return false;
    struct arena_mark mark = arena_mark(a);
    size_t width = path.n + 1;
    bool *rows = ARENA_ARRAY(a, bool, 4 * width), *at[4];
    rows[pattern.n % 4 * width + path.n] = true; /* nothing matches nothing */
    for (size_t i = pattern.n; i-- > 0;) {
        for (size_t k = 0; k < 4; k++)
            at[k] = rows + (i + k) % 4 * width;
        match_from(str_slice(pattern, i, pattern.n), path, at);
    }
    bool whole = rows[0];
    arena_pop(a, mark);
    return whole;
}

/* ---- .gitignore ---- */

struct glob glob_parse(struct str text)
{
    struct glob g = {.pattern = text};
    if (str_starts(g.pattern, STR("!"))) {
        g.negated = true;
        g.pattern = str_slice(g.pattern, 1, g.pattern.n);
    }
    if (g.pattern.n > 1 && str_ends(g.pattern, STR("/"))) {
        g.folder = true;
        g.pattern = str_slice(g.pattern, 0, g.pattern.n - 1);
    }
    g.anchored = str_find(g.pattern, '/') < g.pattern.n;
    if (str_starts(g.pattern, STR("/"))) g.pattern = str_slice(g.pattern, 1, g.pattern.n);
    return g;
}

/* The path up to the slash that follows byte `from`, or to its end. */
static struct str head_to(struct str path, size_t from)
{
    return str_slice(path, 0, from + str_find(str_slice(path, from, path.n), '/'));
}

bool glob_covers(struct arena *a, const struct glob *g, struct str path, bool folder)
{
    for (size_t from = 0; from < path.n;) {
        struct str head = head_to(path, from);
        bool is_folder = folder || head.n < path.n;
        struct str tried = g->anchored ? head : str_slice(head, from, head.n);
        if ((is_folder || !g->folder) && path_matches(a, g->pattern, tried)) return true;
        from = head.n + 1;
    }
    return false;
}

/* ---- names in braces ---- */

/* Bytes [*from, *to) of the i-th "{name}" with its braces; false when there are fewer. */
static bool find_name(struct str pattern, size_t i, size_t *from, size_t *to)
{
    size_t at = 0;
    do {
        at += str_find(str_slice(pattern, at, pattern.n), '{');
        *from = at;
        at += str_find(str_slice(pattern, at, pattern.n), '}');
        *to = at + 1;
    } while (at < pattern.n && i-- > 0);
    return at < pattern.n;
}

bool glob_name(struct str pattern, size_t i, struct str *name)
{
    size_t from, to;
    if (!find_name(pattern, i, &from, &to)) return false;
    *name = str_slice(pattern, from + 1, to - 1);
    return true;
}

struct str glob_plain(struct arena *a, struct str pattern)
{
    struct buf out = buf_new(a);
    size_t at = 0, from, to;
    for (size_t i = 0; find_name(pattern, i, &from, &to); i++) {
        buf_add(&out, str_slice(pattern, at, from));
        buf_add_char(&out, '*');
        at = to;
    }
    buf_add(&out, str_slice(pattern, at, pattern.n));
    return buf_str(&out);
}

static bool fits(struct str s, bool digits)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '/' || (digits && (s.p[i] < '0' || s.p[i] > '9'))) return false;
    return s.n > 0;
}

/* The first place, and the longest there, at which what stands before and behind the name matches.
 */
static bool capture(struct arena *a, struct str before, struct str behind, struct str path,
                    bool digits, struct str *out)
{
    for (size_t from = 0; from < path.n; from++) {
        if (!path_matches(a, before, str_slice(path, 0, from))) continue;
        for (size_t to = path.n; to > from; to--) {
            *out = str_slice(path, from, to);
            if (fits(*out, digits) && path_matches(a, behind, str_slice(path, to, path.n)))
                return true;
        }
    }
    return false;
}

bool glob_capture(struct arena *a, struct str pattern, struct str path, size_t i, bool digits,
                  struct str *out)
{
    struct glob g = glob_parse(pattern);
    size_t from, to;
    if (!find_name(g.pattern, i, &from, &to)) return false;
    struct str before = glob_plain(a, str_slice(g.pattern, 0, from)),
               behind = glob_plain(a, str_slice(g.pattern, to, g.pattern.n)),
               plain = glob_plain(a, g.pattern);
    for (size_t start = 0; start < path.n;) {
        struct str head = head_to(path, start);
        struct str tried = g.anchored ? head : str_slice(head, start, head.n);
        if (path_matches(a, plain, tried) && capture(a, before, behind, tried, digits, out))
            return true;
        start = head.n + 1;
    }
    return false;
}
