/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/search.h"

#include <limits.h>
#include <math.h>

#include "choose/visit.h"
#include "facts/param_ids.h"

/* ---- the present knobs ---- */

double search_wish(const struct search *s, enum part part)
{
    return prefer_sum(s->wishes[part].items, s->wishes[part].n, &s->c.knobs);
}

/* Quick, as it is asked so often; who finds another key there works it out anew. */
static uint32_t slot_of(const struct knobs *key, uint32_t slots)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t words[sizeof *key / sizeof(uint64_t)], sum = 0;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        sum = (sum + words[i]) * odd;
    return (uint32_t)(sum >> 48) % slots;
}

static void take_rates(struct search *s, struct known_layers *known)
{
    unsigned way = time_way_to_hide(&s->c.knobs);
    s->rates = &known->rates[way];
    if (known->known >> way & 1) return;
    known->known |= 1u << way;
    time_rates_of(&known->layers, &s->c, &known->rates[way]);
}

static struct known_layers *layers_slot(struct search *s, const struct knobs *key)
{
    struct known_layers **slot = &s->known_layers[slot_of(key, SEARCH_KNOWN_LAYERS)];
    if (!*slot) *slot = arena_room(s->arena, sizeof **slot), (*slot)->key.tp = 0;
    return *slot;
}

static bool is_known(const struct known_layers *x, const struct knobs *key)
{
    return x->key.tp == key->tp && memcmp(&x->key, key, sizeof *key) == 0; /* 0: of none yet */
}

static void start_layers(struct known_layers *x, const struct knobs *key)
{
    x->key = *key;
    x->known = 0;
}

/* The times of the present knobs' layers, from those that recompute nothing where these may be
   kept beside. */
static void measure_layers(struct search *s, const struct knobs *key, struct known_layers *out)
{
    struct knobs plain = time_key_without_recompute(*key), present = s->c.knobs;
    struct known_layers *other = layers_slot(s, &plain);
    if (other == out) {
        time_layers_init_known(&s->c, s->known_kernels, &out->layers);
    } else {
        s->c.knobs = plain;
        if (!is_known(other, &plain)) {
            start_layers(other, &plain);
            time_layers_init_known(&s->c, s->known_kernels, &other->layers);
        }
        s->c.knobs = present;
        time_layers_repeat(&other->layers, &s->c, &out->layers);
    }
    start_layers(out, key);
}

void search_take_layers(struct search *s)
{
    struct knobs key = time_layers_key(&s->c.knobs);
    struct known_layers *known = layers_slot(s, &key);
    if (!is_known(known, &key)) measure_layers(s, &key, known);
    s->layers = &known->layers;
    take_rates(s, known);
}

static struct known_memory *memory_slot(struct search *s, const struct knobs *key, bool *known)
{
    struct known_memory **slot = &s->known_memory[slot_of(key, SEARCH_KNOWN_MEMORY)];
    *known = *slot && memcmp(&(*slot)->key, key, sizeof *key) == 0;
    if (!*slot) {
        *slot = arena_room(s->arena, sizeof **slot);
        (*slot)->saved = NULL;
    }
    (*slot)->key = *key;
    return *slot;
}

/* Measures the present layers, which recompute nothing, with what they save. */
static void measure_plain_memory(struct search *s, struct known_memory *out)
{
    size_t n = (size_t)s->c.model.n_kinds;
    if (!out->saved) out->saved = ARENA_ARRAY(s->arena, struct saved_list, n);
    memory_measure_saved(&s->c, &s->memory_coefficients, out->saved, &out->work);
}

/* As measure_layers does. */
static void measure_memory(struct search *s, const struct knobs *key, struct known_memory *out)
{
    struct knobs plain = time_key_without_recompute(*key), present = s->c.knobs;
    bool known;
    if (memcmp(&plain, key, sizeof plain) == 0) {
        measure_plain_memory(s, out);
        return;
    }
    struct known_memory *other = memory_slot(s, &plain, &known);
    if (other == out) {
        out->key = *key;
        memory_measure(&s->c, &s->memory_coefficients, &out->work);
        return;
    }
    s->c.knobs = plain;
    if (!known) measure_plain_memory(s, other);
    s->c.knobs = present;
    memory_measure_again(&s->c, &other->work, other->saved, &out->work);
}

void search_take_memory(struct search *s)
{
    bool known;
    struct knobs key = memory_layers_key(&s->c.knobs);
    struct known_memory *slot = memory_slot(s, &key, &known);
    s->memory = &slot->work;
    if (!known) measure_memory(s, &key, slot);
}

