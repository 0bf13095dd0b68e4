/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/lever.h"

#include <math.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/sort.h"
#include "cost/split.h"
#include "plan/knob.h"

struct lister {
    struct arena *arena, *scratch;
    const struct config *base;
    struct map seen; /* the decisions of those that are listed, as one text */
    struct lever_list *out;
};

/* ---- what differs ---- */

static bool differs(struct arena *scratch, const struct decision *d, const struct knobs *a,
                    const struct knobs *b)
{
    struct arena_mark mark = arena_mark(scratch);
    bool same = str_eq(decision_text(scratch, d, a), decision_text(scratch, d, b));
    arena_pop(scratch, mark);
    return !same;
}

struct str levers_text(struct arena *a, const struct config *base, const struct config *to)
{
    struct buf b = buf_new(a);
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        struct str old = decision_text(a, d, &base->knobs), new = decision_text(a, d, &to->knobs);
        if (!str_eq(old, new))
            buf_printf(&b, "%s%s %.*s -> %.*s", b.n ? ", " : "", d->word, STR_ARG(old),
                       STR_ARG(new));
    }
    return buf_str(&b);
}

/* The base's layout is known by its own number still, one of the plan's by the next. */
struct facts *levers_facts(struct arena *a, const struct facts *f, const struct config *base,
                           const struct config *to)
{
    struct facts *changed = facts_copy(a, f);
    struct config from = *base;
    struct knobs knobs = to->knobs;
    if (knobs.layout > 0 && to->layouts != base->layouts) {
        struct layout *both = ARENA_ARRAY(a, struct layout, (size_t)base->n_layouts + 1);
        for (int i = 0; i < base->n_layouts; i++)
            both[i] = base->layouts[i];
        both[base->n_layouts] = to->layouts[knobs.layout - 1];
        from.layouts = both;
        from.n_layouts = base->n_layouts + 1;
        knobs.layout = from.n_layouts;
    }
    knobs_say_changes(&from, &knobs, changed);
    return changed;
}

bool levers_allowed(struct arena *a, const struct rule_set *rules, const struct facts *f,
                    struct arena *scratch)
{
    struct arena_mark mark = arena_mark(a);
    struct facts *run = rules_effective_facts(a, rules, f, scratch);
    bool allowed = !rules_first_error(rules, run, scratch);
    arena_pop(a, mark);
    arena_reset(scratch);
    return allowed;
}

/* ---- what it costs ---- */

/* The interval is meant to hold nine runs of ten: its ends are 1.645 standard deviations away. */
double levered_room(const struct memory_estimate *m)
{
    double spare = m->capacity - m->peak;
    double half = spare > 0 ? m->peak_high - m->peak : m->peak - m->peak_low;
    if (m->fits == FITS_YES) return 1;
    return half > 0 ? 0.5 * erfc(-1.645 * spare / half / sqrt(2)) : 0;
}

bool levered_estimate(struct levered *x)
{
    struct memory_estimate memory;
    if (!memory_estimate(&x->config, &memory, NULL) || !time_estimate(&x->config, &x->time, NULL))
        return false;
    x->peak = memory.peak;
    x->fits = (int)memory.fits;
    x->room = levered_room(&memory);
    return true;
}

/* ---- the list ---- */

/* Other stages need another split, which only a layout that lives on can hold. */
static bool lay_out(struct lister *l, struct config *c)
{
    const struct knobs *k = &c->knobs, *old = &l->base->knobs;
    if (k->pp == old->pp && k->vpp == old->vpp) return true;
    if ((k->vpp > 1 && k->pp == 1) || !layout_is_sayable(c, k->pp, k->vpp)) return false;
    c->layout_given = false;
    c->knobs.layout = 0;
    return split_plan(c, ARENA_NEW(l->arena, struct layout));
}

