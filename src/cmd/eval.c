/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "base/quote.h"
#include "cmd/load.h"
#include "cmd/member.h"
#include "cmd/typed.h"
#include "expr/func.h"
#include "facts/param_ids.h"

enum { MOST_LINES = 8 };

/* ---- batches: values for free variables come with the request ---- */

struct bindings {
    struct map number_of; /* name -> index of its value */
    struct value *values;
};

static struct value variable(void *context, struct str name)
{
    const struct bindings *b = context;
    int64_t i = map_get(&b->number_of, name);
    return i < 0 ? value_error(STR("no such variable")) : b->values[i];
}

/* The error value of the first binding that is none, else null. */
static struct value read_bindings(struct arena *a, const struct node *node, struct bindings *out)
{
    *out = (struct bindings){0};
    if (!node) return value_null();
    if (node->kind != NODE_MAP) return value_error(STR("bindings are an object of names"));
    out->values = ARENA_ARRAY(a, struct value, node->n);
    for (size_t i = 0; i < node->n; i++) {
        map_put(a, &out->number_of, node->keys[i]->text, (uint32_t)i);
        out->values[i] = typed_read(a, node->items[i]);
        if (out->values[i].kind == VALUE_ERROR) return out->values[i];
    }
    return value_null();
}

static void answer_value(const struct batch_request *request, struct value v)
{
    if (v.kind == VALUE_ERROR || v.kind == VALUE_UNKNOWN) {
        batch_error(request, v.kind == VALUE_ERROR ? v.s : STR("unknown"));
        return;
    }
    buf_add(request->out, STR(",\"value\":"));
    typed_write(request->out, v);
}

static const struct member members[] = {{"id", MEMBER_ANY, P_NONE},
                                        {"expr", MEMBER_TEXT, P_NONE},
                                        {"bindings", MEMBER_MAP, P_NONE},
                                        {0}};

void eval_answer(const struct batch_request *request)
{
    struct str why;
    if (!members_check(request, request->root, "", members, &why)) {
        batch_error(request, why);
        return;
    }
    if (!node_get(request->root, STR("expr"))) {
        batch_error(request, STR("the request has no expr"));
        return;
    }
    const struct expr *e = expr_compile(request->arena, request->diags,
                                        member_text(request->root, "expr"), (struct span){0}, NULL);
    if (!e) {
        batch_error(request, request->diags->items[request->diags->n - 1].message);
        return;
    }
    struct bindings bindings;
    struct expr_scope scope = {.context = &bindings, .variable = variable};
    struct value bad =
        read_bindings(request->arena, node_get(request->root, STR("bindings")), &bindings);
    answer_value(request, bad.kind == VALUE_ERROR ? bad : expr_eval(e, request->arena, &scope));
}

/* ---- the command line ---- */

/* The value, and for a bool the arithmetic behind it. */
static int print(struct cmd_context *c, const struct expr *e, const struct expr_scope *scope)
{
    struct str lines[MOST_LINES];
    struct value v = expr_eval(e, c->keep, scope);
    if (v.kind == VALUE_ERROR) return cmd_usage_error(c, "%.*s", STR_ARG(v.s));
    buf_printf(&c->out, "%.*s\n", LINE_ARG(c->keep, value_text(c->keep, v)));
    size_t n = v.kind == VALUE_BOOL ? expr_trace(e, c->keep, scope, lines, MOST_LINES) : 0;
    for (size_t i = 0; i < n; i++)
        buf_printf(&c->out, "  = note: %.*s\n", LINE_ARG(c->keep, lines[i]));
    return STATUS_OK;
}

static const struct expr *compile(struct cmd_context *c, const struct expr_names *names)
{
    struct str text = c->arguments[0];
    uint32_t source = source_add(&c->diags.sources, STR("expression"), text);
    return expr_compile(c->keep, &c->diags, text, source_span(&c->diags.sources, source, 0, text.n),
                        names);
}

static int eval_alone(struct cmd_context *c)
{
    struct bindings none = {0};
    struct expr_scope scope = {.context = &none, .variable = variable};
    const struct expr *e = compile(c, NULL);
    return e ? print(c, e, &scope) : STATUS_CANNOT;
}

/* On every configuration of a file, after what the framework does to it by itself. */
static int eval_in(struct cmd_context *c)
{
    const struct rule_set *rules;
    struct readings readings;
    const struct expr *e = compile(c, &facts_names);
    if (!e || !cmd_load_rules(c, &rules) || !load_readings(c, rules, &readings))
        return STATUS_CANNOT;
    int status = STATUS_OK;
    for (size_t i = 0; i < readings.n && status == STATUS_OK; i++) {
        const struct reading *reading = &readings.items[i];
        struct expr_scope scope = facts_scope(reading->facts);
        if (reading->label.n) buf_printf(&c->out, "%.*s: ", STR_ARG(reading->label));
        status = print(c, e, &scope);
    }
    return status;
}

static int list_functions(struct cmd_context *c)
{
    for (uint32_t i = 0; i < func_count; i++) {
        const struct func *f = &func_table[i];
        struct str arguments = func_arguments(c->keep, f);
        buf_printf(&c->out, "%s(%.*s)\n    %s\n", f->name, STR_ARG(arguments), f->doc);
    }
    return STATUS_OK;
}

static int run(struct cmd_context *c)
{
    if (option_given(c, "batch")) return batch_run(c, eval_answer, &(struct service){0}, 1);
    if (option_given(c, "functions")) return list_functions(c);
    if (!c->n_arguments) return cmd_usage_error(c, "an expression is needed");
    return option_given(c, "in") ? eval_in(c) : eval_alone(c);
}

static const struct option options[] = {
    {"in", "FILE", "with the facts of this recipe or plan"},
    {"gpus", "N", "the world size, where the file does not say"},
    {"platform", "P", "the GPU platform, where the file does not say"},
    {"model", "M", "the model, where the file does not say"},
    {"framework", FRAMEWORK_WORDS, "the framework, where the file does not say"},
    {"framework-version", "V", "the framework's version"},
    {"set", "NAME=VALUE", "state a fact, or override one (repeatable)"},
    {"env", "NAME=VALUE", "an environment variable (repeatable)"},
    {"functions", NULL, "list the functions of the language"},
    {0},
};

const struct command command_eval = {
    .name = "eval",
    .arguments = "EXPR",
    .min_arguments = 0,
    .max_arguments = 1,
    .examples = "'plan.tp * plan.pp' --in plan.yaml",
    .help = "Evaluate a rule expression",
    .details = "An expression of CEL, as rules are written in: plan.ep, has(plan.ep), "
               "env[\"NAME\"], raw[\"--flag\"].\n"
               "With --batch: {\"id\",\"expr\",\"bindings\"?} a line is answered by "
               "{\"id\",\"value\"} or {\"id\",\"error\"},\nvalues as {\"int\":\"1\"}, "
               "{\"string\":\"a\"}, {\"list\":[...]}, {\"map\":[[key,value],...]}.\n",
    .options = options,
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
