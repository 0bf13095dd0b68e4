/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include "base/buf.h"

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

bool path_matches(struct arena *a, struct str pattern, struct str path)
{
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
               behind = glob_plain(a, str_slice(g.pattern, to, g.pattern.n));
    for (size_t start = 0; start < path.n;) {
        struct str head = head_to(path, start);
        struct str tried = g.anchored ? head : str_slice(head, start, head.n);
        if (capture(a, before, behind, tried, digits, out)) return true;
        start = head.n + 1;
    }
    return false;
}
