/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/finalists.h"

#include <math.h>

#include "base/larger.h"
#include "cost/split.h"
#include "plan/move.h"

static const enum decision_id layout_axes[] = {DECISION_TP, DECISION_CP, DECISION_ETP, DECISION_EP,
                                               DECISION_PP};
/* What else orders plans with equal scores, as a whole total. */
static const enum decision_id other_axes[] = {DECISION_MBS, DECISION_VPP};

static int size_of(const struct knobs *k, enum decision_id axis)
{
    return *(const int *)(const void *)((const char *)k + decisions[axis].size);
}

static int64_t sizes_cmp(const struct knobs *a, const struct knobs *b, const enum decision_id *axes,
                         size_t n)
{
    int64_t difference = 0;
    for (size_t i = 0; i < n && !difference; i++)
        difference = size_of(a, axes[i]) - size_of(b, axes[i]);
    return difference;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool finalists_same_layout(const struct knobs *a, const struct knobs *b)
{
    return a->fsdp == b->fsdp && !sizes_cmp(a, b, layout_axes, COUNT(layout_axes));
}

/* Cut sequences and sharded states are ways to run a split of the model: a list that had them all
   would hold two splits and their variants. */
static bool same_split(const struct knobs *a, const struct knobs *b)
{
    return a->tp == b->tp && a->etp == b->etp && a->ep == b->ep && a->pp == b->pp;
}

static int64_t model_ranks(const struct knobs *k)
{
    return (int64_t)k->tp * k->pp * k->cp;
}

/* Field by field in the order of the table, so that the order is total. */
static int64_t knobs_cmp(const struct knobs *a, const struct knobs *b)
{
    int64_t difference = model_ranks(a) - model_ranks(b);
    if (!difference) difference = sizes_cmp(a, b, layout_axes, COUNT(layout_axes));
    if (!difference) difference = sizes_cmp(a, b, other_axes, COUNT(other_axes));
    for (size_t i = 0; i < knob_field_count && !difference; i++) {
        double x = knob_number(a, &knob_table[i]), y = knob_number(b, &knob_table[i]);
        difference = x < y ? -1 : x > y;
    }
    return difference;
}

/* Those without a risk first; smaller score, then fewer model-parallel ranks, then the knobs in
   order. */
static bool before(const struct contender *a, const struct contender *b)
{
    if (a->risky != b->risky) return b->risky;
    return a->score != b->score ? a->score < b->score : knobs_cmp(&a->knobs, &b->knobs) < 0;
}

static bool faster(const struct contender *a, const struct contender *b)
{
    return a->step_s != b->step_s ? a->step_s < b->step_s : before(a, b);
}

static int kind_of(const struct knobs *k)
{
    return k->fsdp != FSDP_NONE;
}

void finalists_start(struct finalists *f, size_t most, bool two_kinds)
{
    f->most = most;
    f->n = f->n_fast = 0;
    f->has_safe = f->has_kind[0] = f->has_kind[1] = false;
    f->two_kinds = two_kinds;
}

static const struct contender *of_split(const struct contender *plans, size_t n,
                                        const struct knobs *k)
{
    for (size_t i = 0; i < n; i++)
        if (same_split(&plans[i].knobs, k)) return &plans[i];
    return NULL;
}

/* What a plan has to come before to get into a list: the one of its split, or the last of a full
   list; NULL: nothing. */
static const struct contender *rival(const struct contender *plans, size_t n, size_t most,
                                     const struct knobs *k)
{
    const struct contender *own = of_split(plans, n, k);
    return own || n < most ? own : &plans[n - 1];
}

/* Whether it may be the fastest once layers are moved. */
static bool is_fast(const struct finalists *f, const struct knobs *layout, double step_s)
{
    if (f->n_fast == 0 || step_s <= f->fast[0].step_s) return true;
    const struct contender *other = rival(f->fast, f->n_fast, FINALISTS_FAST, layout);
    return step_s <= (1 + SPLIT_MOVING) * f->fast[0].step_s && (!other || step_s <= other->step_s);
}

/* What a plan of the other kind of sharding may be slower than the fastest without a risk, as a
   part of its step, and still be shown in the place of one that is better: the measured order of
   the two kinds may be the other one by as much (S4.12), but not by more. */
static const double RIVAL_WITHIN = 0.2;

static double slowest_rival(const struct finalists *f)
{
    return f->n < f->most ? INFINITY : (1 + RIVAL_WITHIN) * f->safe.step_s;
}

static bool is_rival(const struct finalists *f, double step_s)
{
    return step_s <= slowest_rival(f);
}

bool finalists_want(const struct finalists *f, const struct knobs *layout, double score,
                    double step_s, bool risky)
{
    int kind = kind_of(layout);
    if (is_fast(f, layout, step_s)) return true;
    if (risky) return false;
    if (!f->has_safe || step_s <= f->safe.step_s) return true;
    const struct contender *other = rival(f->ranked, f->n, f->most, layout);
    return !other || score <= other->score ||
           (f->two_kinds && is_rival(f, step_s) &&
            (!f->has_kind[kind] || score <= f->of_kind[kind].score));
}

double finalists_slowest(const struct finalists *f)
{
    if (!f->has_safe || f->n < f->most) return INFINITY;
    double fast = (1 + SPLIT_MOVING) * f->fast[0].step_s;
    return larger(larger(fast, slowest_rival(f)), f->ranked[f->n - 1].score);
}

typedef bool contender_order(const struct contender *a, const struct contender *b);

/* Puts a plan into its place; the last drops out when the list is full. */
static void rank(struct contender *plans, size_t *n, size_t most, contender_order *is_before,
                 const struct contender *o)
{
    const struct contender *own = of_split(plans, *n, &o->knobs);
    size_t at = own ? (size_t)(own - plans) : *n;
    if (own && !is_before(o, own)) return;
    if (at == most && !is_before(o, &plans[--at])) return;
    if (at == *n) ++*n;
    for (; at > 0 && is_before(o, &plans[at - 1]); at--)
        plans[at] = plans[at - 1];
    plans[at] = *o;
}

void finalists_add(struct finalists *f, const struct contender *o)
{
    int kind = kind_of(&o->knobs);
    rank(f->fast, &f->n_fast, FINALISTS_FAST, faster, o);
    if (o->risky) return;
    rank(f->ranked, &f->n, f->most, before, o);
    if (!f->has_safe || faster(o, &f->safe)) f->safe = *o;
    f->has_safe = true;
    if (!f->has_kind[kind] || before(o, &f->of_kind[kind])) f->of_kind[kind] = *o;
    f->has_kind[kind] = true;
}

/* Adds a plan that is not among the others. */
static void add_last(struct contender *plans, size_t *n, const struct contender *o)
{
    for (size_t i = 0; i < *n; i++)
        if (knobs_cmp(&plans[i].knobs, &o->knobs) == 0) return;
    plans[(*n)++] = *o;
}

static bool has_kind(const struct contender *plans, size_t n, int kind)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || kind_of(&plans[i].knobs) == kind;
    return found;
}

