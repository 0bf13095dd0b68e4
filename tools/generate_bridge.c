/* SPDX-License-Identifier: Apache-2.0 */
/* generate_bridge OUT.c FILE...: Megatron-Bridge's recipes and providers as C tables
   (facts/bridge.h), from rules/recipes/bridge.yaml, Bridge's releases from the oldest on, and the
   models, told apart by their kind. A defect of a file is an error at its line. */
#include <stdlib.h>

#include "base/vec.h"
#include "facts/bridge.h"
#include "release_entries.h"
#include "tables.h"

enum { COMMONS, RECIPES, MODELS, ALIASES, N_SECTIONS };
static const char *const SECTIONS[N_SECTIONS] = {"commons", "recipes", "models", "aliases"};

struct release {
    struct str version;
    uint32_t bit;
    struct release_entries entries[N_SECTIONS];
};

/* A recipe as it is written, and the releases that have it so. */
struct row {
    struct str text;
    uint32_t releases;
};

struct rows {
    struct row *items;
    size_t n, cap;
};

struct work {
    struct generator *g;
    const struct node *root; /* rules/recipes/bridge.yaml */
    VEC(struct release *) releases;
    VEC(const struct node *) models;
    struct texts values;
    struct map value_numbers, row_numbers, alias_numbers;
    struct rows rows, aliases;
};

/* ---- releases ---- */

static const struct release *find_release(const struct work *w, struct str version)
{
    for (size_t i = 0; i < w->releases.n; i++)
        if (str_eq(w->releases.items[i]->version, version)) return w->releases.items[i];
    return NULL;
}

/* The release that a provider came with: its version, of the main branch without the day. */
static const struct release *find_since(const struct work *w, struct str since)
{
    for (size_t i = 0; i < w->releases.n && since.n; i++) {
        struct str version = w->releases.items[i]->version;
        if (str_eq(str_slice(version, 0, str_find(version, '@')), since))
            return w->releases.items[i];
    }
    return NULL;
}

static void add_release(struct work *w, const struct node *doc)
{
    struct release *r = ARENA_NEW(w->g->arena, struct release);
    *r = (struct release){.version = tables_text(doc, "version")};
    const struct release *base = find_release(w, tables_text(doc, "base"));
    for (int s = 0; s < N_SECTIONS; s++)
        r->entries[s] = release_entries_of(w->g->arena, base ? &base->entries[s] : NULL,
                                           node_get(doc, str_of(SECTIONS[s])));
    *VEC_PUSH(w->g->arena, &w->releases) = r;
}

/* ---- models ---- */

/* A name on Hugging Face without what its variants differ in. */
static struct str stem(struct str name)
{
    static const char *const endings[] = {"-it",   "-BF16",     "-FP8", "-NVFP4",
                                          "-Base", "-Instruct", NULL};
    for (int i = 0; endings[i]; i++)
        if (str_ends(name, str_of(endings[i])))
            return stem(str_slice(name, 0, name.n - str_of(endings[i]).n));
    return name;
}

/* The catalogue's model of a recipe; empty: there is none. */
static struct str catalogue_model(const struct work *w, const struct release_entry *e)
{
    const struct node *own = node_get(w->root, STR("own"));
    for (size_t i = 0; own && i < own->n; i++)
        if (str_starts(e->name, own->keys[i]->text))
            return str_is(own->items[i]->text, "none") ? (struct str){"", 0} : own->items[i]->text;
    struct str hub = stem(tables_text(e->node, "model"));
    for (size_t i = 0; hub.n && i < w->models.n; i++)
        if (str_eq(stem(tables_text(w->models.items[i], "hf_id")), hub))
            return tables_text(w->models.items[i], "id");
    return (struct str){"", 0};
}

/* ---- rows ---- */

static uint32_t number_of_value(struct work *w, const struct node *node)
{
    struct buf text = buf_new(w->g->arena);
    ctext_value(&text, node_value(w->g->arena, node, SCALAR_CORE));
    int64_t at = map_get(&w->value_numbers, buf_str(&text));
    if (at != MAP_NONE) return (uint32_t)at;
    uint32_t n = (uint32_t)w->values.n;
    *VEC_PUSH(w->g->arena, &w->values) = buf_str(&text);
    map_put(w->g->arena, &w->value_numbers, buf_str(&text), n);
    return n;
}

static size_t write_settings(struct work *w, const struct node *sets)
{
    for (size_t i = 0; sets && i < sets->n; i++) {
        buf_add_char(&w->g->out, '{');
        tables_write_param(&w->g->out, sets->keys[i]->text);
        buf_printf(&w->g->out, ",%u},", number_of_value(w, sets->items[i]));
    }
    return sets ? sets->n : 0;
}

static const struct node *shape_of(const struct release *r, struct str hub)
{
    for (size_t i = 0; i < r->entries[MODELS].n; i++)
        if (str_eq(r->entries[MODELS].items[i].name, hub)) return r->entries[MODELS].items[i].node;
    return NULL;
}

