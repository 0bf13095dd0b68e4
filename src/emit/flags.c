/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: command-line flags. */
#include "emit/flags.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/version.h"
#include "facts/unsaid.h"

/* Whether the version of the facts has the flag, and it is not on its way out. */
static bool flag_is_current(const struct facts *f, const struct param_flag *flag)
{
    return !flag->deprecated.n && !flag->removed.n &&
           version_between(f->version, flag->since, flag->until);
}

/* argparse takes a word that begins with a dash for a flag, unless it stands behind "--flag=". */
static bool looks_like_flag(struct value v)
{
    return v.kind == VALUE_STRING && str_starts(v.s, STR("-"));
}

static bool has_flag_like_item(struct value v)
{
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.list->n; i++)
        if (looks_like_flag(v.list->items[i])) return true;
    return false;
}

/* The flag that says the value: a switch for a boolean, the constant's for a constant, else the
   storing one. NULL when there is none, or the value would be read as flags. */
static const struct param_flag *flag_for(const struct facts *f, const struct param_spelling *in,
                                         struct value v)
{
    if (has_flag_like_item(v)) return NULL;
    for (size_t i = 0; i < in->n_flags; i++) {
        const struct param_flag *flag = &in->flags[i];
        if (!flag_is_current(f, flag)) continue;
        bool fits = flag->action == FLAG_STORE || flag->action == FLAG_APPEND;
        if (v.kind == VALUE_BOOL) fits = flag->action == (v.b ? FLAG_TRUE : FLAG_FALSE);
        if (flag->action == FLAG_CONST) fits = value_eq(v, flag->constant);
        if (fits) return flag;
    }
    return NULL;
}

bool emit_can_say(const struct facts *f, int param)
{
    const struct param_spelling *in = &param_table[param].in[f->framework];
    struct value v = f->items[param].value;
    if (f->framework == FRAMEWORK_MEGATRON) return flag_for(f, in, v) != NULL;
    return in->key.n > 0 && !(f->framework == FRAMEWORK_AUTOMODEL && v.kind == VALUE_MAP);
}

static struct str join_tuple(struct arena *a, const struct value_list *list)
{
    struct buf b = buf_new(a);
    for (size_t i = 0; i < list->n; i++) {
        struct str item = emit_scalar(a, list->items[i]);
        buf_printf(&b, "%s%.*s", i ? "," : "", STR_ARG(item));
    }
    return buf_str(&b);
}

static void add_values(struct arena *a, const struct param *p, struct value v, struct buf *out)
{
    if (v.kind != VALUE_LIST) {
        struct str word = quote_shell(a, emit_scalar(a, v));
        buf_printf(out, "%s%.*s", looks_like_flag(v) ? "=" : " ", STR_ARG(word));
        return;
    }
    if (p->type == PARAM_PATTERN || p->type == PARAM_TUPLE) {
        struct str text = p->type == PARAM_TUPLE ? join_tuple(a, v.list) : emit_pattern(a, v.list);
        struct str word = quote_shell(a, text);
        buf_printf(out, " %.*s", STR_ARG(word));
        return;
    }
    for (size_t i = 0; i < v.list->n; i++) {
        struct str word = quote_shell(a, emit_scalar(a, v.list->items[i]));
        buf_printf(out, " %.*s", STR_ARG(word));
    }
}

void flags_add_param(const struct facts *f, int param, const char *indent, const char *end,
                     struct buf *out)
{
    const struct param *p = &param_table[param];
    struct value v = f->items[param].value;
    const struct param_flag *flag = flag_for(f, &p->in[f->framework], v);
    if (!flag) return;
    buf_printf(out, "%s%.*s", indent, STR_ARG(flag->flag));
    if (flag->action == FLAG_STORE || flag->action == FLAG_APPEND)
        add_values(out->arena, p, v, out);
    buf_add(out, str_of(end));
}

void flags_add(const struct emit_input *in, const struct flags_form *form, struct buf *out)
{
    int *params;
    size_t n = emit_params(out->arena, in->rules, in->facts, &params);
    for (size_t i = 0; i < n; i++) {
        bool left_out = false;
        for (size_t k = 0; k < form->n_without; k++)
            left_out |= params[i] == form->without[k];
        if (!left_out) flags_add_param(in->facts, params[i], form->indent, form->end, out);
    }
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
    bool named = f->model && f->model->id.n && !f->model->root;
    if (text.n && named) buf_printf(out, "# moeplan: model=%.*s\n", STR_ARG(f->model->id));
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
