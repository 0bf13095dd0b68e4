/* SPDX-License-Identifier: Apache-2.0 */
/* moeplan's own plan file: the parameters by symbol, the model by name or inline. What it says is
   one mapping, which is written as YAML or as JSON. */
#include "base/path.h"
#include "base/vec.h"
#include "emit/emit.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/platform.h"
#include "flow/said.h"
#include "plan/knob.h"

/* A mapping while it is made. */
struct entries {
    struct arena *arena;
    struct {
        struct value *items;
        size_t n, cap;
    } keys, values;
};

static void add(struct entries *e, struct str name, struct value v)
{
    *VEC_PUSH(e->arena, &e->keys) = value_string(name);
    *VEC_PUSH(e->arena, &e->values) = v;
}

static struct value finish(struct entries *e)
{
    return value_map_of(e->arena, e->keys.items, e->values.items, e->keys.n);
}

/* ---- the model ---- */

static bool says_nothing(struct value v)
{
    return v.kind == VALUE_UNKNOWN || v.kind == VALUE_NULL || v.kind == VALUE_ERROR;
}

/* Whether the plan has to say a model fact: what was written, or assumed to be there, and the model
   that it names does not say itself. */
static bool is_own_field(const struct facts *f, const struct model_input *named, int param)
{
    const struct fact *x = facts_get(f, param);
    bool off = x->value.kind == VALUE_BOOL && !x->value.b;
    bool assumed = x->origin == ORIGIN_ASSUMED && !off;
    if (param_table[param].scope != SCOPE_MODEL || !(fact_is_set(x) || assumed)) return false;
    const struct model_field *said = named ? model_field_get(named, param) : NULL;
    if (x->value.kind == VALUE_NULL) return said && !says_nothing(said->value); /* left out */
    return !says_nothing(x->value) && (!said || !value_eq(said->value, x->value));
}

static void add_field(struct entries *e, int param, struct value v)
{
    add(e, param == P_model_name ? STR("name") : param_name(param), v);
}

/* A catalogue model by its id, any other by its own fields; what is written beside it goes over it.
   Unknown: no model. */
static struct value model_value(struct arena *a, const struct facts *f)
{
    const struct model_input *m = f->model;
    struct entries e = {.arena = a};
    bool catalogue = m && m->id.n;
    const struct model_input *named = catalogue ? model_find(a, m->id) : m; /* unchanged */
    for (size_t i = 0; m && !catalogue && i < m->fields.n; i++)
        if (!is_own_field(f, named, m->fields.items[i].param))
            add_field(&e, m->fields.items[i].param, m->fields.items[i].value);
    if (catalogue) add(&e, STR("base"), value_string(m->id));
    if (m && !catalogue && m->architecture.n && !model_field_get(m, P_model_architecture))
        add_field(&e, P_model_architecture, value_string(m->architecture)); /* AutoModel's class */
    for (int i = facts_next_known(f, 0); i < (int)param_count; i = facts_next_known(f, i + 1))
        if (is_own_field(f, named, i)) add_field(&e, i, facts_get(f, i)->value);
    if (!e.keys.n) return value_unknown();
    return catalogue && e.keys.n == 1 ? value_string(m->id) : finish(&e);
}

/* ---- the plan ---- */

/* A word that no framework has. Switches say the precision, and stages a rank the virtual stages.
 */
static bool is_own_word(int param)
{
    const struct param *p = &param_table[param];
    return p->scope == SCOPE_PLAN && !param_is_spelled(p) && param != P_precision &&
           param != P_virtual_pipeline_model_parallel_size;
}

/* A plan that names no precision is read as bf16, and so was this one if it came from a plan. */
static bool is_full_precision(const struct facts *f)
{
    bool silent = str_is(f->format, "plan") && facts_get(f, P_bf16)->origin == ORIGIN_DEFAULT;
    return !silent && !facts_bool(f, P_bf16, true) && !facts_bool(f, P_fp16, false);
}

/* Whether the plan has to say it beside what every output of the framework says: its own words,
   what silence would mean otherwise, and none where the framework has something. */
