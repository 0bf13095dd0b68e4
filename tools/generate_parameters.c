/* SPDX-License-Identifier: Apache-2.0 */
/* generate_parameters OUT.c FILE.yaml...: the parameter files as C tables: param_table sorted by
   name, its look-up tables, and the default facts of each framework. A defect of a file is an error
   at its line. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctext.h"
#include "base/io.h"
#include "base/map.h"
#include "base/vec.h"
#include "facts/param_index.h"

struct generator {
    struct arena *arena;
    struct diags diags;
    VEC(struct param) params;
    struct buf out;
};

static const char *const frameworks[] = {"megatron", "bridge", "automodel"};
static const char *const types[] = {"bool", "int", "double",  "string", "list",
                                    "map",  "any", "pattern", "tuple"};
static const char *const scopes[] = {"plan", "model", "platform", "derived", "run", "metric"};
static const char *const effects[] = {"execution", "convergence"};
static const char *const actions[] = {"store", "store_true", "store_false", "store_const",
                                      "append"};

/* ---- reading ---- */

static void bad(struct generator *g, const struct node *at, const char *what)
{
    diag_add(&g->diags, SEVERITY_ERROR, "parameters", node_span(&g->diags, at), "%s", what);
}

/* Complains about keys of a mapping that are not in the NULL-terminated list. */
static void check_keys(struct generator *g, const struct node *map, const char *const *known)
{
    for (size_t i = 0; i < map->n; i++) {
        size_t k = 0;
        while (known[k] && !str_is(map->keys[i]->text, known[k]))
            k++;
        if (!known[k]) bad(g, map->keys[i], "unknown key");
    }
}

static struct str text_at(const struct node *map, const char *key)
{
    const struct node *n = node_get(map, str_of(key));
    return n ? n->text : (struct str){"", 0};
}

/* The index of the word under a key; `otherwise` when the key is absent. */
static int word_at(struct generator *g, const struct node *map, const char *key,
                   const char *const *words, size_t n, int otherwise)
{
    const struct node *node = node_get(map, str_of(key));
    if (!node) return otherwise;
    for (size_t i = 0; i < n; i++)
        if (str_is(node->text, words[i])) return (int)i;
    bad(g, node, "unknown word");
    return otherwise;
}

#define WORD_AT(g, map, key, words, otherwise)                                                     \
    word_at((g), (map), (key), (words), sizeof(words) / sizeof *(words), (int)(otherwise))

static const struct str *texts_at(struct generator *g, const struct node *map, const char *key,
                                  size_t *n)
{
    const struct node *list = node_get(map, str_of(key));
    *n = list ? list->n : 0;
    struct str *texts = ARENA_ARRAY(g->arena, struct str, *n);
    for (size_t i = 0; i < *n; i++)
        texts[i] = list->items[i]->text;
    return texts;
}

static void read_nargs(struct generator *g, const struct node *node, struct param_flag *f)
{
    int64_t count = 0;
    if (str_is(node->text, "+") || str_is(node->text, "*")) {
        f->nargs_min = str_is(node->text, "+");
        f->nargs_max = -1;
    } else if (str_is(node->text, "?")) {
        f->nargs_min = 0;
    } else if (node_value(g->arena, node, SCALAR_CORE).kind == VALUE_INT) {
        count = node_value(g->arena, node, SCALAR_CORE).i;
        f->nargs_min = f->nargs_max = (int)count;
    } else {
        bad(g, node, "nargs is +, *, ? or a number");
    }
}

