/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/said.h"

#include "base/vec.h"
#include "base/version.h"
#include "facts/bridge.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "plan/framework.h"
#include "plan/knob.h"

static bool is_default(struct value v, struct value otherwise)
{
    if (v.kind == VALUE_BOOL && otherwise.kind == VALUE_BOOL) return v.b == otherwise.b;
    if (otherwise.kind == VALUE_UNKNOWN) return false; /* the recipe decides: say it */
    return value_eq(v, otherwise);
}

/* Whether the parameter means anything to the model: one without experts has none to place, one
   without a vision tower has no part to freeze. */
static bool applies(const struct facts *f, int param)
{
    struct str name = param_name(param);
    bool dense = facts_get(f, P_num_moe_experts)->value.kind == VALUE_NULL;
    bool whole = facts_get(f, P_vision_num_layers)->value.kind == VALUE_NULL;
    if (whole && str_starts(name, STR("freeze_"))) return false;
    return !dense || !(str_starts(name, STR("expert_")) || str_starts(name, STR("moe_")));
}

/* Hugging Face's own classes take no backend: from_pretrained hands the section to a constructor
   that does not know it (nemo_automodel/_transformers/model_init.py). */
static bool is_for_own_class(const struct facts *f, const struct param_spelling *in)
{
    if (f->framework != FRAMEWORK_AUTOMODEL) return false;
    struct value has = facts_get(f, P_automodel_has_backend)->value;
    return has.kind == VALUE_BOOL && !has.b && str_starts(in->key, STR("model.backend."));
}

const int said_sizes[SAID_SIZES] = {
    P_tensor_model_parallel_size, P_pipeline_model_parallel_size, P_context_parallel_size,
    P_expert_model_parallel_size, P_expert_tensor_parallel_size,  P_micro_batch_size,
    P_global_batch_size,
};

bool said_is_size(int param)
{
    return param_among(param, said_sizes, SAID_SIZES);
}

/* What is said even where it is the default, beside sizes. */
static const int headlines[] = {P_strategy, P_peft_dim, P_peft_alpha,
                                P_moe_router_force_load_balancing};
enum { N_HEADLINES = sizeof headlines / sizeof *headlines };

bool said_by_silence(const struct rule_set *rules, enum framework framework, int param)
{
    return framework_times_silence(framework, param) || rules_plans_silent(rules, framework, param);
}

/* Adapters' settings in a run that trains none. */
static bool is_idle(const struct facts *f, int param)
{
    return str_starts(param_name(param), STR("peft_")) && !str_is(facts_str(f, P_task), "peft");
}

void said_mark_open(const struct rule_set *rules, const struct facts *f, bool *marks)
{
    if (str_is(f->format, "plan")) return;
    bool *open = ARENA_ARRAY(f->arena, bool, param_count);
    rules_mark_plans_silent(rules, f->framework, open);
    for (int i = 0; i < (int)param_count; i++) {
        bool wanted = open[i] || framework_times_silence(f->framework, i);
        if (wanted && applies(f, i) && !is_idle(f, i)) marks[i] = true;
    }
}

static bool is_headline(const struct facts *f, int param)
{
    return (param_among(param, headlines, N_HEADLINES) || said_is_size(param)) && applies(f, param);
}

/* AutoModel refuses a pipeline without its block, whatever the block says. */
static const int pipeline_block[] = {P_pp_schedule, P_pp_microbatch_size};
enum { N_PIPELINE_BLOCK = sizeof pipeline_block / sizeof *pipeline_block };

static bool is_pipeline_block(const struct facts *f, int param)
{
    return param_among(param, pipeline_block, N_PIPELINE_BLOCK) &&
           facts_int(f, P_pipeline_model_parallel_size, 1) > 1;
}

/* Whether the release takes 0 for none by leaving it out alone. */
static bool is_none_unsaid(const struct facts *f, int param)
{
    struct str since = param_table[param].in[f->framework]->zero_since;
    return since.n && f->profile && version_cmp(f->profile->version, since) < 0;
}

struct value said_value(const struct facts *f, int param)
{
    struct value v = facts_get(f, param)->value;
    if (value_eq(v, value_int(0)) && is_none_unsaid(f, param)) return value_null();
    struct value otherwise = facts_default(f, param);
    return v.kind == VALUE_NULL && otherwise.kind != VALUE_UNKNOWN ? otherwise : v;
}

/* What to look at: a plan, or what overrides of a recipe have to say. */
struct saying {
    const struct rule_set *rules;
    const struct facts *facts;
    bool over_recipe;
    const struct bridge_recipe *recipe; /* NULL: not known */
    const struct bridge_provider *provider;
    bool own_provider; /* the model's own, not a plain one */
};

