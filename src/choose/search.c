/* SPDX-License-Identifier: Apache-2.0 */
/* 1. Every layout and batch but for its virtual stages is a spot with a lower bound of its step
      time: the shortest schedule of its layers' times with nothing recomputed, the best dispatcher,
      no work for the host and all that can be hidden hidden.
   2. Spots are visited in the order of their bounds until none can change what is kept. A visit
      tries every number of virtual stages, every combination of switches and, of these, what has to
      be recomputed or offloaded to fit, each first by its own bound, then by its memory, its time
      and the rules. What is cheaper in time and not refused makes what only adds to it needless. */
#include "choose/search.h"

#include <math.h>

#include "base/sort.h"
#include "base/vec.h"
#include "choose/finalists.h"
#include "choose/space.h"
#include "cost/time.h"
#include "facts/param_ids.h"
#include "plan/framework.h"

/* The axes, outermost first: what an axis's values depend on stands before it. Layers' times depend
   on none of those after the micro-batch, weights not on the micro-batch. */
static const enum decision_id axes[] = {DECISION_TP, DECISION_CP,  DECISION_ETP,
                                        DECISION_EP, DECISION_MBS, DECISION_PP};
enum { AXES = sizeof axes / sizeof *axes };

/* The parts of a plan in which it is decided, and its wishes counted. */
enum part { PART_SPOT, PART_STAGES, PART_VARIANT, PART_STATE, PARTS };

/* A layout and batch that the arithmetic allows. */
struct spot {
    double bound;           /* of the step time, seconds, with any number of virtual stages */
    double wish;            /* prefer_sum of the layout */
    uint32_t number;        /* in the order of enumeration: ties keep it */
    uint32_t group, family; /* family: of spots that share all but the micro-batch */
    int pp;
};

/* One combination of a group's switches but recomputation and offload. */
struct variant {
    struct knobs knobs;
    double wish;    /* of PART_VARIANT */
    double seconds; /* of one microbatch without a pipeline, at its first state */
    struct states recompute, offload;
    struct time_rates *rates[SPACE_MAX_STATES]; /* at each state of recomputation; NULL: not yet */
};

/* Spots that share all but pp, and with it their layers' times. */
struct group {
    struct knobs knobs;      /* as in the base, with the group's sizes */
    struct time_rates least; /* no switch gives less */
    struct variant *variants;
    size_t n_variants; /* 0: not worked out yet */
};

/* What needs the least memory where these moves are possible. */
struct lean {
    unsigned given; /* bits of move_need */
    const struct move *states[DECISIONS];
};