/* Notes the present division as the one that rates make. */
static void note_division(struct search *s, bool possible)
{
    struct division *x = &s->division;
    x->rates = *s->rates;
    x->pp = s->c.knobs.pp, x->vpp = s->c.knobs.vpp;
    x->microbatches = knobs_scheduled(&s->c.knobs);
    x->possible = possible;
    x->number = s->c.knobs.layout;
    if (!possible) return;
    layout_copy(&x->layout, &s->layout);
    x->seconds = spots_bound_of_split(&s->spots, &s->c, s->rates, &s->layout);
}

static bool is_divided(const struct search *s)
{
    const struct division *x = &s->division;
    const struct knobs *k = &s->c.knobs;
    return x->pp == k->pp && x->vpp == k->vpp && x->microbatches == knobs_scheduled(k) &&
           memcmp(&x->rates, s->rates, sizeof x->rates) == 0;
}

bool search_divide_by_time(struct search *s)
{
    const struct division *x = &s->division;
    if (!is_divided(s)) {
        note_division(s, split_by_time(&s->c, s->rates, &s->layout));
        return x->possible;
    }
    s->c.knobs.layout = x->number;
    if (x->possible) layout_copy(&s->layout, &x->layout);
    if (x->number > 0 && !s->c.layout_given) s->c.layouts = &s->layout, s->c.n_layouts = 1;
    return x->possible;
}

void contender_fill_memory(struct contender *o, const struct memory_estimate *m)
{
    o->peak = m->peak;
    o->peak_low = m->peak_low;
    o->peak_high = m->peak_high;
    o->fits = (int)m->fits;
}

bool contender_estimate(const struct config *c, struct contender *out)
{
    struct memory_estimate memory;
    struct time_estimate time;
    *out = (struct contender){.knobs = c->knobs};
    if (!memory_estimate(c, &memory, NULL) || !time_estimate(c, &time, NULL)) return false;
    contender_fill_memory(out, &memory);
    out->step_s = out->score = time.step;
    out->low_s = time.low;
    out->high_s = time.high;
    return true;
}

/* Whether a plan of the present layout would be kept. One that offloads where others do without is
   for its speed alone. */
static bool is_wanted(const struct search *s, double score, double step_s)
{
    const struct finalists *f = &s->finalists;
    if (s->last_resort) return step_s <= fmin(s->worth, f->fast[0].step_s);
    return finalists_want(f, &s->c.knobs, score, step_s, s->risky);
}

bool search_matters(const struct search *s, double step_s, double wish)
{
    if (s->any) return s->finalists.n_fast == 0;
    return s->request->exhaustive || is_wanted(s, step_s * prefer_factor(wish), step_s);
}

static void set_spot(struct search *s, const struct spot *spot, int vpp)
{
    s->group = s->spots.groups.items[spot->group];
    s->c.knobs = s->group->knobs;
    s->c.knobs.pp = spot->pp;
    s->c.knobs.schedules = spot->schedules;
    s->c.knobs.vpp = vpp;
}

/* ---- one plan ---- */

/* Seconds around the passes of a step at least, of which these take no more. */
static double around(const struct search *s, const struct knobs *k, double passes_s)
{
    double slow = s->group->least[0].ways[0].slow, window = passes_s / (slow * (double)knobs_microbatches(k));
    return sharding_optimizer(&s->timing, k, s->params) +
           slow * sharding_exposed_least(&s->timing, k, s->params, window);
}

/* The same of all plans on the present spot that are wanted, which no other takes the place of. */
static double least_around(struct search *s, int most_vpp)
{
    const struct kind *kind = present_kind(s);
    struct knobs present = s->c.knobs;
    double least = INFINITY, slowest = finalists_slowest(&s->finalists);
    for (int i = 0; i < kind->n_sides; i++) {
        s->c.knobs = present;
        if (!combination_set(&kind->sides[i], &s->c)) continue;
        s->c.knobs.vpp = most_vpp;
        least = fmin(least, around(s, &s->c.knobs, slowest));
    }
    s->c.knobs = present;
    return isinf(least) ? 0 : least;
}

/* Whether there is a reason to refuse; it is kept. */
static bool note_rejection(struct search *s, const char *why)
{
    if (!why) return false;
    s->out->rejected++;
    s->out->last_rejection = why;
    return true;
}

/* Keeps the plan, if it is worth it and the rules let it. False: they refuse it. */
static bool offer(struct search *s, struct contender *o)
{
    search_take_layers(s);
    o->step_s = time_step(s->layers, &s->c);
    o->score = o->step_s * prefer_factor(s->wish + search_wish(s, PART_STATE));
    o->risky = s->risky;
    if (isinf(o->step_s) || !is_wanted(s, o->score, o->step_s)) return true;
    const struct search_request *r = s->request;
    if (note_rejection(s, r->reject ? r->reject(r->context, &s->c) : NULL)) return false;
    finalists_add(&s->finalists, o);
    return true;
}

