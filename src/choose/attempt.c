/* SPDX-License-Identifier: Apache-2.0 */
/* Every plan on the present spot and stages: states of recomputation and offload, variants with
   each, and their sides. */
#include <math.h>

#include "base/larger.h"
#include "choose/visit.h"
#include "facts/param_ids.h"

/* Whether a plan of the present layout would be kept. One that offloads where others do without is
   for its speed alone. */
static bool is_wanted(const struct search *s, double score, double step_s)
{
    const struct finalists *f = &s->finalists;
    if (s->last_resort) return step_s <= smaller(s->worth, f->fast[0].step_s);
    return finalists_want(f, &s->c.knobs, score, step_s, s->risky);
}

bool search_matters(const struct search *s, double step_s, double wish)
{
    if (s->any) return s->finalists.n_fast == 0;
    return s->request->exhaustive || is_wanted(s, step_s * prefer_factor(wish), step_s);
}

bool search_any_matters(struct search *s, double around, const struct least_seconds *least,
                        int most_vpp, double wish)
{
    bool any = false;
    for (int risky = 0; risky < 2 && !any; risky++) {
        const struct variants_least *x = &s->group->variants_least[risky];
        s->risky = risky;
        double bound = around + spots_bound(&s->spots, &s->c, &x->rates, most_vpp);
        if (least) bound = larger(bound, risky ? least->any : least->safe);
        any = x->any && search_matters(s, bound, wish + x->wish);
    }
    s->risky = false;
    return any;
}

void search_set_spot(struct search *s, const struct spot *spot, int vpp)
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
    double slow = s->group->least[0].ways[0].slow,
           window = passes_s / (slow * (double)knobs_microbatches(k));
    return sharding_optimizer(&s->timing, k, s->params) +
           slow * sharding_exposed_least(&s->timing, k, s->params, window);
}

double search_around(struct search *s, int most_vpp)
{
    const struct kind *kind = present_kind(s);
    struct knobs present = s->c.knobs;
    double least = INFINITY, slowest = finalists_slowest(&s->finalists);
    for (int i = 0; i < kind->n_sides; i++) {
        s->c.knobs = present;
        if (!combination_set(&kind->sides[i], &s->c)) continue;
        s->c.knobs.vpp = most_vpp;
        least = smaller(least, around(s, &s->c.knobs, slowest));
    }
    s->c.knobs = present;
    return isinf(least) ? 0 : least;
}

/* Of the refused the first is remembered, which is the one with the best bound. */
static void keep_refusal(struct search *s, const char *why)
{
    if (!s->out->last_rejection) s->out->refused = s->c.knobs;
    s->out->last_rejection = why;
}

bool search_note_rejection(struct search *s, const char *why)
{
    if (!why) return false;
    s->out->rejected++;
    keep_refusal(s, why);
    return true;
}

bool search_offer(struct search *s, struct contender *o)
{
    search_take_layers(s);
    o->step_s = time_step(s->layers, &s->c);
    o->score = o->step_s * prefer_factor(s->wish + search_wish(s, PART_STATE));
    o->risky = s->risky;
    if (isinf(o->step_s) || !is_wanted(s, o->score, o->step_s)) return true;
    const struct search_request *r = s->request;
    if (search_note_rejection(s, r->reject ? r->reject(r->context, &s->c) : NULL)) return false;
    finalists_add(&s->finalists, o);
    return true;
}

/* Whether a refusal that is known holds for the present knobs; the last one is kept. */
static bool is_refused(struct search *s)
{
    const struct search_request *r = s->request;
    const char *why = r->refused ? r->refused(r->context, &s->c.knobs) : NULL;
    if (why) keep_refusal(s, why);
    return why;
}

/* What makes room on the present spot and stages. */
struct relief {
    int recompute, offload;
    double seconds; /* that the offload adds at least */
    bool hopeless;  /* as the plan before was: then it is asked first whether this one is */
};

/* SQUEEZED: it fits with its layers divided by memory, and would be faster if it kept less.
   HOPELESS: no room, nor with other virtual stages of the class being visited. */
enum result { TOO_SLOW, NO_ROOM, HOPELESS, REFUSED, SQUEEZED, GOOD };

static bool lacks_room(enum result x)
{
    return x == NO_ROOM || x == HOPELESS;
}

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
    if (x->hopeless && is_denied_to_all(s, open, side)) return HOPELESS;
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
    return !search_offer(s, &o) ? REFUSED : moved ? SQUEEZED : GOOD;
}

/* The sides of a variant, as bits, and what became of those that were tried. */
struct sides {
    const struct knobs *plain; /* of the variant */
    struct open_sides *open;
    uint32_t needless; /* in nothing better than another that was tried */
    uint32_t done;     /* tried, or known to have no room */
    bool any, settled, hopeless, lacking;
};