struct search {
    const struct search_request *request;
    struct search_result *out;
    struct arena *arena;
    struct config c;      /* the configuration being looked at: the base with changing knobs */
    struct layout layout; /* its pipeline split */
    bool *wishes[PARTS];  /* [n_preferences]: which preferences are about this part of a plan */
    VEC(struct spot) spots;
    VEC(struct group) groups;
    int kind_counts[MODEL_MAX_KINDS]; /* layers of each kind */
    size_t layouts;
    uint32_t n_families;
    int *hopeless;       /* [n_families]: micro-batch from which nothing can fit; 0: none known */
    struct group *group; /* of the spot being looked at */
    VEC(struct lean) lean;
    struct finalists finalists;
    /* Modules that the present spot and virtual stages have, or have not, room to keep. */
    int n_roomy, n_cramped;
    uint32_t roomy[SPACE_MAX_STATES], cramped[SPACE_MAX_STATES];
    struct time_layers layers;          /* of the state being tried */
    const struct time_rates *layers_of; /* whose rates these are; NULL: nobody's */
    double wish;                        /* of all parts of the present plan but PART_STATE */
    bool tight, two_kinds;
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

static double wish_of(const struct search *s, enum part part)
{
    const struct search_request *r = s->request;
    return prefer_sum(r->preferences, r->n_preferences, s->wishes[part], &s->c.knobs);
}

/* ---- 1. spots and their bounds ---- */

/* Sequence parallelism goes with tensor parallelism unless the user decides. */
static void follow_tp(struct search *s)
{
    bool pinned = space_is_pinned(s->request, P_sequence_parallel);
    struct knobs *k = &s->c.knobs;
    k->sequence_parallel = k->tp > 1 && (!pinned || s->request->base->knobs.sequence_parallel);
}

static void rates_of(struct search *s, struct time_rates *out)
{
    struct time_layers layers;
    time_layers_init(&s->c, &layers);
    time_rates_of(&layers, &s->c, out);
}

static void take_least(struct time_rates *least, const struct time_rates *one)
{
    const double *from = (const double *)one;
    double *to = (double *)least;
    for (size_t i = 0; i < sizeof *one / sizeof(double); i++)
        to[i] = fmin(to[i], from[i]);
}

/* What no combination of switches undercuts: of each dispatcher the rates with nothing recomputed,
   the whole iteration captured and everything overlapped, whether that goes together or not. */
static struct time_rates least_rates(struct search *s)
{
    struct knobs *k = &s->c.knobs, saved = *k;
    struct time_rates least, one;
    struct states dispatchers = space_states(s->request, &decisions[DECISION_DISPATCHER], &s->c);
    for (int i = 0; i < dispatchers.n; i++) {
        *k = saved;
        space_set(dispatchers.items[i], &s->c);
        k->recompute = RECOMPUTE_NONE;
        k->graph_impl = GRAPH_FULL_ITERATION;
        k->overlap_ep = k->tp_comm_overlap = true;
        k->grad_bytes = k->grad_bytes < 2 ? k->grad_bytes : 2;
        rates_of(s, &one);
        if (i == 0) least = one;
        take_least(&least, &one);
    }
    *k = saved;
    return least;
}

/* Seconds from the first forward to the last backward that no division of the layers over the
   chunks can undercut. On rank r, T >= n load(r) + W(r): it does its chunks of every microbatch and
   waits for one to pass the chunks before its first. Added up over the ranks, whose loads are all
   that is to be done, this bounds T; without virtual stages W(r) is what the ranks before r do. A
   rank has whole layers besides. */
static double shortest_schedule(const struct search *s, const struct time_rates *rates)
{
    const struct model_shape *m = &s->c.model;
    const struct knobs *k = &s->c.knobs;
    double n = (double)knobs_microbatches(k), p = k->pp, least = INFINITY;
    double all = rates->embedding + rates->head + m->mtp_layers * rates->mtp;
    for (int i = 0; i < m->n_kinds; i++) {
        all += s->kind_counts[i] * rates->kinds[i];
        least = fmin(least, rates->kinds[i]);
    }
    if (k->pp == 1) return n * all;
    double whole = ceil(m->num_layers / p) * n * least;
    double waits = (p - 1) * (p - 2) / (2 * p) * least; /* chunks between the ends have a layer */
    double even = k->vpp == 1 ? all / (1 - pow(1 - 1 / n, p)) : n * all / p + waits;
    return fmax(whole, even);
}

static double bound_of(const struct search *s, const struct time_rates *rates)
{
    return rates->slow * shortest_schedule(s, rates) + rates->fixed;
}

/* The same of the present division of the layers. */
static double bound_of_layout(const struct search *s, const struct time_rates *rates)
{
    const struct layout *l = &s->layout;
    double ranks[LAYOUT_MAX_CHUNKS], waits[LAYOUT_MAX_CHUNKS], before = 0, longest = 0;
    double n = (double)knobs_microbatches(&s->c.knobs);
    int layer = 0, pp = s->c.knobs.pp;
    for (int r = 0; r < pp; r++) /* only what is used: this runs for tens of thousands */
        ranks[r] = waits[r] = 0;
    for (int i = 0; i < l->n_chunks; i++) {
        double chunk = rates->mtp * l->mtp[i] + (l->embedding[i] ? rates->embedding : 0) +
                       (l->loss[i] ? rates->head : 0);
        for (int k = 0; k < l->decoders[i]; k++)
            chunk += rates->kinds[s->c.model.layers[layer++]];
        if (i < pp) waits[i] = before;
        before += chunk;
        ranks[i % pp] += chunk;
    }
    for (int r = 0; r < pp; r++)
        longest = fmax(longest, n * ranks[r] + waits[r]);
    return rates->slow * longest + rates->fixed;
}

/* Where the present layout may have virtual stages: interleaving wants microbatches in groups of
 * pp. */
static struct axis virtual_stages(const struct search *s)
{
    struct axis all = space_values(s->request, &decisions[DECISION_VPP], &s->c.knobs), x = {0};
    for (int i = 0; i < all.n; i++)
        if (all.values[i] == 1 || knobs_microbatches(&s->c.knobs) % s->c.knobs.pp == 0)
            x.values[x.n++] = all.values[i];
    return x;
}

static void add_spot(struct search *s)
{
    struct knobs *k = &s->c.knobs;
    guard_tick(arena_guard(s->arena));
    const struct group *group = &s->groups.items[s->groups.n - 1];
    struct axis vpp = virtual_stages(s);
    double bound = INFINITY;
    s->layouts += (size_t)vpp.n;
    for (int i = 0; i < vpp.n && i < 2; i++) { /* all virtual ones have the same bound */
        k->vpp = vpp.values[i];
        bound = fmin(bound, bound_of(s, &group->least));
    }
    k->vpp = 1;
    if (vpp.n == 0) return;
    *VEC_PUSH(s->arena, &s->spots) = (struct spot){
        .bound = bound,
        .wish = wish_of(s, PART_SPOT),
        .number = (uint32_t)s->spots.n,
        .group = (uint32_t)s->groups.n - 1,
        .family = s->n_families + (uint32_t)(k->pp < AXIS_MAX_PP ? k->pp : AXIS_MAX_PP),
        .pp = k->pp};
}

/* What is noted where an axis begins, those before it set. */
static void begin_axis(struct search *s, enum decision_id axis)
{
    if (axis == DECISION_MBS) s->n_families += AXIS_MAX_PP + 1;
    if (axis != DECISION_PP) return;
    follow_tp(s);
    struct group *group = VEC_PUSH(s->arena, &s->groups);
    *group = (struct group){.knobs = s->c.knobs, .least = least_rates(s)};
}

/* All values of this axis with all of those after it. */
static void walk(struct search *s, int axis)
{
    struct knobs *k = &s->c.knobs;
    if (axis == AXES) {
        if (knobs_divide(k)) add_spot(s);
        return;
    }
    const struct decision *d = &decisions[axes[axis]];
    int *size = decision_size(d, k);
    begin_axis(s, axes[axis]);
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
    k->vpp = 1;
    for (int i = 0; i < AXES; i++)
        *decision_size(&decisions[axes[i]], k) = 1;
    walk(s, 0);
}

static bool add_spaces(struct search *s)
{
    const struct config *base = s->request->base;
    bool pinned = space_is_pinned(s->request, P_use_megatron_fsdp),
         sharded = base->knobs.fsdp != FSDP_NONE;
    if (!config_traits(base)->chooses_fsdp) {
        add_space(s, (enum fsdp)base->knobs.fsdp);
        return false;
    }
    if (!pinned || !sharded) add_space(s, FSDP_NONE);
    bool alone = base->knobs.gpus == 1; /* one GPU has nobody to share with */
    if (pinned ? sharded : !alone) add_space(s, FSDP_OPTIM_GRADS_PARAMS);
    return !pinned && !alone;
}

static int spot_cmp(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    if (a->bound != b->bound) return a->bound < b->bound ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* ---- 2. visiting ---- */

/* Whether a plan of the present layout that takes at least `step_s` would change anything. */
static bool matters(const struct search *s, double step_s, double wish)
{
    return s->request->exhaustive ||
           finalists_want(&s->finalists, &s->c.knobs, step_s * prefer_factor(wish), step_s);
}

static bool is_inner(const struct decision *d)
{
    return d == &decisions[DECISION_RECOMPUTE] || d == &decisions[DECISION_OFFLOAD];
}

static bool fits(const struct search *s, const struct contender *o)
{
    bool may = s->tight && o->fits == FITS_TIGHT && o->peak <= s->c.machine.capacity_bytes;
    return o->fits == FITS_YES || may;
}

/* Whether the present knobs, their layout planned, fit; *o gets them and their memory. */
static bool has_room(struct search *s, struct contender *o)
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
    s->out->feasible += fits(s, o);
    return fits(s, o);
}

/* Keeps the plan, whose layers are s->layers, if it is worth it and the rules let it. Asked only of
   what would be kept, as rules cost more than figures. False: they refuse it. */
static bool offer(struct search *s, struct contender *o)
{
    struct time_estimate time;
    if (!time_estimate_layers(&s->layers, &s->c, &time, NULL)) return true;
    fill_time(o, &time);
    o->score = time.step * prefer_factor(s->wish + wish_of(s, PART_STATE));
    if (!finalists_want(&s->finalists, &o->knobs, o->score, o->step_s)) return true;
    const char *why = s->request->reject ? s->request->reject(s->request->context, &s->c) : NULL;
    if (why) {
        s->out->rejected++;
        s->out->last_rejection = why;
        return false;
    }
    finalists_add(&s->finalists, o);
    return true;
}

static void plan_layout(struct search *s)
{
    config_plan_layout(&s->c, &s->layout);
}

/* ---- what a switch recomputes ---- */

/* Modules; all bits for whole layers. */
static uint32_t repeated(const struct knobs *k)
{
    return k->recompute == RECOMPUTE_FULL        ? UINT32_MAX
           : k->recompute == RECOMPUTE_SELECTIVE ? k->recompute_modules
                                                 : 0;
}

static bool is_part(uint32_t some, uint32_t of)
{
    return (some & ~of) == 0;
}

/* ---- one combination of switches ---- */

/* The variant on the present spot, at one of its states of recomputation. */
static void set_variant(struct search *s, const struct variant *v, int recompute)
{
    struct knobs *k = &s->c.knobs;
    int pp = k->pp, vpp = k->vpp;
    *k = v->knobs;
    k->pp = pp;
    k->vpp = vpp;
    space_set(v->recompute.items[recompute], &s->c);
}

/* The layers of the present knobs, in s->layers, and their rates; the group's, for any pp. */
static const struct time_rates *variant_rates(struct search *s, struct variant *v, int recompute)
{
    struct time_rates **rates = &v->rates[recompute];
    if (*rates) return *rates;
    struct knobs present = s->c.knobs;
    s->c.knobs.pp = s->c.knobs.vpp = 1;
    *rates = ARENA_NEW(s->arena, struct time_rates);
    time_layers_init(&s->c, &s->layers);
    time_rates_of(&s->layers, &s->c, *rates);
    s->layers_of = *rates;
    s->c.knobs = present;
    return *rates;
}

/* The fastest first: what comes after then is bounded away. */
static int variant_cmp(const void *left, const void *right)
{
    const struct variant *a = left, *b = right;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? -1 : 1) : 0;
}

