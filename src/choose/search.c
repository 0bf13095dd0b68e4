/* SPDX-License-Identifier: Apache-2.0 */
/* 1. Every layout and batch is a spot with a lower bound of its score: the shortest schedule of its
      layers' times, nothing recomputed, the best dispatcher, nothing exposed but what a layer
   itself exposes.
   2. Spots are visited in the order of their bounds until the bound exceeds the worst plan kept;
   each takes the first step of the recomputation ladder that fits into memory, if the rules let it.
   3. The plans kept are refined by moves that only change time, checked by the rules, and
   ranked. */
#include "choose/search.h"

#include <math.h>

#include "base/sort.h"
#include "base/vec.h"
#include "choose/space.h"
#include "cost/split.h"
#include "cost/time.h"
#include "facts/param_ids.h"
#include "plan/framework.h"

enum { MOST_KEPT = 32 };

/* The axes, outermost first: what an axis's values depend on stands before it. Layers' times depend
   on none of those after the micro-batch, weights not on the micro-batch. */
static const enum decision_id axes[] = {DECISION_TP,  DECISION_CP, DECISION_ETP, DECISION_EP,
                                        DECISION_MBS, DECISION_PP, DECISION_VPP};
enum { AXES = sizeof axes / sizeof *axes };

/* A layout and batch that the arithmetic allows. */
struct spot {
    double bound;    /* of the score, seconds */
    uint32_t number; /* in the order of enumeration: ties keep it */
    uint32_t
        group; /* of spots that share tp, cp, etp, ep and mbs, and with them their layers' times */
    uint32_t family; /* of spots that share tp, cp, etp, ep, pp and sharding, and with them their
                        weights */
    int sizes[AXES];
    uint8_t fsdp;
};

/* Rates of one group at each step of the ladder, worked out when first asked for. */
struct group_rates {
    bool known[SPACE_MAX_RECOMPUTE];
    struct time_rates steps[SPACE_MAX_RECOMPUTE];
};

struct search {
    const struct search_request *request;
    struct search_result *out;
    struct arena *arena;
    struct config c;           /* the configuration being looked at: the base with changing knobs */
    struct layout layout;      /* its pipeline split */
    struct time_layers layers; /* of the group that is enumerated */
    struct recompute_ladder ladder;
    double ladder_gain; /* by which a step of the ladder may shorten the first's score: a guide may
                           wish for recomputation; at most 1 */
    VEC(struct spot) spots;
    VEC(struct group_rates) groups;
    uint32_t n_families;
    int *hopeless; /* [n_families]: micro-batch from which even full recomputation cannot fit; 0:
                      none known */
    struct contender *kept; /* best first, one a layout and micro-batch */
    size_t n_kept;
};

/* ---- contenders ---- */

static void fill_memory(struct contender *o, const struct memory_estimate *m)
{
    o->peak = m->peak;
    o->peak_low = m->peak_low;
    o->peak_high = m->peak_high;
    o->fits = (int)m->fits;
}

static void fill_time(struct contender *o, const struct time_estimate *t)
{
    o->step_s = t->step;
    o->low_s = t->low;
    o->high_s = t->high;
}

bool contender_estimate(const struct config *c, struct contender *out)
{
    struct memory_estimate memory;
    struct time_estimate time;
    *out = (struct contender){.knobs = c->knobs};
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return false;
    fill_memory(out, &memory);
    fill_time(out, &time);
    out->score = time.step;
    return true;
}

/* The size on an axis. */
static int size_of(const struct knobs *k, int axis)
{
    return *(const int *)(const void *)((const char *)k + decisions[axes[axis]].size);
}

/* The order of plans with equal scores; all that is searched takes part, so that it is total. */
static int64_t knobs_cmp(const struct knobs *a, const struct knobs *b)
{
    int64_t difference = (int64_t)a->tp * a->pp * a->cp - (int64_t)b->tp * b->pp * b->cp;
    const int64_t others[] = {a->recompute - b->recompute,
                              (int64_t)a->recompute_modules - (int64_t)b->recompute_modules,
                              a->dispatcher - b->dispatcher,
                              a->graph_impl - b->graph_impl,
                              a->overlap_ep - b->overlap_ep,
                              a->fsdp - b->fsdp};
    for (int i = 0; i < AXES && !difference; i++)
        difference = size_of(a, i) - size_of(b, i);
    for (size_t i = 0; i < sizeof others / sizeof *others && !difference; i++)
        difference = others[i];
    return difference;
}

