/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/batch.h"
#include "cmd/typed.h"
#include "expr/expr.h"

enum { MOST_LINES = 8 };

struct bindings {
    struct arena *arena;
    const struct node *node; /* name -> value; NULL: none */
};

static struct value variable(void *context, struct str name)
{
    const struct bindings *b = context;
    const struct node *node = node_get(b->node, name);
    return node ? typed_read(b->arena, node) : value_error(STR("no such variable"));
}

static void answer_value(struct cmd_context *c, struct value v)
{
    if (v.kind == VALUE_ERROR || v.kind == VALUE_UNKNOWN) {
        batch_error(c, v.kind == VALUE_ERROR ? v.s : STR("unknown"));
        return;
    }
    buf_add(&c->out, STR(",\"value\":"));
    typed_write(&c->out, v);
}

/* {"id","expr","bindings"?} -> {"id","value"} or {"id","error"} */
static void answer(struct cmd_context *c, const struct batch_request *request)
{
    if (!node_get(request->root, STR("expr"))) {
        batch_error(c, STR("the request has no expr"));
        return;
    }
    const struct expr *e = expr_compile(request->arena, request->diags, batch_str(request, "expr"),
                                        (struct span){0}, NULL);
    if (!e) {
        batch_error(c, request->diags->items[request->diags->n - 1].message);
        return;
    }
    struct bindings bindings = {request->arena, node_get(request->root, STR("bindings"))};
    struct expr_scope scope = {.context = &bindings, .variable = variable};
    answer_value(c, expr_eval(e, request->arena, &scope));
}

/* The value, and for a bool the arithmetic behind it. */
static int print(struct cmd_context *c, const struct expr *e, const struct expr_scope *scope)
{
    struct str lines[MOST_LINES];
    struct value v = expr_eval(e, c->keep, scope);
    if (v.kind == VALUE_ERROR) return cmd_usage_error(c, "%.*s", STR_ARG(v.s));
    buf_printf(&c->out, "%.*s\n", STR_ARG(value_text(c->keep, v)));
    size_t n = v.kind == VALUE_BOOL ? expr_trace(e, c->keep, scope, lines, MOST_LINES) : 0;
    for (size_t i = 0; i < n; i++)
        buf_printf(&c->out, "  = note: %.*s\n", STR_ARG(lines[i]));
    return STATUS_OK;
}

static int run(struct cmd_context *c)
{
    if (option_given(c, "batch")) return batch_run(c, answer, NULL);
    struct str text = c->arguments[0];
    uint32_t source = source_add(&c->diags.sources, STR("expression"), text);
    struct span at = source_span(&c->diags.sources, source, 0, text.n);
    struct bindings none = {.arena = c->keep};
    struct expr_scope scope = {.context = &none, .variable = variable};
    const struct expr *e = expr_compile(c->keep, &c->diags, text, at, NULL);
    return e ? print(c, e, &scope) : STATUS_CANNOT;
}

const struct command command_eval = {
    .name = "eval",
    .arguments = "EXPR",
    .min_arguments = 1,
    .max_arguments = 1,
    .help = "Evaluate a rule expression",
    .details = "With --batch: {\"id\",\"expr\",\"bindings\"?} a line is answered by "
               "{\"id\",\"value\"} or {\"id\",\"error\"},\nvalues as {\"int\":\"1\"}, "
               "{\"string\":\"a\"}, {\"list\":[...]}, {\"map\":[[key,value],...]}.\n",
    .reads_batch = true,
    .run = run,
};
