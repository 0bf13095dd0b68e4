/* SPDX-License-Identifier: Apache-2.0 */
/* Which recipe class a file runs (nemo_automodel/cli/app.py:109-133, cli/utils.py:48-65). */
#include "base/edit.h"
#include "base/version.h"
#include "facts/automodel.h"

static void cover(struct diag *d, const struct str *covers, size_t n, struct str source)
{
    d->covers = covers;
    d->n_covers = n;
    d->source = source;
}

/* A bare name is not found; a full path cannot be imported either. */
static void complain_unknown(struct facts *f, const struct node *at, struct str name, bool bare)
{
    static const struct str covers[] = {{"automodel:R03", 13}, {"automodel:X02", 13}};
    struct edit_nearest near = {.word = name};
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "unknown-recipe", node_span(f->diags, at),
                              "AutoModel has no recipe class %.*s", STR_ARG(name));
    for (uint32_t i = 0; i < automodel_recipe_count; i++)
        edit_offer(&near, automodel_recipes[i].name);
    if (near.best.n)
        diag_suggest(f->diags, d, near.best);
    else
        diag_help(f->diags, d, "a class of your own needs its full path: package.module.%.*s",
                  STR_ARG(name));
    cover(d, covers, bare ? 1 : 2, STR("nemo_automodel/cli/utils.py:48"));
}

static void warn_missing(struct facts *f, const struct node *recipe)
{
    static const struct str covers[] = {{"automodel:R04", 13}};
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "recipe-missing", node_span(f->diags, recipe),
                 "no recipe class is named: AutoModel's command line cannot start this file");
    d->at.end_line = d->at.line;
    d->at.end_column = d->at.column;
    diag_help(f->diags, d,
              "write recipe: and the class, unless a script of its own reads the file");
    cover(d, covers, 1, STR("nemo_automodel/cli/app.py:115"));
}

/* The command line of the first releases took the recipe's name, automodel finetune llm, and so
   a file names none. */
static bool names_no_class(const struct facts *f)
{
    return version_cmp(f->version, STR("0.4")) < 0;
}

/* Whether the model is made by AutoModel's class of that ending, by either of its methods. */
static bool makes_model(const struct node *recipe, const char *class)
{
    const struct node *target = node_at(recipe, STR("model._target_"));
    struct str path = target ? target->text : STR("");
    struct str made = str_slice(path, 0, path.n - str_last_part(path, '.').n);
    if (!str_starts(path, STR("nemo_automodel.")) || !made.n) return false;
    bool method = str_is_any(str_last_part(path, '.'), "from_pretrained|from_config");
    return method && str_ends(str_slice(made, 0, made.n - 1), str_of(class));
}

/* The kind of a recipe of a release that took it from the command line. */
static struct str kind_of_command(const struct node *recipe)
{
    if (!node_get(recipe, STR("step_scheduler"))) return STR("");
    if (makes_model(recipe, "ForImageTextToText")) return STR("vlm");
    if (makes_model(recipe, "ForSequenceClassification")) return STR("seq_cls");
    if (!makes_model(recipe, "ForCausalLM") || node_get(recipe, STR("processor"))) return STR("");
    if (node_get(recipe, STR("teacher_model"))) return STR("kd");
    return node_get(recipe, STR("benchmark")) ? STR("benchmark") : STR("llm");
}

/* What a file without a class is, by its sections. */
static struct str kind_by_sections(const struct facts *f, const struct node *recipe)
{
    struct str kind = names_no_class(f) ? kind_of_command(recipe) : STR("");
    if (kind.n) return kind;
    bool diffusion = node_get(recipe, STR("fsdp")) || node_get(recipe, STR("ddp")) ||
                     node_get(recipe, STR("flow_matching"));
    return diffusion && !node_get(recipe, STR("distributed")) ? STR("diffusion") : STR("script");
}

struct str automodel_kind(struct facts *f, const struct node *recipe)
{
    const struct node *named = node_get(recipe, STR("recipe"));
    if (named && named->kind == NODE_MAP) named = node_get(named, STR("_target_"));
    struct str name = named && named->kind == NODE_SCALAR ? str_trim(named->text) : STR("");
    bool is_text = name.n && node_value(f->arena, named, SCALAR_YAML11).kind == VALUE_STRING;
    if (!is_text) {
        if (!names_no_class(f)) warn_missing(f, recipe);
        return kind_by_sections(f, recipe);
    }
    struct str class = str_last_part(name, '.');
    for (uint32_t i = 0; i < automodel_recipe_count; i++)
        if (str_eq(automodel_recipes[i].name, class)) return automodel_recipes[i].kind;
    bool bare = class.n == name.n;
    if (bare ? named == node_get(recipe, STR("recipe"))
             : str_starts(name, STR("nemo_automodel.recipes.")))
        complain_unknown(f, named, class, bare);
    return STR("custom");
}
