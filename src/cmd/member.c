/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/member.h"

#include "base/edit.h"
#include "base/json.h"
#include "facts/check.h"

struct place {
    const struct batch_request *request;
    const char *path; /* before the name */
    const struct node *key;
    struct str *why;
};

static struct str name_of(const struct place *p)
{
    return arena_printf(p->request->arena, "%s%.*s", p->path, STR_ARG(p->key->text));
}

static bool is_text(const struct node *node)
{
    return node->kind == NODE_SCALAR && node->quoted;
}

static bool is_texts(const struct node *node)
{
    if (is_text(node)) return true;
    for (size_t i = 0; i < node->n; i++)
        if (node->kind != NODE_LIST || !is_text(node->items[i])) return false;
    return node->kind == NODE_LIST;
}

/* Told as JSON writes it: "8" is no 8. */
static bool wrong(const struct place *p, const char *expected, const struct node *node)
{
    struct arena *a = p->request->arena;
    struct buf found = buf_new(a);
    json_add_value(&found, node_value(a, node, SCALAR_JSON));
    struct str text = buf_str(&found), name = name_of(p);
    *p->why = arena_printf(a, "%.*s must be %s, not %.*s", STR_ARG(name), expected, STR_ARG(text));
    return false;
}

static bool check_number(const struct place *p, const struct member *m, const struct node *node)
{
    struct arena *a = p->request->arena;
    struct value v = node_value(a, node, SCALAR_JSON);
    if (v.kind != VALUE_INT || (m->param < 0 && v.i < 1))
        return wrong(p, m->param >= 0 ? "an integer" : "an integer of at least 1", node);
    if (m->param < 0) return true;
    struct diags found;
    diags_init(&found, a);
    if (value_check_own(a, &found, &param_table[m->param], &v, (struct span){0}, name_of(p)))
        return true;
    *p->why = found.items[0].message;
    return false;
}

static bool check_kind(const struct place *p, const struct member *m, const struct node *node)
{
    enum value_kind kind = node_value(p->request->arena, node, SCALAR_JSON).kind;
    if (kind == VALUE_NULL) return true;
    switch (m->kind) {
    case MEMBER_ANY: return true;
    case MEMBER_TEXT: return is_text(node) || wrong(p, "a string", node);
    case MEMBER_NUMBER: return check_number(p, m, node);
    case MEMBER_MAP: return node->kind == NODE_MAP || wrong(p, "an object", node);
    case MEMBER_FLAG: return kind == VALUE_BOOL || wrong(p, "true or false", node);
    case MEMBER_TEXTS: return is_texts(node) || wrong(p, "a string or a list of strings", node);
    }
    return false;
}

static bool unknown(const struct place *p, const struct member *known)
{
    struct edit_nearest nearest = {.word = p->key->text};
    for (const struct member *m = known; m->name; m++)
        edit_offer(&nearest, str_of(m->name));
    struct str near = nearest.best, name = name_of(p);
    *p->why = arena_printf(p->request->arena, "there is no member %.*s%s%.*s%s", STR_ARG(name),
                           near.n ? "; did you mean " : "", STR_ARG(near), near.n ? "?" : "");
    return false;
}

bool members_check(const struct batch_request *request, const struct node *map, const char *path,
                   const struct member *known, struct str *why)
{
    for (size_t i = 0; map && i < map->n; i++) {
        struct place p = {request, path, map->keys[i], why};
        const struct member *m = known;
        while (m->name && !str_is(p.key->text, m->name))
            m++;
        if (!m->name) return unknown(&p, known);
        if (!check_kind(&p, m, map->items[i])) return false;
    }
    return true;
}

struct str member_text(const struct node *map, const char *name)
{
    const struct node *node = node_get(map, str_of(name));
    return node && is_text(node) ? node->text : (struct str){"", 0};
}

int64_t member_number(const struct batch_request *request, const struct node *map, const char *name)
{
    const struct node *node = node_get(map, str_of(name));
    struct value v = node ? node_value(request->arena, node, SCALAR_JSON) : value_null();
    return v.kind == VALUE_INT ? v.i : 0;
}

bool member_true(const struct batch_request *request, const struct node *map, const char *name)
{
    const struct node *node = node_get(map, str_of(name));
    struct value v = node ? node_value(request->arena, node, SCALAR_JSON) : value_null();
    return v.kind == VALUE_BOOL && v.b;
}

struct str member_finding(const struct batch_request *request, const struct diag *d)
{
    struct buf out = buf_new(request->arena);
    const struct source *source = source_get(&request->diags->sources, d->at.source);
    bool in_file = source && d->at.line && !str_starts(source->path, STR("-"));
    if (in_file) buf_printf(&out, "%.*s:%u:%u: ", STR_ARG(source->path), d->at.line, d->at.column);
    buf_add(&out, d->message);
    if (d->help.n) buf_printf(&out, " (%.*s)", STR_ARG(d->help));
    return buf_str(&out);
}
