/* SPDX-License-Identifier: Apache-2.0 */
/* Import paths: every `_target_` and every key that ends in _fn is imported while the recipe loads,
   also in sections that nothing reads (nemo_automodel/components/config/loader.py:276-333). Only
   what no environment could import is an error here. */
#include <stdlib.h>

#include "base/edit.h"
#include "facts/automodel.h"
#include "facts/checkout.h"
#include "facts/import_path.h"

/* The check of AutoModel's loader that refuses it. */
static void cover(struct diag *d)
{
    static const struct str covers[] = {{"automodel:X02", 13}};
    d->covers = covers;
    d->n_covers = 1;
    d->source = STR("nemo_automodel/components/config/loader.py:276");
}

static void complain(struct facts *f, const struct node *value, const char *why)
{
    cover(diag_add(f->diags, SEVERITY_ERROR, "import-path", node_span(f->diags, value),
                   "%.*s cannot be imported: %s", STR_ARG(value->text), why));
}

static const struct automodel_recipe *recipe_named(struct str name)
{
    for (uint32_t i = 0; i < automodel_recipe_count; i++)
        if (str_eq(automodel_recipes[i].name, name)) return &automodel_recipes[i];
    return NULL;
}

static void complain_bare(struct facts *f, const struct node *value)
{
    const struct automodel_recipe *recipe = recipe_named(value->text);
    complain(f, value, "it names no module");
    struct diag *d = &f->diags->items[f->diags->n - 1];
    if (recipe)
        diag_help(f->diags, d, "write recipe: %.*s, or the full path %.*s.%.*s",
                  STR_ARG(recipe->name), STR_ARG(recipe->module), STR_ARG(recipe->name));
    else
        diag_help(f->diags, d, "write the full path: package.module.%.*s", STR_ARG(value->text));
}

static bool has_empty_part(struct str path)
{
    struct str part;
    while (str_split(&path, '.', &part))
        if (!part.n) return true;
    return false;
}

/* path/to/file.py:name */
static void check_file_target(struct facts *f, const struct node *value, size_t colon)
{
    struct str file = str_slice(value->text, 0, colon);
    struct str name = str_slice(value->text, colon + 1, value->text.n);
    if (!str_ends(file, STR(".py")))
        complain(f, value, "what stands before the colon is no .py file");
    else if (str_starts(name, STR("_")) || str_find_str(name, STR("__")) < name.n)
        complain(f, value, "private names are refused");
}

/* ---- AutoModel's own package ---- */

static int by_path(const void *path, const void *module)
{
    return str_cmp(*(const struct str *)path, ((const struct automodel_module *)module)->path);
}

/* The module as the release of the facts has it; NULL: it has none. */
static const struct automodel_module *module_at(const struct facts *f, struct str path)
{
    const struct automodel_module *end = automodel_modules + automodel_module_count;
    const struct automodel_module *m = bsearch(&path, automodel_modules, automodel_module_count,
                                               sizeof *automodel_modules, by_path);
    while (m && m > automodel_modules && str_eq(m[-1].path, path))
        m--;
    while (m && m < end && str_eq(m->path, path) && !(m->releases & facts_release(f)))
        m++;
    return m && m < end && str_eq(m->path, path) ? m : NULL;
}

/* Bytes of the longest start of the path that is a module. */
static size_t module_length(const struct facts *f, struct str path)
{
    size_t end = path.n;
    while (end > 0 && !module_at(f, str_slice(path, 0, end))) {
        while (end > 0 && path.p[end - 1] != '.')
            end--;
        if (end > 0) end--;
    }
    return end;
}

/* The name in the package or module that is nearest to a word: a module of it, or what it holds. */
static struct str module_nearest(const struct facts *f, struct str package, struct str word)
{
    struct edit_nearest near = {.word = word};
    struct str names = module_at(f, package)->names, name;
    for (uint32_t i = 0; i < automodel_module_count; i++) {
        struct str path = automodel_modules[i].path;
        bool inside = str_starts(path, package) && path.n > package.n && path.p[package.n] == '.';
        struct str rest = inside ? str_slice(path, package.n + 1, path.n) : (struct str){"", 0};
        if (rest.n && str_find(rest, '.') == rest.n) edit_offer(&near, rest);
    }
    while (str_split(&names, ' ', &name))
        edit_offer(&near, name);
    return near.best;
}

