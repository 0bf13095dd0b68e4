/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/wishes.h"

bool wishes_given(struct cmd_context *c, struct bill_wish *out)
{
    struct str why;
    for (size_t i = 0; i < WISHES; i++) {
        const char *shown = arena_printf(c->keep, "--%s", wish_names[i]).p;
        if (!option_given(c, wish_names[i]) ||
            wish_read(c->keep, out, i, shown, option_value(c, wish_names[i]), &why))
            continue;
        cmd_usage_error(c, "%.*s", STR_ARG(why));
        return false;
    }
    if (!wish_settle(out, &why)) cmd_usage_error(c, "%.*s", STR_ARG(why));
    return wish_settle(out, &why);
}

/* A member is named as the option, with _ for -. */
static const char *member_name(struct arena *a, const char *option)
{
    return str_exchange(a, str_of(option), '-', '_').p;
}

bool wishes_asked(const struct batch_request *request, const struct node *map, struct bill_wish *w,
                  struct str *why)
{
    for (size_t i = 0; i < WISHES; i++) {
        const char *name = member_name(request->arena, wish_names[i]);
        const struct node *node = node_get(map, str_of(name));
        if (!node || node_value(request->arena, node, SCALAR_JSON).kind == VALUE_NULL) continue;
        struct str text = node->kind == NODE_SCALAR ? node->text : STR("…");
        if (!wish_read(request->arena, w, i, name, text, why)) return false;
    }
    return wish_settle(w, why);
}