/* Tries the present variant with one of its sides. Groups of ranks that hold the same shards share
   less of the states, whatever else is beside them: where a plan has no room, nor have those that
   are the same but for replicas. */
static void try_side(struct search *s, struct relief *x, int i, struct sides *sides)
{
    const struct kind *kind = present_kind(s);
    bool all = s->request->exhaustive;
    if ((sides->needless | sides->done) >> i & 1 && !all) return;
    s->c.knobs = *sides->plain;
    if (!combination_set(&kind->sides[i], &s->c) ||
        !combination_set(&kind->offloads[x->offload], &s->c))
        return;
    enum result one = try_plan(s, x, sides->open, i);
    x->hopeless = one == HOPELESS;
    sides->settled = sides->settled && (one == GOOD || one == TOO_SLOW);
    sides->hopeless = sides->hopeless && x->hopeless;
    sides->lacking = sides->lacking && lacks_room(one);
    sides->any = true;
    sides->done |= 1u << i;
    if (one != REFUSED) sides->needless |= kind->worse[i];
    for (int j = 0; j < kind->n_sides && lacks_room(one); j++)
        if (kind->plain[j] == i) sides->done |= 1u << j;
}

/* Tries the present variant with every side that may be best; after one without room that without
   replicas first, which says most. GOOD: none of them would do better with more room, and one may
   be at all; HOPELESS, NO_ROOM: all are, or have; else SQUEEZED. */
static enum result try_sides(struct search *s, struct variant *v, struct relief *x)
{
    const struct kind *kind = present_kind(s);
    struct knobs plain = s->c.knobs;
    struct sides sides = {.plain = &plain,
                          .open = variant_open_sides(s, v, x->recompute, x->offload),
                          .settled = true,
                          .hopeless = true,
                          .lacking = true};
    for (int i = 0; i < kind->n_sides; i++) {
        bool lacked = x->hopeless || (sides.any && sides.lacking);
        if (lacked && kind->plain[i] != i && !s->request->exhaustive)
            try_side(s, x, kind->plain[i], &sides);
        try_side(s, x, i, &sides);
    }
    s->c.knobs = plain;
    if (!sides.any) return SQUEEZED;
    return sides.settled ? GOOD : sides.hopeless ? HOPELESS : sides.lacking ? NO_ROOM : SQUEEZED;
}

/* ---- variants ---- */

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

/* Whether a plan with the present knobs' layers matters with any virtual stages of the class being
   visited. */
static bool matters_near(struct search *s, const struct time_rates *rates, double around)
{
    int vpp = s->c.knobs.vpp;
    double seconds = spots_suspend_schedule(&s->spots);
    s->c.knobs.vpp = s->least_vpp;
    double least = spots_bound(&s->spots, &s->c, rates, s->most_vpp) + around;
    s->c.knobs.vpp = vpp;
    spots_resume_schedule(&s->spots, seconds);
    double wish = s->wish - search_wish(s, PART_STAGES) + search_wish(s, PART_STATE);
    return search_matters(s, least, wish);
}

/* Tries a variant; false: no other has room either. *without: those that were tried and have none,
   or would do better with more. */
static bool try_variant(struct search *s, struct variant *v, struct relief *x, int *without)
{
    bool all = s->request->exhaustive;
    const struct combination *offload = &present_kind(s)->offloads[x->offload];
    variant_set(s, v, x->recompute);
    const struct time_rates *rates = variant_rates(s, v, x->recompute);
    double around = x->seconds > 0 ? x->seconds : s->around,
           least = around + spots_bound(&s->spots, &s->c, rates, s->c.knobs.vpp);
    s->risky = v->risky || s->last_resort;
    bool slow = !search_matters(s, least, s->wish + search_wish(s, PART_STATE)), cramped = false,
         settled = slow,
         near = slow && s->least_vpp < s->most_vpp && !matters_near(s, rates, around);
    if (!slow && !is_refused_with(s, offload)) {
        cramped = !all && (x->offload > 0 ? room_is_cramped(s, x->recompute, x->offload)
                                          : room_is_known_cramped(s, x->recompute, 0));
        enum result one = cramped ? SQUEEZED : try_sides(s, v, x);
        settled = one == GOOD;
        if (lacks_room(one)) settled_give_up(s, v, x->recompute, x->offload, one == HOPELESS);
        if (!settled && !all && ++*without >= TRIED_FIRST)
            cramped = room_is_cramped(s, x->recompute, x->offload);
    }
    s->risky = false;
    if (settled) settled_add(s, v, x->recompute, x->offload, near);
    return !cramped;
}

