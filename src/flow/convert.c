/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/convert.h"

#include "choose/planner.h"
#include "choose/refusal.h"
#include "facts/bridge.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "facts/profile.h"
#include "facts/program_kind.h"
#include "facts/recipe.h"
#include "flow/convert_words.h"
#include "flow/said.h"
#include "flow/validate.h"
#include "plan/knob.h"

static const struct str nothing = {"", 0};

static void lose(struct arena *a, struct conversion *out, struct str name, struct str value,
                 struct str why)
{
    *VEC_PUSH(a, &out->lost) = (struct convert_loss){name, value, why};
}

static bool is_known(struct value v)
{
    return v.kind != VALUE_UNKNOWN && v.kind != VALUE_ERROR;
}

/* ---- the parts that every framework has ---- */

/* A plan is silent about the model and the run where the source is; the target's own files have
   their framework's defaults. */
static struct facts *target_facts(struct arena *a, const struct facts *from, enum framework to,
                                  bool complete)
{
    struct facts *f = facts_new(a, from->diags, to, profile_find(to, nothing)->version);
    f->framework_known = true;
    f->format = STR("plan");
    for (int i = 0; i < (int)param_count && !complete; i++) {
        if (param_table[i].scope == SCOPE_MODEL || param_table[i].scope == SCOPE_RUN)
            facts_forget(f, i);
    }
    if (from->platform) platform_apply(f, from->platform, ORIGIN_FILE);
    if (from->model) model_apply(f, from->model, ORIGIN_FILE);
    if (from->model && from->model->hf_id.n)
        facts_set(f, P_hf_id, value_string(from->model->hf_id), ORIGIN_CATALOGUE, NULL, nothing);
    for (size_t i = 0; i < from->n_env; i++)
        facts_set_env(f, from->env[i].name, from->env[i].value, from->env[i].unset);
    return f;
}

static bool is_carried_scope(enum param_scope scope)
{
    return scope == SCOPE_PLAN || scope == SCOPE_MODEL || scope == SCOPE_RUN;
}

/* Words of the plan that no framework spells, such as the task. */
static bool is_plan_word(const struct param *p)
{
    return p->scope == SCOPE_PLAN && !param_is_spelled(p);
}

/* Whether a framework's newest release has only words for it that are on their way out: what they
   do is said in others. */
static bool is_former(const struct facts *f, int param)
{
    const struct param_spelling *s = param_table[param].in[f->framework];
    return s->n_flags && !s->flags[0].program.n &&
           !param_flag_in(s, profile_newest(f->framework, RELEASES_ALL)->bit);
}

/* What the user wrote, with the value that the framework makes of it. */
static void carry_written(const struct facts *from, const struct facts *effective, struct facts *to)
{
    for (int i = 0; i < (int)param_count; i++) {
        const struct param *p = &param_table[i];
        const struct fact *x = facts_get(from, i);
        bool size = p->scope == SCOPE_PLATFORM && fact_is_set(x);
        bool carried =
            is_carried_scope(p->scope) && (p->in[to->framework]->known || is_plan_word(p));
        if (!fact_is_set(x) || !(carried || size) || is_former(to, i)) continue;
        facts_set(to, i,
                  is_known(facts_get(effective, i)->value) ? facts_get(effective, i)->value
                                                           : x->value,
                  ORIGIN_FILE, NULL, nothing);
    }
}

/* Whether nobody says it, and nothing reads it: sizes of adapters in a run that trains none, the
   recipe of an FP8 that is off. */
static bool is_idle(const struct facts *from, const struct facts *effective, int param)
{
    bool adapters = str_is(facts_str(effective, P_task), "peft"),
         fp8 = facts_get(effective, P_fp8)->value.kind == VALUE_STRING;
    if (fact_is_set(facts_get(from, param))) return false;
    return (!adapters && str_starts(param_table[param].name, STR("peft_"))) ||
           (!fp8 && param == P_fp8_recipe);
}

