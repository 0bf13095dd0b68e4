/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/check.h"

#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "facts/param_ids.h"

const struct str truths[N_TRUTHS] = {{"true", 4}, {"false", 5}};

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

/* The words that a framework has beside the parameter's own. */
struct words {
    const struct str *items;
    size_t n;
};

static bool is_choice(const struct param *p, struct words also, struct value v)
{
    return v.kind != VALUE_STRING || !p->n_choices || str_among(v.s, p->choices, p->n_choices) ||
           str_among(v.s, also.items, also.n);
}

/* The first item, or the value itself, that is none of the choices; NULL: all are. */
static const struct value *foreign_item(const struct param *p, struct words also,
                                        const struct value *v)
{
    if (v->kind != VALUE_LIST) return is_choice(p, also, *v) ? NULL : v;
    for (size_t i = 0; i < v->list->n; i++)
        if (!is_choice(p, also, v->list->items[i])) return &v->list->items[i];
    return NULL;
}

static void bad_choice(struct facts *f, int param, struct value v, struct span at,
                       struct str written)
{
    const struct param *p = &param_table[param];
    const struct param_spelling *s = p->in[f->framework];
    /* Bridge's fields are checked by nobody until they are used, and recipes have words of their
     * own */
    bool refused = !str_is(f->format, "bridge");
    struct diag *d =
        diag_add(f->diags, refused ? SEVERITY_ERROR : SEVERITY_WARNING,
                 s->rule.n ? s->rule.p : "value-choice", at,
                 refused ? "%.*s does not take '%.*s'" : "%.*s is not known to take '%.*s'",
                 STR_ARG(written), STR_ARG(value_text(f->arena, v)));
    d->parameter = p->name;
    diag_choices(f->diags, d, value_text(f->arena, v), p->choices, p->n_choices);
}

bool value_check(struct facts *f, int param, struct value *value, struct span at,
                 struct str written)
{
    const struct param *p = &param_table[param];
    struct value v = *value = fact_coerce(f->arena, param, *value);
    if (v.kind == VALUE_NULL || v.kind == VALUE_UNKNOWN) return true;
    if (!fits(p->type, v)) {
        /* Bridge does not look at types, and a number is as true as Python has it */
        bool taken = str_is(f->format, "bridge") && p->type == PARAM_BOOL && v.kind == VALUE_INT;
        struct diag *d = diag_add(f->diags, taken ? SEVERITY_WARNING : SEVERITY_ERROR, "value-type",
                                  at, "%.*s takes %s, not %s", STR_ARG(written),
                                  param_type_words(p->type), value_text(f->arena, v).p);
        d->parameter = p->name;
        return false;
    }
    struct words also;
    also.items = facts_choices(f, param, &also.n);
    const struct value *foreign = foreign_item(p, also, &v);
    if (foreign) bad_choice(f, param, *foreign, at, written);
    return !foreign;
}

/* ---- moeplan's own files and options ---- */

/* 0.1, 1,024 */
static struct str number_text(struct arena *a, double d)
{
    return d == floor(d) && fabs(d) < NUM_EXACT ? num_grouped(a, (int64_t)d)
                                                : num_double_text(a, d);
}

struct str param_range_words(struct arena *a, const struct param *p)
{
    const struct param_range *r = &p->range;
    struct str min = number_text(a, r->min), max = number_text(a, r->max);
    if (r->has_min && r->has_max && !r->above)
        return arena_printf(a, "between %.*s and %.*s", STR_ARG(min), STR_ARG(max));
    if (r->has_min && r->has_max)
        return arena_printf(a, "above %.*s and at most %.*s", STR_ARG(min), STR_ARG(max));
    if (r->has_min)
        return arena_printf(a, "%s %.*s", r->above ? "above" : "at least", STR_ARG(min));
    return r->has_max ? arena_printf(a, "at most %.*s", STR_ARG(max)) : STR("");
}

bool value_in_range(const struct param *p, struct value v)
{
    const struct param_range *r = &p->range;
    if (v.kind != VALUE_INT && v.kind != VALUE_DOUBLE) return true;
    if (!r->has_min && !r->has_max) return true;
    double d = v.kind == VALUE_INT ? (double)v.i : v.d;
    if (!isfinite(d)) return false;
    if (r->has_min && (r->above ? d <= r->min : d < r->min)) return false;
    return !r->has_max || d <= r->max;
}

/* " GiB"; nothing for counts and where the unit says nothing. */
static struct str unit_text(struct arena *a, const struct param *p)
{
    bool plain = p->type == PARAM_INT || !p->unit.n || str_is(p->unit, "1");
    return plain ? STR("") : arena_printf(a, " %.*s", STR_ARG(p->unit));
}

