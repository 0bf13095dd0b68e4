/* SPDX-License-Identifier: Apache-2.0 */
/* printf's formatting without its cost: findings are made of many small texts. */
#ifndef MOEPLAN_BASE_PRINT_H
#define MOEPLAN_BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* vsnprintf, whose result it has: the bytes the text needs without its NUL, also where they do not
   fit into the room. */
__attribute__((format(printf, 3, 0))) size_t print_into(char *out, size_t room, const char *format,
                                                        va_list args);

#endif
