/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/bridge.h"

#include "base/edit.h"
#include "base/version.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"

/* ---- tables ---- */

static struct str without_alias(struct str name, uint32_t releases)
{
    for (uint32_t i = 0; i < bridge_alias_count; i++)
        if (bridge_aliases[i].releases & releases && str_eq(bridge_aliases[i].name, name))
            return bridge_aliases[i].recipe;
    return name;
}

const struct bridge_recipe *bridge_recipe_find(struct str name, uint32_t releases)
{
    name = without_alias(name, releases);
    for (uint32_t i = 0; i < bridge_recipe_count; i++)
        if (bridge_recipes[i].releases & releases && str_eq(bridge_recipes[i].name, name))
            return &bridge_recipes[i];
    return NULL;
}

static bool is_common(const struct bridge_recipe *r)
{
    return str_starts(r->name, STR("_"));
}

struct str bridge_recipe_nearest(struct str word, uint32_t releases)
{
    struct edit_nearest near = {.word = word};
    for (uint32_t i = 0; i < bridge_recipe_count; i++)
        if (bridge_recipes[i].releases & releases && !is_common(&bridge_recipes[i]))
            edit_offer(&near, bridge_recipes[i].name);
    for (uint32_t i = 0; i < bridge_alias_count; i++)
        if (bridge_aliases[i].releases & releases) edit_offer(&near, bridge_aliases[i].name);
    return near.best;
}

/* What overrides for a model of the catalogue and a task stand on: of its own recipes the first
   that the release has, else the common one; NULL when there is no such task. */
static const struct bridge_recipe *recipe_for(struct str model, struct str task, uint32_t release)
{
    const struct bridge_recipe *common = NULL, *own = NULL;
    for (uint32_t i = 0; i < bridge_recipe_count; i++) {
        const struct bridge_recipe *r = &bridge_recipes[i];
        if (!(r->releases & release) || !str_eq(r->task, task)) continue;
        bool theirs = model.n && r->standard && str_eq(r->model, model);
        if (theirs && (!own || r->standard < own->standard)) own = r;
        if (is_common(r)) common = r;
    }
    return own ? own : common;
}

const struct bridge_recipe *bridge_recipe_of(const struct facts *f)
{
    return bridge_recipe_find(facts_str(f, P_bridge_recipe), facts_release(f));
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
    *own = p && p->releases & facts_release(f);
    if (*own) return p;
    bool hybrid = facts_get(f, P_hybrid_layer_pattern)->value.kind == VALUE_STRING;
    bool latent = facts_bool(f, P_multi_latent_attention, false);
    return provider_in(bridge_plain_providers, bridge_plain_provider_count,
                       hybrid   ? STR("HybridModelProvider")
                       : latent ? STR("MLAModelProvider")
                                : STR("GPTModelProvider"));
}

struct value bridge_provider_value(const struct bridge_provider *p, int param)
{
    for (size_t i = 0; i < p->n_sets; i++)
        if (p->sets[i].param == param) return bridge_values[p->sets[i].value];
    return value_unknown();
}

/* ---- facts ---- */

static const struct value *setting_of(const struct bridge_recipe *r, int param)
{
    for (size_t i = 0; i < r->n_sets; i++)
        if (r->sets[i].param == param) return &bridge_values[r->sets[i].value];
    return NULL;
}

bool bridge_recipe_lacks(const struct bridge_recipe *r, int param)
{
    return param_among(param, r->absent, r->n_absent);
}

/* What it sets, or all of its releases do; NULL: nothing. */
static const struct value *said_of(const struct bridge_recipe *r, int param)
{
    const struct value *v = setting_of(r, param);
    bool common = !v && r->common >= 0 && !bridge_recipe_lacks(r, param);
    return common ? setting_of(&bridge_recipes[r->common], param) : v;
}

/* A named set of precision settings that a recipe has changed has no name: its numbers stand in its
   place. */
static bool has_precision_of_its_own(const struct bridge_recipe *r)
{
    const struct value *fp8 = setting_of(r, P_fp8), *fp4 = setting_of(r, P_fp4);
    bool numbers = (fp8 && fp8->kind == VALUE_STRING) || (fp4 && fp4->kind == VALUE_STRING);
    return numbers && !setting_of(r, P_mixed_precision);
}

