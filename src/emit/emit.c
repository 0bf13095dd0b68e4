/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emit.h"

#include "base/num.h"
#include "base/quote.h"

#define EMITTER_ENTRY(format, framework, write) {format, framework, write},
static const struct emitter emitters[] = {EMITTERS(EMITTER_ENTRY)};

const struct emitter *emitter_find(struct str format)
{
    for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++)
        if (str_is(format, emitters[i].format)) return &emitters[i];
    return NULL;
}

const struct emitter *emitter_of(enum framework framework)
{
    size_t i = 0;
    while (emitters[i].framework != framework)
        i++;
    return &emitters[i];
}

struct value emit_spelled(struct arena *a, const struct param_spelling *in, struct value v)
{
    if (v.kind == VALUE_BOOL && in->inverse) v.b = !v.b;
    if (v.kind == VALUE_STRING && in->dtype) v.s = fact_dtype(a, v.s);
    if (v.kind == VALUE_LIST && in->single && v.list->n == 1) v = v.list->items[0];
    return v;
}

struct str emit_scalar(struct arena *a, struct value v)
{
    if (v.kind == VALUE_DOUBLE) {
        struct str text = num_double_text(a, v.d);
        bool whole = str_find(text, '.') == text.n && str_find(text, 'e') == text.n &&
                     str_find(text, 'n') == text.n;
        return whole ? arena_printf(a, "%.*s.0", STR_ARG(text))
                     : text; /* stays a float when read back */
    }
    return value_text(a, v);
}

static void add_yaml(struct buf *out, struct value v);

static void add_yaml_list(struct buf *out, const struct value_list *list)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i) buf_add(out, STR(", "));
        add_yaml(out, list->items[i]);
    }
    buf_add_char(out, ']');
}

static void add_yaml_map(struct buf *out, const struct value_map *map)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < map->n; i++) {
        if (i) buf_add(out, STR(", "));
        add_yaml(out, map->keys[i]);
        buf_add(out, STR(": "));
        add_yaml(out, map->values[i]);
    }
    buf_add_char(out, '}');
}

static void add_yaml(struct buf *out, struct value v)
{
    if (v.kind == VALUE_LIST)
        add_yaml_list(out, v.list);
    else if (v.kind == VALUE_MAP)
        add_yaml_map(out, v.map);
    else
        buf_add(out,
                v.kind == VALUE_STRING ? quote_yaml(out->arena, v.s) : emit_scalar(out->arena, v));
}

struct str emit_yaml(struct arena *a, struct value v)
{
    struct buf b = buf_new(a);
    add_yaml(&b, v);
    return buf_str(&b);
}

struct str emit_pattern(struct arena *a, const struct value_list *list)
{
    struct buf b = buf_new(a);
    for (size_t i = 0, run; i < list->n; i += run) {
        for (run = 1; i + run < list->n && value_eq(list->items[i], list->items[i + run]); run++) {
        }
        struct str item = value_text(a, list->items[i]);
        buf_printf(&b, "%s[%.*s]*%zu", i ? "+" : "(", STR_ARG(item), run);
    }
    buf_add_char(&b, ')');
    return buf_str(&b);
}

void emit_comments(const struct emit_input *in, struct buf *out)
{
    for (size_t i = 0; i < in->n_comments; i++) {
        struct str line = quote_line(out->arena, in->comments[i]);
        buf_printf(out, "# %.*s\n", STR_ARG(line));
    }
}
