/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: overrides of a recipe, one a line, as its command line takes them. Each line is
   a word of a shell and in it a word of Hydra's grammar. What recipes differ in is said whatever
   its value, so that nothing that a recipe leaves switched on changes the plan. */
#include "facts/bridge.h"
#include "base/quote.h"
#include "base/version.h"
#include "emit/emit.h"
#include "emit/flags.h"
#include "facts/model.h"
#include "facts/param_ids.h"
#include "facts/profile.h"
#include "flow/said.h"

static void add_value(struct buf *out, struct value v);

static void add_list(struct buf *out, const struct value_list *list)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i) buf_add_char(out, ',');
        add_value(out, list->items[i]);
    }
    buf_add_char(out, ']');
}

static void add_map(struct buf *out, const struct value_map *map)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < map->n; i++) {
        buf_printf(out, "%s%.*s:", i ? "," : "", STR_ARG(map->keys[i].s));
        add_value(out, map->values[i]);
    }
    buf_add_char(out, '}');
}

static void add_value(struct buf *out, struct value v)
{
    if (v.kind == VALUE_STRING)
        buf_add(out, quote_hydra(out->arena, v.s));
    else if (v.kind == VALUE_LIST)
        add_list(out, v.list);
    else if (v.kind == VALUE_MAP)
        add_map(out, v.map);
    else
        buf_add(out, emit_scalar(out->arena, v));
}

void emit_override(struct buf *out, struct str key, struct value v)
{
    struct buf word = buf_new(out->arena);
    buf_printf(&word, "%.*s=", STR_ARG(key));
    add_value(&word, v);
    buf_add(out, quote_shell(out->arena, buf_str(&word)));
    buf_add_char(out, '\n');
}

/* Whether another parameter, which is said, decides this one. */
static bool is_decided(const struct facts *f, const struct param_spelling *in)
{
    if (!in->under.n) return false;
    enum value_kind kind = facts_get(f, param_find(in->under))->value.kind;
    return kind != VALUE_UNKNOWN && kind != VALUE_NULL;
}

/* A key that is written beside, as the release calls it. */
static struct str beside_in(const struct facts *f, const struct param_spelling *in, struct str key)
{
    const struct bridge_recipe *r = bridge_recipe_of(f);
    for (size_t i = 0; r && f->profile && i < in->n_former; i++) {
        const struct param_former *x = &in->former[i];
        bool older = version_cmp(f->profile->version, x->before) < 0;
        bool there = str_eq(r->task, x->task) && !bridge_recipe_lacks(r, param_find(x->with));
        if (older && there && str_eq(key, x->key)) return x->was;
    }
    return key;
}

static void add_param(struct buf *out, const struct facts *f, int param)
{
    const struct param_spelling *in = param_table[param].in[f->framework];
    struct str key = f->profile ? param_key_in(in, f->profile->bit) : in->key;
    struct value v = said_value(f, param);
    if (!key.n || is_decided(f, in)) return;
    v = emit_spelled(out->arena, in, v);
    /* an object of the recipe's would be changed, not replaced */
    if (v.kind == VALUE_MAP) emit_override(out, key, value_null());
    emit_override(out, key, v);
    for (size_t i = 0; i < in->n_also; i++)
        emit_override(out, beside_in(f, in, in->also[i]), v);
    for (size_t i = 0; i < in->n_unset && str_eq(key, in->key); i++)
        emit_override(out, in->unset[i], value_null());
}

/* ---- what the overrides stand on ---- */

/* What run_recipe.py calls a task: adapters by their scheme. */
static struct str mode_of(const struct facts *f, struct str task)
{
    if (!str_is(task, "peft")) return task;
    struct str scheme = facts_str(f, P_peft_scheme);
    return scheme.n ? scheme : STR("lora");
}

static void add_comment(struct buf *out, struct str text)
{
    emit_comments(&(struct emit_input){.comments = &text, .n_comments = 1}, out);
}

