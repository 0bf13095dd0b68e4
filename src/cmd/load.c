/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/load.h"

#include "base/io.h"
#include "base/quote.h"
#include "facts/model.h"

int load_failed(struct cmd_context *c, struct str path, struct str error)
{
    if (model_find(c->keep, path))
        return cmd_usage_error(c,
                               "%.*s is a model, no recipe: moeplan suggest %.*s --gpus N "
                               "--platform P makes one",
                               STR_ARG(path), STR_ARG(path));
    return cmd_usage_error(c, "%.*s cannot be read: %.*s", STR_ARG(path), STR_ARG(error));
}

const struct reading *load_reading(struct cmd_context *c, struct str path, struct str as,
                                   const struct read_options *options)
{
    struct str text, error;
    if (!recipe_as(c, as, RECIPE_FORMATS)) return NULL;
    path = str_dup(c->keep, path);
    if (!io_read(c->keep, path.p, &text, &error)) return load_failed(c, path, error), NULL;
    struct recipe recipe =
        recipe_read(c->keep, &c->diags, source_add(&c->diags.sources, path, text), as, options);
    if (recipe.status == RECIPE_READ && recipe.readings.n > 0) {
        if (recipe.readings.n > 1)
            buf_printf(&c->err, "note: %.*s describes %zu configurations; the first is taken\n",
                       LINE_ARG(c->keep, path), recipe.readings.n);
        return &recipe.readings.items[0];
    }
    if (recipe.status == RECIPE_SKIPPED)
        cmd_usage_error(c, "%.*s is no recipe that moeplan knows", STR_ARG(path));
    return NULL;
}

struct facts *load_recipe(struct cmd_context *c, struct str path, struct str as,
                          const struct read_options *options)
{
    const struct reading *reading = load_reading(c, path, as, options);
    return reading ? reading->facts : NULL;
}

bool load_readings(struct cmd_context *c, const struct rule_set *rules, struct readings *out)
{
    struct read_options *options = ARENA_NEW(c->keep, struct read_options);
    struct diags *found = ARENA_NEW(c->keep, struct diags);
    struct str path = str_dup(c->keep, option_value(c, "in")), text, error;
    if (!recipe_options(c, options)) return false;
    if (!io_read(c->keep, path.p, &text, &error)) {
        load_failed(c, path, error);
        return false;
    }
    diags_init(found, c->keep);
    struct recipe recipe =
        recipe_read(c->keep, found, source_add(&found->sources, path, text), STR(""), options);
    if (recipe.status != RECIPE_READ) {
        cmd_print_diags(c, found, &c->err);
        cmd_usage_error(c, "%.*s is no recipe that can be read", STR_ARG(path));
        return false;
    }
    if (!recipe_settings_used(c, options)) return false;
    *out = recipe.readings;
    for (size_t i = 0; i < out->n; i++)
        rules_apply_overrides(rules, out->items[i].facts, c->scratch);
    return true;
}