/* Whether a refusal that is known holds for the present knobs; the last one is kept. */
static bool is_refused(struct search *s)
{
    const struct search_request *r = s->request;
    const char *why = r->refused ? r->refused(r->context, &s->c.knobs) : NULL;
    if (why) s->out->last_rejection = why;
    return why;
}

/* What makes room on the present spot and stages. */
struct relief {
    int recompute, offload;
    double seconds; /* that the offload adds at least */
};

/* SQUEEZED: it fits with its layers divided by memory, and would be faster if it kept less.
   HOPELESS: no room, nor with other virtual stages of the class being visited. */
enum result { TOO_SLOW, NO_ROOM, HOPELESS, REFUSED, SQUEEZED, GOOD };

/* room_is_denied_to_all of the present knobs, which have a side of those in *open. Before anything
   fits that may be false of what has no room either. */
static bool is_denied_to_all(struct search *s, struct open_sides *open, int side)
{
    if (open->sides >> side & 1) return false;
    if (room_is_denied_to_all(s)) return true;
    if (s->finalists.n_fast > 0) open->sides |= (uint32_t)1 << side;
    return false;
}

/* Whether the present plan, whose layers were moved to make room, is too slow as it is divided now:
   its bound before knew only how they stand best. */
static bool is_slowed(struct search *s)
{
    if (s->c.knobs.layout == 0) return false; /* even: s->layout is the one that it stands for */
    double least = spots_bound_of_split(&s->spots, &s->c, s->rates, &s->layout);
    least += around(s, &s->c.knobs, least);
    return !search_matters(s, least, s->wish + search_wish(s, PART_STATE));
}

/* Tries the present knobs, all of them set, with one of a variant's sides. */
static enum result try_plan(struct search *s, const struct relief *x, struct open_sides *open,
                            int side)
{
    struct contender o;
    bool moved;
    if (is_refused(s)) return REFUSED;
    search_take_layers(s);
    if (!search_divide_by_time(s)) return NO_ROOM;
    double least = s->division.seconds;
    least += around(s, &s->c.knobs, least);
    if (!search_matters(s, least, s->wish + search_wish(s, PART_STATE))) return TOO_SLOW;
    if (is_denied_to_all(s, open, side)) return HOPELESS;
    if (s->least_vpp < s->most_vpp && room_is_denied(s, s->c.knobs.vpp)) return NO_ROOM;
    if (!room_is_found(s, &o, &moved)) return NO_ROOM;
    room_is_noted(s, x->recompute, x->offload);
    if (moved && is_slowed(s)) return SQUEEZED;
    return !offer(s, &o) ? REFUSED : moved ? SQUEEZED : GOOD;
}

/* Tries the present variant with every side that may be best. GOOD: none of them would do better
   with more room, and one may be at all; HOPELESS: all are; else NO_ROOM. */
static enum result try_sides(struct search *s, struct variant *v, const struct relief *x)
{
    const struct kind *kind = present_kind(s);
    struct open_sides *open = variant_open_sides(s, v, x->recompute, x->offload);
    uint32_t needless = 0;
    struct knobs plain = s->c.knobs;
    bool settled = true, hopeless = true, any = false;
    for (int i = 0; i < kind->n_sides; i++) {
        if (needless & 1u << i && !s->request->exhaustive) continue;
        s->c.knobs = plain;
        if (!combination_set(&kind->sides[i], &s->c) ||
            !combination_set(&kind->offloads[x->offload], &s->c))
            continue;
        enum result one = try_plan(s, x, open, i);
        settled = settled && (one == GOOD || one == TOO_SLOW);
        hopeless = hopeless && one == HOPELESS;
        if (one != REFUSED) needless |= kind->worse[i];
        any = true;
    }
    s->c.knobs = plain;
    return any && settled ? GOOD : any && hopeless ? HOPELESS : NO_ROOM;
}

/* ---- visiting ---- */

/* Seconds that the optimizer on the CPU adds to a step at least. */
static double cpu_seconds(struct search *s, const struct combination *offload)
{
    struct knobs without = s->c.knobs;
    combination_set(offload, &s->c);
    struct knobs with = s->c.knobs;
    s->c.knobs = without;
    if (with.optimizer_offload <= 0) return 0;
    return sharding_optimizer(&s->timing, &with, s->params) -
           sharding_optimizer(&s->timing, &without, s->params);
}

/* Whether the present variant cannot have the offload, or refusals that are known hold with it,
   whatever the sides. */
static bool is_refused_with(struct search *s, const struct combination *offload)
{
    struct knobs without = s->c.knobs;
    s->c.knobs.fp8_param_gather = false; /* beside which sides decide whether it may be */
    bool possible = combination_set(offload, &s->c);
    s->c.knobs.fp8_param_gather = without.fp8_param_gather;
    bool refused = !possible || is_refused(s);
    s->c.knobs = without;
    return refused;
}

