/* SPDX-License-Identifier: Apache-2.0 */
#include "base/finite.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

double finite_check(double x)
{
    assert(isfinite(x));
    return x;
}

/* Arguments behind a struct that is handed on: va_list may be an array. */
struct arguments {
    va_list list;
};

/* Flags, width and precision; a `*` takes an argument. */
static const char *skip_sizes(const char *p, struct arguments *args)
{
    for (;; p++)
        switch (*p) {
        case '*': (void)va_arg(args->list, int); break;
        case '-':
        case '+':
        case ' ':
        case '#':
        case '.': break;
        default:
            if (*p < '0' || *p > '9') return p;
        }
}

static void take_integer(struct arguments *args, char length)
{
    switch (length) {
    case 'l': (void)va_arg(args->list, long); break;
    case 'L': (void)va_arg(args->list, long long); break;
    case 'j': (void)va_arg(args->list, intmax_t); break;
    case 'z': (void)va_arg(args->list, size_t); break;
    case 't': (void)va_arg(args->list, ptrdiff_t); break;
    default: (void)va_arg(args->list, int); break;
    }
}

/* h, l, ll (given as L), j, z, t; 0 when there is none. */
static char length_of(const char **p)
{
    char length = 0;
    for (; **p == 'h' || **p == 'l' || **p == 'j' || **p == 'z' || **p == 't'; ++*p)
        length = **p == 'l' && length == 'l' ? 'L' : **p;
    return length;
}

void finite_arguments(const char *format, va_list list)
{
    struct arguments args;
    va_copy(args.list, list);
    for (const char *p = strchr(format, '%'); p; p = strchr(p + 1, '%')) {
        p = skip_sizes(p + 1, &args);
        char length = length_of(&p);
        if (*p == '\0') break;
        if (*p == 's')
            (void)va_arg(args.list, const char *); /* most */
        else if (strchr("diouxXc", *p))
            take_integer(&args, length);
        else if (strchr("fFeEgGaA", *p))
            finite_check(va_arg(args.list, double));
        else if (*p != '%')
            (void)va_arg(args.list, void *);
    }
    va_end(args.list);
}
