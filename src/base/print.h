/* SPDX-License-Identifier: Apache-2.0 */
/* vsnprintf, with the formats that nearly all of our texts have read here: text and whole numbers
   as they are. libc takes a thousand instructions for one of them. */
#ifndef MOEPLAN_BASE_PRINT_H
#define MOEPLAN_BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* The bytes of the whole text, of which what fits into `size` (at least 1) is in `to`, ended by a
   NUL. Every floating-point argument must be finite (finite.h). `args` stays as it is. */
size_t print_args(char *to, size_t size, const char *format, va_list args);

#endif
