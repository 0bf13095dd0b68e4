/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/compare.h"

#include "base/buf.h"
#include "choose/planner.h"
#include "facts/param_ids.h"
#include "plan/knob.h"

/* ---- differences ---- */

/* Parameters that follow from another one: silent when that one differs. */
static const int shadows[][2] = {
    {P_swiglu, P_gated_linear_unit},
    {P_first_k_dense_replace, P_moe_layer_freq},
};

/* What plan files say and the frameworks' own files do not: silence is no other answer. */
static const int plan_words[] = {P_task, P_images_per_sequence};

/* Parameters without effect unless another one is on. */
static const int switched[][2] = {
    {P_num_layers_at_start_in_bf16, P_first_last_layers_bf16},
    {P_num_layers_at_end_in_bf16, P_first_last_layers_bf16},
};

/* What a plan was asked with, which is no part of the run. */
static const int wishes[] = {P_goal, P_numerics};

static bool is_silent(const struct facts *f, int param)
{
    enum value_kind kind = facts_get(f, param)->value.kind;
    return kind == VALUE_UNKNOWN || kind == VALUE_NULL;
}

/* A list of one is what stands in it. */
static struct value unlisted(struct value v)
{
    return v.kind == VALUE_LIST && v.list->n == 1 ? v.list->items[0] : v;
}

static bool is_same(struct value x, struct value y)
{
    return value_eq(unlisted(x), unlisted(y));
}

static bool is_unequal(const struct facts *f, const struct facts *g, int param)
{
    return !is_silent(f, param) && !is_silent(g, param) &&
           !is_same(facts_get(f, param)->value, facts_get(g, param)->value);
}

static bool is_shadowed(const struct facts *f, const struct facts *g, int param)
{
    const struct knob *knob = knob_said_by(param);
    bool whole = knob && knob->kind != KNOB_SHARDED; /* its own parameter says all of it */
    if (whole && knob->param != param && is_unequal(f, g, knob->param)) return true;
    for (size_t i = 0; i < sizeof shadows / sizeof *shadows; i++)
        if (param == shadows[i][0] && is_unequal(f, g, shadows[i][1])) return true;
    return false;
}

static bool is_off(const struct facts *f, const struct facts *g, int param)
{
    for (size_t i = 0; i < sizeof switched / sizeof *switched; i++)
        if (param == switched[i][0] && !facts_bool(f, switched[i][1], false) &&
            !facts_bool(g, switched[i][1], false))
            return true;
    return false;
}

/* Whether a value that only one side says is no difference. The known keys of a mapping are
   parameters of their own. */
static bool is_left_to_files(struct value said, int param)
{
    for (size_t i = 0; i < sizeof plan_words / sizeof *plan_words; i++)
        if (param == plan_words[i]) return true;
    return said.kind == VALUE_MAP;
}

/* A side that does not say a parameter differs only from what the other one writes. */
static bool facts_differ(const struct facts *f, const struct facts *g, int param)
{
    bool silent_f = is_silent(f, param), silent_g = is_silent(g, param);
    if ((silent_f && silent_g) || is_off(f, g, param)) return false;
    if (!silent_f && !silent_g) return is_unequal(f, g, param);
    const struct fact *said = facts_get(silent_g ? f : g, param);
    return fact_is_set(said) && !is_left_to_files(said->value, param);
}

/* Between frameworks the knobs stand for the decisions of a plan: see add_knobs. */
static bool is_compared(const struct facts *f, const struct facts *g, int param)
{
    const struct param *p = &param_table[param];
    if (p->scope == SCOPE_DERIVED) return false;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        if (param == wishes[i]) return false;
    if (p->scope == SCOPE_PLATFORM) return param == P_world_size || param == P_platform;
    bool same = f->framework == g->framework;
    bool both = p->in[f->framework]->known && p->in[g->framework]->known;
    return same || (both && !knob_of(param));
}

static void add(struct arena *a, struct comparison *out, int param, struct value x, struct value y)
{
    *VEC_PUSH(a, &out->differences) = (struct difference){param, x, y};
}

static bool is_listed(const struct comparison *c, int param)
{
    for (size_t i = 0; i < c->differences.n; i++)
        if (c->differences.items[i].param == param) return true;
    return false;
}