/* A recipe is a whole run, its defaults count; a plan leaves some of them open. */
static void carry_open(const struct rule_set *rules, const struct facts *from,
                       const struct facts *effective, struct facts *to)
{
    for (int i = 0; i < (int)param_count && !str_is(from->format, "plan"); i++) {
        bool both =
            param_table[i].in[from->framework]->known && param_table[i].in[to->framework]->known;
        if (both && said_by_silence(rules, to->framework, i) && !is_idle(from, effective, i) &&
            is_known(facts_get(effective, i)->value))
            facts_set(to, i, facts_get(effective, i)->value, ORIGIN_FILE, NULL, nothing);
    }
}

/* What a recipe's name alone says: a plan file has no recipe, and is silent of pretraining only. */
static void carry_task(const struct facts *effective, struct facts *to)
{
    struct value task = facts_get(effective, P_task)->value;
    if (task.kind == VALUE_STRING) facts_set(to, P_task, task, ORIGIN_FILE, NULL, nothing);
}

/* What a plan that leaves it open means, said where silence would mean the framework's default. How
   tokens are routed is left to the run: balance is assumed of a benchmark. Megatron-LM refuses
   Transformer Engine's loss. */
static void carry_assumed(const struct facts *from, const struct facts *effective, struct facts *to)
{
    int loss = P_cross_entropy_fusion_impl;
    if (convert_is_crossing(from, to)) return;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param *p = &param_table[i];
        bool assumed = facts_get(effective, i)->origin == ORIGIN_ASSUMED &&
                       facts_get(from, i)->origin <= ORIGIN_DEFAULT;
        bool refused = i == loss && to->framework == FRAMEWORK_MEGATRON;
        if (assumed && !refused && p->affects == AFFECTS_EXECUTION && p->in[to->framework]->known)
            facts_set(to, i, facts_get(effective, i)->value, ORIGIN_FILE, NULL, nothing);
    }
}

/* Virtual stages are said in two ways; both are facts of every framework. */
static void carry_virtual(const struct facts *effective, struct facts *to)
{
    struct value vpp = facts_get(effective, P_virtual_pipeline_model_parallel_size)->value;
    bool layout = facts_get(to, P_pipeline_model_parallel_layout)->value.kind == VALUE_STRING;
    if (vpp.kind != VALUE_INT || (layout && to->framework == FRAMEWORK_MEGATRON)) return;
    facts_set(to, P_virtual_pipeline_model_parallel_size, vpp, ORIGIN_FILE, NULL, nothing);
}

/* Whether a model fact that a plan leaves out is missing there, or would make another model, and
   one that is no farther from the source's. */
static bool makes_another_model(const struct facts *source, const struct facts *result, int param,
                                struct value v)
{
    struct model_shape wanted, without, with;
    struct facts *f = facts_copy(result->arena, result);
    config_model(source, &wanted, true);
    bool whole = config_model(f, &without, true);
    facts_change(f, param)->value = v;
    if (config_model(f, &with, true) && !whole) return true;
    return model_differences(&without, &with) > 0 &&
           model_differences(&with, &wanted) <= model_differences(&without, &wanted);
}

static bool differs(struct value source, struct value target)
{
    if (!is_known(source) || source.kind == VALUE_NULL) return false;
    return !is_known(target) || !value_eq(source, target);
}

/* Between AutoModel and the others a default is carried where both mean the same: sizes. */
static bool means_the_same(const struct rule_set *rules, const struct facts *from,
                           const struct facts *effective, const struct facts *to, int param)
{
    const struct param *p = &param_table[param];
    bool crossing = convert_is_crossing(from, to);
    bool open = str_is(from->format, "plan") && !fact_is_of_recipe(facts_get(effective, param)) &&
                said_by_silence(rules, from->framework, param);
    bool size = p->type == PARAM_INT && knob_of(param);
    return !open && (!crossing || size) && p->in[from->framework]->known &&
           p->in[to->framework]->known;
}