static bool can_run(struct lister *l, struct config *c)
{
    const struct knobs *k = &c->knobs;
    if (!knobs_divide(k) || k->mbs > LEVERS_MOST_MBS) return false;
    if (k->ep > 1 && (c->model.experts == 0 || c->model.experts % k->ep)) return false;
    return lay_out(l, c);
}

static bool is_new(struct lister *l, const struct knobs *k)
{
    struct arena_mark mark = arena_mark(l->scratch);
    struct buf all = buf_new(l->scratch);
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        buf_printf(&all, "%.*s;", STR_ARG(decision_text(l->scratch, d, k)));
    bool new = map_get(&l->seen, buf_str(&all)) == MAP_NONE;
    if (new) map_put(l->arena, &l->seen, str_dup(l->arena, buf_str(&all)), 0);
    arena_pop(l->scratch, mark);
    return new;
}

/* `move` of `d` led there from the base; NULL: more than one did. */
static void add(struct lister *l, const struct config *to, const struct decision *d,
                const struct move *move)
{
    struct levered x = {.config = *to, .decision = d, .move = move};
    if (!is_new(l, &to->knobs) || !can_run(l, &x.config) || !levered_estimate(&x)) return;
    for (const struct decision *e = decisions; e < decisions + DECISIONS; e++) {
        if (!differs(l->scratch, e, &l->base->knobs, &to->knobs)) continue;
        x.changed++;
        x.variance += e->doubt * e->doubt;
    }
    *VEC_PUSH(l->arena, &l->out->items) = x;
}

/* Whether the framework has words for what would be tried. */
static bool can_say(const struct config *c, const struct decision *d)
{
    const struct knob *knob = knob_of(d->params[0]);
    return !knob || knob_is_sayable(knob, c->framework);
}

static void add_singles(struct lister *l)
{
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (!can_say(l->base, d)) continue;
        for (const struct move *move = d->moves; move->name; move++) {
            struct config c = *l->base;
            if (move_allowed(l->base, move) && move_take(d, move, &c)) add(l, &c, d, move);
        }
    }
}

/* ---- pairs ---- */

static int by_step(const void *x, const void *y)
{
    const struct levered *a = *(const struct levered *const *)x,
                         *b = *(const struct levered *const *)y;
    return (a->time.step > b->time.step) - (a->time.step < b->time.step);
}

static int by_peak(const void *x, const void *y)
{
    const struct levered *a = *(const struct levered *const *)x,
                         *b = *(const struct levered *const *)y;
    return (a->peak > b->peak) - (a->peak < b->peak);
}

/* What is fast, with what makes room for it or is fast too. */
static void add_pairs(struct lister *l)
{
    size_t n = l->out->items.n;
    const struct levered **fast = ARENA_ARRAY(l->scratch, const struct levered *, n + 1),
                         **small = ARENA_ARRAY(l->scratch, const struct levered *, n + 1);
    struct levered *singles = arena_dup(l->scratch, l->out->items.items, n * sizeof *singles);
    for (size_t i = 0; i < n; i++)
        fast[i] = small[i] = &singles[i];
    sort_items(fast, n, sizeof *fast, by_step);
    sort_items(small, n, sizeof *small, by_peak);
    size_t most = n < LEVERS_PAIRED ? n : LEVERS_PAIRED;
    for (size_t i = 0; i < most; i++) {
        for (size_t k = 0; k < 2 * most; k++) {
            const struct levered *other = k < most ? fast[k] : small[k - most];
            struct config c = fast[i]->config;
            if (other->decision == fast[i]->decision) continue;
            if (move_take(other->decision, other->move, &c)) add(l, &c, NULL, NULL);
        }
    }
}

void levers_list(struct arena *a, const struct config *base, bool pairs, struct arena *scratch,
                 struct lever_list *out)
{
    *out = (struct lever_list){0};
    struct lister l = {a, scratch, base, {0}, out};
    is_new(&l, &base->knobs);
    add_singles(&l);
    if (pairs) add_pairs(&l);
    arena_reset(scratch);
}
