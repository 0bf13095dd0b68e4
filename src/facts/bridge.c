/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/bridge.h"

#include "facts/model.h"
#include "facts/param_ids.h"

/* ---- tables ---- */

static const struct bridge_recipe *find_in(const struct bridge_recipe *list, uint32_t n,
                                           struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(list[i].name, name)) return &list[i];
    return NULL;
}

const struct bridge_recipe *bridge_recipe_find(struct str name)
{
    const struct bridge_recipe *r = find_in(bridge_recipes, bridge_recipe_count, name);
    return r ? r : find_in(bridge_commons, bridge_common_count, name);
}

static const struct bridge_recipe *common_of(struct str task)
{
    for (uint32_t i = 0; i < bridge_common_count; i++)
        if (str_eq(bridge_commons[i].task, task)) return &bridge_commons[i];
    return NULL;
}

/* What overrides for a model of the catalogue and a task stand on: its own recipe, else the common
   one; NULL when there is no such task. */
static const struct bridge_recipe *recipe_for(struct str model, struct str task)
{
    for (uint32_t i = 0; model.n && i < bridge_recipe_count; i++) {
        const struct bridge_recipe *r = &bridge_recipes[i];
        if (r->standard && str_eq(r->model, model) && str_eq(r->task, task)) return r;
    }
    return common_of(task);
}

const struct bridge_recipe *bridge_recipe_of(const struct facts *f)
{
    return bridge_recipe_find(facts_str(f, P_bridge_recipe));
}

static const struct bridge_provider *provider_in(const struct bridge_provider *list, uint32_t n,
                                                 struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(list[i].name, name)) return &list[i];
    return NULL;
}

const struct bridge_provider *bridge_provider_of(const struct facts *f, bool *own)
{
    const struct bridge_provider *p = provider_in(bridge_providers, bridge_provider_count,
                                                  f->model ? f->model->id : (struct str){"", 0});
    *own = p;
    if (p) return p;
    bool hybrid = facts_get(f, P_hybrid_layer_pattern)->value.kind == VALUE_STRING;
    bool latent = facts_bool(f, P_multi_latent_attention, false);
    return provider_in(bridge_plain_providers, bridge_plain_provider_count,
                       hybrid   ? STR("HybridModelProvider")
                       : latent ? STR("MLAModelProvider")
                                : STR("GPTModelProvider"));
}

/* ---- facts ---- */

static const struct bridge_setting *setting_of(const struct bridge_recipe *r, int param)
{
    for (size_t i = 0; r && i < r->n_sets; i++)
        if (r->sets[i].param == param) return &r->sets[i];
    return NULL;
}

bool bridge_recipe_lacks(const struct bridge_recipe *r, int param)
{
    return param_among(param, r->absent, r->n_absent);
}

struct value bridge_recipe_value(const struct bridge_recipe *r, int param)
{
    const struct bridge_setting *s = setting_of(r, param);
    if (!s && !bridge_recipe_lacks(r, param)) s = setting_of(common_of(r->task), param);
    return s ? s->value : param_table[param].in[FRAMEWORK_BRIDGE].default_value;
}

/* A plan says itself what recipes differ in. */
static bool is_left_to_recipes(const struct facts *f, int param)
{
    return !str_is(f->format, "plan") || !param_table[param].in[FRAMEWORK_BRIDGE].recipe;
}

void bridge_recipe_apply(struct facts *f, const struct bridge_recipe *r)
{
    for (uint32_t i = 0; i < bridge_about_count; i++) {
        int param = bridge_about[i];
        const struct fact *x = &f->items[param];
        bool stated = fact_is_set(x) || x->origin == ORIGIN_ASSUMED ||
                      x->origin == ORIGIN_OVERRIDE || x->origin == ORIGIN_CATALOGUE;
        if (stated || !is_left_to_recipes(f, param)) continue;
        facts_set(f, param, bridge_recipe_value(r, param), ORIGIN_DEFAULT, NULL, r->name);
    }
}

void bridge_facts(struct facts *f)
{
    int param = P_bridge_recipe;
    struct str id = f->model ? f->model->id : (struct str){"", 0};
    if (fact_is_set(&f->items[param])) return;
    const struct bridge_recipe *r = recipe_for(id, facts_str(f, P_task));
    if (!r) return;
    facts_set(f, param, value_string(r->name), ORIGIN_DERIVED, NULL, STR("model and task"));
    if (str_is(f->format, "plan")) bridge_recipe_apply(f, r);
}
