/* SPDX-License-Identifier: Apache-2.0 */
/* Spots, layouts with their micro-batches, are visited in the order of lower bounds of their step
   times. A visit tries every number of virtual stages and every combination of switches, each
   first by a bound, then by its memory, its time and the rules, which are asked of what would be
   kept alone. Switches are taken in three parts:
   - what makes room: states of recomputation, and offload where none of these does (the guides'
     order, S1.4). Whether one has room whatever the other switches is asked once, of the leanest
   plan with it; one that is good enough makes those that recompute more needless;
   - variants, which change the layers' times: dispatcher, graphs, overlap;
   - sides, beside the layers: formats of gradients, moments and gathered parameters, replicas. */
#include "choose/search.h"

#include <math.h>

#include "base/sort.h"
#include "choose/finalists.h"
#include "choose/kinds.h"
#include "choose/spots.h"
#include "cost/memory.h"
#include "cost/sharding.h"
#include "cost/split.h"
#include "facts/param_ids.h"

/* The parts of a plan in which it is decided, and its wishes counted. */
enum part { PART_SPOT, PART_STAGES, PART_VARIANT, PART_STATE, PARTS };

enum { MOST_GOOD = 64 };

/* One combination of the switches that change a group's layers, but recomputation. */
struct variant {
    struct knobs knobs;
    double wish;               /* of PART_VARIANT */
    bool risky;                /* struct contender */
    double seconds;            /* of a step without pipeline, recomputed as in the base */
    struct time_rates **rates; /* [n_recompute] at each state; NULL: not yet */
};

/* Sets of modules that the present spot has, or has not, room not to recompute. */
struct room {
    int n_roomy, n_cramped;
    uint32_t roomy[SPACE_MAX_STATES], cramped[SPACE_MAX_STATES];
};