/* What makes the numbers of a whole run: its schedule too, where the target's recipe has one. */
static bool is_of_numbers(const struct facts *from, const struct facts *to, const struct param *p)
{
    bool run = p->scope == SCOPE_RUN && p->affects == AFFECTS_CONVERGENCE;
    bool whole = from->framework != to->framework && !str_is(from->format, "plan");
    return p->scope == SCOPE_PLAN || p->scope == SCOPE_MODEL || (run && whole);
}

/* What the target has by itself: below Bridge's overrides is a recipe, and a provider. */
struct ground {
    const struct facts *result;
    const struct bridge_recipe *recipe;     /* NULL: none, or not known */
    const struct bridge_provider *provider; /* a plain one; NULL: none, or the model's own */
};

static struct ground ground_of(struct arena *a, const struct facts *from, const struct facts *to,
                               const struct facts *result)
{
    struct ground g = {.result = result};
    struct facts *f = facts_copy(a, to);
    bool own;
    if (to->framework != FRAMEWORK_BRIDGE || from->framework == FRAMEWORK_BRIDGE) return g;
    if (!fact_is_set(facts_get(f, P_task)))
        facts_set(f, P_task, value_string(STR("pretrain")), ORIGIN_FILE, NULL, nothing);
    framework_facts(f);
    g.recipe = bridge_recipe_of(f);
    g.provider = bridge_provider_of(f, &own);
    if (own) g.provider = NULL;
    return g;
}

static struct value ground_value(const struct ground *g, int param)
{
    struct value usual = param_table[param].in[FRAMEWORK_BRIDGE]->default_value;
    struct value v = g->recipe ? bridge_recipe_value(g->recipe, param) : value_unknown();
    if (is_known(v) && v.kind != VALUE_NULL && !value_eq(v, usual)) return v;
    v = g->provider ? bridge_provider_value(g->provider, param) : value_unknown();
    return is_known(v) ? v : facts_get(g->result, param)->value;
}

/* Sets what the source has by itself and the target would not. True when something was set. */
static bool carry_defaults(const struct rule_set *rules, const struct facts *from,
                           const struct facts *effective, const struct ground *ground,
                           struct facts *to)
{
    const struct facts *result = ground->result;
    bool changed = false;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param *p = &param_table[i];
        if (!is_of_numbers(from, to, p) || fact_is_set(facts_get(to, i)) || is_former(to, i) ||
            is_idle(from, effective, i) || !means_the_same(rules, from, effective, to, i))
            continue;
        struct value v = facts_get(effective, i)->value;
        if (!differs(v, ground_value(ground, i))) continue;
        if (p->scope == SCOPE_MODEL && !is_known(facts_get(result, i)->value) &&
            !fact_is_set(facts_get(from, i)) && !makes_another_model(effective, result, i, v))
            continue;
        facts_set(to, i, v, ORIGIN_FILE, NULL, nothing);
        changed = true;
    }
    return changed;
}

/* A launch that leaves its model to the option leaves the words to it that go with the sizes. */
static bool leaves_model_out(const struct facts *from)
{
    enum fact_origin origin = facts_get(from, P_num_layers)->origin;
    return from->model && str_is(from->format, "megatron") && origin != ORIGIN_FILE;
}

/* Whether the source is silent of the parameter as of all of its kind; a plan states its knobs. */
static bool is_silent(const struct facts *from, int param)
{
    enum param_scope scope = param_table[param].scope;
    if (fact_is_set(facts_get(from, param))) return false;
    if (str_is(from->format, "plan")) return scope != SCOPE_PLAN || !knob_said_by(param);
    return scope == SCOPE_MODEL && leaves_model_out(from);
}

/* What the target also needs: where the source has no word for it, or is silent as a plan is about
   the model and the run. What is trained may be the source's recipe's. */
