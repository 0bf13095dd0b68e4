/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of texts. Positions are counted in characters. */
#include "base/buf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "expr/functions.h"

/* The byte at which a character begins, its number counted from 0; the end of the text is a place
   too. False when there is no such place. */
static bool byte_of(struct str s, int64_t character, size_t *byte)
{
    uint32_t point;
    *byte = 0;
    for (; character > 0 && *byte < s.n; character--)
        *byte += utf8_next(s, *byte, &point);
    return character == 0;
}

static struct value no_place(struct run *r, int64_t character)
{
    return run_error(r, "index out of range: the text has no place %lld", (long long)character);
}

/* Accounts for looking for one text in another. */
static bool spend_search(struct run *r, struct str text, struct str part)
{
    return run_spend(r, (text.n / RUN_BYTES + 1) * (1 + part.n / RUN_BYTES));
}

FUNCTION(text_contains)
{
    (void)n;
    if (!spend_search(r, args[0].s, args[1].s)) return run_exhausted();
    size_t at = str_find_str(args[0].s, args[1].s);
    return value_bool(at < args[0].s.n || args[1].s.n == 0);
}

FUNCTION(text_starts_with)
{
    (void)n;
    if (!run_spend_value(r, args[1])) return run_exhausted();
    return value_bool(str_starts(args[0].s, args[1].s));
}

FUNCTION(text_ends_with)
{
    (void)n;
    if (!run_spend_value(r, args[1])) return run_exhausted();
    return value_bool(str_ends(args[0].s, args[1].s));
}

/* A copy with the ASCII letters from `first` on, 26 of them, moved to those from `target` on. */
static struct value recase(struct run *r, struct str s, char first, char target)
{
    if (!run_spend(r, s.n / RUN_BYTES)) return run_exhausted();
    char *p = arena_alloc(r->scratch, s.n + 1);
    for (size_t i = 0; i < s.n; i++) {
        bool letter = s.p[i] >= first && s.p[i] < first + 26;
        p[i] = letter ? (char)(s.p[i] - first + target) : s.p[i];
    }
    return value_string((struct str){p, s.n});
}

FUNCTION(text_lower)
{
    (void)n;
    return recase(r, args[0].s, 'A', 'a');
}

FUNCTION(text_upper)
{
    (void)n;
    return recase(r, args[0].s, 'a', 'A');
}

/* ---- places ---- */

FUNCTION(text_char_at)
{
    (void)n;
    size_t at;
    uint32_t point;
    if (!run_spend(r, args[0].s.n / RUN_ITEMS)) return run_exhausted();
    if (!byte_of(args[0].s, args[1].i, &at)) return no_place(r, args[1].i);
    size_t length = at < args[0].s.n ? utf8_next(args[0].s, at, &point) : 0;
    return value_string(str_slice(args[0].s, at, at + length));
}

FUNCTION(text_substring)
{
    struct str s = args[0].s;
    size_t from, to = s.n;
    if (!run_spend(r, s.n / RUN_ITEMS)) return run_exhausted();
    if (!byte_of(s, args[1].i, &from)) return no_place(r, args[1].i);
    if (n == 3 && !byte_of(s, args[2].i, &to)) return no_place(r, args[2].i);
    if (to < from) return value_error(STR("substring() ends before it begins"));
    return value_string(str_slice(s, from, to));
}

FUNCTION(text_index_of)
{
    struct str s = args[0].s, part = args[1].s;
    size_t from = 0;
    if (!spend_search(r, s, part)) return run_exhausted();
    if (n == 3 && !byte_of(s, args[2].i, &from)) return no_place(r, args[2].i);
    struct str rest = str_slice(s, from, s.n);
    size_t at = str_find_str(rest, part);
    if (at == rest.n && part.n) return value_int(-1);
    return value_int((int64_t)utf8_count(str_slice(s, 0, from + at)));
}

FUNCTION(text_last_index_of)
{
    struct str s = args[0].s, part = args[1].s;
    size_t from = s.n;
    if (!spend_search(r, s, part)) return run_exhausted();
    if (n == 3 && !byte_of(s, args[2].i, &from)) return no_place(r, args[2].i);
    if (part.n > s.n) return value_int(-1);
    if (from > s.n - part.n) from = s.n - part.n;
    while (from > 0 && !str_starts(str_slice(s, from, s.n), part))
        from--;
    if (!str_starts(str_slice(s, from, s.n), part)) return value_int(-1);
    return value_int((int64_t)utf8_count(str_slice(s, 0, from)));
}

