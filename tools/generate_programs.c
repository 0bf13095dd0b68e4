/* SPDX-License-Identifier: Apache-2.0 */
/* generate_programs OUT.c FILE.yaml...: the programs built on Megatron-LM as a C table
   (facts/program_kind.h). A defect of a file is an error at its line. */
#include <stdlib.h>

#include "base/sort.h"
#include "facts/program_kind.h"
#include "tables.h"

static int in_order(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return str_cmp((*x)->text, (*y)->text);
}

/* "--name type": a setting and, where it is known, the type of its one value. */
static void write_setting(struct generator *g, const struct node *item)
{
    static const struct {
        const char *word, *type;
    } types[] = {{"", "PARAM_ANY"},
                 {"int", "PARAM_INT"},
                 {"double", "PARAM_DOUBLE"},
                 {"string", "PARAM_STRING"}};
    size_t end = str_find(item->text, ' '), i = 0;
    struct str type = str_trim(str_slice(item->text, end, item->text.n));
    while (i < sizeof types / sizeof *types && !str_is(type, types[i].word))
        i++;
    if (i == sizeof types / sizeof *types) {
        tables_bad(g, item, "a type is int, double or string");
        return;
    }
    buf_printf(&g->out, "{{\"%.*s\", %zu}, %s},", STR_ARG(str_slice(item->text, 0, end)), end,
               types[i].type);
}

/* Settings are looked up by halving. */
static void write_settings(struct generator *g, const char *member, const struct node *list)
{
    if (!list) return;
    sort_items(list->items, list->n, sizeof *list->items, in_order);
    buf_printf(&g->out, ".%s=(const struct program_setting[]){", member);
    for (size_t i = 0; i < list->n; i++)
        write_setting(g, list->items[i]);
    buf_printf(&g->out, "},.n_%s=%zu,", member, list->n);
}

static void write_program(struct generator *g, const struct node *root)
{
    static const char *const known[] = {
        "moeplan",  "kind",     "name",  "title",  "source",   "commit", "date", "proof",
        "sections", "commands", "model", "checks", "prefixes", "flags",  "keys", NULL};
    static const char *const texts[] = {"name", "title", "source", "model", NULL};
    static const char *const lists[] = {"proof", "sections", "commands", "prefixes", NULL};
    tables_check_keys(g, root, known);
    buf_add_char(&g->out, '{');
    for (size_t i = 0; texts[i]; i++)
        tables_write_text(&g->out, texts[i], tables_text(root, texts[i]));
    for (size_t i = 0; lists[i]; i++)
        if (node_get(root, str_of(lists[i])))
            tables_write_texts(g, lists[i], node_get(root, str_of(lists[i])));
    struct str checks = tables_text(root, "checks");
    if (checks.n && !str_is(checks, "megatron")) tables_bad(g, root, "checks is megatron");
    if (checks.n) buf_printf(&g->out, ".checked_by_megatron=true,");
    write_settings(g, "flags", node_get(root, STR("flags")));
    write_settings(g, "keys", node_get(root, STR("keys")));
    buf_printf(&g->out, "},\n");
}

int main(int argc, char **argv)
{
    struct generator g = {.arena = arena_new(0)};
    if (argc < 3 || !g.arena) return EXIT_FAILURE;
    diags_init(&g.diags, g.arena);
    g.out = buf_new(g.arena);
    buf_printf(
        &g.out,
        "/* Generated from rules/programs. */\n"
        "#include \"facts/program_kind.h\"\nconst struct program_kind program_kinds[] = {\n");
    for (int i = 2; i < argc; i++) {
        const struct node *root = tables_load(&g, argv[i], "Program");
        if (root) write_program(&g, root);
    }
    buf_printf(&g.out, "};\nconst uint32_t program_kind_count = %d;\n", argc - 2);
    return tables_end(&g, argv[1]);
}