static void try_variants(struct search *s, const struct spot *spot, double wish, struct relief *x)
{
    struct group *g = s->group;
    int vpp = s->c.knobs.vpp;
    int without = 0;
    bool room = true;
    struct variant *end = g->variants + g->n_variants;
    for (struct variant *v = g->variants; v < end && room; v++) {
        if (!s->request->exhaustive) v = settled_next(s, v, x->recompute, x->offload);
        if (!v) break;
        search_set_spot(s, spot, vpp);
        s->wish = wish + v->wish;
        room = try_variant(s, v, x, &without);
    }
    search_set_spot(s, spot, vpp);
}

/* The states of recomputation, as bits, with which something is left to try with an offload: of the
   others it is known that there is no room, or that every variant is settled. */
static uint64_t states_left(const struct search *s, int offload)
{
    uint64_t all = UINT64_MAX >> (SPACE_MAX_STATES - present_kind(s)->n_recompute);
    if (s->request->exhaustive) return all;
    return settled_not_all(s, offload) & ~room_known_cramped(s, offload);
}

/* Whether that became known of one of them. */
static bool is_idle(const struct search *s, const struct relief *x)
{
    return !s->request->exhaustive && (room_is_known_cramped(s, x->recompute, x->offload) ||
                                       settled_all(s, x->recompute, x->offload));
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
               search_matters(
                   s, s->around + spots_bound_of_split(&s->spots, &s->c, rates, &s->layout), wish);
    s->risky = false;
    return may;
}

/* Settles a variant on the present spot and stages: whether it is too slow without offload, and so
   with any. Where one is, so are those that are no faster and repeat no less; where one is not, nor
   are those that are no slower and repeat no more. */
static void settle_variant(struct search *s, const struct spot *spot, double wish,
                           struct variant *v, int recompute)
{
    int vpp = s->c.knobs.vpp;
    if (may_matter(s, v, recompute, wish))
        settled_is_fast(s, v, recompute);
    else
        settled_add(s, v, recompute, 0, false);
    search_set_spot(s, spot, vpp);
}

/* Settles the variants with a state of recomputation that are too slow without offload, if there is
   room beside one; whether any is left to try with it. */
static bool settle_slow(struct search *s, const struct spot *spot, double wish,
                        const struct relief *x)
{
    struct variant *v;
    while ((v = settled_next(s, s->group->variants, x->recompute, x->offload)) &&
           settled_is_unknown(s, v, x->recompute))
        settle_variant(s, spot, wish, v, x->recompute);
    if (!v || room_is_cramped(s, x->recompute, x->offload)) return false;
    while ((v = settled_middle(s, x->recompute)))
        settle_variant(s, spot, wish, v, x->recompute);
    return true;
}

/* Tries every state of recomputation with an offload. */
static void try_offload(struct search *s, const struct spot *spot, double wish, int offload)
{
    struct relief x = {.offload = offload};
    bool slow = s->offload_alone && !s->request->exhaustive;
    uint64_t left = states_left(s, offload);
    if (left) x.seconds = cpu_seconds(s, &present_kind(s)->offloads[offload]);
    if (x.seconds > 0 && !search_any_matters(s, x.seconds, NULL, s->c.knobs.vpp, wish)) return;
    for (; left; left &= left - 1) {
        x.recompute = __builtin_ctzll(left);
        if (is_idle(s, &x)) continue;
        if (!slow || settle_slow(s, spot, wish, &x)) try_variants(s, spot, wish, &x);
    }
}

bool search_needs_offload(struct search *s)
{
    const struct kind *kind = present_kind(s);
    if (s->offload_alone) return kind->n_offloads > 1;
    bool needs = room_is_cramped_now(s, kind->part, 0), helps = false;
    for (int o = 0; o < kind->n_offloads && needs && !helps; o++)
        helps = kind->leanest >> o & 1 && !room_is_cramped_now(s, kind->fullest, o);
    return helps;
}

/* Whether nothing is left to try with any offload. */
static bool is_all_settled(struct search *s)
{
    const struct kind *kind = present_kind(s);
    bool all = !s->request->exhaustive;
    for (int o = 1; o < kind->n_offloads && all; o++)
        all = !settled_not_all(s, o);
    return all;
}

void search_try_stages(struct search *s, const struct spot *spot, double wish, bool plain)
{
    if (!plain && !search_needs_offload(s)) return;
    settled_open(s);
    s->out->visited += !s->offload_alone;
    for (int o = plain ? 0 : 1; o < present_kind(s)->n_offloads; o++) {
        if (o == 1 && (is_all_settled(s) || !search_needs_offload(s))) break;
        try_offload(s, spot, wish, o);
    }
}
