/* SPDX-License-Identifier: Apache-2.0 */
/* generate_parameters OUT.c IDS.h FILE.yaml...: the parameter and release files as C tables:
   param_table sorted by name, its look-up tables, the coefficients, the default facts of each
   framework, and what its releases have otherwise; and the parameters' numbers by name. A defect of
   a file is an error at its line. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "facts/param_file.h"
#include "facts/param_index.h"
#include "release_tables.h"

struct generator {
    struct arena *arena;
    struct diags diags;
    struct param_list params, coefficients;
    struct releases releases;
    struct buf out;
};

static void read_file(struct generator *g, const char *path)
{
    struct str text, error;
    if (!io_read(g->arena, path, &text, &error)) {
        diag_add(&g->diags, SEVERITY_ERROR, "parameters", (struct span){0}, "%s: %.*s", path,
                 STR_ARG(error));
        return;
    }
    struct node_list docs = {0};
    uint32_t source = source_add(&g->diags.sources, str_of(path), text);
    if (!doc_load_yaml(g->arena, &g->diags, source, &docs)) return;
    struct param_list all = {0};
    for (size_t d = 0; d < docs.n; d++) {
        const struct node *kind = node_get(docs.items[d], STR("kind"));
        if (kind && str_is(kind->text, "Release"))
            releases_add(&g->releases, docs.items[d]);
        else
            param_file_read(g->arena, &g->diags, docs.items[d], &all);
    }
    for (size_t i = 0; i < all.n; i++) {
        bool coefficient = all.items[i].scope == SCOPE_COEFFICIENT;
        *VEC_PUSH(g->arena, coefficient ? &g->coefficients : &g->params) = all.items[i];
    }
}

/* ---- writing ---- */

static void write_texts(struct buf *out, const struct str *texts, size_t n)
{
    if (n == 0) {
        buf_printf(out, "NULL");
        return;
    }
    buf_printf(out, "(const struct str[]){");
    for (size_t i = 0; i < n; i++) {
        ctext_str(out, texts[i]);
        buf_add_char(out, ',');
    }
    buf_add_char(out, '}');
}

static void write_flags(struct buf *out, const struct param_spelling *s)
{
    if (s->n_flags == 0) {
        buf_printf(out, "NULL");
        return;
    }
    buf_printf(out, "(const struct param_flag[]){");
    for (size_t i = 0; i < s->n_flags; i++) {
        const struct param_flag *f = &s->flags[i];
        buf_printf(out, "{.flag=");
        ctext_str(out, f->flag);
        buf_printf(out, ",.action=%d,.nargs_min=%d,.nargs_max=%d,.constant=", (int)f->action,
                   f->nargs_min, f->nargs_max);
        ctext_value(out, f->constant);
        const struct {
            const char *name;
            struct str text;
        } words[] = {
            {"deprecated", f->deprecated}, {"removed", f->removed}, {"program", f->program}};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            buf_printf(out, ",.%s=", words[k].name);
            ctext_str(out, words[k].text);
        }
        buf_printf(out, ",.releases=0x%x},", f->releases);
    }
    buf_add_char(out, '}');
}

static void write_bits(struct buf *out, const uint32_t *bits, size_t n)
{
    buf_printf(out, ",.key_releases=(const uint32_t[]){");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "0x%x,", bits[i]);
    buf_add_char(out, '}');
}

static void write_former(struct buf *out, const struct param_spelling *s)
{
    buf_printf(out, ",.n_former=%u,.former=(const struct param_former[]){", s->n_former);
    for (size_t i = 0; i < s->n_former; i++) {
        const struct param_former *x = &s->former[i];
        const struct str words[] = {x->key, x->was, x->before, x->task, x->with};
        buf_add_char(out, '{');
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            ctext_str(out, words[k]);
            buf_add_char(out, ',');
        }
        buf_printf(out, "},");
    }
    buf_add_char(out, '}');
}

static void write_spelling(struct buf *out, const struct param_spelling *s)
{
    if (!s->known) {
        buf_printf(out, "&unspelled,");
        return;
    }
    buf_printf(out,
               "&(const struct param_spelling){.known=true,.inverse=%d,.either=%d,.recipe=%d,"
               ".provider=%d,.dtype=%d,.settled=%d,.fixed=%d,.single=%d,.type=%d,.item_type=%d,"
               ".n_flags=%u,.n_choices=%u,.n_more_keys=%u,.n_also=%u,.n_unset=%u,.key=",
               s->inverse, s->either, s->recipe, s->provider, s->dtype, s->settled, s->fixed,
               s->single, (int)s->type, (int)s->item_type, s->n_flags, s->n_choices, s->n_more_keys,
               s->n_also, s->n_unset);
    ctext_str(out, s->key);
    buf_printf(out, ",.also=");
    write_texts(out, s->also, s->n_also);
    buf_printf(out, ",.unset=");
    write_texts(out, s->unset, s->n_unset);
    buf_printf(out, ",.under=");
    ctext_str(out, s->under);
    buf_printf(out, ",.more_keys=");
    write_texts(out, s->more_keys, s->n_more_keys);
    if (s->key_releases) write_bits(out, s->key_releases, s->n_more_keys + 1u);
    if (s->n_former) write_former(out, s);
    buf_printf(out, ",.zero_since=");
    ctext_str(out, s->zero_since);
    buf_printf(out, ",.choices=");
    write_texts(out, s->choices, s->n_choices);
    buf_printf(out, ",.flags=");
    write_flags(out, s);
    buf_printf(out, ",.rule=");
    ctext_str(out, s->rule);
    buf_printf(out, ",.releases=0x%x,.default_value=", s->releases);
    ctext_value(out, s->default_value);
    buf_printf(out, "},");
}