static void carry_companions(struct arena *a, const struct rule_set *rules,
                             const struct facts *from, const struct facts *effective,
                             struct facts *to, struct arena *scratch)
{
    struct facts *complete = facts_copy(a, to);
    int task = P_task;
    struct value of_source = facts_get(effective, task)->value;
    if (!fact_is_set(facts_get(to, task)))
        facts_set(complete, task,
                  of_source.kind == VALUE_STRING ? of_source : value_string(STR("pretrain")),
                  ORIGIN_FILE, NULL, nothing);
    framework_facts(complete);
    planner_complete(rules, complete, scratch);
    for (int i = 0; i < (int)param_count; i++) {
        const struct fact *x = facts_get(complete, i);
        bool fresh = x->origin == ORIGIN_DERIVED && facts_get(to, i)->origin != ORIGIN_DERIVED;
        if (fresh && (is_silent(from, i) || !param_table[i].in[from->framework]->known))
            facts_set(to, i, x->value, ORIGIN_FILE, NULL, nothing);
    }
}

/* ---- what is lost ---- */

/* A mapping whose members are parameters of their own. */
static bool is_section(enum framework framework, int param)
{
    struct str key = param_table[param].in[framework]->key;
    for (int i = 0; key.n && i < (int)param_count; i++) {
        struct str other = param_table[i].in[framework]->key;
        if (other.n > key.n && str_starts(other, key) && other.p[key.n] == '.') return true;
    }
    return false;
}

/* Sizes of 1 and switches that are off ask for nothing. */
static bool asks_nothing(struct value v)
{
    if (v.kind == VALUE_LIST) return v.list->n == 0;
    if (v.kind == VALUE_INT) return v.i == 0 || v.i == 1;
    if (v.kind == VALUE_DOUBLE) return v.d == 0;
    return v.kind == VALUE_NULL || (v.kind == VALUE_BOOL && !v.b);
}

static struct str spelling(const struct facts *f, int param)
{
    struct str written = facts_get(f, param)->written;
    return written.n ? written : param_table[param].name;
}

/* What the model is known by its name for: the target takes the model whole. */
static bool comes_with_model(const struct facts *from, const struct facts *to, int param)
{
    const struct model_field *field = to->model ? model_field_get(to->model, param) : NULL;
    struct value v = facts_get(from, param)->value;
    return field && is_known(v) && is_known(field->value) && value_eq(field->value, v);
}

static void lose_written(struct arena *a, const struct facts *from, const struct facts *effective,
                         struct conversion *out)
{
    enum framework to = out->facts->framework;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param *p = &param_table[i];
        const struct fact *x = facts_get(from, i);
        if (!fact_is_set(x) || !is_carried_scope(p->scope) || p->in[to]->known) continue;
        if (is_former(from, i)) continue;
        if (is_plan_word(p) || asks_nothing(x->value)) continue;
        if (comes_with_model(from, out->facts, i)) continue;
        if (convert_has_word(effective, out->facts, i) || is_section(from->framework, i)) continue;
        lose(a, out, spelling(from, i), value_text(a, x->value),
             arena_printf(a, "%s has no such setting", framework_name(to)));
    }
}

/* Whether a setting decides another one, which is carried in its place. */
static bool decides_another(struct arena *a, const struct rule_set *rules, const struct facts *from,
                            const struct facts *effective, int param, struct arena *scratch)
{
    struct facts *f = facts_copy(a, from);
    *facts_change(f, param) =
        (struct fact){.value = facts_default(from, param), .origin = ORIGIN_DEFAULT};
    const struct facts *without = rules_whole_facts(a, rules, f, scratch);
    for (int i = 0; i < (int)param_count; i++)
        if (i != param && !value_eq(facts_get(without, i)->value, facts_get(effective, i)->value))
            return true;
    return false;
}

