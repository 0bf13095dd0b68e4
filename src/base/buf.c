/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/print.h"

static void grow(struct buf *b, size_t more)
{
    size_t cap = b->cap ? b->cap * 2 : 256;
    while (cap - b->n <= more)
        cap *= 2;
    char *p = arena_room(b->arena, cap);
    if (b->n) memcpy(p, b->p, b->n);
    b->p = p;
    b->cap = cap;
}

static inline void reserve(struct buf *b, size_t more)
{
    if (b->cap - b->n <= more) grow(b, more);
}

void buf_add(struct buf *b, struct str s)
{
    reserve(b, s.n);
    if (s.n) memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
}

void buf_add_quoted(struct buf *b, struct str s)
{
    reserve(b, s.n + 2);
    char *to = b->p + b->n;
    *to = '"';
    if (s.n) memcpy(to + 1, s.p, s.n);
    to[1 + s.n] = '"';
    b->n += s.n + 2;
}

void buf_splice(struct buf *b, size_t from, size_t to, struct str s)
{
    reserve(b, s.n);
    memmove(b->p + from + s.n, b->p + to, b->n - to);
    if (s.n) memcpy(b->p + from, s.p, s.n);
    b->n = b->n - (to - from) + s.n;
}

void buf_add_char(struct buf *b, char c)
{
    reserve(b, 1);
    b->p[b->n++] = c;
}

void buf_add_n(struct buf *b, char c, size_t times)
{
    reserve(b, times);
    memset(b->p + b->n, c, times);
    b->n += times;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    reserve(b, 0);
    size_t n = print_args(b->p + b->n, b->cap - b->n, format, args);
    if (n >= b->cap - b->n) {
        reserve(b, n);
        print_args(b->p + b->n, n + 1, format, args);
    }
    b->n += n;
    va_end(args);
}

struct str buf_str(struct buf *b)
{
    reserve(b, 0);
    b->p[b->n] = '\0';
    return (struct str){b->p, b->n};
}

struct str str_joined(struct arena *a, const struct str *words, size_t n)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%.*s", i ? ", " : "", STR_ARG(words[i]));
    return buf_str(&out);
}