static void write_range(struct buf *out, const struct param_range *r)
{
    buf_printf(out, ",.range={.has_min=%d,.has_max=%d,.above=%d,.min=%.17g,.max=%.17g}", r->has_min,
               r->has_max, r->above, r->min, r->max);
}

static void write_ranged(struct generator *g)
{
    uint32_t n = 0;
    buf_printf(&g->out, "const uint16_t param_ranged[] = {");
    for (size_t i = 0; i < g->params.n; i++) {
        const struct param_range *r = &g->params.items[i].range;
        if (!r->has_min && !r->has_max) continue;
        buf_printf(&g->out, "%zu,", i);
        n++;
    }
    buf_printf(&g->out, "};\nconst uint32_t param_ranged_count = %u;\n", n);
}

static void write_table(struct buf *out, const char *name, const struct param_list *list)
{
    buf_printf(out, "const struct param %s_table[] = {\n", name);
    for (size_t i = 0; i < list->n; i++) {
        const struct param *p = &list->items[i];
        const struct str texts[] = {p->name, p->symbol, p->unit, p->doc};
        static const char *const members[] = {"name", "symbol", "unit", "doc"};
        buf_printf(out, "{.type=%d,.scope=%d,.affects=%d,.n_aliases=%u,.n_choices=%u,.asked=%d",
                   (int)p->type, (int)p->scope, (int)p->affects, p->n_aliases, p->n_choices,
                   p->asked);
        buf_printf(out, ",.absent=");
        ctext_value(out, p->absent);
        for (size_t k = 0; k < 4; k++) {
            buf_printf(out, ",.%s=", members[k]);
            ctext_str(out, texts[k]);
        }
        buf_printf(out, ",.aliases=");
        write_texts(out, p->aliases, p->n_aliases);
        buf_printf(out, ",.choices=");
        write_texts(out, p->choices, p->n_choices);
        write_range(out, &p->range);
        buf_printf(out, ",\n.in={");
        for (int f = 0; f < FRAMEWORK_COUNT; f++)
            write_spelling(out, p->in[f]);
        buf_printf(out, "}},\n");
    }
    buf_printf(out, "};\nconst uint32_t %s_count = %zu;\n", name, list->n);
}

struct index_entry {
    struct str key;
    struct param_slot slot;
};

/* A look-up table while it is made: its entries in the order they came. */
struct index {
    const char *name;
    struct map seen;
    VEC(struct index_entry) entries;
};

static void index_add(struct generator *g, struct index *x, struct str key, size_t param,
                      size_t word)
{
    if (key.n == 0) return;
    if (!map_put(g->arena, &x->seen, key, (uint32_t)param))
        diag_add(&g->diags, SEVERITY_ERROR, "parameters", (struct span){0}, "%.*s stands twice",
                 STR_ARG(key));
    struct param_slot slot = {(uint16_t)(param + 1), (uint16_t)word};
    *VEC_PUSH(g->arena, &x->entries) = (struct index_entry){key, slot};
}

/* Writes `static const struct param_slot NAME_slots[]` and returns the mask. */
static size_t index_write(struct generator *g, const struct index *x)
{
    size_t size = 8;
    while (size < 2 * x->entries.n)
        size *= 2;
    struct param_slot *slots = ARENA_ARRAY(g->arena, struct param_slot, size);
    for (size_t i = 0; i < x->entries.n; i++) {
        size_t at = str_hash(x->entries.items[i].key) & (size - 1);
        while (slots[at].number)
            at = (at + 1) & (size - 1);
        slots[at] = x->entries.items[i].slot;
    }
    buf_printf(&g->out, "static const struct param_slot %s_slots[%zu] = {\n", x->name, size);
    for (size_t i = 0; i < size; i++)
        if (slots[i].number)
            buf_printf(&g->out, "[%zu]={%u,%u},\n", i, slots[i].number, slots[i].word);
    buf_printf(&g->out, "};\n");
    return size - 1;
}

static void write_names(struct generator *g)
{
    struct index x = {.name = "names"};
    for (size_t i = 0; i < g->params.n; i++)
        for (size_t k = 0; k < PARAM_NAME_ALIASES + g->params.items[i].n_aliases; k++)
            index_add(g, &x, param_name_word(&g->params.items[i], k), i, k);
    size_t mask = index_write(g, &x);
    buf_printf(&g->out, "const struct param_index param_names = {names_slots, %zu};\n", mask);
}