struct search {
    const struct search_request *request;
    struct search_result *out;
    struct arena *arena;
    struct config c;      /* the configuration being looked at: the base with changing knobs */
    struct layout layout; /* its pipeline split */
    bool *wishes[PARTS];  /* [n_preferences]: which preferences are about this part of a plan */
    struct spots spots;
    int *hopeless;        /* [families]: micro-batch from which nothing can fit; 0: none known */
    struct timing timing; /* for what does not depend on the layout */
    struct kinds kinds;
    /* of the spot being looked at */
    struct group *group;
    size_t kind; /* index */
    struct rank_params params;
    struct room rooms[KINDS_MOST_OFFLOADS];
    double wish; /* of all parts of the present plan but PART_STATE */
    struct time_layers layers;
    struct knobs layers_of; /* whose layers these are */
    struct finalists finalists;
    bool tight, risky; /* risky: of the variant being tried, false while it is open */
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

/* Whether a plan of the present layout that takes at least `step_s` would change anything. */
static bool matters(const struct search *s, double step_s, double wish)
{
    return s->request->exhaustive || finalists_want(&s->finalists, &s->c.knobs,
                                                    step_s * prefer_factor(wish), step_s, s->risky);
}

/* ---- estimates of the present knobs ---- */

static void take_layers(struct search *s)
{
    if (time_layers_same(&s->layers_of, &s->c.knobs)) return;
    time_layers_init(&s->c, &s->layers);
    s->layers_of = s->c.knobs;
}

/* Whether the present knobs take a risk that is not usual. */
static bool is_risky(const struct search *s)
{
    unsigned open = s->request->base->knobs.open_numerics;
    return move_risks_of(s->request->base, &s->c) & RISK_DYNAMIC_GRAPHS & ~open;
}

static bool fits(const struct search *s, const struct contender *o)
{
    bool may = s->tight && o->fits == FITS_TIGHT && o->peak <= s->c.machine.capacity_bytes;
    return o->fits == FITS_YES || may;
}

static void note_least(struct search *s, const struct contender *o)
{
    s->out->feasible += fits(s, o);
    if (s->out->has_least && o->peak >= s->out->least.peak) return;
    s->out->least = *o;
    s->out->has_least = true;
}

/* Whether they have room as they are divided; *o gets their memory. */
static bool has_room(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    *o = (struct contender){.knobs = s->c.knobs};
    s->out->searched++;
    if (!memory_estimate(&s->c, &memory, NULL)) return false;
    fill_memory(o, &memory);
    note_least(s, o);
    return fits(s, o);
}

/* The same, divided otherwise where that makes room. */
static bool finds_room(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    *o = (struct contender){.knobs = s->c.knobs};
    s->out->searched++;
    if (!memory_estimate(&s->c, &memory, NULL)) return false;
    fill_memory(o, &memory);
    if (!fits(s, o)) {
        take_layers(s);
        if (split_to_fit(&s->c, &s->layers, &memory, &s->layout) &&
            memory_estimate(&s->c, &memory, NULL))
            fill_memory(o, &memory);
        o->knobs = s->c.knobs;
    }
    note_least(s, o);
    return fits(s, o);
}

/* Seconds of a step around its pipeline, at least: transfers between stages are left out. */
static double around_pipeline(const struct search *s, double pipeline_s)
{
    const struct knobs *k = &s->c.knobs;
    double n = (double)knobs_microbatches(k), sum = sharding_optimizer(&s->timing, k, s->params);
    return k->pp > 1 ? sum : sum + sharding_exposed(&s->timing, k, s->params, pipeline_s / n);
}

/* Keeps the plan, if it is worth it and the rules let it. False: they refuse it. */
static bool offer(struct search *s, struct contender *o)
{
    struct time_estimate time;
    take_layers(s);
    if (!time_estimate_layers(&s->layers, &s->c, &time, NULL)) return true;
    fill_time(o, &time);
    o->score = time.step * prefer_factor(s->wish + wish_of(s, PART_STATE));
    o->risky = s->risky;
    if (!finalists_want(&s->finalists, &o->knobs, o->score, o->step_s, o->risky)) return true;
    const char *why = s->request->reject ? s->request->reject(s->request->context, &s->c) : NULL;
    if (why) {
        s->out->rejected++;
        s->out->last_rejection = why;
        return false;
    }
    finalists_add(&s->finalists, o);
    return true;
}

/* ---- room ---- */

static void set_spot(struct search *s, const struct spot *spot, int vpp)
{
    s->group = &s->spots.groups.items[spot->group];
    s->c.knobs = s->group->knobs;
    s->c.knobs.pp = spot->pp;
    s->c.knobs.vpp = vpp;
}

static const struct kind *present_kind(const struct search *s)
{
    return &s->kinds.items.items[s->kind];
}

/* Whether the leanest plan of the present spot and stages with a state of recomputation and an
   offload has room; *o: its memory. */
static bool lean_has_room(struct search *s, int recompute, int offload, struct contender *o)
{
    int pp = s->c.knobs.pp, vpp = s->c.knobs.vpp;
    struct knobs present = s->c.knobs;
    s->c.knobs = s->group->knobs;
    s->c.knobs.pp = pp;
    s->c.knobs.vpp = vpp;
    *o = (struct contender){.fits = FITS_NO};
    bool room = kinds_make_lean(&s->kinds, s->kind, offload, recompute, &s->c);
    if (room) {
        take_layers(s);
        split_by_time(&s->c, &s->layers, &s->layout);
        room = finds_room(s, o);
    }
    s->c.knobs = present;
    return room;
}

static bool tries_room(struct search *s, int recompute, int offload)
{
    struct contender o;
    struct room *room = &s->rooms[offload];
    uint32_t modules = present_kind(s)->modules[recompute];
    bool roomy = lean_has_room(s, recompute, offload, &o);
    if (roomy)
        room->roomy[room->n_roomy++] = modules;
    else
        room->cramped[room->n_cramped++] = modules;
    return roomy;
}

/* Whether a state of recomputation has room on the present spot and stages with an offload,
   whatever the other switches. */
static bool is_cramped(struct search *s, int recompute, int offload)
{
    struct room *room = &s->rooms[offload];
    const struct kind *kind = present_kind(s);
    uint32_t modules = kind->modules[recompute];
    if (s->request->exhaustive) return false;
    if (room->n_roomy + room->n_cramped == 0) tries_room(s, kind->fullest, offload);
    for (int i = 0; i < s->rooms[0].n_roomy; i++)
        if (modules_within(s->rooms[0].roomy[i], modules)) return false;
    for (int i = 0; i < room->n_roomy; i++)
        if (modules_within(room->roomy[i], modules)) return false;
    for (int i = 0; i < room->n_cramped; i++)
        if (modules_within(modules, room->cramped[i])) return true;
    return !tries_room(s, recompute, offload);
}

/* Where even the low end of the estimate of every leanest plan is too much, so is all else with as
   large a micro-batch. Virtual stages only move activations, of which these keep next to nothing.
 */
static bool is_hopeless(struct search *s, const struct spot *spot)
{
    int *hopeless = &s->hopeless[spot->family], mbs = s->c.knobs.mbs;
    const struct kind *kind = present_kind(s);
    bool none = true;
    if (s->request->exhaustive) return false;
    if (*hopeless && mbs >= *hopeless) return true;
    for (int i = 0; i < kind->n_offloads && none; i++) {
        struct contender o;
        none = !lean_has_room(s, kind->fullest, i, &o) && o.fits == FITS_NO;
    }
    if (none) *hopeless = mbs;
    return none;
}

/* ---- variants ---- */

typedef VEC(struct variant) variants;

/* Every combination of the switches from `d` on. */
static void add_variants(struct search *s, const struct decision *d, variants *all)
{
    while (d < decisions + DECISIONS && (kinds_decide(d) || !space_is_switch(d)))
        d++;
    if (d == decisions + DECISIONS) {
        struct variant *v = VEC_PUSH(s->arena, all);
        *v = (struct variant){
            .knobs = s->c.knobs, .wish = wish_of(s, PART_VARIANT), .risky = is_risky(s)};
        v->rates = ARENA_ARRAY(s->arena, struct time_rates *, (size_t)present_kind(s)->n_recompute);
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

/* The variant on the present spot, at one of its states of recomputation. */
static void set_variant(struct search *s, const struct variant *v, int recompute)
{
    struct knobs *k = &s->c.knobs;
    int pp = k->pp, vpp = k->vpp;
    *k = v->knobs;
    k->pp = pp;
    k->vpp = vpp;
    space_set(present_kind(s)->recompute[recompute], &s->c);
}

/* Rates that no side and no pp has smaller. */
static const struct time_rates *variant_rates(struct search *s, struct variant *v, int recompute)
{
    struct time_rates **rates = &v->rates[recompute];
    if (*rates) return *rates;
    struct knobs present = s->c.knobs;
    s->c.knobs.pp = s->c.knobs.vpp = 1;
    s->c.knobs.grad_bytes = present_kind(s)->grad_bytes;
    *rates = ARENA_NEW(s->arena, struct time_rates);
    take_layers(s);
    time_rates_of(&s->layers, &s->c, *rates);
    s->c.knobs = present;
    return *rates;
}

/* Seconds that the optimizer on the CPU adds to a step at least. */
static double cpu_seconds(const struct search *s)
{
    struct knobs on_gpu = s->c.knobs;
    on_gpu.optimizer_offload = 0;
    return sharding_optimizer(&s->timing, &s->c.knobs, s->params) -
           sharding_optimizer(&s->timing, &on_gpu, s->params);
}

/* The fastest first: what comes after is then bounded away. */
static int variant_cmp(const void *left, const void *right)
{
    const struct variant *a = left, *b = right;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? -1 : 1) : 0;
}

static void expand(struct search *s, struct group *g)
{
    variants all = {0};
    struct knobs saved = s->c.knobs;
    s->c.knobs = g->knobs;
    add_variants(s, decisions, &all);
    for (size_t i = 0; i < all.n; i++) {
        s->c.knobs = all.items[i].knobs;
        space_set(present_kind(s)->recompute[0], &s->c);
        all.items[i].seconds = spots_bound(&s->spots, &s->c, variant_rates(s, &all.items[i], 0));
    }
    sort_items(all.items, all.n, sizeof *all.items, variant_cmp);
    g->variants = all.items;
    g->n_variants = all.n;
    s->c.knobs = saved;
}

/* ---- visiting ---- */

enum result { IMPOSSIBLE, TOO_SLOW, NO_ROOM, REFUSED, GOOD };

static bool is_refused(const struct search *s)
{
    const struct search_request *r = s->request;
    return r->refused && r->refused(r->context, &s->c.knobs);
}

/* Tries the present knobs, all of them set. */
static enum result try_plan(struct search *s, const struct time_rates *rates)
{
    struct contender o;
    if (is_refused(s)) return REFUSED;
    take_layers(s);
    if (!split_by_time(&s->c, &s->layers, &s->layout)) return NO_ROOM;
    double least = spots_bound_of_split(&s->c, rates, &s->layout);
    least += around_pipeline(s, least);
    if (!matters(s, least, s->wish + wish_of(s, PART_STATE))) return TOO_SLOW;
    if (!finds_room(s, &o)) return NO_ROOM;
    return offer(s, &o) ? GOOD : REFUSED;
}

/* Tries a variant with every side that may be best. */
static enum result try_sides(struct search *s, struct variant *v, int recompute, int offload)
{
    const struct kind *kind = present_kind(s);
    const struct time_rates *rates = variant_rates(s, v, recompute);
    enum result best = IMPOSSIBLE;
    uint32_t needless = 0;
    struct knobs plain = s->c.knobs;
    if (!matters(s, spots_bound(&s->spots, &s->c, rates), s->wish + wish_of(s, PART_STATE)))
        return TOO_SLOW;
    for (int i = 0; i < kind->n_sides; i++) {
        if (needless & 1u << i && !s->request->exhaustive) continue;
        s->c.knobs = plain;
        if (!combination_set(&kind->sides[i], &s->c) ||
            !combination_set(&kind->offloads[offload], &s->c))
            continue;
        enum result one = try_plan(s, rates);
        if (one > best) best = one;
        if (one != REFUSED) needless |= kind->worse[i];
    }
    return best;
}

/* Whether one variant is slower than another at every layer, or as slow, all else being equal. */
static bool is_slower(const struct variant *v, const struct variant *other)
{
    const double *a = (const double *)v->rates[0], *b = (const double *)other->rates[0];
    for (size_t i = 0; i < sizeof(struct time_rates) / sizeof(double); i++)
        if (a[i] < b[i]) return false;
    return true;
}

/* What is known to be good enough on the present spot and stages, or as fast as is of use. */
struct known {
    const struct variant *variant;
    uint32_t modules;
    int offload;
    double wish;
};

struct known_list {
    int n;
    struct known items[MOST_GOOD];
};

/* Whether something known recomputes no more, offloads no more and is no slower besides. */
static bool is_needless(const struct known_list *list, const struct known *x)
{
    for (int i = 0; i < list->n; i++) {
        const struct known *good = &list->items[i];
        if (good->variant->risky && !x->variant->risky) continue;
        if (modules_within(good->modules, x->modules) && good->wish <= x->wish &&
            (good->offload == 0 || good->offload == x->offload) &&
            (good->variant == x->variant || is_slower(x->variant, good->variant)))
            return true;
    }
    return false;
}

/* Tries one variant of the present spot and stages. */
static void try_variant(struct search *s, struct variant *v, int recompute, int offload,
                        struct known_list *good)
{
    set_variant(s, v, recompute);
    struct known x = {v, modules_repeated(&s->c.knobs), offload, s->wish + wish_of(s, PART_STATE)};
    if (!s->request->exhaustive && is_needless(good, &x)) return;
    struct knobs on_gpu = s->c.knobs;
    combination_set(&present_kind(s)->offloads[offload],
                    &s->c); /* whether it may be, sides decide */
    if (is_refused(s)) return;
    s->c.knobs = on_gpu;
    s->risky = v->risky;
    enum result result = try_sides(s, v, recompute, offload);
    s->risky = false;
    if ((result == GOOD || result == TOO_SLOW) && good->n < MOST_GOOD) good->items[good->n++] = x;
}

/* Whether any variant with a state of recomputation and an offload may be worth it; those that are
   too slow are noted. */
static bool may_serve(struct search *s, int recompute, int offload, struct known_list *good)
{
    const struct kind *kind = present_kind(s);
    const struct group *g = s->group;
    struct knobs present = s->c.knobs;
    bool serves = false;
    for (size_t i = 0; i < g->n_variants && !serves; i++) {
        struct variant *v = &g->variants[i];
        s->c.knobs = present;
        set_variant(s, v, recompute);
        double wish = s->wish + v->wish + wish_of(s, PART_STATE);
        struct known x = {v, kind->modules[recompute], offload, wish};
        if (!s->request->exhaustive && is_needless(good, &x)) continue;
        double least = spots_bound(&s->spots, &s->c, variant_rates(s, v, recompute));
        combination_set(&kind->offloads[offload], &s->c);
        if (s->c.knobs.optimizer_offload > 0) least += cpu_seconds(s);
        s->risky = v->risky;
        serves = matters(s, least, wish);
        s->risky = false;
        if (!serves && good->n < MOST_GOOD) good->items[good->n++] = x;
    }
    s->c.knobs = present;
    return serves;
}

static void visit_stages(struct search *s, const struct spot *spot)
{
    struct group *g = s->group;
    int vpp = s->c.knobs.vpp;
    double wish = spot->wish + wish_of(s, PART_STAGES);
    if (!matters(s, spots_bound(&s->spots, &s->c, &g->least), wish)) return;
    const struct search_request *request = s->request;
    if (request->barred && request->barred(request->context, &s->c)) {
        s->out->rejected++;
        s->out->last_rejection = "what is forbidden or pinned";
        return;
    }
    if (g->n_variants == 0) expand(s, g);
    s->out->visited++;
    for (int i = 0; i < KINDS_MOST_OFFLOADS; i++)
        s->rooms[i].n_roomy = s->rooms[i].n_cramped = 0;
    const struct kind *kind = present_kind(s);
    struct known_list good = {.n = 0};
    for (int o = 0; o < kind->n_offloads; o++) {
        if (o > 0 && (s->request->exhaustive ? tries_room(s, kind->fullest, 0)
                                             : !is_cramped(s, kind->fullest, 0)))
            break;
        for (int r = 0; r < kind->n_recompute; r++) {
            set_spot(s, spot, vpp);
            s->wish = wish;
            if (!may_serve(s, r, o, &good) || is_cramped(s, r, o)) continue;
            for (size_t v = 0; v < g->n_variants; v++) {
                s->wish = wish + g->variants[v].wish;
                set_spot(s, spot, vpp);
                try_variant(s, &g->variants[v], r, o, &good);
            }
        }
        set_spot(s, spot, vpp);
    }
}

/* With most virtual stages first, which have the shortest ramps. */
static void visit(struct search *s, const struct spot *spot)
{
    guard_tick(arena_guard(s->arena));
    set_spot(s, spot, 1);
    if (!matters(s, spot->bound, spot->wish)) return;
    struct axis vpp = spots_stages(s->request, &s->c);
    s->c.knobs.vpp = vpp.values[0];
    s->kind = kinds_of(&s->kinds, &s->c);
    if (is_hopeless(s, spot)) return;
    s->params = sharding_params(&s->c);
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
        if (!knobs_divide(&s->c.knobs) || !split_plan(&s->c, NULL, &s->layout)) continue;
        s->risky = is_risky(s);
        if (has_room(s, &o)) offer(s, &o);
        s->risky = false;
    }
}

/* ---- the whole ---- */

static enum part part_of(const struct knob *knob)
{
    static const enum decision_id sizes[] = {DECISION_TP, DECISION_CP,  DECISION_ETP,
                                             DECISION_EP, DECISION_MBS, DECISION_PP};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (decisions[sizes[i]].size == knob->offset) return PART_SPOT;
    if (knob->kind == KNOB_SHARDED) return PART_SPOT;
    if (knob->offset == decisions[DECISION_VPP].size) return PART_STAGES;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const int *p = d->params; kinds_decide(d) && *p != P_NONE; p++)
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

bool search_divide(struct config *c, struct layout *slot)
{
    if (!split_plan(c, NULL, slot)) return false;
    split_polish(c, slot);
    return true;
}

/* The plans as they are shown, which may change their order. */
static void polish(struct search *s)
{
    struct search_result *out = s->out;
    for (size_t i = 0; i < out->n; i++) {
        struct contender *o = &out->plans[i];
        double preferred = o->score / o->step_s;
        bool risky = o->risky;
        s->c.knobs = o->knobs;
        if (!search_divide(&s->c, &s->layout) || !contender_estimate(&s->c, o)) continue;
        o->score = o->step_s * preferred;
        o->risky = risky;
    }
    finalists_sort(out->plans, out->n);
}

struct search *search_new(struct arena *a, const struct search_request *request)
{
    struct search *s = ARENA_NEW(a, struct search);
    s->request = request;
    s->arena = a;
    s->c = *request->base;
    s->c.knobs.layout = 0;
    s->timing = timing_of(&s->c);
    s->kinds = (struct kinds){.request = request, .arena = a};
    part_wishes(s);
    s->spots = (struct spots){
        .request = request, .arena = a, .about_spot = s->wishes[PART_SPOT], .c = &s->c};
    spots_fill(&s->spots);
    s->hopeless = ARENA_ARRAY(a, int, s->spots.n_families);
    return s;
}

void search_within(struct search *s, double capacity_bytes, bool tight, struct search_result *out)
{
    size_t top = s->request->top, most = top < 1 ? 1 : top;
    s->out = out;
    s->tight = tight;
    s->c.machine.capacity_bytes = capacity_bytes;
    *out = (struct search_result){.layouts = s->spots.layouts};
    memset(s->hopeless, 0, s->spots.n_families * sizeof *s->hopeless);
    finalists_start(&s->finalists, most < SEARCH_MAX_PLANS ? most : SEARCH_MAX_PLANS,
                    s->spots.two_kinds);
    visit_known(s);
    for (size_t i = 0; i < s->spots.items.n; i++)
        visit(s, &s->spots.items.items[i]);
    out->n = finalists_take(&s->finalists, out->plans);
    polish(s);
}

void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out)
{
    struct arena_mark mark = arena_mark(scratch);
    search_within(search_new(scratch, request), request->base->machine.capacity_bytes, false, out);
    arena_pop(scratch, mark);
}
