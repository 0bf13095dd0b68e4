/* SPDX-License-Identifier: Apache-2.0 */
/* Spots and their stages in turn (visit.h). */
#include <math.h>

#include "base/larger.h"
#include "choose/visit.h"
#include "facts/param_ids.h"

static bool is_barred(struct search *s)
{
    const struct search_request *r = s->request;
    return search_note_rejection(s, r->barred ? r->barred(r->context, &s->c) : NULL);
}

/* From here on bounds are of the present stages alone, until they are left. */
static void take_schedule(struct search *s)
{
    const struct variants_least *x = s->group->variants_least;
    spots_take_schedule(&s->spots, &x[!x->any].rates);
}

/* The offloads of which it is asked what has room before a spot has its turn, as bits. */
static uint32_t offloads_asked(const struct search *s)
{
    return s->offload_alone ? present_kind(s)->leanest : 1;
}

/* Whether any plan with offload matters. What has room with it is asked where nothing else has. */
static bool offload_matters(struct search *s, int most_vpp, double wish)
{
    return present_kind(s)->n_offloads > 1 &&
           search_any_matters(s, s->around, NULL, most_vpp, wish);
}

/* Whether anything on the present stages matters with what offload was asked (offloads_asked), of
   what may have room with it. */
static bool asked_matters(struct search *s, uint64_t never, double wish)
{
    int vpp = s->c.knobs.vpp;
    struct least_seconds least = order_bound(s, never, vpp);
    return search_any_matters(s, s->around, &least, vpp, wish);
}

/* Whether anything on them does that offloads more, where that is tried. */
static bool more_matters(struct search *s, double wish)
{
    return !s->offload_alone && offload_matters(s, s->c.knobs.vpp, wish) && search_needs_offload(s);
}