static void write_keys(struct generator *g)
{
    size_t masks[FRAMEWORK_COUNT];
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        struct index x = {.name = framework_words[f]};
        for (size_t i = 0; i < g->params.n; i++) {
            const struct param_spelling *s = g->params.items[i].in[f];
            for (size_t k = 0; k < (s->n_flags ? s->n_flags : 1u + s->n_more_keys); k++)
                index_add(g, &x, param_key_word(s, k), i, k);
        }
        masks[f] = index_write(g, &x);
    }
    buf_printf(&g->out, "const struct param_index param_keys[] = {");
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        buf_printf(&g->out, "{%s_slots, %zu}, ", framework_words[f], masks[f]);
    buf_printf(&g->out, "};\n");
}

/* What a framework does not know is null when it is a knob, and unknown when it is a fact about the
   model, the machine or something derived. */
static struct value default_of(const struct param *p, int framework)
{
    if (p->in[framework]->known) return p->in[framework]->default_value;
    bool knob = p->scope == SCOPE_PLAN || p->scope == SCOPE_RUN;
    return knob ? value_null() : value_unknown();
}

static void write_defaults(struct generator *g)
{
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        buf_printf(&g->out, "static const struct fact %s_defaults[] = {\n", framework_words[f]);
        for (size_t i = 0; i < g->params.n; i++) {
            struct value v = default_of(&g->params.items[i], f);
            buf_printf(&g->out, "{.origin=%s,.value=",
                       v.kind == VALUE_UNKNOWN ? "ORIGIN_UNKNOWN" : "ORIGIN_DEFAULT");
            ctext_value(&g->out, v);
            buf_printf(&g->out, "},\n");
        }
        buf_printf(&g->out, "};\n");
    }
    buf_printf(&g->out, "const struct fact *const param_defaults[] = {");
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        buf_printf(&g->out, "%s_defaults, ", framework_words[f]);
    buf_printf(&g->out, "};\n");
}

/* A name that C code spells wrong is none of these, and does not compile. */
static struct str ids(struct generator *g)
{
    struct buf out = buf_new(g->arena);
    buf_printf(&out,
               "/* Generated from rules/parameters; do not edit. The parameters' numbers. */\n"
               "#ifndef MOEPLAN_FACTS_PARAM_IDS_H\n#define MOEPLAN_FACTS_PARAM_IDS_H\n\n"
               "enum param_id {\n    P_NONE = -1,\n");
    for (size_t i = 0; i < g->params.n; i++)
        buf_printf(&out, "    P_%.*s,\n", STR_ARG(g->params.items[i].name));
    buf_printf(&out, "};\n\n#endif\n");
    return buf_str(&out);
}

static bool write_file(struct generator *g, const char *path, struct str text)
{
    struct str error;
    bool good = io_write(g->arena, path, text, &error);
    if (!good) fprintf(stderr, "%.*s\n", STR_ARG(error));
    return good;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct param *)a)->name, ((const struct param *)b)->name);
}

static bool report(struct generator *g)
{
    diags_sort(&g->diags);
    for (size_t i = 0; i < g->diags.n; i++) {
        const struct diag *d = &g->diags.items[i];
        const struct source *s = source_get(&g->diags.sources, d->at.source);
        fprintf(stderr, "%.*s:%u:%u: %.*s\n", STR_ARG(s ? s->path : STR("parameters")), d->at.line,
                d->at.column, STR_ARG(d->message));
    }
    return diags_count(&g->diags, SEVERITY_ERROR) == 0;
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    if (argc < 4 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    g.releases = (struct releases){.arena = g.arena, .diags = &g.diags};
    for (int i = 3; i < argc; i++)
        read_file(&g, argv[i]);
    sort_items(g.params.items, g.params.n, sizeof *g.params.items, by_name);
    sort_items(g.coefficients.items, g.coefficients.n, sizeof *g.coefficients.items, by_name);
    releases_finish(&g.releases);
    release_tables_mark(&g.releases, &g.params);
    release_tables_check(&g.releases, &g.params);
    buf_printf(&g.out, "/* Generated from rules/parameters and rules/releases; do not edit. */\n"
                       "#include \"facts/param_index.h\"\n#include \"facts/profile.h\"\n"
                       "static const struct param_spelling unspelled;\n");
    write_table(&g.out, "param", &g.params);
    write_table(&g.out, "coefficient", &g.coefficients);
    write_ranged(&g);
    write_names(&g);
    write_keys(&g);
    write_defaults(&g);
    release_tables_write(&g.releases, &g.params, &g.out);
    bool good =
        report(&g) && write_file(&g, argv[1], buf_str(&g.out)) && write_file(&g, argv[2], ids(&g));
    arena_free(g.arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
