/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: all memory of the program comes from here and is given back at once. Whoever allocates
   takes the arena as its first parameter: the signature says where memory lives. Allocating never
   gives NULL: at its limit, or where the system has no memory, an arena ends the run of its guard
   (base/guard.h); one without a guard ends the process. */
#ifndef MOEPLAN_BASE_ARENA_H
#define MOEPLAN_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/guard.h"
#include "base/str.h"

struct arena;

struct arena_mark {
    void *block;
    size_t used;
};

/* A new arena, or NULL when there is no memory. `limit` bounds its total in bytes; 0 means 1
   GiB. */
struct arena *arena_new(size_t limit);
/* The same under the guard of another arena, never NULL; given back when the run that is under way
   ends early. */
struct arena *arena_child(struct arena *parent, size_t limit);
/* For a child that is to outlive the run in which it was made: its owner frees it. */
void arena_keep(struct arena *a);
/* Gives everything back; NULL is allowed. */
void arena_free(struct arena *a);
/* The guard, NULL for none: what happens when memory runs out. */
void arena_set_guard(struct arena *a, struct guard *g);
struct guard *arena_guard(const struct arena *a);
/* Zeroed memory aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* The same without zeroing, for what is written at once. */
void *arena_room(struct arena *a, size_t size);
/* arena_alloc(count * size), with the product checked. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* A copy of `size` bytes. */
void *arena_dup(struct arena *a, const void *bytes, size_t size);
/* Everything allocated after the mark is given back by arena_pop; blocks are kept for reuse. */
struct arena_mark arena_mark(const struct arena *a);
void arena_pop(struct arena *a, struct arena_mark mark);
/* arena_pop to the beginning; what lies far above what arenas mostly need goes back to the system.
 */
void arena_reset(struct arena *a);
/* Bytes handed out so far. */
size_t arena_used(const struct arena *a);

/* printf into the arena. */
__attribute__((format(printf, 2, 3))) struct str arena_printf(struct arena *a, const char *format,
                                                              ...);
struct str arena_vprintf(struct arena *a, const char *format, va_list args);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_array((a), (count), sizeof(type)))

#endif
