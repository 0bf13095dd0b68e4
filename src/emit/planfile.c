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

/* A catalogue model by its id; any other by its own fields. */
static void add_model(const struct facts *f, struct buf *out)
{
    const struct model_input *m = f->model;
    if (!m) return;
    if (m->id.n) {
        buf_printf(out, "model: %.*s\n", STR_ARG(m->id));
        return;
    }
    buf_add(out, STR("model:\n"));
    for (size_t i = 0; i < m->fields.n; i++) {
        struct str text = emit_yaml_scalar(out->arena, m->fields.items[i].value);
        buf_printf(out, "  %.*s: %.*s\n", STR_ARG(param_table[m->fields.items[i].param].name),
                   STR_ARG(text));
    }
}

void emit_plan(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    emit_comments(in, out);
    buf_printf(out, "moeplan: 1\nframework: %s\n", framework_name(f->framework));
    add_model(f, out);
    if (f->platform) buf_printf(out, "platform: %.*s\n", STR_ARG(f->platform->id));
    add_line(out, STR("gpus"), facts_get(f, "world_size")->value);
    int *params;
    size_t n = emit_params(out->arena, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param *p = &param_table[params[i]];
        if (p->scope == SCOPE_MODEL) continue;
        add_line(out, p->symbol.n ? p->symbol : p->name, f->items[params[i]].value);
    }
}