/* Tries the present stages. */
static void visit_stages(struct search *s, const struct turn *turn, bool more, bool plain)
{
    double wish = turn->spot->wish + search_wish(s, PART_STAGES);
    uint64_t never = turn->never[more];
    bool asked = plain || s->offload_alone;
    if (!search_any_matters(s, s->around, NULL, s->c.knobs.vpp, wish) || is_barred(s)) return;
    spots_recall_schedule(&s->spots);
    room_forget(s);
    asked = asked && asked_matters(s, never, wish);
    if (asked || more_matters(s, wish)) {
        take_schedule(s);
        asked = asked && asked_matters(s, never, wish);
        if (asked || more_matters(s, wish)) search_try_stages(s, turn->spot, wish, plain && asked);
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

/* Takes what the spot's plans have in common, with the fewest virtual stages; false: nothing has
   room. */
static bool begin(struct search *s, const struct spot *spot, struct axis *vpp)
{
    if (room_is_known_hopeless(s, spot)) return false;
    *vpp = spots_stages(&s->spots);
    s->c.knobs.vpp = vpp->values[0];
    s->kind = kinds_of(&s->kinds, &s->c);
    return true;
}

/* Makes a spot the present one, with the fewest stages; false: nothing of it matters. `turn`: where
   it has had one. */
static bool enter(struct search *s, const struct spot *spot, const struct turn *turn,
                  struct axis *vpp)
{
    guard_tick(arena_guard(s->arena));
    search_set_spot(s, spot, 1);
    if (!search_matters(s, spot->bound, spot->wish) || !begin(s, spot, vpp)) return false;
    s->params = turn ? turn->params : sharding_params(&s->c);
    s->around = s->any ? 0 : turn ? turn->around : search_around(s, vpp->values[vpp->n - 1]);
    if (!search_matters(s, spot->bound + s->around, spot->wish)) return false;
    return !room_is_hopeless(s, spot, vpp->values[vpp->n - 1]);
}

/* Whether anything on the present spot matters with its virtual stages or any number from there to
   `most_vpp`, if it had room without recomputation. */
static bool class_matters(struct search *s, const struct spot *spot, int most_vpp)
{
    const struct least_rates *least = s->group->least;
    if (s->any || !least) return true;
    double bound = smaller(spots_least_bound(&s->spots, &s->c, &least[0], most_vpp),
                           spots_least_bound(&s->spots, &s->c, &least[1], most_vpp));
    return search_matters(s, bound + s->around, spot->wish);
}

/* Gives a spot its turn, by what has room. */
static void queue(struct search *s, struct spot *spot)
{
    struct axis vpp;
    double bound = INFINITY;
    if (!enter(s, spot, NULL, &vpp)) return;
    struct turn *turn = ARENA_NEW(s->arena, struct turn);
    turn->spot = spot;
    turn->params = s->params;
    turn->around = s->around;
    for (int more = 0; more < 2; more++) {
        struct stages x = stages_of(&vpp, more);
        turn->least[more] = (struct least_seconds){INFINITY, INFINITY};
        if (x.n == 0) continue;
        search_set_spot(s, spot, x.values[0]);
        int most = x.values[x.n - 1];
        if (!class_matters(s, spot, most)) continue;
        turn->never[more] = room_never(s, spot, offloads_asked(s), most, &turn->first[more]);
        if (s->any) continue; /* then no bound is read */
        turn->least[more] = order_bound(s, turn->never[more], most);
        bound = smaller(bound, turn->least[more].any * prefer_factor(spot->wish));
    }
    order_add(s, (struct waiting){bound, spot, turn});
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
    search_set_spot(s, turn->spot, x->values[0]);
    bool any = search_any_matters(s, s->around, &turn->least[more], most, wish),
         plain = any && !s->offload_alone;
    if (!any && (s->offload_alone || !offload_matters(s, most, wish))) return;
    s->least_vpp = x->values[0], s->most_vpp = most;
    settled_start(s);
    room_start(s, offloads_asked(s), turn->first[more]);
    order_stages(s, x);
    for (int i = 0; i < x->n; i++) {
        search_set_spot(s, turn->spot, x->values[i]);
        visit_stages(s, turn, more, plain);
    }
}

/* Of a class, the most promising stages alone. Whether there are others. */
static bool visit_first(struct search *s, const struct turn *turn, const struct stages *x,
                        bool more)
{
    struct stages one = *x;
    search_set_spot(s, turn->spot, x->values[0]);
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
    search_set_spot(s, turn->spot, x->values[0]);
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
static void visit(struct search *s, struct waiting *x)
{
    static const double later = 1.2; /* bounds are as far below the plans that are found */
    struct turn *turn = x->turn;
    struct axis vpp;
    bool left = false;
    if (!enter(s, turn->spot, turn, &vpp)) return;
    spots_measure(&s->spots, x->spot); /* unless it is, as where any plan will do */
    variants_list(s);
    for (int more = 1; more >= 0; more--) {
        struct stages stages = stages_of(&vpp, more);
        if (stages.n == 0) continue;
        if (turn->begun)
            visit_others(s, turn, &stages, more);
        else
            left = visit_first(s, turn, &stages, more) || left;
    }
    if (!left) return;
    turn->begun = true;
    x->bound *= later;
    order_add(s, *x);
}

/* Whether nothing on the present spot fits, asked before it is measured: of a small part of a GPU
   that is so of most. */
static bool lacks_room(struct search *s, const struct spot *spot)
{
    struct axis vpp;
    if (!search_is_limited(s) || s->any) return room_is_known_hopeless(s, spot);
    return !begin(s, spot, &vpp) || room_is_hopeless(s, spot, vpp.values[vpp.n - 1]);
}

/* ---- a good plan early ---- */

/* Of so many spots the first are looked for: those that follow have far larger bounds. */
enum { EARLY_AMONG = 2048 };

static double promise(const struct spot *spot)
{
    return spot->bound * prefer_factor(spot->wish);
}

/* Puts a spot among the most promising, of a family the best alone. */
static void note_early(struct search *s, struct spot *spot)
{
    int at = 0;
    while (at < s->n_early && s->early[at]->family != spot->family)
        at++;
    if (at == SEARCH_EARLY) at--; /* the last, which is the least promising */
    if (at < s->n_early && promise(s->early[at]) <= promise(spot)) return;
    if (at == s->n_early) s->n_early++;
    for (; at > 0 && promise(s->early[at - 1]) > promise(spot); at--)
        s->early[at] = s->early[at - 1];
    s->early[at] = spot;
}

static bool is_early(const struct search *s, const struct spot *spot)
{
    bool early = false;
    for (int i = 0; i < s->n_early; i++)
        early = early || s->early[i]->family == spot->family;
    return early;
}

/* Gives the spots of the most promising families their turn, whatever their micro-batch: which one
   has room is only known then. */
static void queue_early(struct search *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct spot *spot = &s->spots.items.items[i];
        spot->early = is_early(s, spot);
        if (!spot->early) continue;
        search_set_spot(s, spot, 1);
        if (lacks_room(s, spot)) continue;
        spots_measure(&s->spots, spot);
        queue(s, spot);
    }
}

/* Visits the spots first that are fast by their bounds and follow the guides, which know what has
   room and is fast in truth: plans that are found there bound away spots before it is asked what
   has room on them, and which come before by their bounds alone. */
static void visit_early(struct search *s)
{
    size_t n = s->spots.items.n < EARLY_AMONG ? s->spots.items.n : EARLY_AMONG;
    s->n_early = 0;
    if (!s->any && !s->offload_alone && !s->request->exhaustive)
        for (size_t i = 0; i < n; i++)
            note_early(s, &s->spots.items.items[i]);
    queue_early(s, n);
    for (int i = 0; i < SEARCH_EARLY && s->waiting.n > 0; i++) {
        struct waiting x = order_take(s);
        visit(s, &x);
    }
}

/* ---- all in turn ---- */

/* Gives a spot its turn once it is known what it takes at least. */
static void meet(struct search *s, struct spot *spot)
{
    guard_tick(arena_guard(s->arena));
    search_set_spot(s, spot, 1);
    if (spot->early || !search_matters(s, spot->bound, spot->wish) || lacks_room(s, spot)) return;
    if (!s->any) spots_measure(&s->spots, spot);
    if (search_matters(s, spot->bound, spot->wish))
        order_add(s, (struct waiting){spot->bound, spot, NULL});
}

/* The next of all spots: the fastest first, and where any plan will do the slowest, of which most
   share more of the model. */
static struct spot *next_spot(const struct search *s, size_t next)
{
    struct spot *spots = s->spots.items.items;
    return &spots[s->any ? s->spots.items.n - 1 - next : next];
}

/* A spot waits while others have smaller bounds, of any kind. */
void visit_all(struct search *s)
{
    size_t next = 0, n = s->spots.items.n;
    s->waiting.n = 0;
    visit_early(s);
    while ((next < n || s->waiting.n > 0) && !(s->any && s->finalists.n_fast > 0)) {
        bool waits = s->waiting.n > 0 && (s->any || next == n ||
                                          s->waiting.items[0].bound <= next_spot(s, next)->bound);
        if (!waits) {
            meet(s, next_spot(s, next++));
            continue;
        }
        struct waiting x = order_take(s);
        if (x.turn)
            visit(s, &x);
        else
            queue(s, x.spot);
    }
}

/* ---- offload where there is room without ---- */

/* Whether it recomputes whole layers, which the user did not say. */
static bool repeats_unasked(const struct search *s, const struct knobs *k)
{
    return k->recompute == RECOMPUTE_FULL && !space_is_pinned(s->request, P_recompute_granularity);
}

void visit_with_offload(struct search *s)
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

static void visit_plan(struct search *s, const struct knobs *plan)
{
    struct contender o;
    s->c.knobs = *plan;
    s->wish =
        search_wish(s, PART_SPOT) + search_wish(s, PART_STAGES) + search_wish(s, PART_VARIANT);
    if (!knobs_divide(&s->c.knobs) || !split_plan(&s->c, &s->layout)) return;
    s->risky = search_is_risky(s);
    if (room_is_there(s, &o)) search_offer(s, &o);
    s->risky = false;
}

void visit_known(struct search *s)
{
    for (size_t i = 0; i < s->request->n_known; i++)
        visit_plan(s, &s->request->known[i]);
    if (s->has_found && !s->request->exhaustive) visit_plan(s, &s->found);
}