static void move_up(struct contender *plans, size_t from, size_t to)
{
    struct contender o = plans[from];
    for (size_t at = from; at > to; at--)
        plans[at] = plans[at - 1];
    plans[to] = o;
}

static void move_down(struct contender *plans, size_t from, size_t to)
{
    struct contender o = plans[from];
    for (size_t at = from; at < to; at++)
        plans[at] = plans[at + 1];
    plans[to] = o;
}

/* Of so many, the best by score, one is chosen to be the first: as many as are shown by default, so
   that who asks for more sees the same first. */
enum { CHOSEN_FROM = FINALISTS_LEAST };

/* What a tenth of the GPU's memory that is left free is worth, in tenths of the step time: 1 %, up
   to where half of it is free, which no uncertainty of the estimate reaches. Its memory has an
   interval as its time has, routing is uneven and the allocator fragments (S4.9): of two plans that
   are as fast, experts run the one with more room. A round number, not a fitted one: three times as
   much orders tuned recipes as well, and half as much hardly worse. */
static const double ROOM_IS_WORTH = 0.1, ROOM_ENOUGH = 0.5;

/* What offload frees is no room that the layout leaves: offload is for what has none otherwise
   (S1.4), so it makes no plan the first. */
static double with_memory(const struct contender *o, double capacity_bytes)
{
    double part = knobs_offload(&o->knobs) ? 1 : o->peak / capacity_bytes,
           filled = larger(part - ROOM_ENOUGH, 0);
    return o->score * (1 + ROOM_IS_WORTH * filled);
}

/* Which is to be the first: by score and memory, and no more than PREFER_FIRST slower than any that
   takes no more risk. */
