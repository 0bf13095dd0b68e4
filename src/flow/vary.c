/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/vary.h"

#include <inttypes.h>

#include "base/range.h"

/* ---- axes ---- */

static void add_range(struct arena *a, const struct int_list *ints, struct vary_axis *out)
{
    for (size_t i = 0; i < ints->n; i++)
        *VEC_PUSH(a, &out->values) = arena_printf(a, "%" PRId64, ints->items[i]);
}

bool vary_axis_read(struct arena *a, struct str text, struct vary_axis *out, struct str *why)
{
    size_t equals = str_find(text, '=');
    struct str rest = str_slice(text, equals + 1, text.n), one;
    struct int_list ints = {0};
    *out = (struct vary_axis){.name = str_trim(str_slice(text, 0, equals))};
    *why = arena_printf(a, "NAME=VALUES with values such as 1,2,4 or 4096..65536, not \"%.*s\"",
                        STR_ARG(text));
    if (!out->name.n || !str_trim(rest).n) return false;
    if (str_find_str(rest, STR("..")) < rest.n) {
        if (!range_read(a, rest, VARY_MOST, &ints)) return false;
        add_range(a, &ints, out);
        return true;
    }
    while (str_split(&rest, ',', &one))
        *VEC_PUSH(a, &out->values) = str_trim(one);
    return out->values.n <= VARY_MOST;
}

/* ---- one combination ---- */

struct varier {
    struct arena *keep, *work, *scratch; /* rows; one combination; one evaluation */
    const struct rule_set *rules;
    const struct vary_ask *ask;
};

/* The options with one value of each axis behind --set. */
static struct read_options options_with(struct varier *v, const struct vary_row *row)
{
    struct read_options o = *v->ask->options;
    struct setting *all = ARENA_ARRAY(v->work, struct setting, o.n_set + v->ask->n_axes);
    for (size_t i = 0; i < o.n_set; i++)
        all[i] = o.set[i];
    for (size_t i = 0; i < v->ask->n_axes; i++) {
        struct str name = v->ask->axes[i].name, value = row->values[i];
        setting_parse(v->work, arena_printf(v->work, "%.*s=%.*s", STR_ARG(name), STR_ARG(value)),
                      &all[o.n_set + i]);
    }
    o.set = all;
    o.n_set += v->ask->n_axes;
    return o;
}

static struct str first_error(const struct diags *diags)
{
    for (size_t i = 0; i < diags->n; i++)
        if (diags->items[i].severity == SEVERITY_ERROR) return diags->items[i].message;
    return STR("the configuration is incomplete");
}

static void fill(struct varier *v, const struct estimate *e, struct vary_row *row)
{
    const struct refusal *r = &e->refusal;
    row->complete = true;
    row->time = e->time;
    row->peak = e->memory.peak;
    row->peak_low = e->memory.peak_low;
    row->peak_high = e->memory.peak_high;
    row->fits = (int)e->memory.fits;
    if (r->errors)
        row->refused = str_dup(v->keep, r->rule), row->why = str_dup(v->keep, r->message);
    if (bill_wanted(v->ask->wish))
        row->bill = wish_bill(v->ask->wish, e->facts->platform, &e->config.knobs, &e->time);
}

/* False with *why set when the settings are wrong, whatever the recipe. */
static bool answer_row(struct varier *v, struct vary_row *row, struct str *why)
{
    const struct vary_ask *ask = v->ask;
    struct read_options options = options_with(v, row);
    struct estimate *e = ARENA_NEW(v->work, struct estimate);
    struct recipe recipe;
    struct diags found;
    diags_init(&found, v->work);
    bool read = estimate_read(v->work, &found, ask->path, ask->text, ask->as, &options, &recipe);
    struct str errors = settings_error(v->work, &options);
    if (read && errors.n) {
        *why = str_dup(v->keep, errors);
        return false;
    }
    if (read && estimate_reading(v->work, v->rules, &recipe.readings.items[0], v->scratch, e, NULL))
        fill(v, e, row);
    else
        row->why = str_dup(v->keep, first_error(&found));
    return true;
}

/* ---- all of them ---- */

static size_t combinations(const struct vary_ask *ask)
{
    size_t n = 1;
    for (size_t i = 0; i < ask->n_axes && n <= VARY_MOST; i++)
        n *= ask->axes[i].values.n;
    return n;
}

static void choose_values(const struct vary_ask *ask, size_t number, struct vary_row *row)
{
    for (size_t i = ask->n_axes; i-- > 0; number /= ask->axes[i].values.n)
        row->values[i] = ask->axes[i].values.items[number % ask->axes[i].values.n];
}

static void mark_best(struct vary *x)
{
    struct vary_row *best = NULL;
    for (size_t i = 0; i < x->n; i++) {
        struct vary_row *row = &x->rows[i];
        if (!row->complete || row->refused.n || row->fits != FITS_YES) continue;
        if (!best || row->time.tokens_per_s_per_gpu > best->time.tokens_per_s_per_gpu) best = row;
    }
    if (best) best->best = true;
}

bool vary_answer(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 const struct vary_ask *ask, struct vary *out, struct str *why)
{
    size_t n = combinations(ask);
    *why = arena_printf(a, "more than %d combinations", VARY_MOST);
    if (n > VARY_MOST) return false;
    struct varier v = {a, arena_child(a, 0), scratch, rules, ask};
    *out = (struct vary){.axes = ask->axes, .n_axes = ask->n_axes, .n = n};
    out->rows = ARENA_ARRAY(a, struct vary_row, n);
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        out->rows[i] = (struct vary_row){0};
        choose_values(ask, i, &out->rows[i]);
        good = answer_row(&v, &out->rows[i], why);
        arena_reset(v.work);
    }
    arena_free(v.work);
    mark_best(out);
    return good;
}