/* ---- parts ---- */

/* Bytes of the first part: up to the separator, or one character when the separator is empty. */
static size_t part_length(struct str s, struct str separator)
{
    uint32_t point;
    if (separator.n) return str_find_str(s, separator);
    return s.n ? utf8_next(s, 0, &point) : 0;
}

FUNCTION(text_split)
{
    struct {
        struct value *items;
        size_t n, cap;
    } parts = {0};
    struct str rest = args[0].s;
    size_t most = n == 3 && args[2].i >= 0 ? (size_t)args[2].i : SIZE_MAX;
    if (!spend_search(r, rest, args[1].s) || !run_spend(r, rest.n / RUN_ITEMS))
        return run_exhausted();
    while (parts.n < most) {
        size_t length = part_length(rest, args[1].s);
        bool last = length == rest.n || parts.n + 1 == most;
        if (!run_spend(r, 1)) return run_exhausted();
        *VEC_PUSH(r->scratch, &parts) = value_string(last ? rest : str_slice(rest, 0, length));
        if (last) break;
        rest = str_slice(rest, length + args[1].s.n, rest.n);
    }
    return value_list_of(r->scratch, parts.items, parts.n);
}

/* An empty text is found before every character and at the end. */
FUNCTION(text_replace)
{
    struct str rest = args[0].s, old = args[1].s, new = args[2].s;
    int64_t left = n == 4 && args[3].i >= 0 ? args[3].i : INT64_MAX;
    struct buf out = buf_new(r->scratch);
    if (!spend_search(r, rest, old)) return run_exhausted();
    for (; left > 0; left--) {
        size_t at = str_find_str(rest, old);
        if (at == rest.n && old.n) break;
        if (!run_spend(r, 1 + new.n / RUN_BYTES)) return run_exhausted();
        buf_add(&out, str_slice(rest, 0, at));
        buf_add(&out, new);
        size_t copied = old.n ? 0 : part_length(rest, old);
        buf_add(&out, str_slice(rest, 0, copied));
        if (!old.n && !rest.n) break;
        rest = str_slice(rest, at + old.n + copied, rest.n);
    }
    buf_add(&out, rest);
    return value_string(buf_str(&out));
}

/* Unicode's White_Space. */
static bool is_blank(uint32_t point)
{
    return (point >= 0x09 && point <= 0x0d) || point == 0x20 || point == 0x85 || point == 0xa0 ||
           point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028 ||
           point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

FUNCTION(text_trim)
{
    (void)n;
    struct str s = args[0].s;
    size_t from = s.n, to = 0;
    uint32_t point;
    if (!run_spend(r, s.n / RUN_ITEMS)) return run_exhausted();
    for (size_t at = 0, length; at < s.n; at += length) {
        length = utf8_next(s, at, &point);
        if (is_blank(point)) continue;
        if (from == s.n) from = at;
        to = at + length;
    }
    return value_string(str_slice(s, from, to));
}

FUNCTION(text_reverse)
{
    (void)n;
    struct str s = args[0].s;
    if (!run_spend(r, s.n / RUN_ITEMS)) return run_exhausted();
    char *p = arena_alloc(r->scratch, s.n + 1);
    uint32_t point;
    for (size_t at = 0, length; at < s.n; at += length) {
        length = utf8_next(s, at, &point);
        memcpy(p + s.n - at - length, s.p + at, length);
    }
    return value_string((struct str){p, s.n});
}

FUNCTION(text_quote)
{
    (void)n;
    static const char special[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    struct str s = args[0].s;
    struct buf out = buf_new(r->scratch);
    if (!run_spend(r, s.n / RUN_ITEMS)) return run_exhausted();
    buf_add_char(&out, '"');
    for (size_t i = 0; i < s.n; i++) {
        const char *at = memchr(special, s.p[i], sizeof special - 1);
        if (at) buf_add_char(&out, '\\');
        buf_add_char(&out, at ? letters[at - special] : s.p[i]);
    }
    buf_add_char(&out, '"');
    return value_string(buf_str(&out));
}
