/* SPDX-License-Identifier: Apache-2.0 */
/* generate_automodel OUT.c recipes.yaml sections.yaml capabilities.yaml RELEASE...: what
   AutoModel's recipes, typed sections, model classes and modules are, as C tables
   (facts/automodel.h); of its releases, from the oldest on, which have a class, and the names in
   their modules. A defect of a file is an error at its line. */
#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "facts/automodel.h"
#include "release_entries.h"
#include "tables.h"

static void write_recipe(struct generator *g, const struct node *node)
{
    static const char *const known[] = {"name", "module", "kind", NULL};
    tables_check_keys(g, node, known);
    buf_add_char(&g->out, '{');
    for (size_t i = 0; known[i]; i++) {
        if (!tables_text(node, known[i]).n)
            tables_bad(g, node, "a recipe needs name, module and kind");
        tables_write_text(&g->out, known[i], tables_text(node, known[i]));
    }
    buf_printf(&g->out, "},\n");
}

static void write_above(struct generator *g, const struct node *above)
{
    if (!above) return;
    struct value limit = value_null();
    if (above->n == 1) limit = node_value(g->arena, above->items[0], SCALAR_CORE);
    if (limit.kind != VALUE_INT) {
        tables_bad(g, above, "above is one key with a number");
        return;
    }
    tables_write_text(&g->out, "above_key", above->keys[0]->text);
    buf_printf(&g->out, ".above=%lld,", (long long)limit.i);
}

static const char *shape_of(struct generator *g, const struct node *section)
{
    struct str shape = tables_text(section, "shape");
    if (shape.n && !str_is(shape, "any") && !str_is(shape, "strict") && !str_is(shape, "open"))
        tables_bad(g, section, "shape is any, open or strict");
    return str_is(shape, "any")      ? "SHAPE_ANY"
           : str_is(shape, "open")   ? "SHAPE_OPEN"
           : str_is(shape, "strict") ? "SHAPE_STRICT"
                                     : "SHAPE_MAPPING_OR_NULL";
}

static void write_section(struct generator *g, const struct node *node)
{
    static const char *const known[] = {"path",   "strategy", "beside",  "targeted", "error",
                                        "covers", "source",   "kinds",   "keys",     "untargeted",
                                        "above",  "shape",    "targets", "gone",     NULL};
    enum { N_TEXTS = 7 };
    tables_check_keys(g, node, known);
    buf_add_char(&g->out, '{');
    for (size_t i = 0; i < N_TEXTS; i++)
        if (tables_text(node, known[i]).n)
            tables_write_text(&g->out, known[i], tables_text(node, known[i]));
    tables_write_texts(g, "kinds", node_get(node, STR("kinds")));
    tables_write_texts(g, "keys", node_get(node, STR("keys")));
    tables_write_texts(g, "gone", node_get(node, STR("gone")));
    tables_write_texts(g, "targets", node_get(node, STR("targets")));
    write_above(g, node_get(node, STR("above")));
    buf_printf(&g->out, ".shape=%s,", shape_of(g, node));
    buf_printf(&g->out, ".untargeted=%s},\n", tables_true(node, "untargeted") ? "true" : "false");
}

static const char *known_word(const struct node *class, const char *key)
{
    const struct node *n = node_get(class, str_of(key));
    return !n ? "KNOWN_NOT" : str_is(n->text, "true") ? "KNOWN_YES" : "KNOWN_NO";
}

struct class_entry {
    struct str name;
    const struct node *node;
};

static int entry_cmp(const void *a, const void *b)
{
    return str_cmp(((const struct class_entry *)a)->name, ((const struct class_entry *)b)->name);
}

