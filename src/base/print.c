/* SPDX-License-Identifier: Apache-2.0 */
#include "base/print.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/finite.h"

struct sink {
    char *to;
    size_t n, size; /* n: of the whole text */
};

/* Arguments behind a struct that is handed on: va_list may be an array. */
struct arguments {
    va_list list;
};

static void put(struct sink *out, const char *bytes, size_t n)
{
    size_t room = out->n < out->size ? out->size - out->n : 0;
    if (n) memcpy(out->to + out->n, bytes, n < room ? n : room);
    out->n += n;
}

static void put_number(struct sink *out, uint64_t magnitude, bool negative)
{
    char digits[21];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (negative) digits[--at] = '-';
    put(out, digits + at, sizeof digits - at);
}

static void put_signed(struct sink *out, int64_t i)
{
    put_number(out, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, i < 0);
}

static void put_text(struct sink *out, struct arguments *args)
{
    const char *text = va_arg(args->list, const char *);
    put(out, text, strlen(text));
}

/* %.*s: up to a NUL, if there is one. */
static void put_part(struct sink *out, struct arguments *args)
{
    int most = va_arg(args->list, int);
    const char *text = va_arg(args->list, const char *);
    const char *end = most > 0 ? memchr(text, '\0', (size_t)most) : text;
    put(out, text, end ? (size_t)(end - text) : (size_t)most);
}

/* Prints what a conversion asks for, which begins behind its %, and gives its end; NULL: not one of
   those that are read here. */
static const char *convert(struct sink *out, const char *p, struct arguments *args)
{
    if (p[0] == '.' && p[1] == '*' && p[2] == 's') return put_part(out, args), p + 3;
    if (p[0] == 's') return put_text(out, args), p + 1;
    if (p[0] == 'u') return put_number(out, va_arg(args->list, unsigned), false), p + 1;
    if (p[0] == 'd') return put_signed(out, va_arg(args->list, int)), p + 1;
    if (p[0] == '%') return put(out, p, 1), p + 1;
    if (p[0] == 'z' && p[1] == 'u')
        return put_number(out, va_arg(args->list, size_t), false), p + 2;
    if (p[0] == 'l' && p[1] == 'l' && p[2] == 'd')
        return put_signed(out, va_arg(args->list, long long)), p + 3;
    return NULL;
}

static bool print_plain(struct sink *out, const char *format, struct arguments *args)
{
    while (*format) {
        const char *p = format;
        while (*p && *p != '%')
            p++;
        put(out, format, (size_t)(p - format));
        format = *p ? convert(out, p + 1, args) : p;
        if (!format) return false;
    }
    out->to[out->n < out->size ? out->n : out->size - 1] = '\0';
    return true;
}

size_t print_args(char *to, size_t size, const char *format, va_list list)
{
    struct sink out = {.to = to, .size = size};
    struct arguments args;
    va_copy(args.list, list);
    bool plain = print_plain(&out, format, &args);
    va_end(args.list);
    if (plain) return out.n;
    finite_arguments(format, list);
    va_copy(args.list, list);
    int n = vsnprintf(to, size, format, args.list);
    va_end(args.list);
    return n < 0 ? 0 : (size_t)n;
}