typedef VEC(struct variant) variants;

/* Every combination of the switches from `d` on. */
static void add_variants(struct search *s, const struct decision *d, variants *all)
{
    while (d < decisions + DECISIONS && (is_inner(d) || !space_is_switch(d)))
        d++;
    if (d == decisions + DECISIONS) {
        struct variant *v = VEC_PUSH(s->arena, all);
        *v = (struct variant){.knobs = s->c.knobs, .wish = wish_of(s, PART_VARIANT)};
        v->recompute = space_states(s->request, &decisions[DECISION_RECOMPUTE], &s->c);
        v->offload = space_states(s->request, &decisions[DECISION_OFFLOAD], &s->c);
        return;
    }
    struct states x = space_states(s->request, d, &s->c);
    struct knobs saved = s->c.knobs;
    for (int i = 0; i < x.n; i++) {
        space_set(x.items[i], &s->c);
        add_variants(s, d + 1, all);
        s->c.knobs = saved;
    }
}

static void expand(struct search *s, struct group *g)
{
    variants all = {0};
    struct knobs saved = s->c.knobs;
    s->c.knobs = g->knobs;
    add_variants(s, decisions, &all);
    for (size_t i = 0; i < all.n; i++) {
        s->c.knobs = all.items[i].knobs;
        all.items[i].seconds = shortest_schedule(s, variant_rates(s, &all.items[i], 0));
    }
    sort_items(all.items, all.n, sizeof *all.items, variant_cmp);
    g->variants = all.items;
    g->n_variants = all.n;
    s->c.knobs = saved;
}

