/* SPDX-License-Identifier: Apache-2.0 */
#include "base/print.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct sink {
    char *out;
    size_t room, n;
};

static void put(struct sink *s, const char *p, size_t n)
{
    size_t left = s->n < s->room ? s->room - s->n : 0, fits = n < left ? n : left;
    if (fits) memcpy(s->out + s->n, p, fits);
    s->n += n;
}

static void put_number(struct sink *s, uint64_t rest, bool negative)
{
    char digits[21];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (negative) digits[--at] = '-';
    put(s, digits + at, sizeof digits - at);
}

static void put_signed(struct sink *s, int64_t i)
{
    put_number(s, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, i < 0);
}

static void put_text(struct sink *s, const char *text, int most)
{
    if (most) put(s, text, most < 0 ? strlen(text) : strnlen(text, (size_t)most));
}

/* The conversion behind a '%', and what follows it; NULL where it is none of the plain ones. */
static const char *convert(struct sink *s, const char *f, va_list *args)
{
    if (*f == 's') {
        put_text(s, va_arg(*args, const char *), -1);
    } else if (strncmp(f, ".*s", 3) == 0) {
        int most = va_arg(*args, int);
        put_text(s, va_arg(*args, const char *), most);
        f += 2;
    } else if (*f == 'd') {
        put_signed(s, va_arg(*args, int));
    } else if (*f == 'u') {
        put_number(s, va_arg(*args, unsigned), false);
    } else if (strncmp(f, "ld", 2) == 0) {
        put_signed(s, va_arg(*args, long));
        f++;
    } else if (strncmp(f, "zu", 2) == 0) {
        put_number(s, va_arg(*args, size_t), false);
        f++;
    } else {
        return NULL;
    }
    return f + 1;
}

size_t print_into(char *out, size_t room, const char *format, va_list args)
{
    struct sink s = {out, room, 0};
    va_list plain;
    va_copy(plain, args);
    const char *f = format;
    while (f && *f) {
        size_t n = strcspn(f, "%");
        put(&s, f, n);
        f += n;
        if (*f) f = convert(&s, f + 1, &plain);
    }
    va_end(plain);
    if (!f) {
        int n = vsnprintf(out, room, format, args);
        return n < 0 ? 0 : (size_t)n;
    }
    if (s.n < room) out[s.n] = '\0';
    return s.n;
}
