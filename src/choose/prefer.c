/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/prefer.h"

#include <math.h>

#include "base/larger.h"
#include "base/vec.h"

/* The relative uncertainty between two plans of one question, in whose terms a guide's confidence
   is a margin: a guide that is certain is left for a gain of MOST_MARGIN a step. Plans of one
   question share model, machine and software, so this is smaller than the interval of a single
   estimate; the spread of evidence pairs that differ in one knob. */
static const double MOST_MARGIN = 0.10;

static bool is_pinned(const struct knob *knob, const struct knob *const *pinned, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pinned[i] == knob) return true;
    return false;
}

static int bits(uint32_t mask)
{
    int n = 0;
    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

/* log2, at least 0; most sizes are powers of two, and this is asked for every layout. */
static double doublings(double size)
{
    int exponent;
    if (size <= 1) return 0;
    return frexp(size, &exponent) == 0.5 ? exponent - 1 : log2(size);
}

double prefer_distance(const struct preference *p, const struct knobs *k)
{
    double now = knob_number(k, p->knob);
    switch (p->knob->kind) {
    case KNOB_INT:
    case KNOB_INT64:
    case KNOB_DTYPE: {
        double above = doublings(now) - doublings(p->number);
        return p->upwards_free ? larger(-above, 0) : fabs(above);
    }
    case KNOB_MODULES: return bits((uint32_t)now ^ (uint32_t)p->number);
    case KNOB_BOOL:
    case KNOB_SHARDED:
    case KNOB_DOUBLE:
    case KNOB_LADDER: return fabs(now - p->number);
    case KNOB_EACH:
    case KNOB_WORD: return now != p->number;
    }
    return 0;
}

static bool is_uneven(const struct preference *p, const struct knobs *k)
{
    int exponent;
    return p->log_uneven > 0 && frexp(knob_number(k, p->knob), &exponent) != 0.5;
}

double prefer_cost(const struct preference *p, const struct knobs *k)
{
    return p->log_margin * prefer_distance(p, k) + (is_uneven(p, k) ? p->log_uneven : 0);
}

double prefer_sum(const struct preference *preferences, size_t n, const struct knobs *k)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (preferences[i].log_margin > 0) sum += prefer_cost(&preferences[i], k);
    return sum;
}

double prefer_factor(double sum)
{
    return 1 - PREFER_MOST * expm1(-sum / PREFER_SPREAD);
}

/* The preference of a knob, new when there is none: a later rule replaces an earlier one. */
static struct preference *slot_for(struct arena *a, struct preference **items, size_t *n,
                                   size_t *cap, const struct knob *knob)
{
    for (size_t i = 0; i < *n; i++)
        if ((*items)[i].knob == knob) return &(*items)[i];
    if (*n == *cap) *items = vec_grow(a, *items, cap, sizeof **items);
    return &(*items)[(*n)++];
}

static double margin_of(const struct rule *r)
{
    return r->margin >= 0 ? r->margin : r->confidence * MOST_MARGIN;
}

/* The rule's wish for one knob; a pinned knob keeps its value. False when the value is of no use.
 */
static bool wish(const struct rule *r, const struct knob *knob, struct value v, bool pinned,
                 struct knobs *knobs, struct preference *out)
{
    struct knobs unused = *knobs, *to = pinned ? &unused : knobs;
    if (!knob_set(to, knob, v)) return false;
    double margin = pinned ? 0 : margin_of(r);
    *out = (struct preference){.rule = r,
                               .knob = knob,
                               .value = v,
                               .number = knob_number(to, knob),
                               .margin = margin,
                               .log_margin = log1p(margin),
                               .log_uneven = pinned ? 0 : log1p(r->uneven),
                               .upwards_free = r->upwards_free,
                               .pinned = pinned};
    return true;
}

size_t prefer_collect(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      const struct knob *const *pinned, size_t n_pinned, struct knobs *knobs,
                      struct preference **out, struct arena *scratch)
{
    struct preference *items = NULL;
    size_t n = 0, cap = 0;
    struct expr_scope scope = facts_scope(f);
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = rules->items[i];
        if (r->role != ROLE_CHECK || !r->n_set || !rule_is_for(r, f)) continue;
        enum outcome outcome = rule_evaluate(r, f, scratch);
        if (outcome != OUTCOME_FAIL && outcome != OUTCOME_PASS) continue;
        for (size_t s = 0; s < r->n_set; s++) {
            const struct knob *knob = knob_of(r->set[s].param);
            if (!knob) continue;
            struct value v = expr_eval(r->set[s].value, a, &scope);
            struct preference p;
            if (wish(r, knob, v, is_pinned(knob, pinned, n_pinned), knobs, &p))
                *slot_for(a, &items, &n, &cap, knob) = p;
        }
    }
    *out = items;
    return n;
}