/* ---- the leanest ---- */

/* The state of every switch that needs the least memory on the present spot, found one by one. */
static void find_lean(struct search *s, struct lean *lean)
{
    struct contender o, least;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++) {
        if (!space_is_switch(d)) continue;
        struct states x = space_states(s->request, d, &s->c);
        struct knobs best = s->c.knobs, before = best;
        has_room(s, &least);
        for (int i = 1; i < x.n; i++) {
            s->c.knobs = before;
            space_set(x.items[i], &s->c);
            has_room(s, &o);
            if (!(o.peak < least.peak)) continue;
            least = o;
            best = s->c.knobs;
            lean->states[d - decisions] = x.items[i];
        }
        s->c.knobs = best;
    }
}

/* Found anew wherever other moves are possible. */
static const struct lean *lean_of(struct search *s)
{
    unsigned given = move_given(&s->c);
    for (size_t i = 0; i < s->lean.n; i++)
        if (s->lean.items[i].given == given) return &s->lean.items[i];
    struct knobs present = s->c.knobs;
    struct lean *lean = VEC_PUSH(s->arena, &s->lean);
    *lean = (struct lean){.given = given};
    find_lean(s, lean);
    s->c.knobs = present;
    return lean;
}

/* Sets every switch of the present spot so that it needs the least memory, but recomputation to
   `recompute` unless that is NULL. */
