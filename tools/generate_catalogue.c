/* SPDX-License-Identifier: Apache-2.0 */
/* generate_catalogue OUT.c models FILE.yaml... platforms FILE.yaml...: the catalogue as C tables
   (facts/entry.h), in the order of the ids. A defect of a file is an error at its line. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"
#include "base/sort.h"
#include "facts/platform.h"

struct generator {
    struct arena *arena;
    struct diags diags;
    struct buf out;
    VEC(struct entry) entries;
};

/* The mapping of a file; NULL with an error. */
static const struct node *load(struct generator *g, const char *path)
{
    struct str text, error;
    if (!io_read(g->arena, path, &text, &error)) {
        diag_add(&g->diags, SEVERITY_ERROR, "catalogue", (struct span){0}, "%.*s", STR_ARG(error));
        return NULL;
    }
    struct node_list docs = {0};
    uint32_t source = source_add(&g->diags.sources, str_of(path), text);
    return doc_load(g->arena, &g->diags, source, &docs) && docs.n == 1 ? docs.items[0] : NULL;
}

static void read_models(struct generator *g, char **paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct node *root = load(g, paths[i]);
        if (root)
            entry_read(g->arena, &g->diags, root, ENTRY_MODEL, VEC_PUSH(g->arena, &g->entries));
    }
}

static void read_platforms(struct generator *g, char **paths, size_t n)
{
    VEC(const struct node *) roots = {0};
    struct entry_list read;
    for (size_t i = 0; i < n; i++) {
        const struct node *root = load(g, paths[i]);
        if (root) *VEC_PUSH(g->arena, &roots) = root;
    }
    platform_read_set(g->arena, &g->diags, roots.items, roots.n, &read);
    for (size_t i = 0; i < read.n; i++)
        *VEC_PUSH(g->arena, &g->entries) = read.items[i];
}

static void write_fields(struct generator *g, const struct entry *e, const char *name, size_t k)
{
    buf_printf(&g->out, "static const struct entry_field %s_fields_%zu[] = {\n", name, k);
    for (size_t i = 0; i < e->n_fields; i++) {
        buf_printf(&g->out, "{.name=");
        ctext_str(&g->out, e->fields[i].name);
        buf_printf(&g->out, ",.value=");
        ctext_value(&g->out, e->fields[i].value);
        buf_printf(&g->out, ",.derived=");
        ctext_str(&g->out, e->fields[i].derived);
        buf_printf(&g->out, "},\n");
    }
    buf_printf(&g->out, "};\nstatic const struct str %s_aliases_%zu[] = {\n", name, k);
    for (size_t i = 0; i < e->n_aliases; i++) {
        ctext_str(&g->out, e->aliases[i]);
        buf_printf(&g->out, ",\n");
    }
    buf_printf(&g->out, "{\"\",0}};\n");
}

static void write_coefficients(struct generator *g, const struct entry *e, const char *name,
                               size_t k)
{
    buf_printf(&g->out, "static const struct entry_coefficient %s_coefficients_%zu[] = {\n", name,
               k);
    for (size_t i = 0; i < e->n_coefficients; i++) {
        const struct entry_coefficient *c = &e->coefficients[i];
        const struct str texts[] = {c->name, c->unit, c->meaning, c->source};
        buf_printf(&g->out, "{");
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            ctext_str(&g->out, texts[t]);
            buf_printf(&g->out, ",");
        }
        buf_printf(&g->out, "%.17g,%.17g,%.17g,%lld,NULL,NULL},\n", c->value, c->low, c->high,
                   (long long)c->n);
    }
    buf_printf(&g->out, "{.n=0}};\n");
}

static void write_entry(struct generator *g, const struct entry *e, const char *name, size_t k)
{
    const struct {
        const char *field;
        struct str text;
    } texts[] = {{"id", e->id}, {"name", e->name}, {"hf_id", e->hf_id}, {"source", e->source}};
    buf_printf(&g->out, "{");
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        buf_printf(&g->out, ".%s=", texts[t].field);
        ctext_str(&g->out, texts[t].text);
        buf_printf(&g->out, ",");
    }
    buf_printf(&g->out,
               ".aliases=%s_aliases_%zu,.n_aliases=%zu,.fields=%s_fields_%zu,.n_fields=%zu,\n",
               name, k, e->n_aliases, name, k, e->n_fields);
    buf_printf(&g->out, ".coefficients=%s_coefficients_%zu,.n_coefficients=%zu,", name, k,
               e->n_coefficients);
    buf_printf(&g->out, ".abstract=%d,.published_total=%lld,.published_active=%lld},\n",
               e->abstract, (long long)e->published_total, (long long)e->published_active);
}

/* Platforms before what is only a base of them, and by id. */
static int in_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->abstract != y->abstract ? x->abstract - y->abstract : str_cmp(x->id, y->id);
}

static void write_entries(struct generator *g, const char *name)
{
    sort_items(g->entries.items, g->entries.n, sizeof *g->entries.items, in_order);
    for (size_t k = 0; k < g->entries.n; k++) {
        write_fields(g, &g->entries.items[k], name, k);
        write_coefficients(g, &g->entries.items[k], name, k);
    }
    buf_printf(&g->out, "const struct entry catalogue_%ss[] = {\n", name);
    for (size_t k = 0; k < g->entries.n; k++)
        write_entry(g, &g->entries.items[k], name, k);
    buf_printf(&g->out, "};\n");
}

/* How many are no bases only; they come first. */
static size_t count_whole(const struct generator *g)
{
    size_t n = 0;
    while (n < g->entries.n && !g->entries.items[n].abstract)
        n++;
    return n;
}

static bool report(struct generator *g)
{
    diags_sort(&g->diags);
    for (size_t i = 0; i < g->diags.n; i++) {
        const struct diag *d = &g->diags.items[i];
        const struct source *s = source_get(&g->diags.sources, d->at.source);
        fprintf(stderr, "%.*s:%u:%u: %.*s\n", STR_ARG(s ? s->path : STR("catalogue")), d->at.line,
                d->at.column, STR_ARG(d->message));
    }
    return diags_count(&g->diags, SEVERITY_ERROR) == 0;
}

/* Where the word stands in the arguments, or behind them. */
static int find_word(int argc, char **argv, const char *word)
{
    int i = 2;
    while (i < argc && strcmp(argv[i], word) != 0)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    if (argc < 4 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(
        &g.out,
        "/* Generated from rules/models and rules/platforms. */\n#include \"facts/entry.h\"\n");
    int middle = find_word(argc, argv, "platforms");
    read_models(&g, argv + 3, (size_t)(middle - 3));
    write_entries(&g, "model");
    buf_printf(&g.out, "const size_t catalogue_model_count = %zu;\n", g.entries.n);
    g.entries.n = 0;
    read_platforms(&g, argv + middle + 1, (size_t)(argc - middle - 1));
    write_entries(&g, "platform");
    size_t platforms = count_whole(&g);
    buf_printf(&g.out, "const size_t catalogue_platform_count = %zu, catalogue_base_count = %zu;\n",
               platforms, g.entries.n - platforms);
    struct str error;
    bool good = report(&g) && io_write(g.arena, argv[1], buf_str(&g.out), &error);
    arena_free(g.arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
