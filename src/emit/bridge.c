/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-Bridge: overrides of a recipe, one a line, as its command line takes them. */
#include "emit/emit.h"

static struct str bridge_value(struct arena *a, const struct param_spelling *in, struct value v)
{
    if (v.kind == VALUE_BOOL && in->inverse) v.b = !v.b;
    return emit_scalar(a, v);
}

void emit_bridge(const struct emit_input *in, struct buf *out)
{
    struct arena *a = out->arena;
    const struct facts *f = in->facts;
    emit_comments(in, out);
    int *params;
    size_t n = emit_params(a, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param_spelling *spelling = &param_table[params[i]].in[f->framework];
        if (!spelling->key.n) continue;
        struct str text = bridge_value(a, spelling, f->items[params[i]].value);
        struct str word =
            emit_shell_word(a, arena_printf(a, "%.*s=%.*s", STR_ARG(spelling->key), STR_ARG(text)));
        buf_printf(out, "%.*s\n", STR_ARG(word));
    }
}
