/* SPDX-License-Identifier: Apache-2.0 */
/* generate_environment OUT.c FILE.yaml...: the environment variables that libraries read as a C
   table (facts/environment.h). A defect of a file is an error at its line. */
#include <stdlib.h>

#include "base/sort.h"
#include "facts/environment.h"
#include "tables.h"

struct names {
    const struct node **items;
    size_t n, cap;
};

static int in_order(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return str_cmp((*x)->text, (*y)->text);
}

static void take_library(struct generator *g, const struct node *library, struct names *all)
{
    static const char *const known[] = {"name", "source", "date", "variables", NULL};
    const struct node *list = node_get(library, STR("variables"));
    tables_check_keys(g, library, known);
    for (size_t i = 0; list && i < list->n; i++) {
        if (list->items[i]->text.n < ENVIRONMENT_SHORTEST)
            tables_bad(g, list->items[i], "too short to tell a slip from another name");
        *VEC_PUSH(g->arena, all) = list->items[i];
    }
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    struct names all = {0};
    if (argc < 3 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    for (int i = 2; i < argc; i++) {
        const struct node *root = tables_load(&g, argv[i], "Environment");
        const struct node *libraries = root ? node_get(root, STR("libraries")) : NULL;
        for (size_t k = 0; libraries && k < libraries->n; k++)
            take_library(&g, libraries->items[k], &all);
    }
    sort_items(all.items, all.n, sizeof *all.items, in_order);
    buf_printf(&g.out, "/* Generated from rules/environment. */\n"
                       "#include \"facts/environment.h\"\n"
                       "const struct str environment_variables[] = {\n");
    for (size_t i = 0; i < all.n; i++) {
        struct str name = all.items[i]->text;
        if (i && str_eq(name, all.items[i - 1]->text))
            tables_bad(&g, all.items[i], "this variable is listed twice");
        buf_printf(&g.out, "{\"%.*s\", %zu},\n", STR_ARG(name), name.n);
    }
    buf_printf(&g.out, "};\nconst uint32_t environment_variable_count = %zu;\n", all.n);
    return tables_end(&g, argv[1]);
}
