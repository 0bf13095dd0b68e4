/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the visits. The bounds that spots are enumerated with know nothing of memory, so
   that those with most in flight come first, of which none fits unless it recomputes much. So a
   spot's turn comes twice: first it gets a bound of what may have room, then it waits until no
   other has less. The plans that will be kept are then found early, and bound away the rest. */
#include <math.h>

#include "base/larger.h"
#include "choose/visit.h"

/* Rates of the present group with a state of recomputation that no switch undercuts, `whole`: with
   a captured iteration. */
static const struct least_rates *least_rates(struct search *s, int recompute, bool whole)
{
    const struct kind *kind = present_kind(s);
    struct group *g = s->group;
    bool plain = !kind->recompute[recompute] && g->knobs.recompute == RECOMPUTE_NONE;
    if (plain && g->least) return &g->least[whole]; /* spots_measure has them */
    if (!g->recomputing)
        g->recomputing = ARENA_ARRAY(s->arena, struct least_rates *, 2 * (size_t)kind->n_recompute);
    struct least_rates **known = &g->recomputing[2 * recompute + whole];
    if (*known) return *known;
    struct knobs present = s->c.knobs;
    s->c.knobs = g->knobs;
    space_set(kind->recompute[recompute], &s->c);
    *known = ARENA_NEW(s->arena, struct least_rates);
    spots_least_rates(&s->spots, whole, *known);
    s->c.knobs = present;
    return *known;
}

/* States that repeat more than another that may have room are no faster. */
static double bound_of(struct search *s, uint64_t never, int most_vpp, bool whole)
{
    const struct kind *kind = present_kind(s);
    double least = INFINITY;
    for (int r = 0; r < kind->n_recompute; r++) {
        if (never >> r & 1) continue;
        double one = spots_least_bound(&s->spots, &s->c, least_rates(s, r, whole), most_vpp);
        least = smaller(least, one + s->around);
        never |= kind->needless[r];
    }
    return least;
}

/* Whether captured iterations may matter that recompute nothing. */
static bool whole_matters(struct search *s, int most_vpp)
{
    const struct least_rates *least = &s->group->least[1];
    s->risky = s->whole_is_risky;
    double bound = spots_least_bound(&s->spots, &s->c, least, most_vpp) + s->around;
    bool matters = least->n > 0 && search_matters(s, bound, 0);
    s->risky = false;
    return matters;
}

struct least_seconds order_bound(struct search *s, uint64_t never, int most_vpp)
{
    double plain = bound_of(s, never, most_vpp, false), whole = INFINITY;
    if (whole_matters(s, most_vpp)) whole = bound_of(s, never, most_vpp, true);
    double any = smaller(plain, whole);
    return (struct least_seconds){s->whole_is_risky ? plain : any, any};
}

/* ---- the queue ---- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    if (a->bound != b->bound) return a->bound < b->bound;
    return a->spot->number < b->spot->number;
}

static void swap(struct waiting *a, struct waiting *b)
{
    struct waiting x = *a;
    *a = *b;
    *b = x;
}

void order_add(struct search *s, struct waiting waiting)
{
    *VEC_PUSH(s->arena, &s->waiting) = waiting;
    struct waiting *items = s->waiting.items;
    for (size_t i = s->waiting.n - 1; i > 0 && is_before(&items[i], &items[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(&items[i], &items[(i - 1) / 2]);
}

struct waiting order_take(struct search *s)
{
    struct waiting *items = s->waiting.items, first = items[0];
    size_t n = --s->waiting.n;
    items[0] = items[n];
    for (size_t i = 0, child = 1; child < n; i = child, child = 2 * i + 1) {
        if (child + 1 < n && is_before(&items[child + 1], &items[child])) child++;
        if (!is_before(&items[child], &items[i])) break;
        swap(&items[i], &items[child]);
    }
    return first;
}