/* Whether the word stands in a text of words with one blank between them. */
static bool has_word(struct str words, struct str word)
{
    bool one = str_find(word, ' ') == word.n;
    for (size_t at = 0; at < words.n && one; at++) {
        at += str_find_str(str_slice(words, at, words.n), word);
        size_t end = at + word.n;
        bool begins = at < words.n && (!at || words.p[at - 1] == ' ');
        if (begins && (end == words.n || words.p[end] == ' ')) return true;
    }
    return false;
}

static bool has_name(const struct automodel_module *m, struct str wanted)
{
    return has_word(m->names, wanted) || has_word(m->names, STR("*"));
}

/* nemo_automodel.models is another name of nemo_automodel.components.models. */
static struct str without_alias(struct facts *f, struct str path)
{
    struct str alias = STR("nemo_automodel.models.");
    if (!str_starts(path, alias)) return path;
    struct str rest = str_slice(path, alias.n, path.n);
    return arena_printf(f->arena, "nemo_automodel.components.models.%.*s", STR_ARG(rest));
}

/* A module that lies beside the recipe is one to be copied into the package. */
static void allow_copy(struct facts *f, struct diag *d, struct str module, struct str path)
{
    struct str name, word;
    if (!str_split(&path, '.', &name) || !str_split(&path, '.', &word)) return;
    if (!checkout_has_beside(f->arena, f->diags, f->source, name, word)) return;
    d->severity = SEVERITY_WARNING;
    diag_help(f->diags, d, "%.*s.py beside this file has it: it has to be copied to %.*s first",
              STR_ARG(name), STR_ARG(module));
}

/* Of the methods that all classes of models have, the one that is meant with a letter or two wrong;
   empty: none is, or nothing is wrong. */
static struct str method_slip(struct str method)
{
    static const struct str methods[] = {{"from_pretrained", 15}, {"from_config", 11}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (edit_is_slip(method, methods[i], 2))
            return str_eq(method, methods[i]) ? (struct str){"", 0} : methods[i];
    return (struct str){"", 0};
}

/* Behind the module stands a name that it has, or a class of it and a method; a fork's own examples
   name what the fork has. */
static void check_own_target(struct facts *f, const struct node *value)
{
    struct str path = without_alias(f, value->text), first;
    struct str module = str_slice(path, 0, module_length(f, path));
    struct str behind = str_slice(path, module.n + 1, path.n), rest = behind;
    bool other_name = module.n && str_split(&rest, '.', &first) && !str_starts(first, STR("_"));
    struct str meant = method_slip(rest);
    if (other_name && meant.n) {
        complain(f, value, "models are made by from_pretrained and from_config");
        diag_suggest(f->diags, &f->diags->items[f->diags->n - 1], meant);
        return;
    }
    if (!other_name || has_name(module_at(f, module), first) ||
        checkout_has(f->arena, f->diags, f->source, FRAMEWORK_AUTOMODEL, path))
        return;
    complain(f, value,
             arena_printf(f->arena, "%.*s has no %.*s", STR_ARG(module), STR_ARG(first)).p);
    struct diag *d = &f->diags->items[f->diags->n - 1];
    diag_suggest(f->diags, d, module_nearest(f, module, first));
    allow_copy(f, d, module, behind);
}

/* ---- all paths ---- */

static void check_target(struct facts *f, const struct node *value)
{
    struct diag *slip;
    if (node_value(f->arena, value, SCALAR_YAML11).kind != VALUE_STRING) return;
    size_t colon = str_find(value->text, ':');
    if (colon < value->text.n)
        check_file_target(f, value, colon);
    else if (str_find(value->text, '.') == value->text.n)
        complain_bare(f, value);
    else if (has_empty_part(value->text))
        complain(f, value, "a part of the path is empty");
    else if (str_starts(value->text, STR("nemo_automodel.")))
        check_own_target(f, value);
    else if ((slip = import_path_check(f, value)))
        cover(slip);
}

void automodel_check_targets(struct facts *f, const struct node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct node *item = node->items[i];
        if (item->kind != NODE_SCALAR) {
            automodel_check_targets(f, item);
            continue;
        }
        if (node->kind != NODE_MAP) continue;
        struct str key = node->keys[i]->text;
        if (str_is(key, "_target_") || str_ends(key, STR("_fn"))) check_target(f, item);
    }
}