static void set_lean(struct search *s, const struct move *const *recompute)
{
    struct knobs *k = &s->c.knobs;
    int pp = k->pp, vpp = k->vpp, layout = k->layout;
    *k = s->group->knobs;
    k->pp = pp;
    k->vpp = vpp;
    k->layout = layout;
    const struct lean *lean = lean_of(s);
    for (int i = 0; i < DECISIONS; i++)
        space_set(i == DECISION_RECOMPUTE && recompute ? *recompute : lean->states[i], &s->c);
}

/* Whether the present recomputation has no room on the present spot whatever the other switches:
   asked once for all variants. */
static bool is_cramped(struct search *s, const struct move *recompute)
{
    struct contender o;
    uint32_t modules = repeated(&s->c.knobs);
    if (s->request->exhaustive) return false;
    for (int i = 0; i < s->n_roomy; i++)
        if (is_part(s->roomy[i], modules)) return false;
    struct knobs present = s->c.knobs;
    set_lean(s, &recompute);
    bool room = has_room(s, &o);
    s->c.knobs = present;
    if (room)
        s->roomy[s->n_roomy++] = modules;
    else
        s->cramped[s->n_cramped++] = modules;
    return !room;
}

enum outcome_of_state { STATE_SLOW, STATE_NO_ROOM, STATE_REFUSED, STATE_DONE };

/* Tries a state of recomputation with as little offload as it needs. */
static enum outcome_of_state try_state(struct search *s, struct variant *v, int recompute)
{
    struct contender o;
    const struct time_rates *rates = variant_rates(s, v, recompute);
    double wish = s->wish + wish_of(s, PART_STATE);
    if (!matters(s, bound_of(s, rates), wish)) return STATE_SLOW;
    plan_layout(s);
    if (!matters(s, bound_of_layout(s, rates), wish)) return STATE_SLOW;
    if (is_cramped(s, v->recompute.items[recompute])) return STATE_NO_ROOM;
    if (s->layers_of != rates) time_layers_init(&s->c, &s->layers);
    s->layers_of = rates;
    enum outcome_of_state outcome = STATE_NO_ROOM;
    struct knobs on_gpu = s->c.knobs;
    for (int i = 0; i < v->offload.n; i++) {
        s->c.knobs = on_gpu;
        space_set(v->offload.items[i], &s->c);
        if (!has_room(s, &o)) continue;
        if (i > 0) time_layers_init(&s->c, &s->layers);
        if (i > 0) s->layers_of = NULL;
        outcome = offer(s, &o) ? STATE_DONE : STATE_REFUSED;
        if (outcome == STATE_DONE && !s->request->exhaustive) break;
    }
    return outcome;
}