/* Words that their framework is about to forget, and whose work nothing else does. */
static void lose_former(struct arena *a, const struct rule_set *rules, const struct facts *from,
                        const struct facts *effective, struct arena *scratch,
                        struct conversion *out)
{
    for (int i = 0; i < (int)param_count; i++) {
        const struct fact *x = facts_get(from, i);
        if (!fact_is_set(x) || !is_former(from, i) || asks_nothing(x->value)) continue;
        const struct param_flag *flag = &param_table[i].in[from->framework]->flags[0];
        bool idle = str_starts(flag->deprecated, STR("has no effect"));
        if (idle || decides_another(a, rules, from, effective, i, scratch)) continue;
        struct str instead = flag->deprecated.n ? flag->deprecated : flag->removed;
        lose(a, out, spelling(from, i), value_text(a, x->value), instead);
    }
}

/* Experts are split like the dense weights where Megatron-LM is not told otherwise. */
static void lose_expert_tensor(struct arena *a, const struct facts *effective,
                               struct conversion *out)
{
    int param = P_expert_tensor_parallel_size;
    int64_t etp = facts_int(effective, param, 1);
    bool known = param_table[param].in[out->facts->framework]->known;
    bool experts = facts_int(effective, P_num_moe_experts, 0) > 0;
    if (known || etp <= 1 || !experts || fact_is_set(facts_get(effective, param))) return;
    lose(a, out, param_name(param), value_text(a, value_int(etp)),
         arena_printf(a, "%s does not split experts", framework_name(out->facts->framework)));
}

/* What the target knows and its own files cannot say; a plan can. */
static void lose_unsayable(struct arena *a, const struct rule_set *rules, struct conversion *out)
{
    int *params;
    size_t n = said_params(a, rules, out->facts, &params);
    for (size_t i = 0; i < n; i++) {
        int param = params[i];
        if (asks_nothing(facts_get(out->facts, param)->value) ||
            is_section(out->facts->framework, param))
            continue; /* what is off needs no word, and a section is said by its members */
        if (said_at_all(out->facts, param) || convert_has_word(out->facts, out->facts, param))
            continue;
        lose(a, out, param_table[param].name, value_text(a, facts_get(out->facts, param)->value),
             arena_printf(a, "%s has no way to write this value",
                          framework_name(out->facts->framework)));
    }
}

static bool is_foreign(const struct facts *from, struct str key)
{
    const struct param_flag *flag;
    /* who starts the run is no setting of it */
    if (str_starts(key, STR("torchrun.")) || str_starts(key, STR("sbatch."))) return false;
    if (from->program.kind && program_kind_means(from->program.kind, key)) return false;
    return param_find_key(from->framework, key, &flag) < 0;
}

/* Leaves of the document that are no parameters: data, launchers, sections of the user's own. */
static void lose_leaves(struct arena *a, const struct facts *from, const struct node *node,
                        struct str path, int depth, struct conversion *out)
{
    if (depth > 0 && !is_foreign(from, path)) return;
    if (node->kind != NODE_MAP) {
        lose(a, out, path, value_text(a, node_value(a, node, SCALAR_YAML11)),
             STR("moeplan does not know this key"));
        return;
    }
    for (size_t i = 0; i < node->n; i++) {
        struct str key = node->keys[i]->text;
        struct str below =
            depth == 0 ? key : arena_printf(a, "%.*s.%.*s", STR_ARG(path), STR_ARG(key));
        lose_leaves(a, from, node->items[i], below, depth + 1, out);
    }
}

static void lose_foreign(struct arena *a, const struct facts *from, struct conversion *out)
{
    for (size_t i = 0; i < from->raw.n; i++) {
        struct str key = from->raw.items[i].key;
        bool variable = str_starts(key, STR("env_vars.")); /* Bridge's section of them */
        if (!is_foreign(from, key)) continue;
        lose(a, out, key, value_text(a, from->raw.items[i].value),
             variable ? STR("an environment variable is exported where the run starts")
                      : STR("moeplan does not know this setting"));
    }
    if (str_is(from->format, "automodel") && from->document)
        lose_leaves(a, from, from->document, nothing, 0, out);
}

