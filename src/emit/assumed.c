/* SPDX-License-Identifier: Apache-2.0 */
/* What nobody stated, for whoever reads an answer. */
#include "base/quote.h"
#include "base/vec.h"
#include "emit/emit.h"

static bool is_assumed(const struct facts *f, int param)
{
    return facts_get(f, param)->origin == ORIGIN_ASSUMED && fact_is_known(facts_get(f, param));
}

struct value emit_assumed(struct arena *a, const struct facts *f)
{
    struct {
        struct value *items;
        size_t n, cap;
    } names = {0}, values = {0};
    for (int i = facts_next_known(f, 0); i < (int)param_count; i = facts_next_known(f, i + 1)) {
        if (!is_assumed(f, i)) continue;
        *VEC_PUSH(a, &names) = value_string(param_table[i].name);
        *VEC_PUSH(a, &values) = facts_get(f, i)->value;
    }
    return value_map_of(a, names.items, values.items, names.n);
}

/* Whether the value says that something is not there. */
static bool is_off(struct value v)
{
    return v.kind == VALUE_NULL || (v.kind == VALUE_BOOL && !v.b) ||
           (v.kind == VALUE_DOUBLE && v.d == 0) || (v.kind == VALUE_STRING && str_is(v.s, "none"));
}

struct str emit_assumed_line(struct arena *a, const struct facts *f)
{
    struct buf b = buf_new(a);
    size_t off = 0;
    for (int i = 0; i < (int)param_count; i++) {
        if (!is_assumed(f, i)) continue;
        struct value v = facts_get(f, i)->value;
        off += is_off(v);
        if (!is_off(v))
            buf_printf(&b, "%s%.*s %.*s", b.n ? ", " : "", STR_ARG(param_table[i].name),
                       LINE_ARG(a, emit_scalar(a, v)));
    }
    if (off) buf_printf(&b, "%s%zu features that nobody mentions off", b.n ? "; " : "", off);
    return buf_str(&b);
}
