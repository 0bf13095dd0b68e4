/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/quote.h"
#include "base/utf8.h"

/* Writes the character at `at`, which does not stand for itself, and gives its bytes. What may act
   on a terminal is escaped, although JSON would allow it. */
static size_t add_special(struct buf *out, struct str s, size_t at)
{
    uint32_t point;
    size_t n = utf8_next(s, at, &point);
    if (point == '"' || point == '\\')
        buf_printf(out, "\\%c", (char)point);
    else if (point == '\n')
        buf_add(out, STR("\\n"));
    else if (point > 0xFFFF) /* a surrogate pair */
        buf_printf(out, "\\u%04x\\u%04x", 0xD7C0 + (point >> 10), 0xDC00 + (point & 0x3FF));
    else if (point == 0xFFFD)
        buf_add(out, STR("\xEF\xBF\xBD"));
    else
        buf_printf(out, "\\u%04x", point);
    return n;
}

/* Whether the eight bytes are ASCII and stand for themselves. */
static bool is_plain_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    uint64_t del = word ^ UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t odd = word | ((del - UINT64_C(0x0101010101010101)) & ~del);
    return !json_special_bytes(word) && !(odd & UINT64_C(0x8080808080808080));
}

/* Bytes from `at` on that are ASCII and stand for themselves, eight at a time; the last eight may
   overlap those before. */
static size_t ascii_run(struct str s, size_t at)
{
    enum { WORD = sizeof(uint64_t) };
    size_t from = at;
    while (s.n - at >= WORD && is_plain_word(s.p + at))
        at += WORD;
    bool rest = at < s.n && s.n - at < WORD && s.n - from >= WORD;
    if (rest && is_plain_word(s.p + s.n - WORD)) at = s.n;
    return at - from;
}

/* Bytes from `at` on that stand for themselves. */
static size_t plain_run(struct str s, size_t at)
{
    size_t from = at;
    at += ascii_run(s, at);
    while (at < s.n) {
        unsigned char c = (unsigned char)s.p[at];
        uint32_t point;
        if (c < ' ' || c == '"' || c == '\\' || c == 0x7F) break;
        size_t n = c < 0x80 ? 1 : utf8_next(s, at, &point);
        if (c >= 0x80 && (n == 1 || quote_is_hazard(point))) break; /* n 1: not UTF-8 */
        at += n;
    }
    return at - from;
}

void json_add_string(struct buf *out, struct str s)
{
    size_t run = plain_run(s, 0);
    if (run == s.n) { /* most */
        buf_add_quoted(out, s);
        return;
    }
    buf_add_char(out, '"');
    for (size_t at = 0; at < s.n; run = plain_run(s, at)) {
        buf_add(out, str_slice(s, at, at + run));
        at += run;
        if (at < s.n) at += add_special(out, s, at);
    }
    buf_add_char(out, '"');
}

static void number(struct buf *out, double d)
{
    if (isnan(d) || isinf(d)) {
        buf_add(out, STR("null"));
        return;
    }
    struct str s = num_double_text(out->arena, d);
    buf_add(out, s);
    if (str_find(s, '.') == s.n && str_find(s, 'e') == s.n) buf_add(out, STR(".0"));
}

static void list(struct buf *out, const struct value_list *l)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        if (i) buf_add_char(out, ',');
        json_add_value(out, l->items[i]);
    }
    buf_add_char(out, ']');
}

static void map(struct buf *out, const struct value_map *m)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < m->n; i++) {
        if (i) buf_add_char(out, ',');
        struct value key = m->keys[i];
        json_add_string(out, key.kind == VALUE_STRING ? key.s : value_text(out->arena, key));
        buf_add_char(out, ':');
        json_add_value(out, m->values[i]);
    }
    buf_add_char(out, '}');
}

void json_add_value(struct buf *out, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN:
    case VALUE_ERROR:
    case VALUE_NULL: buf_add(out, STR("null")); break;
    case VALUE_BOOL: buf_add(out, v.b ? STR("true") : STR("false")); break;
    case VALUE_INT: buf_printf(out, "%" PRId64, v.i); break;
    case VALUE_UINT: buf_printf(out, "%" PRIu64, v.u); break;
    case VALUE_DOUBLE: number(out, v.d); break;
    case VALUE_STRING: json_add_string(out, v.s); break;
    case VALUE_LIST: list(out, v.list); break;
    case VALUE_MAP: map(out, v.map); break;
    }
}