/* Variants without room after which the leanest is asked whether any has, which takes as long as to
   try a few. */
enum { TRIED_FIRST = 3 };

/* Tries a variant; false: no other has room either. *without: those that were tried and have none,
   or would do better with more. */
static bool try_variant(struct search *s, struct variant *v, const struct relief *x, int *without)
{
    bool all = s->request->exhaustive;
    const struct combination *offload = &present_kind(s)->offloads[x->offload];
    variant_set(s, v, x->recompute);
    const struct time_rates *rates = variant_rates(s, v, x->recompute);
    double least = spots_bound(&s->spots, &s->c, rates, s->c.knobs.vpp) +
                   (x->seconds > 0 ? x->seconds : s->around);
    s->risky = v->risky || s->last_resort;
    bool slow = !search_matters(s, least, s->wish + search_wish(s, PART_STATE)), cramped = false,
         settled = slow;
    if (!slow && !is_refused_with(s, offload)) {
        cramped = !all && (x->offload > 0 ? room_is_cramped(s, x->recompute, x->offload)
                                          : room_is_known_cramped(s, x->recompute, 0));
        enum result one = cramped ? NO_ROOM : try_sides(s, v, x);
        settled = one == GOOD;
        if (one == HOPELESS) variant_give_up(v, x->recompute, x->offload);
        if (!settled && !all && ++*without >= TRIED_FIRST)
            cramped = room_is_cramped(s, x->recompute, x->offload);
    }
    s->risky = false;
    if (settled) variant_settle(s, v, x->recompute, x->offload);
    return !cramped;
}

static void try_variants(struct search *s, const struct spot *spot, double wish,
                         const struct relief *x)
{
    struct group *g = s->group;
    int vpp = s->c.knobs.vpp;
    int without = 0;
    bool room = true, all = s->request->exhaustive;
    for (size_t i = 0; i < g->n_variants && room; i++) {
        if (!all && variant_is_settled(&g->variants[i], x->recompute, x->offload)) continue;
        set_spot(s, spot, vpp);
        s->wish = wish + g->variants[i].wish;
        room = try_variant(s, &g->variants[i], x, &without);
    }
    set_spot(s, spot, vpp);
}

/* Whether it is known already that there is no room, or that every variant is settled. */
static bool is_idle(const struct search *s, const struct relief *x, uint64_t settled)
{
    bool idle = room_is_known_cramped(s, x->recompute, x->offload) || settled >> x->recompute & 1;
    return !s->request->exhaustive && idle;
}

/* Tries every state of recomputation with an offload. */
static void try_offload(struct search *s, const struct spot *spot, double wish, int offload)
{
    const struct kind *kind = present_kind(s);
    struct relief x = {.offload = offload, .seconds = cpu_seconds(s, &kind->offloads[offload])};
    uint64_t settled = variants_settled(s, offload);
    for (x.recompute = 0; x.recompute < kind->n_recompute; x.recompute++) {
        if (is_idle(s, &x, settled)) continue;
        try_variants(s, spot, wish, &x);
        settled = variants_settled(s, offload); /* which only trials change */
    }
}

/* Whether a variant may matter without offload: its layers divided as is best for them, and nothing
   beside them. */
static bool may_matter(struct search *s, struct variant *v, int recompute, double wish)
{
    variant_set(s, v, recompute);
    const struct time_rates *rates = variant_rates(s, v, recompute);
    double least = spots_bound(&s->spots, &s->c, rates, s->c.knobs.vpp) + s->around;
    wish += v->wish + search_wish(s, PART_STATE);
    s->risky = v->risky || s->last_resort;
    bool may = search_matters(s, least, wish) && split_by_time(&s->c, rates, &s->layout) &&
               search_matters(s, s->around + spots_bound_of_split(&s->spots, &s->c, rates, &s->layout), wish);
    s->risky = false;
    return may;
}

static bool is_open(const struct variant *v, int recompute)
{
    return !(v->fast >> recompute & 1) && !variant_is_settled(v, recompute, 0);
}

/* The one in the middle, by seconds, of the variants of which it is not known whether they may
   matter without offload; NULL: it is of all. */
static struct variant *middle_open(const struct group *g, int recompute)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < g->n_variants; i++)
        n += is_open(&g->variants[i], recompute);
    if (n == 0) return NULL;
    for (size_t skip = n / 2; skip > 0 || !is_open(&g->variants[at], recompute); at++)
        skip -= is_open(&g->variants[at], recompute);
    return &g->variants[at];
}

/* Settles on the present spot and stages the variants that are too slow without offload, and so
   with any. Where one is, so are those that are no faster and repeat no less; where one is not, nor
   are those that are no slower and repeat no more. */