/* The facts with what a plan file leaves to whoever writes it in the framework's words. */
static const struct facts *written_out(struct arena *a, const struct rule_set *rules,
                                       const struct facts *f, struct arena *scratch)
{
    if (!str_is(f->format, "plan")) return f;
    struct facts *whole = facts_copy(a, f);
    planner_complete(rules, whole, scratch);
    return whole;
}

static void add_facts(struct arena *a, const struct facts *f, const struct facts *g,
                      struct comparison *out)
{
    for (int i = 0; i < (int)param_count; i++)
        if (is_compared(f, g, i) && facts_differ(f, g, i) && !is_shadowed(f, g, i))
            add(a, out, i, facts_get(f, i)->value, facts_get(g, i)->value);
}

/* Between frameworks the decisions that both have, each in its own words. A vision tower that is
   not there is not frozen either. */
static void add_knobs(struct arena *a, const struct config *f, const struct config *g,
                      struct comparison *out)
{
    for (size_t i = 0; i < knob_count; i++) {
        int param = knob_table[i].param;
        struct value x = knob_get(a, &f->knobs, &knob_table[i]),
                     y = knob_get(a, &g->knobs, &knob_table[i]);
        bool vision = param == P_freeze_vision_model || param == P_freeze_vision_projection;
        bool idle = vision && f->model.vision_layers == 0;
        if (idle || value_eq(x, y) || is_listed(out, param)) continue;
        add(a, out, param, x, y);
    }
}

static int rank(const struct difference *d)
{
    bool execution = param_table[d->param].affects == AFFECTS_EXECUTION;
    return (execution ? 2 : 0) + (knob_of(d->param) ? 0 : 1);
}

static void sort(struct comparison *c)
{
    for (size_t i = 1; i < c->differences.n; i++) { /* stable: within a rank by name, as found */
        struct difference x = c->differences.items[i];
        size_t at = i;
        for (; at > 0 && rank(&c->differences.items[at - 1]) > rank(&x); at--)
            c->differences.items[at] = c->differences.items[at - 1];
        c->differences.items[at] = x;
    }
}

/* ---- advice ---- */

static void add_raw(struct facts *f, const char *whose, struct str name, struct value v)
{
    facts_add_raw(f, arena_printf(f->arena, "%s.%.*s", whose, STR_ARG(name)), v);
}

static void add_estimate(struct facts *f, const char *whose, const struct estimate *e)
{
    if (!e->complete) return;
    add_raw(f, whose, STR("estimate.mfu"), value_double(e->time.mfu));
    add_raw(f, whose, STR("estimate.peak_name"), value_string(str_of(e->time.peak_name)));
    add_raw(f, whose, STR("estimate.tokens_per_s_per_gpu"),
            value_double(e->time.tokens_per_s_per_gpu));
}

/* The second's facts, with what rules may ask of the first and of both estimates under raw. */
static struct facts *paired(struct arena *a, const struct estimate *first,
                            const struct estimate *second)
{
    struct facts *f = facts_copy(a, second->facts);
    for (int i = 0; i < (int)param_count; i++) {
        struct value v = facts_get(first->facts, i)->value;
        if (v.kind != VALUE_UNKNOWN && v.kind != VALUE_NULL)
            add_raw(f, "first", param_table[i].name, v);
    }
    add_estimate(f, "first", first);
    add_estimate(f, "second", second);
    return f;
}

static void advise(struct arena *a, const struct rule_set *rules, const struct facts *f,
                   struct arena *scratch, struct comparison *out)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        if (r->advice != ADVICE_COMPARE || !rule_is_for(r, f)) continue;
        struct arena_mark mark = arena_mark(scratch);
        if (rule_evaluate(r, f, scratch) == OUTCOME_FAIL)
            *VEC_PUSH(a, &out->advice) =
                (struct remark){str_joined(a, r->guides, r->n_guides), rule_message(r, f, a)};
        arena_pop(scratch, mark);
    }
}

void compare_configurations(struct arena *a, const struct rule_set *rules,
                            const struct estimate *first, const struct estimate *second,
                            struct arena *scratch, struct comparison *out)
{
    *out = (struct comparison){0};
    add_facts(a, written_out(a, rules, first->facts, scratch),
              written_out(a, rules, second->facts, scratch), out);
    bool crossing = first->facts->framework != second->facts->framework;
    if (crossing && first->complete && second->complete)
        add_knobs(a, &first->config, &second->config, out);
    sort(out);
    advise(a, rules, paired(a, first, second), scratch, out);
}
