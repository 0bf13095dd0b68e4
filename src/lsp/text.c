/* SPDX-License-Identifier: Apache-2.0 */
#include "lsp/text.h"

#include "base/utf8.h"

struct str text_line(struct str text, int64_t line)
{
    struct str rest = text, out = str_slice(text, 0, 0);
    for (int64_t i = 0; i <= line; i++)
        if (!str_split(&rest, '\n', &out)) return str_slice(text, text.n, text.n);
    return str_ends(out, STR("\r")) ? str_slice(out, 0, out.n - 1) : out;
}

static int64_t units_of(uint32_t point)
{
    return point > 0xffff ? 2 : 1;
}

size_t text_byte(struct str line, int64_t unit)
{
    size_t at = 0;
    uint32_t point;
    while (at < line.n && unit > 0) {
        size_t n = utf8_next(line, at, &point);
        unit -= units_of(point);
        at += n;
    }
    return at;
}

size_t text_offset(struct str text, struct place place)
{
    struct str line = text_line(text, place.line);
    return (size_t)(line.p - text.p) + text_byte(line, place.unit);
}

int64_t text_units(struct str text)
{
    int64_t units = 0;
    uint32_t point;
    for (size_t at = 0; at < text.n;) {
        at += utf8_next(text, at, &point);
        units += units_of(point);
    }
    return units;
}

/* A span's column counts code points from 1. */
static struct place place_of(struct sources *sources, uint32_t source, uint32_t line,
                             uint32_t column)
{
    if (line == 0) return (struct place){0, 0};
    struct str text = source_line(sources, source, line);
    int64_t unit = 0;
    size_t at = 0;
    uint32_t point;
    for (uint32_t i = 1; i < column && at < text.n; i++) {
        at += utf8_next(text, at, &point);
        unit += units_of(point);
    }
    return (struct place){line - 1, unit};
}

static void write_place(struct json_writer *w, const char *key, struct place p)
{
    json_open(w, key, '{');
    json_int(w, "line", p.line);
    json_int(w, "character", p.unit);
    json_close(w, '}');
}

void text_range(struct json_writer *w, struct sources *sources, struct span at)
{
    json_open(w, "range", '{');
    write_place(w, "start", place_of(sources, at.source, at.line, at.column));
    write_place(w, "end", place_of(sources, at.source, at.end_line, at.end_column));
    json_close(w, '}');
}

static bool is_before(struct place a, struct place b)
{
    return a.line < b.line || (a.line == b.line && a.unit < b.unit);
}

bool text_holds(struct sources *sources, struct span at, struct place place)
{
    struct place from = place_of(sources, at.source, at.line, at.column),
                 to = place_of(sources, at.source, at.end_line, at.end_column);
    return !is_before(place, from) && !is_before(to, place);
}
