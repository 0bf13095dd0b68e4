/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/source.h"

#include "base/vec.h"

uint32_t source_add(struct sources *all, struct str path, struct str text)
{
    *VEC_PUSH(all->arena, all) = (struct source){.path = path, .text = text};
    return (uint32_t)all->n;
}

struct source *source_get(const struct sources *all, uint32_t number)
{
    return number && number <= all->n ? &all->items[number - 1] : NULL;
}

/* The byte behind the next newline from `at` on; 0 when there is none. */
static size_t next_line(struct str text, size_t at)
{
    const char *newline = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
    return newline ? (size_t)(newline - text.p) + 1 : 0;
}

static void index_lines(struct arena *a, struct source *s)
{
    if (s->line_starts) return;
    VEC(uint32_t) starts = {0};
    *VEC_PUSH(a, &starts) = 0;
    for (size_t at = 0; (at = next_line(s->text, at));)
        *VEC_PUSH(a, &starts) = (uint32_t)at;
    s->line_starts = starts.items;
    s->n_lines = (uint32_t)starts.n;
}

struct str source_line(struct sources *all, uint32_t number, uint32_t line)
{
    struct source *s = source_get(all, number);
    if (!s) return (struct str){"", 0};
    index_lines(all->arena, s);
    if (line < 1 || line > s->n_lines) return (struct str){"", 0};
    size_t from = s->line_starts[line - 1];
    size_t to = line < s->n_lines ? s->line_starts[line] - 1u : s->text.n;
    if (to > from && s->text.p[to - 1] == '\r') to--;
    return str_slice(s->text, from, to);
}

static uint32_t line_of(const struct source *s, size_t byte)
{
    uint32_t low = 0, high = s->n_lines; /* the last line that starts at or before the byte */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->line_starts[middle] <= byte)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* Findings come mostly in the order of the text: counting goes on where it stopped, so that a long
   line is counted once. */
static uint32_t column_of(struct source *s, uint32_t line, size_t byte)
{
    size_t from = s->line_starts[line - 1];
    uint32_t column = 1;
    if (s->counted_column && s->counted_to >= from && s->counted_to <= byte) {
        from = s->counted_to;
        column = s->counted_column;
    }
    if (byte > s->text.n) byte = s->text.n;
    for (size_t i = from; i < byte; i++)
        column +=
            ((unsigned char)s->text.p[i] & 0xC0) != 0x80; /* continuation bytes do not count */
    s->counted_to = byte > from ? byte : from;
    s->counted_column = column;
    return column;
}

uint32_t source_line_at(struct sources *all, uint32_t number, size_t byte)
{
    struct source *s = source_get(all, number);
    if (!s) return 0;
    index_lines(all->arena, s);
    return line_of(s, byte);
}

struct span source_span(struct sources *all, uint32_t number, size_t from, size_t to)
{
    struct source *s = source_get(all, number);
    if (!s) return (struct span){0};
    guard_tick(arena_guard(all->arena)); /* a line may be as long as the text */
    index_lines(all->arena, s);
    struct span at = {.source = number, .line = line_of(s, from), .end_line = line_of(s, to)};
    at.column = column_of(s, at.line, from);
    at.end_column = column_of(s, at.end_line, to);
    return at;
}

/* The byte of a column of a line that is there. */
static size_t byte_at(const struct source *s, uint32_t line, uint32_t column)
{
    size_t at = s->line_starts[line - 1];
    for (uint32_t c = 1; c < column && at < s->text.n; c++)
        do
            at++;
        while (at < s->text.n && ((unsigned char)s->text.p[at] & 0xC0) == 0x80);
    return at;
}

struct str source_bytes(struct sources *all, struct span at, size_t *from, size_t *to)
{
    struct source *s = source_get(all, at.source);
    *from = *to = 0;
    if (!s || !at.line) return (struct str){"", 0};
    index_lines(all->arena, s);
    if (at.line > s->n_lines || at.end_line > s->n_lines) return (struct str){"", 0};
    *from = byte_at(s, at.line, at.column);
    *to = byte_at(s, at.end_line, at.end_column);
    if (*to < *from) *to = *from;
    return str_slice(s->text, *from, *to);
}
