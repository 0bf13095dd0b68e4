/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/check.h"

#include "base/buf.h"

const char *param_type_words(enum param_type type)
{
    static const char *const words[] = {"true or false",
                                        "an integer",
                                        "a number",
                                        "a word",
                                        "a list",
                                        "a mapping",
                                        "a value",
                                        "an integer or a list expression such as ([0]*3+[1]*58)",
                                        "integers such as 128,0"};
    return words[type];
}

static bool fits(enum param_type type, struct value v)
{
    switch (type) {
    case PARAM_BOOL: return v.kind == VALUE_BOOL;
    case PARAM_INT: return v.kind == VALUE_INT;
    case PARAM_DOUBLE: return v.kind == VALUE_DOUBLE;
    case PARAM_STRING: return v.kind == VALUE_STRING;
    case PARAM_LIST:
    case PARAM_TUPLE: return v.kind == VALUE_LIST;
    case PARAM_MAP: return v.kind == VALUE_MAP;
    case PARAM_ANY: return true;
    case PARAM_PATTERN: return v.kind == VALUE_INT || v.kind == VALUE_LIST;
    }
    return true;
}

static bool is_choice(const struct param *p, struct value v)
{
    if (v.kind != VALUE_STRING) return true;
    for (size_t i = 0; i < p->n_choices; i++)
        if (str_eq(p->choices[i], v.s)) return true;
    return p->n_choices == 0;
}

/* The first item, or the value itself, that is none of the choices; NULL: all are. */
static const struct value *foreign_item(const struct param *p, const struct value *v)
{
    if (v->kind != VALUE_LIST) return is_choice(p, *v) ? NULL : v;
    for (size_t i = 0; i < v->list->n; i++)
        if (!is_choice(p, v->list->items[i])) return &v->list->items[i];
    return NULL;
}

static void bad_choice(struct facts *f, int param, struct value v, struct span at,
                       struct str written)
{
    const struct param *p = &param_table[param];
    const struct param_spelling *s = &p->in[f->framework];
    struct buf choices = buf_new(f->arena);
    for (size_t i = 0; i < p->n_choices; i++)
        buf_printf(&choices, "%s%.*s", i ? ", " : "", STR_ARG(p->choices[i]));
    /* Bridge's fields are checked by nobody until they are used, and recipes have words of their
     * own */
    bool refused = !str_is(f->format, "bridge");
    struct diag *d =
        diag_add(f->diags, refused ? SEVERITY_ERROR : SEVERITY_WARNING,
                 s->rule.n ? s->rule.p : "value-choice", at,
                 refused ? "%.*s does not take '%.*s'" : "%.*s is not known to take '%.*s'",
                 STR_ARG(written), STR_ARG(value_text(f->arena, v)));
    d->parameter = p->name;
    diag_help(f->diags, d, "one of %.*s", STR_ARG(buf_str(&choices)));
}

bool value_check(struct facts *f, int param, struct value *value, struct span at,
                 struct str written)
{
    const struct param *p = &param_table[param];
    struct value v = *value = fact_coerce(f->arena, param, *value);
    if (v.kind == VALUE_NULL || v.kind == VALUE_UNKNOWN) return true;
    if (!fits(p->type, v)) {
        struct diag *d =
            diag_add(f->diags, SEVERITY_ERROR, "value-type", at, "%.*s takes %s, not %s",
                     STR_ARG(written), param_type_words(p->type), value_text(f->arena, v).p);
        d->parameter = p->name;
        return false;
    }
    const struct value *foreign = foreign_item(p, &v);
    if (foreign) bad_choice(f, param, *foreign, at, written);
    return !foreign;
}