static struct param_flag read_flag(struct generator *g, const struct node *node, bool boolean)
{
    static const char *const known[] = {"flag",    "action",  "const", "nargs", "deprecated",
                                        "removed", "program", "since", "until", NULL};
    struct param_flag f = {.action = boolean ? FLAG_TRUE : FLAG_STORE,
                           .constant = value_null(),
                           .nargs_min = 1,
                           .nargs_max = 1};
    if (node->kind == NODE_SCALAR) {
        f.flag = node->text;
    } else {
        check_keys(g, node, known);
        f.flag = text_at(node, "flag");
        f.action = (enum flag_action)WORD_AT(g, node, "action", actions, f.action);
        if (node_get(node, STR("nargs"))) read_nargs(g, node_get(node, STR("nargs")), &f);
        if (node_get(node, STR("const")))
            f.constant = node_value(g->arena, node_get(node, STR("const")), SCALAR_CORE);
        f.deprecated = text_at(node, "deprecated");
        f.removed = text_at(node, "removed");
        f.program = text_at(node, "program");
        f.since = text_at(node, "since");
        f.until = text_at(node, "until");
    }
    if (f.program.n) f.nargs_min = 0, f.nargs_max = -1;
    if (f.action != FLAG_STORE && f.action != FLAG_APPEND) f.nargs_min = f.nargs_max = 0;
    if (!str_starts(f.flag, STR("--"))) bad(g, node, "a flag begins with --");
    return f;
}

static struct param_spelling read_spelling(struct generator *g, const struct node *node,
                                           const struct param *p)
{
    static const char *const known[] = {"flags",   "key",  "more_keys", "inverse", "type",  "items",
                                        "choices", "rule", "default",   "since",   "until", NULL};
    struct param_spelling s = {.known = true, .default_value = value_null()};
    check_keys(g, node, known);
    s.key = text_at(node, "key");
    s.more_keys = texts_at(g, node, "more_keys", &s.n_more_keys);
    s.inverse = str_is(text_at(node, "inverse"), "true");
    s.rule = text_at(node, "rule");
    s.type = (enum param_type)WORD_AT(g, node, "type", types, p->type);
    s.item_type = (enum param_type)WORD_AT(g, node, "items", types, PARAM_ANY);
    s.choices = p->choices;
    s.n_choices = p->n_choices;
    if (node_get(node, STR("choices"))) s.choices = texts_at(g, node, "choices", &s.n_choices);
    s.since = text_at(node, "since");
    s.until = text_at(node, "until");
    const struct node *value = node_get(node, STR("default"));
    if (value)
        s.default_value = !value->quoted && str_is(value->text, "unknown")
                              ? value_unknown()
                              : node_value(g->arena, value, SCALAR_CORE);
    const struct node *flags = node_get(node, STR("flags"));
    s.n_flags = flags ? flags->n : 0;
    struct param_flag *items = ARENA_ARRAY(g->arena, struct param_flag, s.n_flags);
    for (size_t i = 0; i < s.n_flags; i++)
        items[i] = read_flag(g, flags->items[i], s.type == PARAM_BOOL);
    s.flags = items;
    return s;
}

static void read_param(struct generator *g, const struct node *node)
{
    static const char *const known[] = {"name",   "symbol",    "aliases", "type",    "scope",
                                        "unit",   "doc",       "choices", "affects", "megatron",
                                        "bridge", "automodel", NULL};
    struct param p = {.name = text_at(node, "name"),
                      .symbol = text_at(node, "symbol"),
                      .unit = text_at(node, "unit"),
                      .doc = text_at(node, "doc")};
    check_keys(g, node, known);
    p.type = (enum param_type)WORD_AT(g, node, "type", types, PARAM_ANY);
    p.scope = (enum param_scope)WORD_AT(g, node, "scope", scopes, SCOPE_PLAN);
    p.affects = (enum param_effect)WORD_AT(g, node, "affects", effects,
                                           p.scope == SCOPE_MODEL ? AFFECTS_CONVERGENCE
                                                                  : AFFECTS_EXECUTION);
    p.aliases = texts_at(g, node, "aliases", &p.n_aliases);
    p.choices = texts_at(g, node, "choices", &p.n_choices);
    if (!p.name.n || !p.doc.n) bad(g, node, "a parameter needs a name and a doc");
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        const struct node *spelling = node_get(node, str_of(frameworks[f]));
        if (spelling) p.in[f] = read_spelling(g, spelling, &p);
    }
    *VEC_PUSH(g->arena, &g->params) = p;
}