/* Settings, each of one or both mappings (NULL: none), the first one's first. */
static void write_sets(struct work *w, const struct node *first, const struct node *second)
{
    buf_printf(&w->g->out, ".sets=(const struct bridge_setting[]){");
    size_t n = write_settings(w, first);
    n += write_settings(w, second);
    buf_printf(&w->g->out, "{0,0}},.n_sets=%zu,", n);
}

/* The place in the list, from 1 on; 0: it is not there. */
static int standard_place(const struct work *w, struct str name)
{
    const struct node *list = node_get(w->root, STR("standard"));
    for (size_t i = 0; list && i < list->n; i++)
        if (str_eq(list->items[i]->text, name)) return (int)i + 1;
    return 0;
}

static void check_entry(struct work *w, const struct release_entry *e)
{
    static const char *const known[] = {"model", "task", "gpus",    "chip", "rebuilds",
                                        "lacks", "sets", "unknown", NULL};
    tables_check_keys(w->g, e->node, known);
    if (!tables_text(e->node, "task").n) tables_bad(w->g, e->node, "a recipe needs a task");
}

/* The row of an entry without its releases. */
static struct str row_text(struct work *w, const struct release *r, const struct release_entry *e,
                           int64_t common)
{
    struct buf before = w->g->out;
    struct str model = catalogue_model(w, e), gpus = tables_text(e->node, "gpus");
    const struct node *unknown = node_get(e->node, STR("unknown"));
    bool made = !unknown || unknown->kind == NODE_LIST;
    w->g->out = buf_new(w->g->arena);
    tables_write_text(&w->g->out, "name", e->name);
    tables_write_text(&w->g->out, "model", model);
    tables_write_text(&w->g->out, "task", tables_text(e->node, "task"));
    tables_write_text(&w->g->out, "chip", tables_text(e->node, "chip"));
    buf_printf(&w->g->out, ".gpus=%.*s,.standard=%d,.rebuilds=%s,.made=%s,.common=%lld,",
               STR_ARG(gpus.n ? gpus : STR("0")), standard_place(w, e->name),
               tables_true(e->node, "rebuilds") ? "true" : "false", made ? "true" : "false",
               (long long)common);
    tables_write_params(w->g, "absent", node_get(e->node, STR("lacks")));
    if (made) tables_write_params(w->g, "unknown", unknown);
    /* of a model that is in no catalogue what that is made of, too */
    write_sets(w, model.n ? NULL : shape_of(r, tables_text(e->node, "model")),
               node_get(e->node, STR("sets")));
    struct str text = buf_str(&w->g->out);
    w->g->out = before;
    return text;
}

static uint32_t add_row(struct work *w, struct map *numbers, struct rows *rows, struct str text,
                        uint32_t bit)
{
    int64_t at = map_get(numbers, text);
    if (at == MAP_NONE) {
        at = (int64_t)rows->n;
        map_put(w->g->arena, numbers, text, (uint32_t)at);
        *VEC_PUSH(w->g->arena, rows) = (struct row){text, 0};
    }
    rows->items[at].releases |= bit;
    return (uint32_t)at;
}

static uint32_t add_recipe(struct work *w, struct str text, uint32_t bit)
{
    return add_row(w, &w->row_numbers, &w->rows, text, bit);
}

static void add_aliases(struct work *w, const struct release *r)
{
    const struct release_entries *all = &r->entries[ALIASES];
    for (size_t i = 0; i < all->n; i++) {
        struct buf text = buf_new(w->g->arena);
        if (!all->items[i].node) continue;
        tables_write_text(&text, "name", all->items[i].name);
        tables_write_text(&text, "recipe", all->items[i].node->text);
        add_row(w, &w->alias_numbers, &w->aliases, buf_str(&text), r->bit);
    }
}

/* The number of the common recipe of a task among a release's rows; -1: it has none. */
static int64_t common_row(const struct release *r, const uint32_t *rows, struct str task)
{
    for (size_t i = 0; i < r->entries[COMMONS].n; i++) {
        const struct node *node = r->entries[COMMONS].items[i].node;
        if (node && str_eq(tables_text(node, "task"), task)) return rows[i];
    }
    return -1;
}

static void add_rows(struct work *w, const struct release *r)
{
    uint32_t *commons = ARENA_ARRAY(w->g->arena, uint32_t, r->entries[COMMONS].n + 1);
    for (size_t i = 0; i < r->entries[COMMONS].n; i++) {
        const struct release_entry *e = &r->entries[COMMONS].items[i];
        if (e->node) commons[i] = add_recipe(w, row_text(w, r, e, -1), r->bit);
    }
    for (size_t i = 0; i < r->entries[RECIPES].n; i++) {
        const struct release_entry *e = &r->entries[RECIPES].items[i];
        if (!e->node) continue;
        check_entry(w, e);
        int64_t common = common_row(r, commons, tables_text(e->node, "task"));
        add_recipe(w, row_text(w, r, e, common), r->bit);
    }
}

