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

/* The words of "one of a b c". */
static void write_choices(struct generator *g, struct str words)
{
    struct str word;
    size_t n = 0;
    buf_printf(&g->out, ".choices=(const struct str[]){");
    for (; str_split(&words, ' ', &word); n++)
        buf_printf(&g->out, "{\"%.*s\", %zu},", STR_ARG(word), word.n);
    buf_printf(&g->out, "},.n_choices=%zu", n);
}

/* What stands behind a setting's name; false: it is none of the forms. */
static bool write_taken(struct generator *g, struct str taken)
{
    static const struct {
        const char *word, *members;
    } forms[] = {{"", ".type=PARAM_ANY"},
                 {"switch", ".type=PARAM_ANY,.alone=true"},
                 {"bool", ".type=PARAM_BOOL"},
                 {"int", ".type=PARAM_INT"},
                 {"double", ".type=PARAM_DOUBLE"},
                 {"string", ".type=PARAM_STRING"},
                 {"int list", ".type=PARAM_INT,.list=true"},
                 {"double list", ".type=PARAM_DOUBLE,.list=true"}};
    struct str one_of = STR("one of "), such_as = STR("such as ");
    if (str_starts(taken, such_as)) {
        buf_printf(&g->out, ".type=PARAM_STRING,.open=true,");
        write_choices(g, str_slice(taken, such_as.n, taken.n));
        return true;
    }
    if (str_starts(taken, one_of)) {
        buf_printf(&g->out, ".type=PARAM_STRING,");
        write_choices(g, str_slice(taken, one_of.n, taken.n));
        return true;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!str_is(taken, forms[i].word)) continue;
        buf_printf(&g->out, "%s", forms[i].members);
        return true;
    }
    return false;
}

/* "--name int list": a setting and, where it is known, what it takes. */
static void write_setting(struct generator *g, const struct node *item)
{
    size_t end = str_find(item->text, ' ');
    buf_printf(&g->out, "{.name={\"%.*s\", %zu},", STR_ARG(str_slice(item->text, 0, end)), end);
    if (!write_taken(g, str_trim(str_slice(item->text, end, item->text.n))))
        tables_bad(g, item,
                   "a setting takes int, double, a list of these, string, bool, one of "
                   "WORDS, such as WORDS, or is a switch");
    buf_printf(&g->out, "},");
}

static struct str name_of(const struct node *item)
{
    return str_slice(item->text, 0, str_find(item->text, ' '));
}

/* What the file says of settings itself goes before what was read from the program. */
static void say_words(const struct node *list, const struct node *words)
{
    for (size_t i = 0; words && i < words->n; i++)
        for (size_t k = 0; k < list->n; k++)
            if (str_eq(name_of(list->items[k]), name_of(words->items[i])))
                list->items[k] = words->items[i];
}

static bool is_listed(const struct node *list, struct str name)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(name_of(list->items[i]), name)) return true;
    return false;
}

/* Keys that only the file itself has: its own code reads them under a name that it makes up. */
static struct node *with_words(struct generator *g, const struct node *list,
                               const struct node *words)
{
    struct node *all = ARENA_NEW(g->arena, struct node);
    *all = *list;
    all->items = ARENA_ARRAY(g->arena, struct node *, list->n + (words ? words->n : 0));
    for (size_t i = 0; i < list->n; i++)
        all->items[i] = list->items[i];
    for (size_t i = 0; words && i < words->n; i++) {
        struct str name = name_of(words->items[i]);
        bool key = !str_starts(name, STR("-")) && !is_listed(list, name);
        if (key) all->items[all->n++] = words->items[i];
    }
    return all;
}

/* Settings are looked up by halving. */
static void write_settings(struct generator *g, const char *member, const struct node *list,
                           const struct node *words)
{
    if (!list) return;
    say_words(list, words);
    if (str_is(str_of(member), "keys")) list = with_words(g, list, words);
    sort_items(list->items, list->n, sizeof *list->items, in_order);
    buf_printf(&g->out, ".%s=(const struct program_setting[]){", member);
    for (size_t i = 0; i < list->n; i++)
        write_setting(g, list->items[i]);
    buf_printf(&g->out, "},.n_%s=%zu,", member, list->n);
}

/* A key that is left out or has one word: a member that is true with it. */
static void write_truth(struct generator *g, const struct node *root, const char *key,
                        const char *word, const char *member)
{
    struct str said = tables_text(root, key);
    if (!said.n) return;
    if (!str_is(said, word)) tables_bad(g, root, arena_printf(g->arena, "%s is %s", key, word).p);
    buf_printf(&g->out, ".%s=true,", member);
}

/* Who reads a program's flags: left out, or megatron, or, for a launcher, open or closed. */
static void write_parser(struct generator *g, const struct node *root)
{
    struct str said = tables_text(root, "parser");
    if (str_is_any(said, "open|closed"))
        buf_printf(&g->out, ".starts_others=true,.closed=%d,", str_is(said, "closed"));
    else
        write_truth(g, root, "parser", "megatron", "parsed_by_megatron");
}

static void write_program(struct generator *g, const struct node *root)
{
    static const char *const known[] = {
        "moeplan",  "kind",     "name",       "title",   "source",   "commit", "date",    "proof",
        "sections", "commands", "model",      "checks",  "prefixes", "flags",  "keys",    "parser",
        "words",    "world",    "world_when", "sizes",   "inherits", "keeps",  "release", "presets",
        "makes",    "means",    "lifts",      "scripts", NULL};
    static const char *const texts[] = {"name",       "title",    "source",  "model",
                                        "world_when", "inherits", "release", NULL};
    static const char *const lists[] = {"proof", "sections", "commands", "prefixes",
                                        "world", "sizes",    "keeps",    "presets",
                                        "means", "lifts",    "scripts",  NULL};
    tables_check_keys(g, root, known);
    buf_add_char(&g->out, '{');
    for (size_t i = 0; texts[i]; i++)
        tables_write_text(&g->out, texts[i], tables_text(root, texts[i]));
    for (size_t i = 0; lists[i]; i++)
        if (node_get(root, str_of(lists[i])))
            tables_write_texts(g, lists[i], node_get(root, str_of(lists[i])));
    write_truth(g, root, "checks", "megatron", "checked_by_megatron");
    write_truth(g, root, "makes", "flags", "makes_flags");
    write_parser(g, root);
    write_settings(g, "flags", node_get(root, STR("flags")), node_get(root, STR("words")));
    write_settings(g, "keys", node_get(root, STR("keys")), node_get(root, STR("words")));
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