/* `releases`: by a class's name, those that have it; one that none of them lists is in all. */
static void write_class(struct generator *g, const struct class_entry *e,
                        const struct map *releases)
{
    int64_t bits = map_get(releases, tables_text(e->node, "class"));
    /* absent in the file: depends on the base class or the configuration */
    static const char *const facts[] = {"moe", "tp_plan", "pp_plan", "backend", "hybrid"};
    /* absent in the file: the class does not have it */
    static const char *const features[] = {"outside", "tp_registered", "owns_cp", "cp_sdpa",
                                           "thd",     "keeps_forward", "eager"};
    buf_add_char(&g->out, '{');
    tables_write_text(&g->out, "name", e->name);
    tables_write_text(&g->out, "model_type", tables_text(e->node, "model_type"));
    tables_write_texts(g, "models", node_get(e->node, STR("models")));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        buf_printf(&g->out, ".%s=%s,", facts[i], known_word(e->node, facts[i]));
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        buf_printf(&g->out, ".%s=%s,", features[i],
                   tables_true(e->node, features[i]) ? "KNOWN_YES" : "KNOWN_NO");
    tables_write_texts(g, "packed_cp", node_get(e->node, STR("packed_cp")));
    tables_write_texts(g, "declares", node_get(e->node, STR("declares")));
    buf_printf(&g->out, ".declared=%s,",
               node_get(e->node, STR("declares")) &&
                       !str_is(tables_text(e->node, "declares"), "depends")
                   ? "true"
                   : "false");
    buf_printf(&g->out, ".releases=%uu},\n", bits == MAP_NONE ? UINT32_MAX : (uint32_t)bits);
}

static void write_classes(struct generator *g, const struct node *classes,
                          const struct map *releases)
{
    static const char *const known[] = {
        "class",         "architectures", "moe",      "tp_plan", "pp_plan",
        "backend",       "tp_registered", "owns_cp",  "cp_sdpa", "thd",
        "keeps_forward", "packed_cp",     "declares", "hybrid",  "model_type",
        "models",        "outside",       "eager",    NULL};
    VEC(struct class_entry) entries = {0};
    for (size_t i = 0; i < classes->n; i++) {
        const struct node *class = classes->items[i];
        tables_check_keys(g, class, known);
        *VEC_PUSH(g->arena, &entries) = (struct class_entry){tables_text(class, "class"), class};
        const struct node *names = node_get(class, STR("architectures"));
        for (size_t k = 0; names && k < names->n; k++)
            *VEC_PUSH(g->arena, &entries) = (struct class_entry){names->items[k]->text, class};
    }
    sort_items(entries.items, entries.n, sizeof *entries.items, entry_cmp);
    for (size_t i = 0; i < entries.n; i++)
        write_class(g, &entries.items[i], releases);
}

/* ---- the names in modules ---- */

/* A module as some releases have it. */
struct module {
    struct str path, names;
    uint32_t releases;
};

struct modules {
    struct module *items;
    size_t n, cap;
};

static int module_cmp(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    int order = str_cmp(x->path, y->path);
    return order ? order : x->releases < y->releases ? -1 : 1; /* the newest is bit 0 */
}

static void add_modules(struct generator *g, struct modules *all, const struct release_entries *e,
                        uint32_t bit, struct map *numbers)
{
    for (size_t i = 0; i < e->n; i++) {
        if (!e->items[i].node) continue;
        struct module m = {e->items[i].name, e->items[i].node->text, bit};
        struct str key = arena_printf(g->arena, "%.*s %.*s", STR_ARG(m.path), STR_ARG(m.names));
        int64_t at = map_get(numbers, key);
        if (at != MAP_NONE) {
            all->items[at].releases |= bit;
            continue;
        }
        map_put(g->arena, numbers, key, (uint32_t)all->n);
        *VEC_PUSH(g->arena, all) = m;
    }
}