static void settle_slow(struct search *s, const struct spot *spot, double wish)
{
    struct variant *v;
    int vpp = s->c.knobs.vpp;
    for (int r = 0; r < present_kind(s)->n_recompute; r++)
        while ((v = middle_open(s->group, r))) {
            set_spot(s, spot, vpp);
            if (may_matter(s, v, r, wish))
                variant_is_fast(s, v, r);
            else
                variant_settle(s, v, r, 0);
        }
    set_spot(s, spot, vpp);
}

static bool is_barred(struct search *s)
{
    const struct search_request *r = s->request;
    return note_rejection(s, r->barred ? r->barred(r->context, &s->c) : NULL);
}

/* Offload is for spots and stages on which recomputation short of whole layers makes no room; where
   it is tried alone, for all. */
static bool needs_offload(struct search *s)
{
    const struct kind *kind = present_kind(s);
    if (s->offload_alone) return kind->n_offloads > 1;
    return room_is_cramped_now(s, kind->part, 0) &&
           !room_is_cramped_now(s, kind->fullest, kind->leanest);
}

/* Whether nothing is left to try with any offload. */
static bool all_settled(const struct search *s)
{
    const struct kind *kind = present_kind(s);
    uint64_t settled = UINT64_MAX >> (SPACE_MAX_STATES - kind->n_recompute), all = settled;
    for (int o = 1; o < kind->n_offloads && settled == all; o++)
        settled &= variants_settled(s, o);
    return settled == all && !s->request->exhaustive;
}

/* Whether any plan on the present spot matters which takes at least so many seconds, with its
   virtual stages or up to so many. */
static bool any_matters(struct search *s, const struct least_seconds *least, int most_vpp,
                        double wish)
{
    bool any = false;
    for (int risky = 0; risky < 2 && !any; risky++) {
        const struct variants_least *x = &s->group->variants_least[risky];
        s->risky = risky;
        double bound = s->around + spots_bound(&s->spots, &s->c, &x->rates, most_vpp);
        if (least) bound = fmax(bound, risky ? least->any : least->safe);
        any = x->any && search_matters(s, bound, wish + x->wish);
    }
    s->risky = false;
    return any;
}

/* From here on bounds are of the present stages alone, until they are left. */
static void take_schedule(struct search *s)
{
    const struct variants_least *x = s->group->variants_least;
    spots_take_schedule(&s->spots, &x[!x->any].rates);
}

/* `plain`: plans without offload matter too; where offload is tried alone, theirs are the times
   that none with it undercuts. */
static void try_stages(struct search *s, const struct spot *spot, double wish, bool plain)
{
    if (!plain && !needs_offload(s)) return;
    variants_open(s);
    s->out->visited += !s->offload_alone;
    if (s->offload_alone && !s->request->exhaustive) settle_slow(s, spot, wish);
    for (int o = plain ? 0 : 1; o < present_kind(s)->n_offloads; o++) {
        if (o == 1 && (all_settled(s) || !needs_offload(s))) break;
        try_offload(s, spot, wish, o);
    }
}

/* The offload of which it is asked what has room before a spot has its turn. */
static int offload_asked(const struct search *s)
{
    return s->offload_alone ? present_kind(s)->leanest : 0;
}

/* Whether any plan with offload matters. What has room with it is asked where nothing else has. */
static bool offload_matters(struct search *s, int most_vpp, double wish)
{
    return present_kind(s)->n_offloads > 1 && any_matters(s, NULL, most_vpp, wish);
}

/* Whether anything on the present stages matters with the offload that was asked (offload_asked), of
   what may have room with it. */
static bool asked_matters(struct search *s, uint64_t never, double wish)
{
    int vpp = s->c.knobs.vpp;
    struct least_seconds least = order_bound(s, never, vpp);
    return any_matters(s, &least, vpp, wish);
}

/* Whether anything on them does that offloads more, where that is tried. */
static bool more_matters(struct search *s, double wish)
{
    return !s->offload_alone && offload_matters(s, s->c.knobs.vpp, wish) && needs_offload(s);
}

/* Tries the present stages. */
static void visit_stages(struct search *s, const struct turn *turn, bool more, bool plain)
{
    double wish = turn->spot->wish + search_wish(s, PART_STAGES);
    uint64_t never = turn->never[more];
    bool asked = plain || s->offload_alone;
    if (!any_matters(s, NULL, s->c.knobs.vpp, wish) || is_barred(s)) return;
    spots_recall_schedule(&s->spots);
    room_forget(s, offload_asked(s), turn->asked[more]);
    asked = asked && asked_matters(s, never, wish);
    if (asked || more_matters(s, wish)) {
        take_schedule(s);
        asked = asked && asked_matters(s, never, wish);
        if (asked || more_matters(s, wish)) try_stages(s, turn->spot, wish, plain && asked);
    }
    spots_leave_schedule(&s->spots);
}

