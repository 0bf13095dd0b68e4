/* SPDX-License-Identifier: Apache-2.0 */
/* String views: a pointer and a length. Strings kept in an arena are also NUL-terminated. */
#ifndef MOEPLAN_BASE_STR_H
#define MOEPLAN_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

struct str {
    const char *p;
    size_t n;
};

/* A view of a string literal. */
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* The same as the initializer of a static table's entry. */
#define STR_ENTRY(literal)                                                                         \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }
/* Arguments for a "%.*s" conversion. */
#define STR_ARG(s) (int)(s).n, (s).p

/* A view of a C string; NULL gives the empty view. */
static inline struct str str_of(const char *s)
{
    return (struct str){s ? s : "", s ? strlen(s) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *b)
{
    return str_eq(a, str_of(b));
}

/* One bit of 64 by the length and some of the bytes: of strings whose marks differ no two are
   equal. */
static inline uint64_t str_mark(struct str s)
{
    unsigned ends = s.n ? (unsigned char)s.p[s.n / 2] * 4u + (unsigned char)s.p[s.n - 1] : 0;
    return (uint64_t)1 << ((s.n * 2 + ends) % 64);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return !prefix.n || (s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return !suffix.n || (s.n >= suffix.n && memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* Whether it is one of "x|y|z". */
bool str_is_any(struct str s, const char *words);
/* Whether it is one of the list. */
bool str_among(struct str s, const struct str *list, size_t n);
/* The part from byte `from` up to byte `to`; both are cut to the string's length. */
struct str str_slice(struct str s, size_t from, size_t to);
/* Of a name or a flag as programs have them: an ASCII letter, a digit, - or _. */
static inline bool str_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}
/* The bytes around the place `at` which are all of a kind. */
struct str str_around(struct str s, size_t at, bool (*is_kind)(char c));
/* Without ASCII blanks at either end. */
struct str str_trim(struct str s);
/* Byte offset of the first `c`, or s.n when there is none. */
size_t str_find(struct str s, char c);
/* Where the line that `at` stands in begins. */
size_t str_line_start(struct str s, size_t at);
/* How many of the bytes are `c`. */
size_t str_count(struct str s, char c);
/* Byte offset of the first `needle`, or s.n when there is none. */
size_t str_find_str(struct str s, struct str needle);
/* Cuts the text up to the first `sep` off the front of *rest and returns it; false when *rest is
   used up. */
bool str_split(struct str *rest, char sep, struct str *out);
/* The text behind the last `sep`; all of it when there is none. */
struct str str_last_part(struct str s, char sep);
/* Whether a line, without the blanks before it, starts with one of "x|y". */
bool str_has_line(struct str text, const char *starts);
/* Byte order, as memcmp and then by length: <0, 0 or >0. */
int str_cmp(struct str a, struct str b);
/* Equal when ASCII letters are compared without case. */
bool str_eq_nocase(struct str a, struct str b);
/* A NUL-terminated copy in the arena. */
struct str str_dup(struct arena *a, struct str s);
/* The same with ASCII letters in lower case. */
struct str str_lower(struct arena *a, struct str s);
/* A NUL-terminated copy with `to` for every `from`. */
struct str str_exchange(struct arena *a, struct str s, char from, char to);
/* For look-up tables, eight bytes at a time; the tables made at build time rely on it. */
uint32_t str_hash(struct str s);

#endif