/* Smaller score, then fewer model-parallel ranks, then the knobs in order. */
static bool before(const struct contender *a, const struct contender *b)
{
    return a->score != b->score ? a->score < b->score : knobs_cmp(&a->knobs, &b->knobs) < 0;
}

/* What moves are tried on: a smaller micro-batch may have room for what a larger one has not. */
static bool same_batches(const struct knobs *a, const struct knobs *b)
{
    for (int i = 0; i < AXES; i++)
        if (axes[i] != DECISION_VPP && size_of(a, i) != size_of(b, i)) return false;
    return a->fsdp == b->fsdp;
}

static bool same_layout(const struct knobs *a, const struct knobs *b)
{
    struct knobs c = *b;
    c.mbs = a->mbs;
    return same_batches(a, &c);
}

/* Puts a plan into a list kept in order, one of a kind; the last drops out when the list is full.
 */
static void keep(struct contender *list, size_t *n, size_t most, const struct contender *o,
                 bool (*same)(const struct knobs *, const struct knobs *))
{
    size_t at = 0;
    while (at < *n && !same(&list[at].knobs, &o->knobs))
        at++;
    if (at < *n && !before(o, &list[at])) return;
    if (at == *n) {
        if (*n == most && !before(o, &list[most - 1])) return;
        at = *n < most ? (*n)++ : most - 1;
    }
    for (; at > 0 && before(o, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = *o;
}

static double factor(const struct search *s, const struct knobs *k)
{
    return prefer_factor(s->request->preferences, s->request->n_preferences, k);
}

/* ---- 1. spots and their bounds ---- */

/* Sequence parallelism goes with tensor parallelism unless the user decides. */
static void follow_tp(struct search *s)
{
    bool pinned = space_is_pinned(s->request, P_sequence_parallel);
    struct knobs *k = &s->c.knobs;
    k->sequence_parallel = k->tp > 1 && (!pinned || s->request->base->knobs.sequence_parallel);
}

/* The smallest rates over the dispatchers that the knobs may have. Rates depend on neither pp nor
 * vpp. */
static struct time_rates best_rates(struct search *s)
{
    struct time_rates best = {0}, rates;
    struct axis dispatchers = space_dispatcher(s->request, &s->c);
    for (int i = 0; i < dispatchers.n; i++) {
        struct time_layers layers;
        s->c.knobs.dispatcher = (uint8_t)dispatchers.values[i];
        time_layers_init(&s->c, &layers);
        time_rates_of(&layers, &s->c, &rates);
        const double *from = (const double *)&rates;
        double *to = (double *)&best;
        for (size_t r = 0; r < sizeof rates / sizeof(double); r++)
            if (i == 0 || from[r] < to[r]) to[r] = from[r];
    }
    return best;
}

/* Seconds from the first forward to the last backward that no schedule can undercut: each rank does
   its chunks of every microbatch, and before and after that waits for one microbatch to pass the
   chunks before its own. */
static double shortest_schedule(const struct search *s, const struct time_rates *rates)
{
    const struct model_shape *m = &s->c.model;
    const struct layout *l = &s->layout;
    double ranks[LAYOUT_MAX_CHUNKS], waits[LAYOUT_MAX_CHUNKS], before = 0, longest = 0;
    double n = (double)knobs_microbatches(&s->c.knobs);
    int layer = 0, pp = s->c.knobs.pp;
    for (int r = 0; r < pp; r++) /* only what is used: this runs for every spot */
        ranks[r] = waits[r] = 0;
    for (int i = 0; i < l->n_chunks; i++) {
        double chunk = rates->mtp * l->mtp[i] + (l->embedding[i] ? rates->embedding : 0) +
                       (l->loss[i] ? rates->head : 0);
        for (int k = 0; k < l->decoders[i]; k++)
            chunk += rates->kinds[m->layers[layer++]];
        if (i < pp) waits[i] = before;
        before += chunk;
        ranks[i % pp] += chunk;
    }
    for (int r = 0; r < pp; r++)
        longest = fmax(longest, n * ranks[r] + waits[r]);
    return longest;
}

static const struct time_rates *group_rates(struct search *s, uint32_t group, int step)
{
    struct group_rates *g = &s->groups.items[group];
    if (!g->known[step]) {
        struct knobs saved = s->c.knobs;
        space_set_recompute(&s->c.knobs, &s->ladder.steps[step]);
        g->steps[step] = best_rates(s);
        g->known[step] = true;
        s->c.knobs = saved;
    }
    return &g->steps[step];
}

static double bound_of(const struct search *s, const struct time_rates *rates)
{
    return (rates->slow * shortest_schedule(s, rates) + rates->fixed) * factor(s, &s->c.knobs);
}

static void add_spot(struct search *s)
{
    const struct knobs *k = &s->c.knobs;
    guard_tick(arena_guard(s->arena));
    if (!split_by_time(&s->c, &s->layers, &s->layout)) return;
    uint32_t group = (uint32_t)s->groups.n - 1;
    struct spot *spot = VEC_PUSH(s->arena, &s->spots);
    *spot = (struct spot){.bound = bound_of(s, group_rates(s, group, 0)) * s->ladder_gain,
                          .number = (uint32_t)s->spots.n,
                          .group = group,
                          .family =
                              s->n_families + (uint32_t)(k->pp < AXIS_MAX_PP ? k->pp : AXIS_MAX_PP),
                          .fsdp = k->fsdp};
    for (int i = 0; i < AXES; i++)
        spot->sizes[i] = size_of(k, i);
}

/* Layers' times are worked out before the axes on which they do not depend. */
static void add_group(struct search *s)
{
    follow_tp(s);
    *VEC_PUSH(s->arena, &s->groups) = (struct group_rates){0};
    group_rates(s, (uint32_t)s->groups.n - 1, 0);
    time_layers_init(&s->c, &s->layers);
}

/* What is asked and noted where an axis begins, those before it set. */
static bool begin_axis(struct search *s, enum decision_id axis)
{
    if (axis == DECISION_MBS) s->n_families += AXIS_MAX_PP + 1;
    if (axis == DECISION_PP) add_group(s);
    return axis != DECISION_VPP || knobs_divide(&s->c.knobs);
}

/* All values of this axis with all of those after it. */
static void walk(struct search *s, int axis)
{
    struct knobs *k = &s->c.knobs;
    if (axis == AXES) {
        /* interleaving wants microbatches in groups of pp */
        if (k->vpp == 1 || knobs_microbatches(k) % k->pp == 0) add_spot(s);
        return;
    }
    const struct decision *d = &decisions[axes[axis]];
    int *size = decision_size(d, k);
    if (!begin_axis(s, axes[axis])) return;
    struct axis x = space_values(s->request, d, k);
    for (int i = 0; i < x.n; i++) {
        *size = x.values[i];
        walk(s, axis + 1);
    }
    *size = 1;
}

/* One space: sharded data parallelism or 3D parallelism. */
static void add_space(struct search *s, enum fsdp fsdp)
{
    struct knobs *k = &s->c.knobs;
    k->fsdp = (uint8_t)fsdp;
    for (int i = 0; i < AXES; i++)
        *decision_size(&decisions[axes[i]], k) = 1;
    space_set_recompute(k, &s->ladder.steps[0]);
    walk(s, 0);
}

static void add_spaces(struct search *s)
{
    const struct config *base = s->request->base;
    bool pinned = space_is_pinned(s->request, P_use_megatron_fsdp),
         sharded = base->knobs.fsdp != FSDP_NONE;
    if (!config_traits(base)->chooses_fsdp) {
        add_space(s, (enum fsdp)base->knobs.fsdp);
        return;
    }
    if (!pinned || !sharded) add_space(s, FSDP_NONE);
    bool alone = base->knobs.gpus == 1; /* one GPU has nobody to share with */
    if (pinned ? sharded : !alone) add_space(s, FSDP_OPTIM_GRADS_PARAMS);
}

/* The guides' factors of the ladder's steps against the first's: the smallest. */
static double ladder_gain(struct search *s)
{
    struct knobs *k = &s->c.knobs;
    space_set_recompute(k, &s->ladder.steps[0]);
    double first = factor(s, k), least = first;
    for (int step = 1; step < s->ladder.n; step++) {
        space_set_recompute(k, &s->ladder.steps[step]);
        least = fmin(least, factor(s, k));
    }
    return least / first;
}

/* ---- 2. visiting ---- */

static int spot_cmp(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    if (a->bound != b->bound) return a->bound < b->bound ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void set_spot(struct search *s, const struct spot *spot)
{
    struct knobs *k = &s->c.knobs;
    for (int i = 0; i < AXES; i++)
        *decision_size(&decisions[axes[i]], k) = spot->sizes[i];
    k->fsdp = spot->fsdp;
    follow_tp(s);
    struct axis dispatchers = space_dispatcher(s->request, &s->c); /* the last keeps most memory */
    k->dispatcher = (uint8_t)dispatchers.values[dispatchers.n - 1];
}

/* The score a plan of the present layout has to beat to change anything. */
static double limit(const struct search *s)
{
    if (s->request->exhaustive) return INFINITY;
    for (size_t i = 0; i < s->n_kept; i++)
        if (same_batches(&s->kept[i].knobs, &s->c.knobs)) return s->kept[i].score;
    return s->n_kept == MOST_KEPT ? s->kept[s->n_kept - 1].score : INFINITY;
}

static const char *rejected(const struct search *s)
{
    return s->request->reject ? s->request->reject(s->request->context, &s->c) : NULL;
}

/* Whether the rules let the plan be kept. Asked before it takes its layout's place, which another
   micro-batch or dispatcher may fill; only of what would be kept, as rules cost more than figures.
 */
static bool is_allowed(struct search *s)
{
    const char *why = rejected(s);
    if (!why) return true;
    s->out->rejected++;
    s->out->last_rejection = why;
    return false;
}

static void offer(struct search *s, struct contender *o)
{
    struct time_estimate time;
    struct axis dispatchers = space_dispatcher(s->request, &s->c);
    s->out->feasible++;
    for (int i = 0; i < dispatchers.n; i++) {
        s->c.knobs.dispatcher = (uint8_t)dispatchers.values[i];
        o->knobs = s->c.knobs;
        if (!split_plan(&s->c, NULL, &s->layout) || !time_estimate(&s->c, &time, NULL)) continue;
        fill_time(o, &time);
        o->score = time.step * factor(s, &o->knobs);
        if (o->score > limit(s) || !is_allowed(s)) continue;
        keep(s->kept, &s->n_kept, MOST_KEPT, o, same_batches);
    }
}

static bool memory_of(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    *o = (struct contender){.knobs = s->c.knobs};
    s->out->searched++;
    if (!split_plan(&s->c, NULL, &s->layout) || !memory_estimate(&s->c, &memory, NULL))
        return false;
    o->knobs = s->c.knobs;
    fill_memory(o, &memory);
    if (!s->out->has_least || o->peak < s->out->least.peak) {
        s->out->least = *o;
        s->out->has_least = true;
    }
    return true;
}

static bool good_enough(const struct search *s, const struct contender *o)
{
    bool may =
        s->request->allow_tight && o->fits == FITS_TIGHT && o->peak <= s->c.machine.capacity_bytes;
    return o->fits == FITS_YES || may;
}

/* Whether a step of the ladder fits; *o gets its memory. */
static bool step_fits(struct search *s, int step, struct contender *o)
{
    space_set_recompute(&s->c.knobs, &s->ladder.steps[step]);
    return memory_of(s, o) && good_enough(s, o);
}

/* Whether the last step of the ladder fits. Where even the low end of its estimate does not,
   neither does a larger micro-batch, with any number of virtual stages: they only move the
   activations, of which full recomputation keeps next to nothing. */
static bool last_step_fits(struct search *s, const struct spot *spot)
{
    struct contender o;
    int *hopeless = &s->hopeless[spot->family];
    if (*hopeless && s->c.knobs.mbs >= *hopeless) return false;
    if (step_fits(s, s->ladder.n - 1, &o)) return true;
    bool full = s->ladder.steps[s->ladder.n - 1].recompute == RECOMPUTE_FULL;
    if (full && o.fits == FITS_NO) *hopeless = s->c.knobs.mbs;
    return false;
}

/* The first step of the ladder that fits: the steps rise in time and fall in memory. */
static void visit(struct search *s, const struct spot *spot)
{
    guard_tick(arena_guard(s->arena));
    set_spot(s, spot);
    double best = limit(s);
    struct contender o;
    if (spot->bound > best) return;
    bool fits = step_fits(s, 0, &o);
    if (!fits && !last_step_fits(s, spot)) return;
    for (int step = 1; !fits && step < s->ladder.n; step++) {
        space_set_recompute(&s->c.knobs, &s->ladder.steps[step]);
        if (bound_of(s, group_rates(s, spot->group, step)) > best) continue;
        fits = step_fits(s, step, &o);
    }
    if (fits) offer(s, &o);
}

static void visit_all(struct search *s)
{
    for (size_t i = 0; i < s->spots.n; i++) {
        const struct spot *spot = &s->spots.items[i];
        bool full = s->n_kept == MOST_KEPT;
        if (full && !s->request->exhaustive && spot->bound > s->kept[s->n_kept - 1].score) return;
        visit(s, spot);
    }
}

/* ---- 3. refining ---- */

/* Takes a move and keeps it when the score gains by it. */
static bool try_move(struct search *s, struct contender *o, const struct decision *d,
                     const struct move *move)
{
    struct contender changed;
    s->c.knobs = o->knobs;
    if (!move_take(d, move, &s->c)) return false;
    if (!split_plan(&s->c, NULL, &s->layout) || !contender_estimate(&s->c, &changed)) return false;
    changed.score = changed.step_s * factor(s, &changed.knobs);
    if (!good_enough(s, &changed) || changed.score >= o->score || rejected(s)) return false;
    *o = changed;
    return true;
}

/* The moves that only change time: guides make them candidates, so each has to earn its place; the
   rules say with what they go together. Those of one decision rise, so that the first that does not
   gain ends it. */
static void refine(struct search *s, struct contender *o)
{
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        bool gains = !space_is_settled(s->request, d);
        for (const struct move *move = d->moves; gains && move->name; move++)
            if (move->uses & MOVE_REFINE) gains = try_move(s, o, d, move);
    }
}

/* A layout's memory was estimated once, with the dispatcher that keeps most. */
static void estimate_own_memory(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    s->c.knobs = o->knobs;
    if (split_plan(&s->c, NULL, &s->layout) && memory_estimate(&s->c, &memory, NULL))
        fill_memory(o, &memory);
}

/* Takes the kept plans in order; as many as are refined, whatever is asked for: the best must not
   depend on how many plans are shown. */
static void choose(struct search *s, size_t wanted)
{
    struct search_result *out = s->out;
    for (size_t i = 0; i < s->n_kept; i++) {
        struct contender o = s->kept[i];
        refine(s, &o);
        keep(out->plans, &out->n, SEARCH_MAX_PLANS, &o, same_layout);
    }
    if (out->n > wanted) out->n = wanted;
    for (size_t i = 0; i < out->n; i++)
        estimate_own_memory(s, &out->plans[i]);
}

void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out)
{
    struct arena_mark mark = arena_mark(scratch);
    struct search s = {.request = request,
                       .out = out,
                       .arena = scratch,
                       .c = *request->base,
                       .ladder = space_recompute(request),
                       .kept = ARENA_ARRAY(scratch, struct contender, MOST_KEPT)};
    size_t wanted = request->top < 1                  ? 1
                    : request->top > SEARCH_MAX_PLANS ? SEARCH_MAX_PLANS
                                                      : request->top;
    *out = (struct search_result){0};
    s.c.knobs.layout = 0;
    s.ladder_gain = ladder_gain(&s);
    add_spaces(&s);
    out->layouts = s.spots.n;
    s.hopeless = ARENA_ARRAY(scratch, int, s.n_families + AXIS_MAX_PP + 1);
    sort_items(s.spots.items, s.spots.n, sizeof *s.spots.items, spot_cmp);
    visit_all(&s);
    choose(&s, wanted);
    arena_pop(scratch, mark);
}
