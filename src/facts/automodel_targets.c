/* SPDX-License-Identifier: Apache-2.0 */
/* Import paths: every `_target_` and every key that ends in _fn is imported while the recipe loads,
   also in sections that nothing reads (nemo_automodel/components/config/loader.py:276-333). Only
   what no environment could import is an error here. */
#include "facts/automodel.h"

static void complain(struct facts *f, const struct node *value, const char *why)
{
    static const struct str covers[] = {{"automodel:X02", 13}};
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "import-path", node_span(f->diags, value),
                              "%.*s cannot be imported: %s", STR_ARG(value->text), why);
    d->covers = covers;
    d->n_covers = 1;
    d->source = STR("nemo_automodel/components/config/loader.py:276");
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

static void check_target(struct facts *f, const struct node *value)
{
    if (node_value(f->arena, value, SCALAR_YAML11).kind != VALUE_STRING) return;
    size_t colon = str_find(value->text, ':');
    if (colon < value->text.n)
        check_file_target(f, value, colon);
    else if (str_find(value->text, '.') == value->text.n)
        complain_bare(f, value);
    else if (has_empty_part(value->text))
        complain(f, value, "a part of the path is empty");
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