static bool is_extra(const struct rule_set *rules, const struct facts *f, int param)
{
    const struct fact *x = facts_get(f, param);
    const struct param_spelling *in = param_table[param].in[f->framework];
    if (x->value.kind == VALUE_NULL && in->known) {
        /* a plan that is silent about recomputation may describe a run that recomputes */
        bool open = param == P_recompute_granularity;
        return fact_is_set(x) && (open || !says_nothing(in->default_value));
    }
    if (says_nothing(x->value)) return false;
    if (param == P_bf16) return in->known && is_full_precision(f);
    if (said_is_size(param))
        return !knob_of(param) || knob_is_sayable(knob_of(param), f->framework);
    if (param == P_seq_length) return true;
    if (!in->known) return fact_is_set(x) && is_own_word(param);
    bool left_open = x->origin == ORIGIN_DEFAULT && str_is(f->format, "plan");
    return !left_open && said_by_silence(rules, f->framework, param);
}

static void add_param(struct entries *e, const struct facts *f, int param)
{
    const struct param *p = &param_table[param];
    if (param == P_num_virtual_stages_per_pipeline_rank) /* the plan's own word is the knob's */
        p = &param_table[knob_said_by(param)->param];
    add(e, p->symbol.n ? p->symbol : p->name, facts_get(f, param)->value);
}

static void add_params(struct entries *e, const struct rule_set *rules, const struct facts *f)
{
    int *params;
    bool *said = ARENA_ARRAY(e->arena, bool, param_count);
    size_t n = said_params(e->arena, rules, f, &params);
    for (size_t i = 0; i < n; i++) {
        said[params[i]] = true;
        if (param_table[params[i]].scope != SCOPE_MODEL) add_param(e, f, params[i]);
    }
    bool *may = ARENA_ARRAY(e->arena, bool, param_count); /* others are not said at their default */
    for (int i = facts_next_known(f, 0); i < (int)param_count; i = facts_next_known(f, i + 1))
        may[i] = true;
    for (size_t i = 0; i < SAID_SIZES; i++)
        may[said_sizes[i]] = true;
    may[P_bf16] = may[P_seq_length] = true;
    said_mark_open(rules, f, may);
    for (int i = 0; i < (int)param_count; i++)
        if (may[i] && !said[i] && is_extra(rules, f, i)) add_param(e, f, i);
}

struct value plan_value(struct arena *a, const struct rule_set *rules, const struct facts *f)
{
    struct entries e = {.arena = a};
    struct value model = model_value(a, f);
    add(&e, STR("moeplan"), value_int(1));
    add(&e, STR("framework"), value_string(str_of(framework_name(f->framework))));
    if (model.kind != VALUE_UNKNOWN) add(&e, STR("model"), model);
    if (f->platform) add(&e, STR("platform"), value_string(f->platform->id));
    if (facts_int(f, P_world_size, 0) > 0) add(&e, STR("gpus"), facts_get(f, P_world_size)->value);
    add_params(&e, rules, f);
    return finish(&e);
}

static void write_entry(struct buf *out, const char *indent, struct value key, struct value v)
{
    struct str name = emit_yaml(out->arena, key), text = emit_yaml(out->arena, v);
    buf_printf(out, "%s%.*s: %.*s\n", indent, STR_ARG(name), STR_ARG(text));
}

/* A platform file is named as seen from where the plan will lie. */
static struct value placed(struct arena *a, const struct emit_input *in, struct value key,
                           struct value v)
{
    const struct platform *p = in->facts->platform;
    if (!p || !p->own || !str_is(key.s, "platform")) return v;
    return value_string(path_seen_from(a, in->folder, p->id));
}

void emit_plan(const struct emit_input *in, struct buf *out)
{
    struct value plan = plan_value(out->arena, in->rules, in->facts);
    emit_comments(in, out);
    for (size_t i = 0; i < plan.map->n; i++) {
        struct value key = plan.map->keys[i], v = placed(out->arena, in, key, plan.map->values[i]);
        bool block = v.kind == VALUE_MAP && str_is(key.s, "model");
        if (!block) {
            write_entry(out, "", key, v);
            continue;
        }
        buf_add(out, STR("model:\n"));
        for (size_t k = 0; k < v.map->n; k++)
            write_entry(out, "  ", v.map->keys[k], v.map->values[k]);
    }
}