/* Nothing stands there, or a set of settings by its name, and in the recipe no less: the framework
   puts its own value or the set itself in that place, so that to say it changes nothing. Below a
   common recipe is a provider, which may have values of its own. */
static bool is_as_in_recipe(const struct facts *f, const struct bridge_recipe *r, int param)
{
    /* the set of that name has wide gradients, what a performance recipe makes of it has not */
    if (param == P_mixed_precision && facts_bool(f, P_accumulate_allreduce_grads_in_fp32, false))
        return false;
    const struct param *p = &param_table[param];
    bool nothing = facts_get(f, param)->value.kind == VALUE_NULL, set = p->type == PARAM_ANY;
    bool known = r && (r->model.n || p->in[f->framework]->settled || !nothing);
    return known && nothing != set && value_eq(said_value(f, param), bridge_recipe_value(r, param));
}

/* Recipes differ in it: overrides say it whatever its value. */
static bool differs_in_recipes(const struct facts *f, int param)
{
    return param_table[param].in[f->framework]->recipe && fact_is_known(facts_get(f, param)) &&
           applies(f, param);
}

/* What the plan decides otherwise than the recipe, be it the framework's default. */
static bool differs_from_recipe(const struct facts *f, const struct bridge_recipe *r, int param)
{
    const struct fact *x = facts_get(f, param);
    struct value theirs = r ? bridge_recipe_value(r, param) : value_unknown();
    return theirs.kind != VALUE_UNKNOWN && theirs.kind != VALUE_NULL && fact_is_known(x) &&
           x->origin != ORIGIN_DEFAULT && x->value.kind != VALUE_NULL &&
           !value_eq(said_value(f, param), theirs);
}

/* A plain provider's own default is another one. What the plan leaves open of the model means the
   same everywhere; the rest is the provider's where nobody says it. */
static bool differs_from_provider(const struct saying *s, int param)
{
    const struct fact *x = facts_get(s->facts, param);
    struct value theirs =
        s->own_provider ? value_unknown() : bridge_provider_value(s->provider, param);
    bool stated = x->origin != ORIGIN_DEFAULT || param_table[param].scope == SCOPE_MODEL;
    return theirs.kind != VALUE_UNKNOWN && x->value.kind != VALUE_UNKNOWN && stated &&
           !value_eq(x->value, theirs);
}

/* What overrides cannot name, or have not to: the recipe has no such section, the model's provider
   no such field, or one of its own. */
static bool is_out_of_reach(const struct saying *s, int param)
{
    const struct param *p = &param_table[param];
    const struct facts *f = s->facts;
    if (p->in[f->framework]->fixed || (s->recipe && bridge_recipe_lacks(s->recipe, param)))
        return true;
    bool without = param_among(param, s->provider->without, s->provider->n_without);
    if (without && !s->own_provider) return true;
    if (facts_get(f, param)->node) return false;
    return without ||
           (p->scope == SCOPE_MODEL && s->own_provider && p->in[FRAMEWORK_BRIDGE]->provider);
}

/* Nobody said it, and to say its default would mean something else. */
static bool is_left_open(const struct rule_set *rules, const struct facts *f, int param)
{
    return facts_get(f, param)->origin == ORIGIN_DEFAULT &&
           said_by_silence(rules, f->framework, param);
}

static bool is_said(const struct rule_set *rules, const struct facts *f, int param)
{
    const struct param *p = &param_table[param];
    const struct param_spelling *in = p->in[f->framework];
    const struct fact *x = facts_get(f, param);
    if (x->value.kind == VALUE_UNKNOWN || x->value.kind == VALUE_NULL ||
        x->value.kind == VALUE_ERROR)
        return false;
    if (!in->known || p->scope == SCOPE_DERIVED || p->scope == SCOPE_PLATFORM) return false;
    if (fact_is_of_recipe(x)) return false; /* it has it without a word */
    /* Overrides change a recipe, whose model may be any: the model's own sizes are said even where
       they are Bridge's defaults. */
    bool own =
        f->framework == FRAMEWORK_BRIDGE && p->scope == SCOPE_MODEL && x->origin != ORIGIN_DEFAULT;
    bool wanted = own || is_pipeline_block(f, param) ||
                  !is_default(x->value, facts_default(f, param)) ||
                  (is_headline(f, param) && !is_left_open(rules, f, param));
    if (!wanted || is_for_own_class(f, in)) return false;
    return f->framework != FRAMEWORK_MEGATRON ||
           said_value(f, param).kind != VALUE_NULL; /* no flag can say nothing */
}