/* AutoModel makes the model of its name on the hub, the others of its sizes: a source that has the
   one alone leaves a configuration of no model. */
static void lose_model(struct arena *a, const struct facts *from, struct conversion *out)
{
    const struct facts *to = out->facts;
    bool named = to->framework == FRAMEWORK_AUTOMODEL;
    enum value_kind sizes = facts_get(to, P_num_layers)->value.kind;
    struct str name = facts_str(from, P_pretrained_model_name_or_path);
    bool there =
        named ? name.n || facts_str(to, P_hf_id).n : sizes != VALUE_UNKNOWN && sizes != VALUE_NULL;
    if (there || to->model) return;
    lose(a, out, STR("the model"), name,
         arena_printf(a, "%s makes it of its %s, which the file does not say: --model NAME does",
                      framework_name(to->framework), named ? "name on Hugging Face" : "sizes"));
}

void convert_facts(struct arena *a, const struct rule_set *rules, const struct facts *from,
                   enum framework to, bool complete, struct arena *scratch, struct conversion *out)
{
    enum { ROUNDS = 3 }; /* a value set can switch a default of the target */
    *out = (struct conversion){.facts = target_facts(a, from, to, complete)};
    struct facts *effective = rules_whole_facts(a, rules, from, scratch);
    carry_written(from, effective, out->facts);
    carry_open(rules, from, effective, out->facts);
    if (!complete) carry_task(effective, out->facts);
    if (complete && str_is(from->format, "plan")) carry_assumed(from, effective, out->facts);
    carry_virtual(effective, out->facts);
    convert_words(a, effective, out);
    facts_derive(out->facts);
    for (int i = 0; i < ROUNDS; i++) {
        const struct facts *result = rules_effective_facts(a, rules, out->facts, scratch);
        struct ground ground = ground_of(a, from, out->facts, result);
        if (!carry_defaults(rules, from, effective, &ground, out->facts)) break;
    }
    if (complete) carry_companions(a, rules, from, effective, out->facts, scratch);
    convert_drop_keys(a, out);
    facts_derive(out->facts);
    lose_written(a, from, effective, out);
    lose_former(a, rules, from, effective, scratch, out);
    lose_expert_tensor(a, effective, out);
    lose_foreign(a, from, out);
    if (complete) lose_unsayable(a, rules, out);
    if (complete && !str_is(from->format, "plan")) lose_model(a, from, out);
}

const struct facts *convert_own(struct arena *a, const struct rule_set *rules,
                                const struct facts *f, bool plan, struct arena *scratch)
{
    struct conversion x;
    bool is_plan = str_is(f->format, "plan");
    if (plan ? is_plan : !is_plan && !leaves_model_out(f)) return f;
    convert_facts(a, rules, f, f->framework, !plan, scratch, &x);
    return x.facts;
}

void convert_check(struct arena *a, struct arena *scratch, struct diags *found,
                   const struct rule_set *rules, const struct facts *target, bool plan,
                   struct str text)
{
    struct platform_cache platforms = {.arena = a};
    struct read_options options = {.platforms = &platforms,
                                   .platform = target->platform ? target->platform->asked : nothing,
                                   .gpus = facts_int(target, P_world_size, 0)};
    uint32_t source = source_add(&found->sources, STR("the result"), text);
    struct str as = plan ? STR("plan") : str_of(framework_name(target->framework));
    struct validation v = {.arena = a, .scratch = scratch, .rules = rules};
    struct recipe recipe = recipe_read(a, found, source, as, &options);
    for (size_t i = 0; i < recipe.readings.n; i++) {
        struct facts *f = recipe.readings.items[i].facts;
        struct memory_estimate memory;
        bool known;
        check_configuration(rules, f, &memory, &known, scratch);
        if (known) validate_memory(&v, f, &memory);
    }
    diags_sort(found);
}
