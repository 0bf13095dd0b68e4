/* SPDX-License-Identifier: Apache-2.0 */
/* Allocating in the place of the C library's own functions, for programs in which it fails: theirs,
   libyaml's, cJSON's and the C library's allocations all come here. Whoever includes this says
   which ones are refused. */
#ifndef MOEPLAN_TESTS_ALLOCATE_H
#define MOEPLAN_TESTS_ALLOCATE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(void);

static long live; /* allocations that have not been given back */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static void *count(void *p)
{
    live += p != NULL;
    return p;
}

#pragma GCC visibility push(default) /* the libraries call them too */

void *malloc(size_t size)
{
    return refuse() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return refuse() ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
    if (refuse()) return NULL;
    live -= p != NULL;
    return count(__libc_realloc(p, size));
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

#pragma GCC visibility pop

/* How long it took is no part of an answer. */
static void forget_time(char *text)
{
    static const char name[] = "\"elapsed_ms\":";
    char *at = strstr(text, name);
    if (!at) return;
    at += strlen(name);
    char *behind = at + strspn(at, "0123456789.e+-");
    memmove(at, behind, strlen(behind) + 1);
}

#endif