/* The numbers of virtual stages of a spot in two classes, whose plans have different bounds: one
   stage, and more. */
struct stages {
    int n, values[AXIS_MAX_VALUES];
};

static struct stages stages_of(const struct axis *vpp, bool more)
{
    struct stages x = {0};
    for (int i = 0; i < vpp->n; i++)
        if ((vpp->values[i] > 1) == more) x.values[x.n++] = vpp->values[i];
    return x;
}

/* Makes a spot the present one, with the fewest stages; false: nothing of it matters. */
static bool enter(struct search *s, const struct spot *spot, struct axis *vpp)
{
    guard_tick(arena_guard(s->arena));
    set_spot(s, spot, 1);
    if (!search_matters(s, spot->bound, spot->wish) || room_is_known_hopeless(s, spot)) return false;
    *vpp = spots_stages(s->request, &s->c);
    s->c.knobs.vpp = vpp->values[0];
    s->kind = kinds_of(&s->kinds, &s->c);
    s->params = sharding_params(&s->c);
    s->around = least_around(s, vpp->values[vpp->n - 1]);
    if (!search_matters(s, spot->bound + s->around, spot->wish)) return false;
    return !room_is_hopeless(s, spot, vpp->values[vpp->n - 1]);
}

/* Gives a spot its turn, by what has room. */
static void queue(struct search *s, const struct spot *spot)
{
    struct axis vpp;
    struct turn turn = {.spot = spot, .bound = INFINITY};
    if (!enter(s, spot, &vpp)) return;
    for (int more = 0; more < 2; more++) {
        struct stages x = stages_of(&vpp, more);
        if (x.n == 0) continue;
        set_spot(s, spot, x.values[0]);
        int most = x.values[x.n - 1];
        turn.never[more] = room_never(s, offload_asked(s), most, &turn.asked[more]);
        turn.least[more] = order_bound(s, turn.never[more], most);
        turn.bound = fmin(turn.bound, turn.least[more].any * prefer_factor(spot->wish));
    }
    order_add(s, turn);
}

/* Layers in a rank's chunks if all were as long as the longest, for which the others wait. */
static int waited_for(const struct search *s, int vpp)
{
    int chunks = s->c.knobs.pp * vpp, items = s->c.model.num_layers + 2;
    return (items + chunks - 1) / chunks * vpp;
}

/* Those first whose chunks come out even; of these with most virtual stages, whose ramps are the
   shortest: a good plan found early bounds the others away. */
static void order_stages(const struct search *s, struct stages *x)
{
    for (int i = 1; i < x->n; i++) {
        int at = i, vpp = x->values[i];
        for (; at > 0 && waited_for(s, vpp) <= waited_for(s, x->values[at - 1]); at--)
            x->values[at] = x->values[at - 1];
        x->values[at] = vpp;
    }
}

/* Visits stages that are near one another, which share bounds. */
static void visit_near(struct search *s, const struct turn *turn, struct stages *x, bool more)
{
    double wish = turn->spot->wish;
    int most = x->values[x->n - 1];
    set_spot(s, turn->spot, x->values[0]);
    bool any = any_matters(s, &turn->least[more], most, wish), plain = any && !s->offload_alone;
    if (!any && (s->offload_alone || !offload_matters(s, most, wish))) return;
    s->least_vpp = x->values[0], s->most_vpp = most;
    variants_start(s);
    order_stages(s, x);
    for (int i = 0; i < x->n; i++) {
        set_spot(s, turn->spot, x->values[i]);
        visit_stages(s, turn, more, plain);
    }
}

/* Of a class, the most promising stages alone. Whether there are others. */
static bool visit_first(struct search *s, const struct turn *turn, const struct stages *x,
                        bool more)
{
    struct stages one = *x;
    set_spot(s, turn->spot, x->values[0]);
    order_stages(s, &one);
    one.n = 1;
    visit_near(s, turn, &one, more);
    return x->n > 1;
}

/* The others, up to twice as many virtual stages at a time. */
static void visit_others(struct search *s, const struct turn *turn, const struct stages *x,
                         bool more)
{
    struct stages sorted = *x, near;
    set_spot(s, turn->spot, x->values[0]);
    order_stages(s, &sorted);
    for (int i = 0; i < x->n;) {
        int least = x->values[i];
        for (near.n = 0; i < x->n && x->values[i] < 2 * least; i++)
            if (x->values[i] != sorted.values[0]) near.values[near.n++] = x->values[i];
        if (near.n > 0) visit_near(s, turn, &near, more);
    }
}

/* First the most promising stages alone, then, once others near have had their turn too, the rest:
   a good plan of each that is found early bounds much away. */