/* The end of the range that a number is beyond. */
static struct str bound_words(struct arena *a, const struct param *p, struct value v)
{
    struct param one = {.range = p->range};
    double d = v.kind == VALUE_INT ? (double)v.i : v.d;
    *(d > p->range.min ? &one.range.has_min : &one.range.has_max) = false;
    return param_range_words(a, &one);
}

bool value_check_range(struct arena *a, struct diags *diags, const struct param *p, struct value v,
                       struct span at, struct str written)
{
    if (value_in_range(p, v)) return true;
    bool finite = v.kind == VALUE_INT || isfinite(v.d);
    struct str is = finite ? value_text(a, v) : STR("no finite number"), unit = unit_text(a, p),
               range = finite ? bound_words(a, p, v) : param_range_words(a, p);
    struct diag *d =
        diag_add(diags, SEVERITY_ERROR, "value-range", at, "%.*s is %.*s; it must be %.*s%.*s",
                 STR_ARG(written), STR_ARG(is), STR_ARG(range), STR_ARG(unit));
    d->parameter = p->name;
    diag_help(diags, d, "%.*s", STR_ARG(p->doc));
    return false;
}

/* "80GB": a number with something behind it. */
static bool has_suffix(struct value v)
{
    double d;
    if (v.kind != VALUE_STRING || v.s.n == 0) return false;
    for (size_t n = v.s.n - 1; n > 0; n--)
        if (num_parse_double(str_trim(str_slice(v.s, 0, n)), &d)) return true;
    return false;
}

static bool bad_type(struct arena *a, struct diags *diags, const struct param *p, struct value v,
                     struct span at, struct str written)
{
    bool number = p->type == PARAM_DOUBLE;
    struct str unit = unit_text(a, p), range = param_range_words(a, p);
    struct diag *d = diag_add(
        diags, SEVERITY_ERROR, "value-type", at, "%.*s takes %s%s%.*s, not %s", STR_ARG(written),
        param_type_words(p->type), unit.n ? " in" : "", STR_ARG(unit), value_text(a, v).p);
    d->parameter = p->name;
    double plain;
    if (v.kind == VALUE_STRING && num_parse_double(v.s, &plain))
        diag_help(diags, d, "in quotes it is a text: write the number without them");
    else if (has_suffix(v) && (number || p->type == PARAM_INT))
        diag_help(diags, d, "write the number without a unit%s%.*s", range.n ? ", " : "",
                  STR_ARG(range));
    else
        diag_help(diags, d, "%.*s", STR_ARG(p->doc));
    return false;
}

/* Of a list that stands for integers, that it holds nothing else. */
static bool items_fit(enum param_type type, struct value v)
{
    bool integers = type == PARAM_PATTERN || type == PARAM_TUPLE;
    for (size_t i = 0; integers && v.kind == VALUE_LIST && i < v.list->n; i++)
        if (v.list->items[i].kind != VALUE_INT) return false;
    return true;
}

bool value_check_own(struct arena *a, struct diags *diags, const struct param *p,
                     struct value *value, struct span at, struct str written)
{
    struct value v = *value = param_coerce(a, p, *value);
    if (v.kind == VALUE_NULL || v.kind == VALUE_UNKNOWN) return true;
    if (!fits(p->type, v) || !items_fit(p->type, v)) return bad_type(a, diags, p, v, at, written);
    const struct value *foreign = foreign_item(p, (struct words){0}, &v);
    if (!foreign) return value_check_range(a, diags, p, v, at, written);
    struct str text = value_text(a, *foreign);
    struct diag *d = diag_add(diags, SEVERITY_ERROR, "value-choice", at,
                              "%.*s does not take '%.*s'", STR_ARG(written), STR_ARG(text));
    d->parameter = p->name;
    diag_choices(diags, d, text, p->choices, p->n_choices);
    return false;
}

static bool is_wrong_size(int param, int64_t n)
{
    bool width = param == P_hidden_size || param == P_num_attention_heads ||
                 param == P_seq_length || param == P_num_layers || param == P_kv_channels ||
                 param == P_num_query_groups || param == P_ffn_hidden_size ||
                 param == P_moe_ffn_hidden_size;
    if (width && n == 0) return true;
    const struct param *p = &param_table[param];
    bool count = param == P_train_iters || param == P_recompute_num_layers;
    bool size = p->scope == SCOPE_MODEL || param == P_seq_length;
    return (count || (size && p->range.has_min && p->range.min >= 0)) && n < -1;
}

struct str value_size_error(struct arena *a, int param, struct str written, struct value v)
{
    if (param < 0 || v.kind != VALUE_INT || !is_wrong_size(param, v.i)) return (struct str){"", 0};
    return arena_printf(a, "%.*s is %lld: no size is %s", STR_ARG(written), (long long)v.i,
                        v.i < 0 ? "below zero" : "zero");
}
