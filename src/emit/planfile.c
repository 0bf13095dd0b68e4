/* SPDX-License-Identifier: Apache-2.0 */
/* moeplan's own plan file: the parameters by symbol, the model by name or inline. */
#include "emit/emit.h"
#include "facts/model.h"
#include "facts/platform.h"

static void add_line(struct buf *out, struct str name, struct value v)
{
    struct str text = emit_yaml_scalar(out->arena, v);
    buf_printf(out, "%.*s: %.*s\n", STR_ARG(name), STR_ARG(text));
}

/* What a model field says in the plan's own mapping. */
static void add_field(struct buf *out, int param, struct value v)
{
    struct str text = emit_yaml_scalar(out->arena, v);
    buf_printf(out, "  %.*s: %.*s\n", STR_ARG(param_table[param].name), STR_ARG(text));
}

/* Whether the plan has to say a model fact: what was written and the model itself does not say. */
static bool is_own_field(const struct facts *f, int param)
{
    const struct fact *x = &f->items[param];
    if (param_table[param].scope != SCOPE_MODEL || !fact_is_set(x)) return false;
    if (x->value.kind == VALUE_UNKNOWN || x->value.kind == VALUE_NULL) return false;
    const struct model_field *said =
        f->model ? model_field_get(f->model, param_table[param].name.p) : NULL;
    return !said || !value_eq(said->value, x->value);
}

static bool has_own_field(const struct facts *f)
{
    bool any = false;
    for (int i = 0; i < (int)param_count && !any; i++)
        any = is_own_field(f, i);
    return any;
}

/* A catalogue model by its id, any other by its own fields; what is written beside it goes over it.
 */
static void add_model(const struct facts *f, struct buf *out)
{
    const struct model_input *m = f->model;
    bool own = has_own_field(f);
    if (!m && !own) return;
    if (m && m->id.n && !own) {
        buf_printf(out, "model: %.*s\n", STR_ARG(m->id));
        return;
    }
    buf_add(out, STR("model:\n"));
    if (m && m->id.n)
        buf_printf(out, "  base: %.*s\n", STR_ARG(m->id));
    else
        for (size_t i = 0; m && i < m->fields.n; i++)
            if (!is_own_field(f, m->fields.items[i].param))
                add_field(out, m->fields.items[i].param, m->fields.items[i].value);
    for (int i = 0; i < (int)param_count; i++)
        if (is_own_field(f, i)) add_field(out, i, f->items[i].value);
}

bool emit_is_open(int param)
{
    static const char *const open[] = {
        "moe_token_dispatcher_type", "cross_entropy_loss_fusion",
        "cross_entropy_fusion_impl", "use_fused_weighted_squared_relu",
        "moe_grouped_gemm",          "moe_router_force_load_balancing",
        "overlap_grad_reduce",       "bf16"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (str_is(param_table[param].name, open[i])) return true;
    return false;
}

/* Written, and not among what every framework's output says: the plan's own words, and defaults
   that a plan which is silent would leave open. */
static bool is_extra(const struct facts *f, int param)
{
    const struct param *p = &param_table[param];
    const struct fact *x = &f->items[param];
    if (!fact_is_set(x) || x->value.kind == VALUE_UNKNOWN || x->value.kind == VALUE_NULL)
        return false;
    bool spelled = p->in[f->framework].known;
    if (!spelled) /* switches say the precision, and stages a rank the virtual stages */
        return p->scope == SCOPE_PLAN && !str_is(p->name, "precision") && !str_is(p->symbol, "vpp");
    struct value otherwise = p->in[f->framework].default_value;
    return emit_is_open(param) && otherwise.kind == x->value.kind && value_eq(x->value, otherwise);
}

void emit_plan(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    emit_comments(in, out);
    buf_printf(out, "moeplan: 1\nframework: %s\n", framework_name(f->framework));
    add_model(f, out);
    if (f->platform) buf_printf(out, "platform: %.*s\n", STR_ARG(f->platform->id));
    if (facts_int(f, "world_size", 0) > 0)
        add_line(out, STR("gpus"), facts_get(f, "world_size")->value);
    int *params;
    bool *said = ARENA_ARRAY(out->arena, bool, param_count);
    size_t n = emit_params(out->arena, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param *p = &param_table[params[i]];
        said[params[i]] = true;
        if (p->scope == SCOPE_MODEL) continue;
        bool stages = str_is(p->name, "num_virtual_stages_per_pipeline_rank");
        if (stages) p = &param_table[param_find(STR("vpp"))]; /* the plan's own word for it */
        add_line(out, p->symbol.n ? p->symbol : p->name, f->items[params[i]].value);
    }
    for (int i = 0; i < (int)param_count; i++)
        if (!said[i] && is_extra(f, i)) add_line(out, param_table[i].name, f->items[i].value);
}