static void visit(struct search *s, struct turn *turn)
{
    static const double later = 1.2; /* bounds are as far below the plans that are found */
    struct axis vpp;
    bool left = false;
    if (!enter(s, turn->spot, &vpp)) return;
    variants_list(s);
    for (int more = 1; more >= 0; more--) {
        struct stages x = stages_of(&vpp, more);
        if (x.n == 0) continue;
        if (turn->begun)
            visit_others(s, turn, &x, more);
        else
            left = visit_first(s, turn, &x, more) || left;
    }
    if (!left) return;
    turn->begun = true;
    turn->bound *= later;
    order_add(s, *turn);
}

/* Gives a spot its turn once it is known what it takes at least. */
static void meet(struct search *s, struct spot *spot)
{
    set_spot(s, spot, 1);
    if (!search_matters(s, spot->rough, spot->wish)) return;
    spots_measure(&s->spots, spot);
    if (search_matters(s, spot->bound, spot->wish))
        order_add(s, (struct turn){.spot = spot, .bound = spot->bound, .met = true});
}

/* A spot waits while others have smaller bounds, of any kind. */
static void visit_all(struct search *s)
{
    struct spot *spots = s->spots.items.items;
    size_t next = 0, n = s->spots.items.n;
    s->turns.n = 0;
    while ((next < n || s->turns.n > 0) && !(s->any && s->finalists.n_fast > 0)) {
        bool waits =
            s->turns.n > 0 && (s->any || next == n || s->turns.items[0].bound <= spots[next].rough);
        if (!waits) {
            meet(s, &spots[next++]);
            continue;
        }
        struct turn turn = order_take(s);
        if (turn.met)
            queue(s, turn.spot);
        else
            visit(s, &turn);
    }
}

/* ---- offload where there is room without ---- */

/* Whether it recomputes whole layers, which the user did not say. */
static bool repeats_unasked(const struct search *s, const struct knobs *k)
{
    return k->recompute == RECOMPUTE_FULL && !space_is_pinned(s->request, P_recompute_granularity);
}

/* A faster variant may have room with offload alone. Guides leave it for where recomputing modules
   is not enough (S1.3, S1.4): where the best plan neither offloads nor repeats whole layers, what
   offloads is never first, and has to be clearly faster than all others. */
static void visit_with_offload(struct search *s)
{
    static const double clearly = 0.01;
    const struct finalists *f = &s->finalists;
    if (f->n == 0) return;
    const struct knobs *best = &f->ranked[0].knobs;
    s->last_resort = !knobs_offload(best) && !repeats_unasked(s, best);
    s->worth = f->fast[0].step_s / (1 + clearly);
    s->offload_alone = true;
    visit_all(s);
    s->offload_alone = s->last_resort = false;
}

/* Plans that are known from elsewhere. */
static void visit_known(struct search *s)
{
    struct contender o;
    for (size_t i = 0; i < s->request->n_known; i++) {
        s->c.knobs = s->request->known[i];
        s->wish =
            search_wish(s, PART_SPOT) + search_wish(s, PART_STAGES) + search_wish(s, PART_VARIANT);
        if (!knobs_divide(&s->c.knobs) || !split_plan(&s->c, &s->layout)) continue;
        s->risky = search_is_risky(s);
        if (room_is_there(s, &o)) offer(s, &o);
        s->risky = false;
    }
}

/* ---- the whole ---- */

static enum part part_of(const struct knob *knob)
{
    if (spots_decide(knob) || knob->kind == KNOB_SHARDED) return PART_SPOT;
    if (knob->offset == decisions[DECISION_VPP].size) return PART_STAGES;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        if (kinds_decide(d) && decision_sets(d, knob->param)) return PART_STATE;
    return PART_VARIANT;
}

static void part_wishes(struct search *s)
{
    const struct search_request *r = s->request;
    for (int part = 0; part < PARTS; part++)
        s->wishes[part].items = ARENA_ARRAY(s->arena, struct preference, r->n_preferences);
    for (size_t i = 0; i < r->n_preferences; i++) {
        struct wishes *of = &s->wishes[part_of(r->preferences[i].knob)];
        if (r->preferences[i].log_margin > 0) of->items[of->n++] = r->preferences[i];
    }
}

bool search_divide(struct config *c, struct layout *slot)
{
    if (!split_plan(c, slot)) return false;
    split_polish(c, slot);
    return true;
}

static const struct shown *find_shown(const struct search *s, const struct knobs *plan)
{
    for (size_t i = 0; i < s->n_shown; i++)
        if (memcmp(&s->shown[i].plan, plan, sizeof *plan) == 0) return &s->shown[i];
    return NULL;
}

/* A plan as it is shown, its layers divided into *slot; the part of its step that it gains so. */
static double polish_one(struct search *s, struct contender *o, struct layout *slot)
{
    const struct shown *known = find_shown(s, &o->knobs);
    double preferred = o->score / o->step_s, before = o->step_s;
    bool risky = o->risky;
    s->c.knobs = o->knobs;
    if (known)
        *o = known->costs, *slot = known->split;
    else if (!search_divide(&s->c, slot) || !contender_estimate(&s->c, o))
        return 0;
    o->score = o->step_s * preferred;
    o->risky = risky;
    return 1 - o->step_s / before;
}