static void read_file(struct generator *g, const char *path)
{
    static const char *const known[] = {"moeplan", "kind", "parameters", NULL};
    struct str text, error;
    if (!io_read(g->arena, path, &text, &error)) {
        diag_add(&g->diags, SEVERITY_ERROR, "parameters", (struct span){0}, "%s: %.*s", path,
                 STR_ARG(error));
        return;
    }
    struct node_list docs = {0};
    uint32_t source = source_add(&g->diags.sources, str_of(path), text);
    if (!doc_load_yaml(g->arena, &g->diags, source, &docs)) return;
    for (size_t d = 0; d < docs.n; d++) {
        const struct node *params = node_get(docs.items[d], STR("parameters"));
        check_keys(g, docs.items[d], known);
        if (!str_is(text_at(docs.items[d], "kind"), "Parameters") || !params)
            bad(g, docs.items[d], "not a Parameters file");
        for (size_t i = 0; params && i < params->n; i++)
            read_param(g, params->items[i]);
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
        } words[] = {{"deprecated", f->deprecated},
                     {"removed", f->removed},
                     {"program", f->program},
                     {"since", f->since},
                     {"until", f->until}};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            buf_printf(out, ",.%s=", words[k].name);
            ctext_str(out, words[k].text);
        }
        buf_printf(out, "},");
    }
    buf_add_char(out, '}');
}

static void write_spelling(struct buf *out, const struct param_spelling *s)
{
    if (!s->known) {
        buf_printf(out, "{0},");
        return;
    }
    buf_printf(out,
               "{.known=true,.inverse=%s,.type=%d,.item_type=%d,.n_flags=%zu,.n_choices=%zu,.n_"
               "more_keys=%zu,.key=",
               s->inverse ? "true" : "false", (int)s->type, (int)s->item_type, s->n_flags,
               s->n_choices, s->n_more_keys);
    ctext_str(out, s->key);
    buf_printf(out, ",.more_keys=");
    write_texts(out, s->more_keys, s->n_more_keys);
    buf_printf(out, ",.choices=");
    write_texts(out, s->choices, s->n_choices);
    buf_printf(out, ",.flags=");
    write_flags(out, s);
    buf_printf(out, ",.rule=");
    ctext_str(out, s->rule);
    buf_printf(out, ",.since=");
    ctext_str(out, s->since);
    buf_printf(out, ",.until=");
    ctext_str(out, s->until);
    buf_printf(out, ",.default_value=");
    ctext_value(out, s->default_value);
    buf_printf(out, "},");
}

static void write_table(struct generator *g)
{
    struct buf *out = &g->out;
    buf_printf(out, "const struct param param_table[] = {\n");
    for (size_t i = 0; i < g->params.n; i++) {
        const struct param *p = &g->params.items[i];
        const struct str texts[] = {p->name, p->symbol, p->unit, p->doc};
        static const char *const members[] = {"name", "symbol", "unit", "doc"};
        buf_printf(out, "{.type=%d,.scope=%d,.affects=%d,.n_aliases=%zu,.n_choices=%zu",
                   (int)p->type, (int)p->scope, (int)p->affects, p->n_aliases, p->n_choices);
        for (size_t k = 0; k < 4; k++) {
            buf_printf(out, ",.%s=", members[k]);
            ctext_str(out, texts[k]);
        }
        buf_printf(out, ",.aliases=");
        write_texts(out, p->aliases, p->n_aliases);
        buf_printf(out, ",.choices=");
        write_texts(out, p->choices, p->n_choices);
        buf_printf(out, ",\n.in={");
        for (int f = 0; f < FRAMEWORK_COUNT; f++)
            write_spelling(out, &p->in[f]);
        buf_printf(out, "}},\n");
    }
    buf_printf(out, "};\nconst uint32_t param_count = %zu;\n", g->params.n);
}

/* A look-up table while it is made: its entries in the order they came. */
struct index {
    const char *name;
    struct map seen;
    VEC(struct param_slot) entries;
};

static void index_add(struct generator *g, struct index *x, struct str key, size_t param,
                      size_t flag)
{
    if (key.n == 0) return;
    if (!map_put(g->arena, &x->seen, key, (uint32_t)param))
        diag_add(&g->diags, SEVERITY_ERROR, "parameters", (struct span){0}, "%.*s stands twice",
                 STR_ARG(key));
    *VEC_PUSH(g->arena, &x->entries) = (struct param_slot){key, (uint16_t)param, (uint16_t)flag};
}