static size_t roomiest(const struct contender *plans, size_t n, double capacity_bytes)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (plans[i].risky == plans[0].risky && plans[i].step_s < plans[best].step_s) best = i;
    double most = (1 + PREFER_FIRST) * plans[best].step_s;
    for (size_t i = 0; i < n && i < CHOSEN_FROM; i++)
        if (plans[i].risky == plans[0].risky && plans[i].step_s <= most &&
            with_memory(&plans[i], capacity_bytes) < with_memory(&plans[best], capacity_bytes))
            best = i;
    return best;
}

void finalists_sort(struct contender *plans, size_t n, double capacity_bytes)
{
    for (size_t i = 1; i < n; i++) {
        size_t at = i;
        while (at > 0 && before(&plans[i], &plans[at - 1]))
            at--;
        move_up(plans, i, at);
    }
    if (n > 0) move_up(plans, roomiest(plans, n, capacity_bytes), 0);
}

/* Steps that differ by less order nothing (S4.11). */
static const double TIE = 0.02;

/* Whether a plan is the fastest of all, or of those without a risk by more than a tie: beside a
   faster one with a risk, one that is as fast as another without shows nothing. */
static bool is_fastest(const struct contender *plans, size_t n, size_t which)
{
    bool first = true, least_risk = !plans[which].risky;
    for (size_t i = 0; i < n; i++) {
        if (plans[i].step_s < plans[which].step_s) first = false;
        if (i != which && !plans[i].risky && plans[i].step_s < (1 + TIE) * plans[which].step_s)
            least_risk = false;
    }
    return first || least_risk;
}

static bool is_only_of_kind(const struct contender *plans, size_t n, size_t which)
{
    bool only = true;
    for (size_t i = 0; i < n; i++)
        only = only && (i == which || kind_of(&plans[i].knobs) != kind_of(&plans[which].knobs));
    return only;
}

/* Whether another plan shows the same split of the model. */
static bool is_repeated(const struct contender *plans, size_t n, size_t which)
{
    bool repeated = false;
    for (size_t i = 0; i < n; i++)
        repeated = repeated || (i != which && same_split(&plans[i].knobs, &plans[which].knobs));
    return repeated;
}

/* The last that may go: of these first one behind the second whose split is shown, then one of
   which there is another with the same sharding. */
static size_t surplus(const struct contender *plans, size_t n)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = n - 1; i > (pass ? 0 : 1); i--)
            if (!is_fastest(plans, n, i) && !is_only_of_kind(plans, n, i) &&
                (pass || is_repeated(plans, n, i)))
                return i;
    return is_fastest(plans, n, n - 1) && n > 2 ? n - 2 : n - 1;
}

/* Parts of the step, and of the GPU's memory, within which nobody chooses between two plans. */
static const double SAME_TIME = 0.005, SAME_ROOM = 0.02;

/* Whether a better plan is the same in all that a row of the list shows, and this one neither
   faster nor leaner. */
static bool is_echo(const struct contender *plans, size_t which, double capacity_bytes)
{
    const struct contender *o = &plans[which];
    bool found = false;
    for (size_t i = 0; i < which; i++) {
        const struct contender *p = &plans[i];
        found = found || (finalists_same_layout(&p->knobs, &o->knobs) &&
                          !sizes_cmp(&p->knobs, &o->knobs, other_axes, COUNT(other_axes)) &&
                          o->step_s >= (1 - SAME_TIME) * p->step_s &&
                          o->peak >= p->peak - SAME_ROOM * capacity_bytes);
    }
    return found;
}

size_t finalists_leave_echoes(struct contender *plans, size_t n, double capacity_bytes)
{
    for (size_t i = n; i-- > 1;)
        if (is_echo(plans, i, capacity_bytes)) move_down(plans, i, --n);
    return n;
}

size_t finalists_cut(struct contender *plans, size_t n, size_t most)
{
    for (; n > most && n > 1; n--)
        move_down(plans, surplus(plans, n), n - 1);
    return n;
}

size_t finalists_take(const struct finalists *f, struct contender plans[SEARCH_HELD_PLANS])
{
    size_t n = f->n;
    memcpy(plans, f->ranked, n * sizeof *plans);
    if (f->n_fast) add_last(plans, &n, &f->fast[0]);
    if (f->has_safe) add_last(plans, &n, &f->safe);
    for (int kind = 0; kind < 2 && f->two_kinds && f->most > 1; kind++)
        if (f->has_kind[kind] && !has_kind(plans, n, kind) && is_rival(f, f->of_kind[kind].step_s))
            add_last(plans, &n, &f->of_kind[kind]);
    return n;
}