/* The states of one variant that were tried. */
struct tried {
    int n_done, n_full;
    uint32_t done[SPACE_MAX_STATES], full[SPACE_MAX_STATES];
    double wish[SPACE_MAX_STATES]; /* of those done */
};

/* Whether what is known of other states decides one: one that recomputes part of it was good
   enough, or one that recomputes all of it and more has no room. */
static bool is_needless(const struct search *s, const struct tried *t, uint32_t modules,
                        double wish)
{
    for (int i = 0; i < s->n_cramped; i++)
        if (is_part(modules, s->cramped[i])) return true;
    for (int i = 0; i < t->n_done; i++)
        if (is_part(t->done[i], modules) && t->wish[i] <= wish) return true;
    for (int i = 0; i < t->n_full; i++)
        if (is_part(modules, t->full[i])) return true;
    return false;
}

/* Tries one state and notes what that says about others; false when none other is fast enough. */
static bool note_state(struct search *s, struct variant *v, int recompute, struct tried *t)
{
    set_variant(s, v, recompute);
    uint32_t modules = repeated(&s->c.knobs);
    double wish = wish_of(s, PART_STATE);
    if (!s->request->exhaustive && is_needless(s, t, modules, wish)) return true;
    enum outcome_of_state outcome = try_state(s, v, recompute);
    if (outcome == STATE_DONE) {
        t->done[t->n_done] = modules;
        t->wish[t->n_done++] = wish;
    }
    if (outcome == STATE_NO_ROOM) t->full[t->n_full++] = modules;
    return modules != 0 || outcome != STATE_SLOW;
}

/* Where nothing recomputed is too slow, all is; where it has no room, whole layers say whether
   anything has. */
static void visit_variant(struct search *s, struct variant *v)
{
    struct tried t = {.n_done = 0};
    int n = v->recompute.n;
    if (!note_state(s, v, 0, &t) && !s->request->exhaustive) return;
    if (t.n_full && n > 2) note_state(s, v, n - 1, &t);
    for (int i = 1; i < n; i++)
        note_state(s, v, i, &t);
}

/* ---- one spot ---- */

/* Where even the low end of the leanest plan's estimate is too much, so is all else with as large a
   micro-batch. Virtual stages only move activations, of which it keeps next to nothing. */
static bool is_hopeless(struct search *s, const struct spot *spot)
{
    struct contender o;
    struct knobs present = s->c.knobs;
    int *hopeless = &s->hopeless[spot->family], mbs = present.mbs;
    if (s->request->exhaustive) return false;
    if (*hopeless && mbs >= *hopeless) return true;
    plan_layout(s);
    set_lean(s, NULL);
    bool room = has_room(s, &o);
    s->c.knobs = present;
    if (!room && o.fits == FITS_NO) *hopeless = mbs;
    return *hopeless > 0 && mbs >= *hopeless;
}

static void set_spot(struct search *s, const struct spot *spot, int vpp)
{
    s->group = &s->groups.items[spot->group];
    s->c.knobs = s->group->knobs;
    s->c.knobs.pp = spot->pp;
    s->c.knobs.vpp = vpp;
}

static void visit_stages(struct search *s, const struct spot *spot)
{
    struct group *g = s->group;
    double wish = spot->wish + wish_of(s, PART_STAGES);
    if (!matters(s, bound_of(s, &g->least), wish)) return;
    int vpp = s->c.knobs.vpp;
    if (g->n_variants == 0) expand(s, g);
    s->out->visited++;
    s->n_roomy = s->n_cramped = 0;
    for (size_t v = 0; v < g->n_variants; v++) {
        s->wish = wish + g->variants[v].wish;
        set_spot(s, spot, vpp);
        visit_variant(s, &g->variants[v]);
    }
}

