/* SPDX-License-Identifier: Apache-2.0 */
/* generate_playbook OUT.c FILE.yaml...: the public tuned recipes as a C table (choose/playbook.h).
   A defect of a file is an error at its line. */
#include <stdlib.h>

#include "choose/playbook.h"
#include "facts/check.h"
#include "tables.h"

/* What a recipe is matched by and named with. */
static const char *const words[] = {"name", "path",      "model",   "platform",
                                    "task", "precision", "refused", NULL};

static void write_setting(struct generator *g, const struct node *key, const struct node *item)
{
    int param = param_find(key->text);
    struct value v = node_value(g->arena, item, SCALAR_CORE);
    if (param < 0) {
        tables_bad(g, key, "no such parameter");
        return;
    }
    const struct param *p = &param_table[param];
    value_check_own(g->arena, &g->diags, p, &v, node_span(&g->diags, item), key->text);
    buf_printf(&g->out, "{%d,", param);
    ctext_value(&g->out, v);
    buf_printf(&g->out, "},");
}

static void write_settings(struct generator *g, const struct node *recipe)
{
    const struct node *sets = node_get(recipe, STR("sets"));
    if (!sets || sets->kind != NODE_MAP || !sets->n) {
        tables_bad(g, recipe, "a recipe sets something");
        return;
    }
    buf_printf(&g->out, ".n_sets=%zu,.sets=(const struct playbook_setting[]){", sets->n);
    for (size_t i = 0; i < sets->n; i++)
        write_setting(g, sets->keys[i], sets->items[i]);
    buf_printf(&g->out, "},");
}

static void write_recipe(struct generator *g, const struct node *root, const struct node *recipe)
{
    static const char *const known[] = {"name", "path",      "model",   "platform",
                                        "task", "precision", "refused", "framework",
                                        "gpus", "sets",      NULL};
    enum framework framework = FRAMEWORK_MEGATRON;
    struct value gpus = {0};
    const struct node *count = node_get(recipe, STR("gpus"));
    tables_check_keys(g, recipe, known);
    if (count) gpus = node_value(g->arena, count, SCALAR_CORE);
    if (gpus.kind != VALUE_INT) tables_bad(g, recipe, "gpus is a number");
    if (!framework_from_name(tables_text(recipe, "framework"), &framework))
        tables_bad(g, recipe, "no such framework");
    buf_add_char(&g->out, '{');
    for (size_t i = 0; words[i]; i++)
        tables_write_text(&g->out, words[i], tables_text(recipe, words[i]));
    tables_write_text(&g->out, "repository", tables_text(root, "repository"));
    tables_write_text(&g->out, "commit", tables_text(root, "commit"));
    buf_printf(&g->out, ".framework=%d,.gpus=%lld,", (int)framework, (long long)gpus.i);
    write_settings(g, recipe);
    buf_printf(&g->out, "},\n");
}

static size_t write_file(struct generator *g, const char *path)
{
    static const char *const known[] = {"moeplan", "kind", "repository", "commit", "recipes", NULL};
    const struct node *root = tables_load(g, path, "Playbook");
    const struct node *recipes = root ? node_get(root, STR("recipes")) : NULL;
    if (!recipes) return 0;
    tables_check_keys(g, root, known);
    for (size_t i = 0; i < recipes->n; i++)
        write_recipe(g, root, recipes->items[i]);
    return recipes->n;
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    size_t n = 0;
    if (argc < 2 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(&g.out, "/* Generated from rules/playbook. */\n#include \"choose/playbook.h\"\n"
                       "const struct playbook_recipe playbook_recipes[] = {\n");
    for (int i = 2; i < argc; i++)
        n += write_file(&g, argv[i]);
    buf_printf(&g.out, "{.gpus=0}};\nconst size_t playbook_recipe_count = %zu;\n", n);
    return tables_end(&g, argv[1]);
}
