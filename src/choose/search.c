/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/search.h"

#include <limits.h>
#include <math.h>

#include "base/larger.h"
#include "choose/visit.h"
#include "facts/param_ids.h"

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
        out->polished = larger(out->polished, gain);
    }
    finalists_sort(out->plans, out->n, s->c.machine.capacity_bytes);
    out->n = finalists_leave_echoes(out->plans, out->n, s->c.machine.capacity_bytes);
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
        f->never = NULL;
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
    s->usual_risks = move_risks(request->base);
    s->c.knobs.graph_impl = GRAPH_FULL_ITERATION;
    s->whole_is_risky = search_is_risky(s);
    s->c.knobs.graph_impl = request->base->knobs.graph_impl;
    s->known_layers = ARENA_ARRAY(a, struct known_layers *, SEARCH_KNOWN_LAYERS);
    s->known_kernels = ARENA_NEW(a, struct known_kernels);
    s->known_kernels->f = s->timing.f;
    s->known_kernels->shared = arena_room(a, TIME_SHARED * sizeof *s->known_kernels->shared);
    s->known_kernels->ends = arena_room(a, TIME_ENDS * sizeof *s->known_kernels->ends);
    for (int i = 0; i < TIME_SHARED; i++)
        s->known_kernels->shared[i].key.tp = 0;
    for (int i = 0; i < TIME_ENDS; i++)
        s->known_kernels->ends[i].key.tp = 0;
    s->kinds = (struct kinds){.request = request, .arena = a, .kernels = s->known_kernels};
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
    if (s->finalists.n_fast == 0) return false;
    s->has_found = true;
    s->found = s->finalists.fast[0].knobs;
    return true;
}

bool search_smallest(struct search *s, double above_bytes, struct contender *out)
{
    static const double ANY = 1e18, near = 1.02;
    double low = above_bytes;
    if (!search_finds_any(s, ANY)) return false;
    *out = s->finalists.fast[0];
    while (out->peak_high > near * low) {
        double middle = sqrt(low * out->peak_high);
        if (search_finds_any(s, middle))
            *out = s->finalists.fast[0];
        else
            low = middle;
    }
    return true;
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
