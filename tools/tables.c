/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/vec.h"

void tables_bad(struct generator *g, const struct node *at, const char *what)
{
    diag_add(&g->diags, SEVERITY_ERROR, "table-data", node_span(&g->diags, at), "%s", what);
}

void tables_check_keys(struct generator *g, const struct node *map, const char *const *known)
{
    for (size_t i = 0; i < map->n; i++) {
        size_t k = 0;
        while (known[k] && !str_is(map->keys[i]->text, known[k]))
            k++;
        if (!known[k]) tables_bad(g, map->keys[i], "unknown key");
    }
}

struct str tables_text(const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    return n ? n->text : (struct str){"", 0};
}

bool tables_true(const struct node *map, const char *key)
{
    return str_is(tables_text(map, key), "true");
}

static void cannot(struct generator *g, const char *path, const char *why)
{
    diag_add(&g->diags, SEVERITY_ERROR, "table-data", (struct span){0}, "%s: %s", path, why);
}

const struct node *tables_load(struct generator *g, const char *path, const char *kind)
{
    struct str text, error;
    struct node_list docs = {0};
    if (!io_read(g->arena, path, &text, &error)) {
        cannot(g, path, str_dup(g->arena, error).p);
        return NULL;
    }
    uint32_t source = source_add(&g->diags.sources, str_of(path), text);
    if (!doc_load_yaml(g->arena, &g->diags, source, &docs)) return NULL;
    if (docs.n == 1 && (!kind || str_is(tables_text(docs.items[0], "kind"), kind)))
        return docs.items[0];
    cannot(g, path, "is of another kind");
    return NULL;
}

void tables_write_text(struct buf *out, const char *member, struct str text)
{
    buf_printf(out, ".%s=", member);
    ctext_str(out, text);
    buf_add_char(out, ',');
}

static void flatten(struct generator *g, const struct node *list, struct texts *out)
{
    for (size_t i = 0; list && i < list->n; i++) {
        if (list->items[i]->kind == NODE_LIST)
            flatten(g, list->items[i], out);
        else
            *VEC_PUSH(g->arena, out) = list->items[i]->text;
    }
}

/* The list as an array of `type`, each text as `write` has it. */
static void write_list(struct generator *g, const char *member, const struct node *list,
                       const char *type, void (*write)(struct buf *out, struct str text))
{
    struct texts texts = {0};
    flatten(g, list, &texts);
    buf_printf(&g->out, ".n_%s=%zu,", member, texts.n);
    if (!texts.n) return;
    buf_printf(&g->out, ".%s=(const %s[]){", member, type);
    for (size_t i = 0; i < texts.n; i++) {
        write(&g->out, texts.items[i]);
        buf_add_char(&g->out, ',');
    }
    buf_printf(&g->out, "},");
}

void tables_write_texts(struct generator *g, const char *member, const struct node *list)
{
    write_list(g, member, list, "struct str", ctext_str);
}

void tables_write_param(struct buf *out, struct str name)
{
    buf_printf(out, "P_%.*s", STR_ARG(name));
}

void tables_write_params(struct generator *g, const char *member, const struct node *list)
{
    write_list(g, member, list, "int", tables_write_param);
}

int tables_end(struct generator *g, const char *path)
{
    struct str error;
    for (size_t i = 0; i < g->diags.n; i++) {
        const struct diag *d = &g->diags.items[i];
        const struct source *s = source_get(&g->diags.sources, d->at.source);
        fprintf(stderr, "%.*s:%u: %.*s\n", STR_ARG(s ? s->path : STR("rules")), d->at.line,
                STR_ARG(d->message));
    }
    bool failed = diags_count(&g->diags, SEVERITY_ERROR) ||
                  !io_write(g->arena, path, buf_str(&g->out), &error);
    arena_free(g->arena);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
