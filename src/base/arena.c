/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/print.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
    ALIGNMENT = 16,
    FIRST_BLOCK = 32 * 1024,
    LARGEST_BLOCK = 4 * 1024 * 1024,
    MOST_KEPT = 16 * 1024 * 1024 /* by an empty arena */
};

struct block {
    struct block *next; /* younger block, kept for reuse after a pop */
    size_t size, used;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct arena {
    struct block *first, *current;
    size_t limit, reserved;
    struct guard *guard;
    struct guard_hold hold; /* of a child */
};

static _Noreturn void fail(const struct arena *a, enum guard_end why)
{
    guard_leave(a->guard, why);
}

struct arena *arena_new(size_t limit)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a) a->limit = limit ? limit : (size_t)1 << 30;
    return a;
}

static void release(void *a)
{
    arena_free(a);
}

struct arena *arena_child(struct arena *parent, size_t limit)
{
    struct arena *a = arena_new(limit);
    if (!a) fail(parent, GUARD_NO_MEMORY);
    a->guard = parent->guard;
    guard_hold(a->guard, &a->hold, release, a);
    return a;
}

void arena_keep(struct arena *a)
{
    guard_drop(&a->hold);
}

/* Gives back the blocks from *link on. */
static void free_blocks(struct arena *a, struct block **link)
{
    for (struct block *b = *link, *next; b; b = next) {
        next = b->next;
        a->reserved -= b->size;
        UNPOISON(b->bytes, b->size);
        free(b);
    }
    *link = NULL;
}

void arena_free(struct arena *a)
{
    if (!a) return;
    guard_drop(&a->hold);
    free_blocks(a, &a->first);
    free(a);
}

void arena_set_guard(struct arena *a, struct guard *g)
{
    a->guard = g;
}

struct guard *arena_guard(const struct arena *a)
{
    return a->guard;
}

static struct block *block_new(struct arena *a, size_t need)
{
    size_t size = a->current ? a->current->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < need) size = need;
    if (size > a->limit - a->reserved) /* what a pop left over does not count */
        free_blocks(a, a->current ? &a->current->next : &a->first);
    if (size > a->limit - a->reserved) fail(a, GUARD_TOO_LARGE);
    struct block *b = malloc(sizeof *b + size);
    if (!b) fail(a, GUARD_NO_MEMORY);
    a->reserved += size;
    *b = (struct block){.size = size};
    POISON(b->bytes, size);
    return b;
}

/* Makes a block with room for `need` the current one: a kept younger block, or a new one after the
   current. */
static void advance(struct arena *a, size_t need)
{
    struct block **link = a->current ? &a->current->next : &a->first;
    if (!*link || (*link)->size < need) {
        struct block *fresh = block_new(a, need);
        fresh->next = *link;
        *link = fresh;
    }
    (*link)->used = 0;
    a->current = *link;
}

static inline void *take(struct arena *a, size_t size)
{
    if (__builtin_expect(size > SIZE_MAX / 2, 0)) fail(a, GUARD_TOO_LARGE);
    size_t need = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!a->current || a->current->size - a->current->used < need) advance(a, need);
    unsigned char *p = a->current->bytes + a->current->used;
    a->current->used += need;
    UNPOISON(p, size);
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    return memset(take(a, size), 0, size);
}

void *arena_room(struct arena *a, size_t size)
{
    return take(a, size);
}

void *arena_dup(struct arena *a, const void *bytes, size_t size)
{
    void *p = take(a, size);
    if (size) memcpy(p, bytes, size);
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 2 / size) fail(a, GUARD_TOO_LARGE);
    return arena_alloc(a, count * size);
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->current, a->current ? a->current->used : 0};
}

void arena_pop(struct arena *a, struct arena_mark mark)
{
    struct block *b = mark.block;
    a->current = b;
    if (b) {
        POISON(b->bytes + mark.used, b->size - mark.used);
        b->used = mark.used;
    }
    for (b = b ? b->next : a->first; b; b = b->next)
        POISON(b->bytes, b->size);
}

/* One large input does not keep its memory from all that come after it. */
static void trim(struct arena *a)
{
    struct block **link = &a->first;
    size_t kept = 0;
    while (*link && (kept += (*link)->size) <= MOST_KEPT)
        link = &(*link)->next;
    free_blocks(a, link);
}

void arena_reset(struct arena *a)
{
    arena_pop(a, (struct arena_mark){NULL, 0});
    if (a->reserved > MOST_KEPT) trim(a);
}

size_t arena_used(const struct arena *a)
{
    size_t sum = 0;
    for (const struct block *b = a->first; b; b = b->next) {
        sum += b->used;
        if (b == a->current) break;
    }
    return a->current ? sum : 0;
}

struct str arena_vprintf(struct arena *a, const char *format, va_list args)
{
    char text[256];
    text[0] = '\0';
    size_t n = print_args(text, sizeof text, format, args);
    char *p = arena_room(a, n + 1);
    if (n < sizeof text)
        memcpy(p, text, n + 1); /* nearly always: printed once, not once more for its length */
    else
        print_args(p, n + 1, format, args);
    return (struct str){p, n};
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str s = arena_vprintf(a, format, args);
    va_end(args);
    return s;
}