static bool says(const struct saying *s, int param)
{
    bool said =
        is_said(s->rules, s->facts, param) || differs_from_recipe(s->facts, s->recipe, param);
    if (!said && !s->over_recipe) return false;
    if (!facts_can_say(s->facts, param)) return false; /* the release has no such key */
    if (!s->over_recipe) return said;
    if (is_out_of_reach(s, param) || is_as_in_recipe(s->facts, s->recipe, param)) return false;
    return said || differs_in_recipes(s->facts, param) || differs_from_provider(s, param);
}

static void mark(bool *marks, const int *params, size_t n)
{
    for (size_t i = 0; i < n; i++)
        marks[params[i]] = true;
}

/* Marks what there may be anything to say of: a plan says what is known, and the framework's
   default of headlines alone. */
static void mark_candidates(const struct saying *s, bool *marks)
{
    if (s->over_recipe) memset(marks, true, param_count);
    const struct facts *f = s->facts;
    for (int i = facts_next_known(f, 0); i < (int)param_count; i = facts_next_known(f, i + 1))
        marks[i] = true;
    mark(marks, said_sizes, SAID_SIZES);
    mark(marks, headlines, N_HEADLINES);
    if (is_pipeline_block(s->facts, *pipeline_block)) mark(marks, pipeline_block, N_PIPELINE_BLOCK);
}

/* The knobs, then the model's parameters, then the rest. */
static size_t collect(struct arena *a, const struct saying *s, int **out)
{
    VEC(int) list = {0}, rest = {0};
    bool *left = ARENA_ARRAY(a, bool, param_count);
    mark_candidates(s, left);
    for (size_t i = 0; i < knob_count; i++) {
        int param = knob_table[i].param;
        left[param] = false;
        if (says(s, param)) *VEC_PUSH(a, &list) = param;
    }
    for (int param = 0; param < (int)param_count; param++) {
        if (!left[param] || !says(s, param)) continue;
        if (param_table[param].scope == SCOPE_MODEL)
            *VEC_PUSH(a, &list) = param;
        else
            *VEC_PUSH(a, &rest) = param;
    }
    for (size_t i = 0; i < rest.n; i++)
        *VEC_PUSH(a, &list) = rest.items[i];
    *out = list.items;
    return list.n;
}

size_t said_params(struct arena *a, const struct rule_set *rules, const struct facts *f, int **out)
{
    struct saying s = {.rules = rules, .facts = f};
    if (f->framework == FRAMEWORK_BRIDGE) s.recipe = bridge_recipe_of(f);
    return collect(a, &s, out);
}

size_t said_overrides(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      int **out)
{
    struct saying s = {
        .rules = rules, .facts = f, .over_recipe = true, .recipe = bridge_recipe_of(f)};
    s.provider = bridge_provider_of(f, &s.own_provider);
    return collect(a, &s, out);
}

/* Whether the release of the facts has the flag, and nothing better. */
static bool flag_is_current(const struct facts *f, const struct param_spelling *in,
                            const struct param_flag *flag)
{
    return !flag->program.n && flag->releases & facts_release(f) &&
           !facts_flag_is_deprecated(f, in, flag);
}

bool said_like_flag(struct value v)
{
    return v.kind == VALUE_STRING && str_starts(v.s, STR("-"));
}

static bool has_flag_like_item(struct value v)
{
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.list->n; i++)
        if (said_like_flag(v.list->items[i])) return true;
    return false;
}

const struct param_flag *said_flag(const struct facts *f, int param)
{
    const struct param_spelling *in = param_table[param].in[f->framework];
    struct value v = facts_get(f, param)->value;
    if (has_flag_like_item(v)) return NULL;
    for (size_t i = 0; i < in->n_flags; i++) {
        const struct param_flag *flag = &in->flags[i];
        if (!flag_is_current(f, in, flag)) continue;
        bool fits = flag->action == FLAG_STORE || flag->action == FLAG_APPEND;
        if (v.kind == VALUE_LIST && !v.list->n && flag->nargs_min) fits = false;
        if (v.kind == VALUE_BOOL) fits = flag->action == (v.b ? FLAG_TRUE : FLAG_FALSE);
        if (flag->action == FLAG_CONST) fits = value_eq(v, flag->constant);
        if (fits) return flag;
    }
    return NULL;
}

bool said_at_all(const struct facts *f, int param)
{
    const struct param_spelling *in = param_table[param].in[f->framework];
    struct value v = facts_get(f, param)->value;
    if (f->framework == FRAMEWORK_MEGATRON) return said_flag(f, param) != NULL;
    bool map = f->framework == FRAMEWORK_AUTOMODEL && v.kind == VALUE_MAP;
    return in->key.n > 0 && facts_can_say(f, param) && !map;
}