/* Puts the one first that is the fastest as it is shown. */
static void settle_fastest(struct search *s)
{
    struct contender *fast = s->finalists.fast, first = fast[0];
    size_t n = s->finalists.n_fast, fastest = 0;
    double least = INFINITY;
    for (size_t i = 0; i < n && n > 1; i++) {
        struct shown *x = &s->shown[i];
        x->plan = fast[i].knobs;
        x->costs = fast[i];
        polish_one(s, &x->costs, &x->split);
        s->n_shown = i + 1;
        if (x->costs.step_s < least) least = x->costs.step_s, fastest = i;
    }
    fast[0] = fast[fastest];
    fast[fastest] = first;
}

/* The plans as they are shown, which may change their order. */
static void polish(struct search *s)
{
    struct search_result *out = s->out;
    for (size_t i = 0; i < out->n; i++) {
        double gain = polish_one(s, &out->plans[i], &out->splits[i]);
        out->plans[i].slot = (int)i;
        out->polished = fmax(out->polished, gain);
    }
    finalists_sort(out->plans, out->n, s->c.machine.capacity_bytes);
    out->n = finalists_cut(out->plans, out->n, s->request->top);
}

static void make_families(struct search *s)
{
    s->families = ARENA_ARRAY(s->arena, struct family, s->spots.n_families);
    for (size_t i = 0; i < s->spots.n_families; i++)
        s->families[i].least_mbs = INT_MAX;
    for (size_t i = 0; i < s->spots.items.n; i++) {
        const struct spot *spot = &s->spots.items.items[i];
        int mbs = s->spots.groups.items[spot->group]->knobs.mbs,
            *least = &s->families[spot->family].least_mbs;
        if (mbs < *least) *least = mbs;
    }
}

/* What has no room on a GPU has none on a smaller one. Where nothing surely fits, what needs least
   is looked for again. */
static void forget_families(struct search *s)
{
    for (size_t i = 0; i < s->spots.n_families; i++) {
        struct family *f = &s->families[i];
        f->roomy = 0;
        if (s->tight || s->c.machine.capacity_bytes > f->within) f->hopeless = INT_MAX;
    }
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
    s->usual_risks = move_risks(request->base);
    s->c.knobs.graph_impl = GRAPH_FULL_ITERATION;
    s->whole_is_risky = search_is_risky(s);
    s->c.knobs.graph_impl = request->base->knobs.graph_impl;
    s->known_layers = ARENA_ARRAY(a, struct known_layers *, SEARCH_KNOWN_LAYERS);
    s->known_kernels = ARENA_NEW(a, struct known_kernels);
    s->known_kernels->f = s->timing.f;
    s->memory_coefficients = memory_coefficients_of(&s->c.machine);
    s->known_memory = ARENA_ARRAY(a, struct known_memory *, SEARCH_KNOWN_MEMORY);
    for (int i = 0; i < KINDS_MOST_OFFLOADS; i++)
        s->edges[i] = UNKNOWN_EDGE;
    s->never_edge = UNKNOWN_EDGE;
    part_wishes(s);
    s->spots = (struct spots){.request = request,
                              .arena = a,
                              .preferences = s->wishes[PART_SPOT].items,
                              .n_preferences = s->wishes[PART_SPOT].n,
                              .c = &s->c,
                              .timing = &s->timing,
                              .kernels = s->known_kernels};
    spots_fill(&s->spots);
    make_families(s);
    return s;
}

static void visit_within(struct search *s, double capacity_bytes, struct search_result *out)
{
    size_t top = s->request->top, most = top > FINALISTS_LEAST ? top : FINALISTS_LEAST;
    s->out = out;
    s->c.machine.capacity_bytes = capacity_bytes;
    *out = (struct search_result){.layouts = s->spots.layouts};
    forget_families(s);
    finalists_start(&s->finalists, most < SEARCH_MAX_PLANS ? most : SEARCH_MAX_PLANS,
                    s->spots.two_kinds);
    visit_known(s);
    visit_all(s);
}

bool search_finds_any(struct search *s, double capacity_bytes)
{
    struct search_result unused;
    s->tight = false;
    s->any = true;
    visit_within(s, capacity_bytes, &unused);
    s->any = false;
    return s->finalists.n_fast > 0;
}

void search_within(struct search *s, double capacity_bytes, bool tight, struct search_result *out)
{
    s->tight = tight;
    s->n_shown = 0;
    visit_within(s, capacity_bytes, out);
    visit_with_offload(s);
    settle_fastest(s);
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
