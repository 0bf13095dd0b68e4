/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/larger.h"
#include "base/sort.h"
#include "choose/visit.h"
#include "plan/documents.h"

bool search_is_risky(struct search *s)
{
    unsigned open = s->request->base->knobs.open_numerics;
    return move_risks_beyond(s->usual_risks, &s->c) & RISK_DYNAMIC_GRAPHS & ~open;
}

/* Every combination of the switches from `d` on. */
static void add_ways(struct search *s, const struct decision *d, struct way *now, struct kind *kind)
{
    while (d < decisions + DECISIONS && (kinds_decide(d) || !space_is_switch(d)))
        d++;
    if (d == decisions + DECISIONS) {
        now->risky = search_is_risky(s);
        *VEC_PUSH(s->arena, &kind->ways) = *now;
        return;
    }
    struct states x = space_states(s->request, d, &s->c);
    struct knobs saved = s->c.knobs;
    for (int i = 0; i < x.n; i++) {
        space_set(x.items[i], &s->c);
        now->states[d - decisions] = x.items[i];
        add_ways(s, d + 1, now, kind);
        s->c.knobs = saved;
    }
    now->states[d - decisions] = NULL;
}

void variant_set(struct search *s, const struct variant *v, int recompute)
{
    struct knobs present = s->c.knobs;
    s->c.knobs = v->knobs;
    knobs_take_pipeline(&s->c.knobs, &present);
    space_set(present_kind(s)->recompute[recompute], &s->c);
}

const struct time_rates *variant_rates(struct search *s, struct variant *v, int recompute)
{
    struct time_rates **rates = &v->rates[recompute];
    if (*rates) return *rates;
    struct knobs present = s->c.knobs;
    s->c.knobs.pp = s->c.knobs.vpp = 1;
    documents_leave_replicas(&s->c.knobs);
    s->c.knobs.grad_bytes = present_kind(s)->grad_bytes;
    *rates = ARENA_NEW(s->arena, struct time_rates);
    search_take_layers(s);
    **rates = *s->rates;
    (*rates)->cooled = time_least_cooled(&s->timing);
    s->c.knobs = present;
    return *rates;
}

/* What comes after the fastest is then bounded away. */
static int variant_cmp(const void *left, const void *right)
{
    const struct variant *a = left, *b = right;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? -1 : 1) : 0;
}

static void measure(struct search *s, struct variant *v)
{
    const struct kind *kind = present_kind(s);
    v->rates = ARENA_ARRAY(s->arena, struct time_rates *, (size_t)kind->n_recompute);
    s->c.knobs = v->knobs;
    space_set(kind->recompute[0], &s->c);
    v->seconds = spots_bound(&s->spots, &s->c, variant_rates(s, v, 0), 1);
}

/* Of kinds that the model has not both have the same. */
static bool is_slower(const struct variant *v, const struct variant *other, int n_kinds)
{
    if (v->wish < other->wish || (other->risky && !v->risky)) return false;
    const double *a = (const double *)v->rates[0], *b = (const double *)other->rates[0];
    size_t first = offsetof(struct time_rates, embedding) / sizeof *a;
    for (int i = 0; i < n_kinds; i++)
        if (a[i] < b[i]) return false;
    for (size_t i = first; i < sizeof **v->rates / sizeof *a; i++)
        if (a[i] < b[i]) return false;
    return true;
}

size_t variants_words(size_t n)
{
    return (n + 63) / 64;
}

static void note_slower(struct group *g, size_t than, size_t slower)
{
    g->slower[than * variants_words(g->n_variants) + slower / 64] |= (uint64_t)1 << slower % 64;
}

static bool is_noted(const struct group *g, size_t than, size_t slower)
{
    size_t n = variants_words(g->n_variants);
    return g->slower[than * n + slower / 64] >> slower % 64 & 1;
}

/* What is slower than a slower one is so too, and need not be compared: from the last on. Seconds
   are a sum of what is compared. */
static void compare(struct search *s, struct group *g)
{
    size_t n = variants_words(g->n_variants);
    g->slower = ARENA_ARRAY(s->arena, uint64_t, g->n_variants * n);
    for (size_t i = g->n_variants; i-- > 0;) {
        const struct variant *v = &g->variants[i];
        note_slower(g, i, i);
        for (size_t j = i; j > 0 && g->variants[j - 1].seconds == v->seconds; j--)
            if (is_slower(&g->variants[j - 1], v, s->c.model.n_kinds)) note_slower(g, i, j - 1);
        for (size_t j = i + 1; j < g->n_variants; j++) {
            if (is_noted(g, i, j) || !is_slower(&g->variants[j], v, s->c.model.n_kinds)) continue;
            for (size_t word = 0; word < n; word++)
                g->slower[i * n + word] |= g->slower[j * n + word];
        }
    }
}

/* Of the state that repeats least; where there is none that does, of the group. */
static void find_least(struct search *s, struct group *g)
{
    const struct kind *kind = present_kind(s);
    uint64_t all = UINT64_MAX >> (SPACE_MAX_STATES - kind->n_recompute);
    struct time_rates least = g->least[0].ways[0];
    for (int i = 0; i < 4; i++)
        if (i % 2 < g->least[i / 2].n) spots_take_least(&least, &g->least[i / 2].ways[i % 2]);
    g->variants_least = ARENA_ARRAY(s->arena, struct variants_least, 2);
    for (size_t i = 0; i < g->n_variants; i++) {
        const struct variant *v = &g->variants[i];
        const struct time_rates *rates = kind->needless[0] == all ? v->rates[0] : &least;
        struct variants_least *x = &g->variants_least[v->risky];
        if (!x->any) *x = (struct variants_least){true, *rates, v->wish};
        spots_take_least(&x->rates, rates);
        x->wish = smaller(x->wish, v->wish);
    }
}

static void make_variant(struct search *s, const struct way *way, struct variant *v)
{
    s->c.knobs = s->group->knobs;
    for (int i = 0; i < DECISIONS; i++)
        space_set(way->states[i], &s->c);
    *v = (struct variant){
        .knobs = s->c.knobs, .wish = search_wish(s, PART_VARIANT), .risky = way->risky};
    measure(s, v);
}

/* Which switches there are to combine is asked once for all groups of a kind: it takes longer than
   to work out what they do. */
void variants_list(struct search *s)
{
    struct kind *kind = &s->kinds.items.items[s->kind];
    struct group *g = s->group;
    struct knobs saved = s->c.knobs;
    struct way none = {0};
    if (g->n_variants) return;
    s->c.knobs = g->knobs;
    if (kind->ways.n == 0) add_ways(s, decisions, &none, kind);
    g->n_variants = kind->ways.n;
    g->variants = ARENA_ARRAY(s->arena, struct variant, g->n_variants);
    for (size_t i = 0; i < g->n_variants; i++)
        make_variant(s, &kind->ways.items[i], &g->variants[i]);
    sort_items(g->variants, g->n_variants, sizeof *g->variants, variant_cmp);
    compare(s, g);
    find_least(s, g);
    s->c.knobs = saved;
}

struct open_sides *variant_open_sides(struct search *s, struct variant *v, int recompute,
                                      int offload)
{
    const struct kind *kind = present_kind(s);
    size_t n = (size_t)kind->n_offloads * (size_t)kind->n_recompute;
    if (!v->open) v->open = ARENA_ARRAY(s->arena, struct open_sides, n);
    struct open_sides *open = &v->open[offload * kind->n_recompute + recompute];
    if (open->visit != s->visit) *open = (struct open_sides){.visit = s->visit};
    return open;
}
