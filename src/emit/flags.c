/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: command-line flags. */
#include "emit/flags.h"
#include "base/num.h"
#include "base/quote.h"
#include "facts/unsaid.h"
#include "flow/said.h"

static struct str join_tuple(struct arena *a, const struct value_list *list)
{
    struct buf b = buf_new(a);
    for (size_t i = 0; i < list->n; i++) {
        struct str item = emit_scalar(a, list->items[i]);
        buf_printf(&b, "%s%.*s", i ? "," : "", STR_ARG(item));
    }
    return buf_str(&b);
}

static void add_word(const char *before, struct str text, struct buf *out)
{
    struct str word = quote_shell(out->arena, text);
    buf_printf(out, "%s%.*s", before, STR_ARG(word));
}

static void add_values(struct arena *a, const struct param *p, struct value v, struct buf *out)
{
    if (v.kind != VALUE_LIST)
        add_word(said_like_flag(v) ? "=" : " ", emit_scalar(a, v), out);
    else if (p->type == PARAM_TUPLE)
        add_word(" ", join_tuple(a, v.list), out);
    else if (p->type == PARAM_PATTERN)
        add_word(" ", emit_pattern(a, v.list), out);
    else
        for (size_t i = 0; i < v.list->n; i++)
            add_word(" ", emit_scalar(a, v.list->items[i]), out);
}

void flags_add_param(const struct facts *f, int param, const char *indent, const char *end,
                     struct buf *out)
{
    const struct param *p = &param_table[param];
    struct value v = facts_get(f, param)->value;
    const struct param_flag *flag = said_flag(f, param);
    if (!flag) return;
    buf_printf(out, "%s%.*s", indent, STR_ARG(flag->flag));
    if (flag->action == FLAG_STORE || flag->action == FLAG_APPEND)
        add_values(out->arena, p, v, out);
    buf_add(out, str_of(end));
}

void flags_add(const struct emit_input *in, const struct flags_form *form, struct buf *out)
{
    int *params;
    size_t n = said_params(out->arena, in->rules, in->facts, &params);
    for (size_t i = 0; i < n; i++)
        if (!param_among(params[i], form->without, form->n_without))
            flags_add_param(in->facts, params[i], form->indent, form->end, out);
}

/* Whether the catalogue has what no flag can say as the model has it: one that is built on an entry
   may have changed it. */
static bool is_of_catalogue(struct arena *a, const struct facts *f)
{
    const struct model_input *entry =
        f->model && f->model->id.n ? model_find(a, f->model->id) : NULL;
    for (size_t i = 0; entry && i < unsaid_param_count; i++) {
        if (!unsaid_is_known(f, unsaid_params[i])) continue;
        const struct model_field *x = model_field_get(entry, unsaid_params[i]);
        if (!x || !value_eq(x->value, facts_get(f, unsaid_params[i])->value)) return false;
    }
    return entry;
}

/* A model of the catalogue is named, so that what reads the flags can look there. */
void flags_add_head(const struct emit_input *in, struct buf *out)
{
    const struct facts *f = in->facts;
    struct buf unsaid = buf_new(out->arena);
    for (size_t i = 0; i < unsaid_param_count; i++) {
        if (!unsaid_is_known(f, unsaid_params[i])) continue;
        struct str value = emit_scalar(out->arena, facts_get(f, unsaid_params[i])->value);
        buf_printf(&unsaid, "%s%.*s %.*s", unsaid.n ? ", " : "",
                   STR_ARG(param_name(unsaid_params[i])), STR_ARG(value));
    }
    struct str text = buf_str(&unsaid);
    if (text.n && is_of_catalogue(out->arena, f))
        buf_printf(out, "# moeplan: model=%.*s\n", STR_ARG(f->model->id));
    emit_comments(in, out);
    if (text.n) buf_printf(out, "# no flag can say: %.*s\n", STR_ARG(text));
}

/* What no flag can say either: the environment. */
static void add_environment(const struct facts *f, struct buf *out)
{
    struct environment env[ENVIRONMENT_MAX];
    size_t n = emit_environment(f, env);
    if (!n) return;
    buf_add(out, STR("# environment:"));
    for (size_t i = 0; i < n; i++)
        buf_printf(out, " %s=%s", env[i].name, env[i].value);
    buf_add_char(out, '\n');
}

void emit_flags(const struct emit_input *in, struct buf *out)
{
    flags_add_head(in, out);
    add_environment(in->facts, out);
    flags_add(in, &(struct flags_form){.indent = "", .end = "\n"}, out);
}
