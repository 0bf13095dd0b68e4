/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctext.h"

#include <inttypes.h>
#include <math.h>

/* A string literal with its quotes. Octal escapes always have three digits, so that a digit after
   them stays apart; "?" is escaped against trigraphs. */
static void literal(struct buf *out, struct str s)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\n')
            buf_add(out, STR("\\n"));
        else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < ' ' || c > '~' || c == '?')
            buf_printf(out, "\\%03o", c);
        else
            buf_add_char(out, (char)c);
    }
    buf_add_char(out, '"');
}

void ctext_str(struct buf *out, struct str s)
{
    buf_add_char(out, '{');
    literal(out, s);
    buf_printf(out, ", %zu}", s.n);
}

static void values(struct buf *out, const struct value *items, size_t n)
{
    if (!n) {
        buf_add(out, STR("NULL"));
        return;
    }
    buf_add(out, STR("(const struct value[]){"));
    for (size_t i = 0; i < n; i++) {
        ctext_value(out, items[i]);
        buf_add(out, STR(", "));
    }
    buf_add_char(out, '}');
}

static void list(struct buf *out, const struct value_list *l)
{
    buf_printf(out, "{VALUE_LIST, {.list = &(const struct value_list){%zu, ", l->n);
    values(out, l->items, l->n);
    buf_add(out, STR("}}}"));
}

static void map(struct buf *out, const struct value_map *m)
{
    buf_printf(out, "{VALUE_MAP, {.map = &(const struct value_map){%zu, ", m->n);
    values(out, m->keys, m->n);
    buf_add(out, STR(", "));
    values(out, m->values, m->n);
    buf_add(out, STR("}}}"));
}

static void text(struct buf *out, const char *kind, struct str s)
{
    buf_printf(out, "{%s, {.s = ", kind);
    ctext_str(out, s);
    buf_add(out, STR("}}"));
}

static void number(struct buf *out, double d)
{
    if (isnan(d) || isinf(d))
        buf_printf(out, "{VALUE_DOUBLE, {.d = %s}}",
                   isnan(d) ? "NAN"
                   : d > 0  ? "INFINITY"
                            : "-INFINITY");
    else
        buf_printf(out, "{VALUE_DOUBLE, {.d = %a}}", d);
}

void ctext_value(struct buf *out, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN: buf_add(out, STR("{VALUE_UNKNOWN, {0}}")); break;
    case VALUE_NULL: buf_add(out, STR("{VALUE_NULL, {0}}")); break;
    case VALUE_BOOL: buf_printf(out, "{VALUE_BOOL, {.b = %s}}", v.b ? "true" : "false"); break;
    case VALUE_INT:
        if (v.i == INT64_MIN)
            buf_add(out, STR("{VALUE_INT, {.i = INT64_MIN}}"));
        else
            buf_printf(out, "{VALUE_INT, {.i = INT64_C(%" PRId64 ")}}", v.i);
        break;
    case VALUE_UINT: buf_printf(out, "{VALUE_UINT, {.u = UINT64_C(%" PRIu64 ")}}", v.u); break;
    case VALUE_DOUBLE: number(out, v.d); break;
    case VALUE_ERROR: text(out, "VALUE_ERROR", v.s); break;
    case VALUE_STRING: text(out, "VALUE_STRING", v.s); break;
    case VALUE_LIST: list(out, v.list); break;
    case VALUE_MAP: map(out, v.map); break;
    }
}