/* With most virtual stages first, which have the shortest ramps. */
static void visit(struct search *s, const struct spot *spot)
{
    guard_tick(arena_guard(s->arena));
    set_spot(s, spot, 1);
    if (!matters(s, spot->bound, spot->wish)) return;
    struct axis vpp = virtual_stages(s);
    s->c.knobs.vpp = vpp.values[0];
    if (is_hopeless(s, spot)) return;
    for (int i = vpp.n - 1; i >= 0; i--) {
        set_spot(s, spot, vpp.values[i]);
        visit_stages(s, spot);
    }
}

/* Plans that are known from elsewhere. */
static void visit_known(struct search *s)
{
    struct contender o;
    for (size_t i = 0; i < s->request->n_known; i++) {
        s->c.knobs = s->request->known[i];
        s->wish = wish_of(s, PART_SPOT) + wish_of(s, PART_STAGES) + wish_of(s, PART_VARIANT);
        time_layers_init(&s->c, &s->layers);
        s->layers_of = NULL;
        plan_layout(s);
        if (knobs_divide(&s->c.knobs) && has_room(s, &o)) offer(s, &o);
    }
}

/* ---- the whole ---- */

static enum part part_of(const struct knob *knob)
{
    for (int axis = 0; axis < AXES; axis++)
        if (decisions[axes[axis]].size == knob->offset) return PART_SPOT;
    if (knob->kind == KNOB_SHARDED) return PART_SPOT;
    if (knob->offset == decisions[DECISION_VPP].size) return PART_STAGES;
    for (int i = 0; i < DECISIONS; i++)
        for (const int *p = decisions[i].params; is_inner(&decisions[i]) && *p != P_NONE; p++)
            if (knob == knob_of(*p)) return PART_STATE;
    return PART_VARIANT;
}

static void part_wishes(struct search *s)
{
    const struct search_request *r = s->request;
    for (int part = 0; part < PARTS; part++)
        s->wishes[part] = ARENA_ARRAY(s->arena, bool, r->n_preferences);
    for (size_t i = 0; i < r->n_preferences; i++)
        s->wishes[part_of(r->preferences[i].knob)][i] = true;
}

struct search *search_new(struct arena *a, const struct search_request *request)
{
    struct search *s = ARENA_NEW(a, struct search);
    const struct model_shape *m = &request->base->model;
    *s = (struct search){.request = request, .arena = a, .c = *request->base};
    s->c.knobs.layout = 0;
    for (int i = 0; i < m->num_layers; i++)
        s->kind_counts[m->layers[i]]++;
    part_wishes(s);
    s->two_kinds = add_spaces(s);
    s->hopeless = ARENA_ARRAY(a, int, s->n_families + AXIS_MAX_PP + 1);
    sort_items(s->spots.items, s->spots.n, sizeof *s->spots.items, spot_cmp);
    return s;
}

void search_within(struct search *s, double capacity_bytes, bool tight, struct search_result *out)
{
    size_t top = s->request->top, most = top < 1 ? 1 : top;
    s->out = out;
    s->tight = tight;
    s->c.machine.capacity_bytes = capacity_bytes;
    *out = (struct search_result){.layouts = s->layouts};
    memset(s->hopeless, 0, (s->n_families + AXIS_MAX_PP + 1) * sizeof *s->hopeless);
    finalists_start(&s->finalists, most < SEARCH_MAX_PLANS ? most : SEARCH_MAX_PLANS, s->two_kinds);
    visit_known(s);
    for (size_t i = 0; i < s->spots.n; i++)
        visit(s, &s->spots.items[i]);
    out->n = finalists_take(&s->finalists, out->plans);
}

void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out)
{
    struct arena_mark mark = arena_mark(scratch);
    search_within(search_new(scratch, request), request->base->machine.capacity_bytes, false, out);
    arena_pop(scratch, mark);
}