/* Writes `static const struct param_slot NAME_slots[]` and returns the mask. */
static size_t index_write(struct generator *g, const struct index *x)
{
    size_t size = 8;
    while (size < 2 * x->entries.n)
        size *= 2;
    const struct param_slot **slots = ARENA_ARRAY(g->arena, const struct param_slot *, size);
    for (size_t i = 0; i < x->entries.n; i++) {
        size_t at = str_hash(x->entries.items[i].key) & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = &x->entries.items[i];
    }
    buf_printf(&g->out, "static const struct param_slot %s_slots[%zu] = {\n", x->name, size);
    for (size_t i = 0; i < size; i++) {
        if (!slots[i]) continue;
        buf_printf(&g->out, "[%zu]={", i);
        ctext_str(&g->out, slots[i]->key);
        buf_printf(&g->out, ",%u,%u},\n", slots[i]->param, slots[i]->flag);
    }
    buf_printf(&g->out, "};\n");
    return size - 1;
}

static void write_names(struct generator *g)
{
    struct index x = {.name = "names"};
    for (size_t i = 0; i < g->params.n; i++) {
        const struct param *p = &g->params.items[i];
        index_add(g, &x, p->name, i, 0);
        index_add(g, &x, p->symbol, i, 0);
        for (size_t k = 0; k < p->n_aliases; k++)
            index_add(g, &x, p->aliases[k], i, 0);
    }
    size_t mask = index_write(g, &x);
    buf_printf(&g->out, "const struct param_index param_names = {names_slots, %zu};\n", mask);
}

static void write_keys(struct generator *g)
{
    size_t masks[FRAMEWORK_COUNT];
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        struct index x = {.name = frameworks[f]};
        for (size_t i = 0; i < g->params.n; i++) {
            const struct param_spelling *s = &g->params.items[i].in[f];
            index_add(g, &x, s->key, i, 0);
            for (size_t k = 0; k < s->n_more_keys; k++)
                index_add(g, &x, s->more_keys[k], i, 0);
            for (size_t k = 0; k < s->n_flags; k++)
                index_add(g, &x, s->flags[k].flag, i, k);
        }
        masks[f] = index_write(g, &x);
    }
    buf_printf(&g->out, "const struct param_index param_keys[] = {");
    for (int f = 0; f < FRAMEWORK_COUNT; f++)
        buf_printf(&g->out, "{%s_slots, %zu}, ", frameworks[f], masks[f]);
    buf_printf(&g->out, "};\n");
}

/* What a framework does not know is null when it is a knob, and unknown when it is a fact about the
   model, the machine or something derived. */
static struct value default_of(const struct param *p, int framework)
{
    if (p->in[framework].known) return p->in[framework].default_value;
    bool knob = p->scope == SCOPE_PLAN || p->scope == SCOPE_RUN;
    return knob ? value_null() : value_unknown();
}

static void write_defaults(struct generator *g)
{
    for (int f = 0; f < FRAMEWORK_COUNT; f++) {
        buf_printf(&g->out, "static const struct fact %s_defaults[] = {\n", frameworks[f]);
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
        buf_printf(&g->out, "%s_defaults, ", frameworks[f]);
    buf_printf(&g->out, "};\n");
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
    struct str error;
    if (argc < 3 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    for (int i = 2; i < argc; i++)
        read_file(&g, argv[i]);
    qsort(g.params.items, g.params.n, sizeof *g.params.items, by_name);
    buf_printf(
        &g.out,
        "/* Generated from rules/parameters; do not edit. */\n#include \"facts/param_index.h\"\n");
    write_table(&g);
    write_names(&g);
    write_keys(&g);
    write_defaults(&g);
    bool good = report(&g);
    if (good && !io_write(g.arena, argv[1], buf_str(&g.out), &error)) {
        fprintf(stderr, "%.*s\n", STR_ARG(error));
        good = false;
    }
    arena_free(g.arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