static void write_rows(struct generator *g, const char *type, const char *name,
                       const struct rows *rows)
{
    buf_printf(&g->out, "const struct %s %s[] = {\n", type, name);
    for (size_t i = 0; i < rows->n; i++)
        buf_printf(&g->out, "{%.*s.releases=%uu},\n", STR_ARG(rows->items[i].text),
                   rows->items[i].releases);
    buf_printf(&g->out, "};\nconst uint32_t %s_count = %zu;\n", type, rows->n);
}

static void write_recipes(struct work *w)
{
    for (size_t i = w->releases.n; i-- > 0;) { /* the newest one's rows are first */
        add_rows(w, w->releases.items[i]);
        add_aliases(w, w->releases.items[i]);
    }
    buf_printf(&w->g->out, "const struct value bridge_values[] = {\n");
    for (size_t i = 0; i < w->values.n; i++)
        buf_printf(&w->g->out, "%.*s,\n", STR_ARG(w->values.items[i]));
    buf_printf(&w->g->out, "};\n");
    write_rows(w->g, "bridge_recipe", "bridge_recipes", &w->rows);
    write_rows(w->g, "bridge_alias", "bridge_aliases", &w->aliases);
}

/* ---- providers ---- */

static void write_provider(struct work *w, const struct node *node, const char *name,
                           const char *without, const char *sets)
{
    const char *const known[] = {name, without, "since", sets, NULL};
    struct generator *g = w->g;
    struct str since = tables_text(node, "since");
    const struct release *first = find_since(w, since);
    tables_check_keys(g, node, known);
    if (!tables_text(node, name).n) tables_bad(g, node, "a provider needs a name");
    if (since.n && !first) tables_bad(g, node, "since is a release of Megatron-Bridge");
    buf_add_char(&g->out, '{');
    tables_write_text(&g->out, "name", tables_text(node, name));
    tables_write_params(g, "without", node_get(node, str_of(without)));
    if (sets) write_sets(w, node_get(node, str_of(sets)), NULL);
    /* the newest release is bit 0, and those before the first one have the bits above its own */
    buf_printf(&g->out, ".releases=%uu},\n", first ? (first->bit << 1) - 1 : UINT32_MAX);
}

static void write_own(struct work *w, const struct node *node)
{
    write_provider(w, node, "model", "keeps", NULL);
}

static void write_plain(struct work *w, const struct node *node)
{
    write_provider(w, node, "name", "lacks", "sets");
}

static void write_about(struct work *w, const struct node *node)
{
    tables_write_param(&w->g->out, node->text);
    buf_printf(&w->g->out, ",\n");
}

static const struct table {
    const char *list, *type, *name;
    void (*write)(struct work *w, const struct node *item);
} tables[] = {
    {"about", "int", "bridge_about", write_about},
    {"providers", "struct bridge_provider", "bridge_provider", write_own},
    {"plain", "struct bridge_provider", "bridge_plain_provider", write_plain},
};

static void write_table(struct work *w, const struct table *t)
{
    struct generator *g = w->g;
    const struct node *root = w->root, *list = node_get(root, str_of(t->list));
    const char *plural = str_is(str_of(t->list), "about") ? "" : "s";
    if (!list || list->kind != NODE_LIST) {
        tables_bad(g, root, "about, providers and plain are lists");
        return;
    }
    buf_printf(&g->out, "const %s %s%s[] = {\n", t->type, t->name, plural);
    for (size_t i = 0; i < list->n; i++)
        t->write(w, list->items[i]);
    buf_printf(&g->out, "};\nconst uint32_t %s_count = %zu;\n", t->name, list->n);
}

static void write_tables(struct work *w)
{
    static const char *const known[] = {"moeplan", "kind",      "about", "standard",
                                        "own",     "providers", "plain", NULL};
    tables_check_keys(w->g, w->root, known);
    for (size_t i = 0; i < w->releases.n; i++) /* the newest is bit 0 */
        w->releases.items[i]->bit = (uint32_t)1 << (w->releases.n - 1 - i);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        write_table(w, &tables[i]);
    write_recipes(w);
}

static void load(struct work *w, const char *path)
{
    const struct node *doc = tables_load(w->g, path, NULL);
    if (!doc) return;
    struct str kind = tables_text(doc, "kind");
    if (str_is(kind, "BridgeRecipes"))
        w->root = doc;
    else if (str_is(kind, "Release"))
        add_release(w, doc);
    else
        *VEC_PUSH(w->g->arena, &w->models) = doc;
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    struct work w = {.g = &g};
    if (argc < 3 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(&g.out, "/* Generated from rules/recipes and rules/releases. */\n"
                       "#include \"facts/bridge.h\"\n#include \"facts/param_ids.h\"\n");
    for (int i = 2; i < argc; i++)
        load(&w, argv[i]);
    if (w.root) write_tables(&w);
    return tables_end(&g, argv[1]);
}