struct value bridge_recipe_value(const struct bridge_recipe *r, int param)
{
    if (!r->made || param_among(param, r->unknown, r->n_unknown)) return value_unknown();
    if (param == P_mixed_precision && has_precision_of_its_own(r)) return value_null();
    const struct value *v = said_of(r, param);
    return v ? *v : param_table[param].in[FRAMEWORK_BRIDGE]->default_value;
}

bool bridge_recipe_differs(struct str name, int param)
{
    const struct bridge_recipe *first = NULL;
    for (size_t i = 0; i < profile_count(); i++) {
        const struct profile *p = profile_at(i);
        const struct bridge_recipe *r =
            p->framework == FRAMEWORK_BRIDGE ? bridge_recipe_find(name, p->bit) : NULL;
        if (!first) first = r;
        if (!r || r == first) continue;
        struct value a = bridge_recipe_value(first, param), b = bridge_recipe_value(r, param);
        if (a.kind != b.kind || (a.kind != VALUE_UNKNOWN && !value_eq(a, b))) return true;
    }
    return false;
}

/* A plan says itself what recipes differ in. */
static bool is_left_to_recipes(const struct facts *f, int param)
{
    return !str_is(f->format, "plan") || !param_table[param].in[FRAMEWORK_BRIDGE]->recipe;
}

static void apply_one(struct facts *f, const struct bridge_recipe *r, int param)
{
    const struct fact *x = facts_get(f, param);
    bool stated = fact_is_set(x) || x->origin == ORIGIN_ASSUMED || x->origin == ORIGIN_OVERRIDE;
    if (!stated && is_left_to_recipes(f, param))
        facts_set(f, param, bridge_recipe_value(r, param), ORIGIN_DEFAULT, NULL, r->name);
}

/* Where nobody says how experts are cut: since 0.6 by expert parallelism alone where there is such
   (_set_moe_expert_tensor_parallel_default), else as all others are. */
static void settle_expert_tensor(struct facts *f, const struct bridge_recipe *r)
{
    const struct fact *x = facts_get(f, P_expert_tensor_parallel_size);
    bool unsaid = fact_is_of_recipe(x) && x->value.kind == VALUE_NULL;
    bool alone = version_between(f->version, STR("0.6"), STR("")) &&
                 facts_int(f, P_expert_model_parallel_size, 1) > 1;
    const struct value *tp = &facts_get(f, P_tensor_model_parallel_size)->value;
    if (unsaid && (alone || tp->kind == VALUE_INT))
        facts_set(f, P_expert_tensor_parallel_size, alone ? value_int(1) : *tp, ORIGIN_DEFAULT,
                  NULL, r->name);
}

static bool is_about(int param)
{
    return param_among(param, bridge_about, bridge_about_count);
}

static void apply_beside_model(struct facts *f, const struct bridge_recipe *r, int param)
{
    if (facts_get(f, param)->origin != ORIGIN_CATALOGUE) apply_one(f, r, param);
}

void bridge_recipe_apply(struct facts *f, const struct bridge_recipe *r)
{
    for (uint32_t i = 0; i < bridge_about_count; i++)
        apply_beside_model(f, r, bridge_about[i]);
    for (size_t i = 0; i < r->n_sets; i++)
        if (!is_about(r->sets[i].param)) apply_beside_model(f, r, r->sets[i].param);
}

void bridge_recipe_apply_model(struct facts *f, const struct bridge_recipe *r)
{
    for (uint32_t i = 0; i < bridge_about_count; i++)
        if (param_table[bridge_about[i]].scope == SCOPE_MODEL) apply_one(f, r, bridge_about[i]);
    for (size_t i = 0; i < r->n_sets; i++)
        if (param_table[r->sets[i].param].scope == SCOPE_MODEL) apply_one(f, r, r->sets[i].param);
}

void bridge_recipe_settle(struct facts *f)
{
    const struct bridge_recipe *r = bridge_recipe_of(f);
    if (r) settle_expert_tensor(f, r);
}

void bridge_facts(struct facts *f)
{
    int param = P_bridge_recipe;
    struct str id = f->model ? f->model->id : (struct str){"", 0};
    if (fact_is_set(facts_get(f, param))) return;
    const struct bridge_recipe *r = recipe_for(id, facts_str(f, P_task), facts_release(f));
    if (!r) return;
    facts_set(f, param, value_string(r->name), ORIGIN_DERIVED, NULL, STR("model and task"));
    if (str_is(f->format, "plan")) bridge_recipe_apply(f, r);
}
