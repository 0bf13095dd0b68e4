/* SPDX-License-Identifier: Apache-2.0 */
/* 1. Every layout and batch is a spot with a lower bound of its score: the shortest schedule of its
      layers' times, nothing recomputed, the best dispatcher, nothing exposed but what a layer
   itself exposes.
   2. Spots are visited in the order of their bounds until the bound exceeds the worst plan kept;
   each takes the first step of the recomputation ladder that fits into memory, if the rules let it.
   3. The plans kept are refined by switches that only change time, checked by the rules, and
   ranked. */
#include "choose/search.h"

#include <math.h>

#include "base/sort.h"
#include "base/vec.h"
#include "choose/space.h"
#include "cost/time.h"
#include "facts/param_ids.h"

enum { MOST_KEPT = 32 };

/* A layout and batch that the arithmetic allows. */
struct spot {
    double bound;    /* of the score, seconds */
    uint32_t number; /* in the order of enumeration: ties keep it */
    uint32_t
        group; /* of spots that share tp, cp, etp, ep and mbs, and with them their layers' times */
    uint32_t family; /* of spots that share tp, cp, etp, ep, pp and sharding, and with them their
                        weights */
    int tp, cp, pp, vpp, ep, etp, mbs;
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
    struct config c;      /* the configuration being looked at: the base with changing knobs */
    struct layout layout; /* its pipeline split */
    struct recompute_ladder ladder;
    double ladder_gain; /* by which a step of the ladder may shorten the first's score: a guide may
                           wish for recomputation; at most 1 */
    VEC(struct spot) spots;
    VEC(struct group_rates) groups;
    uint32_t n_families;
    int *hopeless; /* [n_families]: micro-batch from which even full recomputation cannot fit; 0:
                      none known */
    struct contender *kept; /* best first, one a layout */
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

/* The order of plans with equal scores; every searched size takes part, so that it is total. */
static int64_t knobs_cmp(const struct knobs *a, const struct knobs *b)
{
    const int64_t differences[] = {(int64_t)a->tp * a->pp * a->cp - (int64_t)b->tp * b->pp * b->cp,
                                   a->tp - b->tp,
                                   a->cp - b->cp,
                                   a->pp - b->pp,
                                   a->ep - b->ep,
                                   a->etp - b->etp,
                                   a->vpp - b->vpp,
                                   a->mbs - b->mbs,
                                   a->recompute - b->recompute,
                                   (int64_t)a->recompute_modules - (int64_t)b->recompute_modules,
                                   a->dispatcher - b->dispatcher,
                                   a->graph_impl - b->graph_impl,
                                   a->overlap_ep - b->overlap_ep,
                                   a->fsdp - b->fsdp};
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (differences[i]) return differences[i];
    return 0;
}

/* Smaller score, then fewer model-parallel ranks, then the knobs in order. */
static bool before(const struct contender *a, const struct contender *b)
{
    if (a->score != b->score) return a->score < b->score;
    return knobs_cmp(&a->knobs, &b->knobs) < 0;
}

static bool same_layout(const struct knobs *a, const struct knobs *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep &&
           a->etp == b->etp && a->fsdp == b->fsdp;
}

/* What switches are tried on: a smaller micro-batch may have room for what a larger one has not. */
static bool same_batches(const struct knobs *a, const struct knobs *b)
{
    return same_layout(a, b) && a->mbs == b->mbs;
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
static void set_tp(struct search *s, int tp)
{
    bool pinned = space_is_pinned(s->request, P_sequence_parallel);
    s->c.knobs.tp = tp;
    s->c.knobs.sequence_parallel = tp > 1 && (!pinned || s->request->base->knobs.sequence_parallel);
}

/* The smallest rates over the dispatchers that the knobs may have. Rates depend on neither pp nor
 * vpp. */
static struct time_rates best_rates(struct search *s)
{
    struct time_rates best = {0}, rates;
    struct axis dispatchers = space_dispatcher(s->request, &s->c.knobs);
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

static void add_spot(struct search *s, const struct time_rates *rates)
{
    const struct knobs *k = &s->c.knobs;
    guard_tick(arena_guard(s->arena));
    if (!config_plan_layout(&s->c, &s->layout)) return;
    struct spot *spot = VEC_PUSH(s->arena, &s->spots);
    *spot = (struct spot){.bound = bound_of(s, rates) * s->ladder_gain,
                          .number = (uint32_t)s->spots.n,
                          .group = (uint32_t)s->groups.n - 1,
                          .family = s->n_families +
                                    (uint32_t)(k->pp < SPACE_MAX_PP ? k->pp : SPACE_MAX_PP),
                          .tp = k->tp,
                          .cp = k->cp,
                          .pp = k->pp,
                          .vpp = k->vpp,
                          .ep = k->ep,
                          .etp = k->etp,
                          .mbs = k->mbs,
                          .fsdp = k->fsdp};
}

/* Pipelines for one choice of tp, cp, etp, ep and mbs. Interleaving wants microbatches in groups of
 * pp. */
static void add_pipelines(struct search *s, const struct time_rates *rates)
{
    struct knobs *k = &s->c.knobs;
    struct axis pp = space_pp(s->request, k);
    for (int i = 0; i < pp.n; i++) {
        k->pp = pp.values[i];
        if (!knobs_divide(k)) continue;
        struct axis vpp = space_vpp(s->request, k);
        for (int j = 0; j < vpp.n; j++) {
            k->vpp = vpp.values[j];
            if (k->vpp == 1 || knobs_microbatches(k) % k->pp == 0) add_spot(s, rates);
        }
        k->vpp = 1;
    }
    k->pp = 1;
}

static void add_batches(struct search *s)
{
    struct axis mbs = space_mbs(s->request);
    s->n_families += SPACE_MAX_PP + 1;
    for (int i = 0; i < mbs.n; i++) {
        s->c.knobs.mbs = mbs.values[i];
        space_set_recompute(&s->c.knobs, &s->ladder.steps[0]);
        *VEC_PUSH(s->arena, &s->groups) = (struct group_rates){0};
        struct time_rates rates = *group_rates(s, (uint32_t)s->groups.n - 1, 0);
        add_pipelines(s, &rates);
    }
}

static void add_experts(struct search *s)
{
    struct knobs *k = &s->c.knobs;
    struct axis etp = space_etp(s->request, k);
    for (int i = 0; i < etp.n; i++) {
        k->etp = etp.values[i];
        struct axis ep = space_ep(s->request, k);
        for (int j = 0; j < ep.n; j++) {
            k->ep = ep.values[j];
            add_batches(s);
        }
        k->ep = 1;
    }
    k->etp = 1;
}

/* One space: sharded data parallelism or 3D parallelism. */
static void add_space(struct search *s, enum fsdp fsdp)
{
    struct knobs *k = &s->c.knobs;
    k->fsdp = (uint8_t)fsdp;
    k->tp = k->cp = k->pp = k->vpp = k->ep = k->etp = 1;
    struct axis tp = space_tp(s->request, k);
    for (int t = 0; t < tp.n; t++) {
        set_tp(s, tp.values[t]);
        struct axis cp = space_cp(s->request, k);
        for (int c = 0; c < cp.n; c++) {
            k->cp = cp.values[c];
            add_experts(s);
        }
        k->cp = 1;
    }
}

static void add_spaces(struct search *s)
{
    const struct config *base = s->request->base;
    bool pinned = space_is_pinned(s->request, P_use_megatron_fsdp),
         sharded = base->knobs.fsdp != FSDP_NONE;
    if (base->framework == FRAMEWORK_AUTOMODEL) {
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
    set_tp(s, spot->tp);
    k->cp = spot->cp;
    k->pp = spot->pp;
    k->vpp = spot->vpp;
    k->ep = spot->ep;
    k->etp = spot->etp;
    k->mbs = spot->mbs;
    k->fsdp = spot->fsdp;
    struct axis dispatchers = space_dispatcher(s->request, k); /* the last keeps most memory */
    k->dispatcher = (uint8_t)dispatchers.values[dispatchers.n - 1];
    config_plan_layout(&s->c, &s->layout);
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
    struct axis dispatchers = space_dispatcher(s->request, &s->c.knobs);
    s->out->feasible++;
    for (int i = 0; i < dispatchers.n; i++) {
        s->c.knobs.dispatcher = (uint8_t)dispatchers.values[i];
        o->knobs = s->c.knobs;
        if (!time_estimate(&s->c, &time, NULL)) continue;
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
    if (!memory_estimate(&s->c, &memory, NULL)) return false;
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
    if (*hopeless && spot->mbs >= *hopeless) return false;
    if (step_fits(s, s->ladder.n - 1, &o)) return true;
    bool full = s->ladder.steps[s->ladder.n - 1].recompute == RECOMPUTE_FULL;
    if (full && o.fits == FITS_NO) *hopeless = spot->mbs;
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

/* Changes one switch of a plan and keeps the change when the score gains by it. */
static bool try_switch(struct search *s, struct contender *o, void (*change)(struct knobs *))
{
    s->c.knobs = o->knobs;
    change(&s->c.knobs);
    struct contender changed;
    if (!config_plan_layout(&s->c, &s->layout) || !contender_estimate(&s->c, &changed))
        return false;
    changed.score = changed.step_s * factor(s, &changed.knobs);
    if (!good_enough(s, &changed) || changed.score >= o->score || rejected(s)) return false;
    *o = changed;
    return true;
}

static void graphs_on(struct knobs *k)
{
    k->graph_impl = GRAPH_TE;
    k->graph_scope = SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS;
}

static void graphs_wider(struct knobs *k)
{
    k->graph_impl = GRAPH_TE;
    k->graph_scope = SCOPE_ATTN | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS;
}

static void ep_overlap_on(struct knobs *k)
{
    k->overlap_ep = true;
    k->shared_expert_overlap = false;
}

/* The switches that only change time: guides make them candidates, so each has to earn its place;
   the rules say with what they go together. */
static void refine(struct search *s, struct contender *o)
{
    const struct config *c = s->request->base;
    if (c->framework == FRAMEWORK_AUTOMODEL || !c->model.experts) return;
    bool graphs = !space_is_pinned(s->request, P_cuda_graph_impl) &&
                  !space_is_pinned(s->request, P_cuda_graph_scope);
    if (graphs && try_switch(s, o, graphs_on)) try_switch(s, o, graphs_wider);
    if (o->knobs.ep > 1 && !space_is_pinned(s->request, P_overlap_moe_expert_parallel_comm))
        try_switch(s, o, ep_overlap_on);
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
    s.hopeless = ARENA_ARRAY(scratch, int, s.n_families + SPACE_MAX_PP + 1);
    sort_items(s.spots.items, s.spots.n, sizeof *s.spots.items, spot_cmp);
    visit_all(&s);
    choose(&s, wanted);
    arena_pop(scratch, mark);
}