static void write_modules(struct generator *g, char **paths, int n)
{
    struct modules all = {0};
    struct map numbers = {0};
    struct release_entries names = {0};
    for (int i = 0; i < n; i++) {
        const struct node *doc = tables_load(g, paths[i], "Release");
        if (!doc) return;
        bool whole = !tables_text(doc, "base").n;
        names = release_entries_of(g->arena, whole ? NULL : &names, node_get(doc, STR("names")));
        add_modules(g, &all, &names, (uint32_t)1 << (n - 1 - i), &numbers);
    }
    if (all.n) sort_items(all.items, all.n, sizeof *all.items, module_cmp);
    buf_printf(&g->out, "const struct automodel_module automodel_modules[] = {\n");
    for (size_t i = 0; i < all.n; i++) {
        buf_add_char(&g->out, '{');
        tables_write_text(&g->out, "path", all.items[i].path);
        tables_write_text(&g->out, "names", all.items[i].names);
        buf_printf(&g->out, ".releases=%uu},\n", all.items[i].releases);
    }
    buf_printf(&g->out, "};\nconst uint32_t automodel_module_count = %zu;\n", all.n);
}

static void write_recipes(struct generator *g, const struct node *list, const struct map *releases)
{
    (void)releases;
    for (size_t i = 0; i < list->n; i++)
        write_recipe(g, list->items[i]);
}

static void write_sections(struct generator *g, const struct node *list, const struct map *releases)
{
    (void)releases;
    for (size_t i = 0; i < list->n; i++)
        write_section(g, list->items[i]);
}

/* The files, in the order of the arguments. */
static const struct table {
    const char *kind, *list, *type, *name, *count;
    void (*write)(struct generator *g, const struct node *list, const struct map *releases);
} tables[] = {
    {"Recipes", "recipes", "automodel_recipe", "automodel_recipes", "automodel_recipe_count",
     write_recipes},
    {"Sections", "sections", "automodel_section", "automodel_sections", "automodel_section_count",
     write_sections},
    {"Capabilities", "classes", "automodel_class", "automodel_classes", "automodel_class_count",
     write_classes},
};

static void write_table(struct generator *g, const struct table *t, const char *path,
                        const struct map *releases)
{
    static const char *const known[] = {"moeplan",  "kind",    "version", "source", "recipes",
                                        "sections", "classes", "modules", NULL};
    const struct node *root = tables_load(g, path, t->kind);
    const struct node *list = root ? node_get(root, str_of(t->list)) : NULL;
    if (!list) {
        if (root) tables_bad(g, root, "the list is missing");
        return;
    }
    tables_check_keys(g, root, known);
    buf_printf(&g->out, "const struct %s %s[] = {\n", t->type, t->name);
    t->write(g, list, releases);
    buf_printf(&g->out, "};\nconst uint32_t %s = sizeof %s / sizeof *%s;\n", t->count, t->name,
               t->name);
}

/* The releases that have a model class, as bits by its name. */
static struct map class_releases(struct generator *g, char **paths, int n)
{
    struct map bits = {0};
    struct release_entries classes = {0};
    for (int i = 0; i < n; i++) {
        const struct node *doc = tables_load(g, paths[i], "Release");
        if (!doc) return bits;
        bool whole = !tables_text(doc, "base").n;
        classes =
            release_entries_of(g->arena, whole ? NULL : &classes, node_get(doc, STR("classes")));
        for (size_t k = 0; k < classes.n; k++) {
            if (!classes.items[k].node) continue;
            int64_t old = map_get(&bits, classes.items[k].name);
            uint32_t before = old == MAP_NONE ? 0 : (uint32_t)old;
            map_put(g->arena, &bits, classes.items[k].name, before | (uint32_t)1 << (n - 1 - i));
        }
    }
    return bits;
}

int main(int argc, char **argv)
{
    enum { N_TABLES = sizeof tables / sizeof *tables };
    struct generator g = {.arena = arena_new(0)};
    if (argc < 2 + N_TABLES || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(&g.out, "/* Generated from rules/automodel. */\n#include \"facts/automodel.h\"\n");
    struct map releases = class_releases(&g, argv + 2 + N_TABLES, argc - 2 - N_TABLES);
    for (int i = 0; i < N_TABLES; i++)
        write_table(&g, &tables[i], argv[2 + i], &releases);
    write_modules(&g, argv + 2 + N_TABLES, argc - 2 - N_TABLES);
    return tables_end(&g, argv[1]);
}
