/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, in an arena. */
#ifndef MOEPLAN_BASE_BUF_H
#define MOEPLAN_BASE_BUF_H

#include "base/arena.h"

struct buf {
    struct arena *arena;
    char *p;
    size_t n, cap;
};

/* An empty text. */
static inline struct buf buf_new(struct arena *a)
{
    return (struct buf){.arena = a};
}

void buf_add(struct buf *b, struct str s);
/* The text between double quotes, as it is. */
void buf_add_quoted(struct buf *b, struct str s);
/* Puts a text, no part of the buffer, in the place of the bytes [from, to). */
void buf_splice(struct buf *b, size_t from, size_t to, struct str s);
void buf_add_char(struct buf *b, char c);
void buf_add_n(struct buf *b, char c, size_t times);
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *format, ...);
/* The words with ", " between them. */
struct str str_joined(struct arena *a, const struct str *words, size_t n);
/* The text so far, NUL-terminated; valid until the next change. */
struct str buf_str(struct buf *b);

#endif
