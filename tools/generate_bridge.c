/* SPDX-License-Identifier: Apache-2.0 */
/* generate_bridge OUT.c bridge.yaml: Megatron-Bridge's recipes and providers as C tables
   (facts/bridge.h). A defect of the file is an error at its line. */
#include <stdlib.h>

#include "facts/bridge.h"
#include "tables.h"

static void write_settings(struct generator *g, const struct node *sets)
{
    if (!sets || !sets->n) return;
    buf_printf(&g->out, ".n_sets=%zu,.sets=(const struct bridge_setting[]){", sets->n);
    for (size_t i = 0; i < sets->n; i++) {
        buf_add_char(&g->out, '{');
        tables_write_param(&g->out, sets->keys[i]->text);
        buf_add_char(&g->out, ',');
        ctext_value(&g->out, node_value(g->arena, sets->items[i], SCALAR_CORE));
        buf_printf(&g->out, "},");
    }
    buf_printf(&g->out, "},");
}

static void write_recipe(struct generator *g, const struct node *node)
{
    static const char *const known[] = {"name",     "model",  "task", "gpus",
                                        "standard", "absent", "sets", NULL};
    tables_check_keys(g, node, known);
    if (!tables_text(node, "name").n || !tables_text(node, "task").n)
        tables_bad(g, node, "a recipe needs a name and a task");
    buf_add_char(&g->out, '{');
    for (size_t i = 0; i < 3; i++)
        tables_write_text(&g->out, known[i], tables_text(node, known[i]));
    buf_printf(&g->out, ".standard=%s,", tables_true(node, "standard") ? "true" : "false");
    tables_write_params(g, "absent", node_get(node, STR("absent")));
    write_settings(g, node_get(node, STR("sets")));
    buf_printf(&g->out, "},\n");
}

static void write_provider(struct generator *g, const struct node *node, const char *name,
                           const char *without)
{
    const char *const known[] = {name, without, NULL};
    tables_check_keys(g, node, known);
    if (!tables_text(node, name).n) tables_bad(g, node, "a provider needs a name");
    buf_add_char(&g->out, '{');
    tables_write_text(&g->out, "name", tables_text(node, name));
    tables_write_params(g, "without", node_get(node, str_of(without)));
    buf_printf(&g->out, "},\n");
}

static void write_own(struct generator *g, const struct node *node)
{
    write_provider(g, node, "model", "keeps");
}

static void write_plain(struct generator *g, const struct node *node)
{
    write_provider(g, node, "name", "lacks");
}

static void write_about(struct generator *g, const struct node *node)
{
    tables_write_param(&g->out, node->text);
    buf_printf(&g->out, ",\n");
}

static const struct table {
    const char *list, *type, *name;
    void (*write)(struct generator *g, const struct node *item);
} tables[] = {
    {"about", "int", "bridge_about", write_about},
    {"commons", "struct bridge_recipe", "bridge_common", write_recipe},
    {"recipes", "struct bridge_recipe", "bridge_recipe", write_recipe},
    {"providers", "struct bridge_provider", "bridge_provider", write_own},
    {"plain", "struct bridge_provider", "bridge_plain_provider", write_plain},
};

static void write_table(struct generator *g, const struct table *t, const struct node *root)
{
    const struct node *list = node_get(root, str_of(t->list));
    const char *plural = str_is(str_of(t->list), "about") ? "" : "s";
    if (!list || list->kind != NODE_LIST) {
        tables_bad(g, root, "about, commons, recipes, providers and plain are lists");
        return;
    }
    buf_printf(&g->out, "const %s %s%s[] = {\n", t->type, t->name, plural);
    for (size_t i = 0; i < list->n; i++)
        t->write(g, list->items[i]);
    buf_printf(&g->out, "};\nconst uint32_t %s_count = %zu;\n", t->name, list->n);
}

static void write_tables(struct generator *g, const struct node *root)
{
    static const char *const known[] = {"moeplan", "kind",      "about", "commons",
                                        "recipes", "providers", "plain", NULL};
    tables_check_keys(g, root, known);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        write_table(g, &tables[i], root);
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    if (argc != 3 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(&g.out, "/* Generated from rules/recipes. */\n#include \"facts/bridge.h\"\n"
                       "#include \"facts/param_ids.h\"\n");
    const struct node *root = tables_load(&g, argv[2], "BridgeRecipes");
    if (root) write_tables(&g, root);
    return tables_end(&g, argv[1]);
}
