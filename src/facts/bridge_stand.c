/* SPDX-License-Identifier: Apache-2.0 */
/* Which of Bridge's recipes overrides stand on, and what is said of a name that is none. */
#include <string.h>

#include "base/edit.h"
#include "facts/bridge.h"
#include "facts/bridge_key.h"
#include "facts/bridge_read.h"
#include "facts/checkout.h"
#include "facts/flags.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"

/* What the overrides stand on: the recipe's values become the defaults. */
static void stand_on(struct facts *f, const struct bridge_recipe *r, enum fact_origin origin)
{
    facts_set(f, P_bridge_recipe, value_string(r->name), origin, NULL, STR("recipe"));
    facts_set(f, P_task, value_string(r->task), ORIGIN_DERIVED, NULL, r->name);
    facts_set(f, P_over_recipe, value_bool(true), ORIGIN_FILE, NULL, r->name);
    facts_set(f, P_recipe_seq_length, bridge_recipe_value(r, P_seq_length), ORIGIN_DERIVED, NULL,
              r->name);
    bridge_recipe_apply(f, r);
}

/* A recipe of Bridge's that this release does not have. One of the user's own package is not for us
   to know: only what is near a name, and one that another release has, is worth a word. */
static void unknown_recipe(struct facts *f, const struct flag_word *at, struct str name)
{
    struct node *node = bridge_word_node(f, at);
    const struct bridge_recipe *other = bridge_recipe_find(name, RELEASES_ALL);
    struct str near = other ? (struct str){"", 0} : bridge_recipe_nearest(name, facts_release(f));
    if ((!other && !near.n) || checkout_has_recipe(f->arena, f->diags, f->source, name)) return;
    struct diag *d =
        /* of other sizes it may be the user's own */
        diag_add(f->diags, edit_is_slip(name, near, 2) ? SEVERITY_ERROR : SEVERITY_WARNING,
                 "bridge-recipe-unknown", node_span(f->diags, node),
                 "Megatron-Bridge %.*s has no recipe %.*s", STR_ARG(f->version), STR_ARG(name));
    if (near.n) diag_suggest(f->diags, d, near);
    if (other)
        diag_help(f->diags, d, "it is in %.*s: name the release that runs, or a recipe of this one",
                  STR_ARG(profile_span(f->arena, FRAMEWORK_BRIDGE, other->releases)));
}

/* A benchmark's name that makes no recipe, but would with a letter changed: `name` is what the
   launcher makes of the word at `at` and what is chosen beside it. */
static void misspelt_benchmark(struct facts *f, const struct flag_word *at, struct str name)
{
    struct str near = bridge_recipe_nearest(name, RELEASES_ALL);
    struct str beside = str_slice(name, at->text.n < name.n ? at->text.n : name.n, name.n);
    bool same = str_starts(name, at->text) && str_ends(near, beside) && near.n > beside.n;
    if (!same || !edit_is_slip(name, near, 2)) return;
    struct diag *d = diag_add(f->diags, SEVERITY_WARNING, "bridge-recipe-unknown",
                              node_span(f->diags, bridge_word_node(f, at)),
                              "Megatron-Bridge has no benchmark %.*s", STR_ARG(at->text));
    diag_suggest(f->diags, d, str_slice(near, 0, near.n - beside.n));
}

/* Whether one of Bridge's own launchers is called: another's may change what a recipe says. */
static bool calls_launcher(struct str text)
{
    static const char *const names[] = {"setup_experiment.py", "run_recipe.py"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t at = str_find_str(text, str_of(names[i]));
        if (at < text.n && (at == 0 || strchr(" /\"'\n", text.p[at - 1]))) return true;
    }
    return false;
}

void bridge_stand_on_command(struct facts *f, struct str text, const struct flag_words *words,
                             const struct read_options *options)
{
    struct flag_word at;
    bool exact = false;
    const struct setting *given = setting_use(options, STR("bridge_recipe"));
    struct str told = bridge_command_recipe(f->arena, words, &at, &exact);
    struct str name = given ? given->text : told.n ? told : reader_declared(text, "recipe");
    const struct bridge_recipe *r = bridge_recipe_find(name, facts_release(f));
    struct str id = reader_declared(text, "model");
    const struct model_input *m = model_find(f->arena, r && r->model.n ? r->model : id);
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
    if (told.n && !given && !options->version.n) {
        f->recipe_word = name;
        f->recipe_guessed = !exact && !calls_launcher(text);
    }
    if (r)
        stand_on(f, r, given ? ORIGIN_OPTION : ORIGIN_FILE);
    else if (exact && !given)
        unknown_recipe(f, &at, name);
    else if (told.n && !given && !bridge_recipe_find(name, RELEASES_ALL))
        misspelt_benchmark(f, &at, name);
    if (r && told.n) bridge_recipe_apply_model(f, r);
}

/* A slip in the name of the recipe that a document calls. */
static void misspelt_target(struct facts *f, const struct node *target, struct str name)
{
    struct str near = bridge_recipe_nearest(name, RELEASES_ALL);
    if (!edit_is_slip(name, near, 2)) return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "bridge-recipe-unknown", node_span(f->diags, target),
                 "Megatron-Bridge has no recipe %.*s", STR_ARG(name));
    diag_suggest(f->diags, d, near);
}

void bridge_stand_on_target(struct facts *f, const struct node *doc)
{
    struct str name = str_last_part(bridge_target(doc), '.');
    const struct bridge_recipe *r = bridge_recipe_find(name, facts_release(f));
    if (name.n && !r && !bridge_recipe_find(name, RELEASES_ALL))
        misspelt_target(f, node_at(doc, STR("recipe._target_")), name);
    const struct model_input *m = r ? model_find(f->arena, r->model) : NULL;
    if (m) model_apply(f, m, ORIGIN_CATALOGUE);
    if (r) stand_on(f, r, ORIGIN_FILE);
}