static void add_stand(struct buf *out, const struct facts *f, const struct bridge_recipe *r)
{
    bool own;
    struct arena *a = out->arena;
    struct str hf = f->model ? f->model->hf_id : STR("");
    const struct bridge_provider *p = bridge_provider_of(f, &own);
    struct str model =
        own ? arena_printf(a, "AutoBridge.from_hf_pretrained(\"%.*s\").to_megatron_provider()",
                           STR_ARG(hf))
            : arena_printf(a, "%.*s(), as Megatron-Bridge has none for it", STR_ARG(p->name));
    if (r->model.n)
        add_comment(out, arena_printf(a,
                                      "run: grep -v '^#' THIS-FILE | xargs python "
                                      "scripts/training/run_recipe.py --recipe %.*s --mode %.*s",
                                      STR_ARG(r->name), STR_ARG(mode_of(f, r->task))));
    else
        add_comment(out, arena_printf(a, "stands on %.*s() with the model %.*s", STR_ARG(r->name),
                                      STR_ARG(model)));
}

/* Facts of the model that the provider has no field for. */
static void add_unsaid(struct buf *out, const struct facts *f)
{
    bool own;
    const struct bridge_provider *p = bridge_provider_of(f, &own);
    for (size_t i = 0; !own && i < p->n_without; i++) {
        const struct fact *x = facts_get(f, p->without[i]);
        bool none = x->origin == ORIGIN_DEFAULT || x->value.kind == VALUE_NULL ||
                    x->value.kind == VALUE_UNKNOWN || (x->value.kind == VALUE_BOOL && !x->value.b);
        if (none) continue;
        struct str value = emit_scalar(out->arena, x->value);
        add_comment(out, arena_printf(out->arena, "no override can say %.*s %.*s: %.*s lacks it",
                                      STR_ARG(param_name(p->without[i])), STR_ARG(value),
                                      STR_ARG(p->name)));
    }
}

/* What is stated of the part that is the recipe's code, adapters: to be read back, and to be done.
 */
static void add_fixed(struct buf *out, const struct facts *f, bool to_do)
{
    struct arena *a = out->arena;
    for (int i = 0; i < (int)param_count; i++) {
        const struct param_spelling *in = param_table[i].in[FRAMEWORK_BRIDGE];
        if (!in->fixed || !fact_is_set(facts_get(f, i))) continue;
        struct buf value = buf_new(a);
        add_value(&value, facts_get(f, i)->value);
        struct str text = buf_str(&value);
        if (!to_do)
            add_comment(out, arena_printf(a, "moeplan: %.*s=%.*s", STR_ARG(param_table[i].name),
                                          STR_ARG(text)));
        else if (in->key.n)
            add_comment(out, arena_printf(a,
                                          "no override can name %.*s: set cfg.%.*s to %.*s in the "
                                          "recipe's code",
                                          STR_ARG(in->key), STR_ARG(in->key), STR_ARG(text)));
    }
}

/* The head: what is read back first, then what a reader of the file wants to know. */
static void add_head(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    const struct bridge_recipe *r = bridge_recipe_of(f);
    if (r) add_comment(out, arena_printf(out->arena, "moeplan: recipe=%.*s", STR_ARG(r->name)));
    if (r && !r->model.n && f->model && f->model->id.n)
        add_comment(out, arena_printf(out->arena, "moeplan: model=%.*s", STR_ARG(f->model->id)));
    add_fixed(out, f, false);
    emit_comments(in, out);
    if (r) add_stand(out, f, r);
    add_unsaid(out, f);
    add_fixed(out, f, true);
}

/* Whether the release's recipes have an environment of their own. */
static bool has_environment(const struct facts *f)
{
    const struct profile_setting *s = profile_setting_find(f->framework, STR("env_vars"));
    return !f->profile || !s || (s->releases & f->profile->bit);
}

/* An environment, or a variable of it, where recipes have one; a source's own value stays. Else who
   starts the run sets it. */
static void add_environment(struct buf *out, const struct facts *f)
{
    struct environment variables[ENVIRONMENT_MAX];
    size_t n = emit_environment_differs(f) ? emit_environment(f, variables) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = variables[i].name;
        struct value own = facts_env(f, str_of(name));
        struct str value = own.kind == VALUE_STRING ? own.s : str_of(variables[i].value);
        if (has_environment(f))
            emit_override(out, arena_printf(out->arena, "++env_vars.%s", name),
                          value_string(value));
        else
            add_comment(out,
                        arena_printf(out->arena, "environment: %s=%.*s", name, STR_ARG(value)));
    }
}

void emit_bridge(const struct emit_input *in, struct buf *out)
{
    int *params;
    size_t n = said_overrides(out->arena, in->rules, in->facts, &params);
    add_head(in, out);
    for (size_t i = 0; i < n; i++)
        add_param(out, in->facts, params[i]);
    add_environment(out, in->facts);
}
