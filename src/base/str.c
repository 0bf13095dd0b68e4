/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "base/arena.h"

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.n) to = s.n;
    if (from > to) from = to;
    return (struct str){s.p ? s.p + from : NULL, to - from}; /* an empty text may have no bytes */
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

struct str str_around(struct str s, size_t at, bool (*is_kind)(char c))
{
    size_t from = at, to = at;
    while (from > 0 && is_kind(s.p[from - 1]))
        from--;
    while (to < s.n && is_kind(s.p[to]))
        to++;
    return str_slice(s, from, to);
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank(s.p[0]))
        s = str_slice(s, 1, s.n);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

size_t str_find(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

size_t str_line_start(struct str s, size_t at)
{
    while (at > 0 && s.p[at - 1] != '\n')
        at--;
    return at;
}

size_t str_count(struct str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

size_t str_find_str(struct str s, struct str needle)
{
    if (!needle.n) return 0;
    for (size_t at = 0; at + needle.n <= s.n; at++) {
        at += str_find(str_slice(s, at, s.n), needle.p[0]);
        if (at + needle.n <= s.n && memcmp(s.p + at, needle.p, needle.n) == 0) return at;
    }
    return s.n;
}

bool str_split(struct str *rest, char sep, struct str *out)
{
    if (!rest->p) return false;
    size_t at = str_find(*rest, sep);
    *out = str_slice(*rest, 0, at);
    *rest = at < rest->n ? str_slice(*rest, at + 1, rest->n) : (struct str){NULL, 0};
    return true;
}

struct str str_last_part(struct str s, char sep)
{
    size_t from = s.n;
    while (from > 0 && s.p[from - 1] != sep)
        from--;
    return str_slice(s, from, s.n);
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order) return order;
    return a.n < b.n ? -1 : a.n > b.n;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_is_any(struct str s, const char *words)
{
    struct str rest = str_of(words), word;
    while (str_split(&rest, '|', &word))
        if (str_eq(s, word)) return true;
    return false;
}

bool str_has_line(struct str text, const char *starts)
{
    struct str line, rest, start;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        rest = str_of(starts);
        while (str_split(&rest, '|', &start))
            if (str_starts(line, start)) return true;
    }
    return false;
}

bool str_among(struct str s, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s.n == list[i].n && (!s.n || s.p[0] == list[i].p[0]) && str_eq(s, list[i])) return true;
    return false;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i])) return false;
    return true;
}

struct str str_dup(struct arena *a, struct str s)
{
    char *p = arena_room(a, s.n + 1);
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

struct str str_lower(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = lower(s.p[i]);
    return (struct str){p, s.n};
}

struct str str_exchange(struct arena *a, struct str s, char from, char to)
{
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] == from ? to : s.p[i];
    return (struct str){p, s.n};
}

uint32_t str_hash(struct str s)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = s.n * odd, word;
    for (; s.n >= sizeof word; s = str_slice(s, sizeof word, s.n)) {
        memcpy(&word, s.p, sizeof word);
        h = (h ^ word) * odd;
        h ^= h >> 32;
    }
    word = 0;
    for (size_t i = 0; i < s.n; i++)
        word = word << 8 | (unsigned char)s.p[i];
    h = (h ^ word) * odd;
    return (uint32_t)(h ^ h >> 32);
}
