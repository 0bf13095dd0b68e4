/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/search.h"

#include "choose/space.h"

/* Layouts whose best plan is kept until the end, when the finalists are refined and checked by the
 * rules. */
enum { FINALISTS = 96 };

struct search {
    const struct search_request *request;
    struct search_result *out;
    struct config c;      /* the configuration being looked at: the base with changing knobs */
    struct layout layout; /* its pipeline split */
    struct recompute_ladder ladder;
    struct contender *finalists;
    size_t n_finalists;
};

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

bool contender_before(const struct contender *a, const struct contender *b)
{
    if (a->score != b->score) return a->score < b->score;
    return knobs_cmp(&a->knobs, &b->knobs) < 0;
}

static bool same_layout(const struct knobs *a, const struct knobs *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep &&
           a->etp == b->etp && a->fsdp == b->fsdp;
}

/* Puts a plan into a list kept in order, one a layout; the last drops out when the list is full.
 */
static void keep(struct contender *list, size_t *n, size_t most, const struct contender *o)
{
    size_t at = 0;
    while (at < *n && !same_layout(&list[at].knobs, &o->knobs))
        at++;
    if (at < *n && !contender_before(o, &list[at])) return;
    if (at == *n) {
        if (*n == most && !contender_before(o, &list[most - 1])) return;
        at = *n < most ? (*n)++ : most - 1;
    }
    for (; at > 0 && contender_before(o, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = *o;
}

static double score(const struct search *s, const struct contender *o)
{
    return o->step_s * prefer_factor(s->request->preferences, s->request->n_preferences, &o->knobs);
}

static void offer(struct search *s, struct contender *o)
{
    struct time_estimate time;
    struct axis dispatchers = space_dispatcher(s->request, &s->c.knobs);
    for (int i = 0; i < dispatchers.n; i++) {
        s->c.knobs.dispatcher = (uint8_t)dispatchers.values[i];
        o->knobs = s->c.knobs;
        s->out->searched++;
        if (!time_estimate(&s->c, &time, NULL)) continue;
        fill_time(o, &time);
        o->score = score(s, o);
        s->out->feasible++;
        keep(s->finalists, &s->n_finalists, FINALISTS, o);
    }
}

static void note_least(struct search *s, const struct contender *o)
{
    struct search_result *out = s->out;
    if (out->has_least && out->least.peak <= o->peak) return;
    out->least = *o;
    out->has_least = true;
}

static void set_recompute(struct knobs *k, const struct recompute_step *step)
{
    k->recompute = step->recompute;
    k->recompute_method = step->method;
    k->recompute_num_layers = step->layers;
    k->recompute_modules = step->modules;
}

static bool memory_of(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    *o = (struct contender){.knobs = s->c.knobs};
    if (!memory_estimate(&s->c, &memory, NULL)) return false;
    fill_memory(o, &memory);
    note_least(s, o);
    return true;
}

static bool good_enough(const struct search *s, const struct contender *o)
{
    return o->fits == FITS_YES || (s->request->allow_tight && o->fits == FITS_TIGHT);
}

/* The cheapest step of the ladder that fits; the steps fall in memory, so the first that fits is
 * it. */
static void search_recompute(struct search *s)
{
    for (int i = 0; i < s->ladder.n; i++) {
        struct contender o;
        set_recompute(&s->c.knobs, &s->ladder.steps[i]);
        if (!memory_of(s, &o)) return;
        if (!good_enough(s, &o)) continue;
        offer(s, &o);
        return;
    }
}

/* Whether the most frugal batch of a layout can fit at all: smallest micro-batch, no interleaving,
 * last recompute step. */
static bool layout_can_fit(struct search *s, const struct axis *mbs)
{
    struct knobs saved = s->c.knobs;
    struct contender o;
    s->c.knobs.mbs = mbs->values[0];
    set_recompute(&s->c.knobs, &s->ladder.steps[s->ladder.n - 1]);
    bool fits = config_plan_layout(&s->c, &s->layout) && memory_of(s, &o) && good_enough(s, &o);
    s->c.knobs = saved;
    return fits;
}

static void search_batch(struct search *s)
{
    struct axis mbs = space_mbs(s->request, &s->c.knobs);
    if (!mbs.n || !layout_can_fit(s, &mbs)) return;
    struct axis vpp = space_vpp(s->request, &s->c.knobs);
    for (int i = 0; i < mbs.n; i++)
        for (int j = 0; j < vpp.n; j++) {
            s->c.knobs.mbs = mbs.values[i];
            s->c.knobs.vpp = vpp.values[j];
            if (vpp.values[j] > 1 && knobs_microbatches(&s->c.knobs) % s->c.knobs.pp)
                continue; /* interleaving */
            search_recompute(s);
        }
    s->c.knobs.vpp = 1;
}

static void search_experts(struct search *s)
{
    struct knobs *k = &s->c.knobs;
    struct axis etp = space_etp(s->request, k);
    for (int i = 0; i < etp.n; i++) {
        k->etp = etp.values[i];
        struct axis ep = space_ep(s->request, k);
        for (int j = 0; j < ep.n; j++) {
            k->ep = ep.values[j];
            search_batch(s);
        }
    }
    k->ep = k->etp = 1;
}

/* One space: sharded data parallelism or 3D parallelism, the sharding already set in the knobs. */
static void search_layouts(struct search *s)
{
    struct knobs *k = &s->c.knobs;
    struct axis tp = space_tp(s->request);
    for (int t = 0; t < tp.n; t++) {
        k->tp = tp.values[t];
        k->sequence_parallel = k->tp > 1;
        struct axis cp = space_cp(s->request, k);
        for (int c = 0; c < cp.n; c++) {
            k->cp = cp.values[c];
            struct axis pp = space_pp(s->request, k);
            for (int p = 0; p < pp.n; p++) {
                k->pp = pp.values[p];
                if (k->gpus % ((int64_t)k->tp * k->cp * k->pp) == 0) search_experts(s);
            }
            k->pp = 1;
        }
    }
}

/* Changes one switch of a finalist and keeps the change when the score gains by it. */
static bool try_switch(struct search *s, struct contender *o, void (*change)(struct knobs *))
{
    s->c.knobs = o->knobs;
    change(&s->c.knobs);
    struct contender changed;
    if (!config_plan_layout(&s->c, &s->layout) || !contender_estimate(&s->c, &changed))
        return false;
    changed.score = score(s, &changed);
    if (!good_enough(s, &changed) || changed.score >= o->score) return false;
    if (s->request->reject && s->request->reject(s->request->context, &s->c)) return false;
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

/* The switches that only change time: guides make them candidates, so each has to earn its place.
 */
static void refine(struct search *s, struct contender *o)
{
    const struct config *c = s->request->base;
    if (c->framework == FRAMEWORK_AUTOMODEL) return;
    bool moe = c->model.experts > 0;
    if (moe && o->knobs.recompute != RECOMPUTE_FULL && !(o->knobs.recompute_modules & MOD_MOE) &&
        !space_is_pinned(s->request, "cuda_graph_impl"))
        if (try_switch(s, o, graphs_on)) try_switch(s, o, graphs_wider);
    if (moe && o->knobs.ep > 1 && (o->knobs.pp == 1 || o->knobs.vpp > 1) &&
        o->knobs.recompute != RECOMPUTE_FULL &&
        !space_is_pinned(s->request, "overlap_moe_expert_parallel_comm"))
        try_switch(s, o, ep_overlap_on);
}

/* Refines the finalists in order of score, asks the rules, and keeps the best. */
static void finish(struct search *s)
{
    struct search_result *out = s->out;
    size_t wanted = s->request->top < SEARCH_MAX_PLANS ? s->request->top : SEARCH_MAX_PLANS;
    if (wanted < 1) wanted = 1;
    size_t looked = 0;
    for (size_t i = 0; i < s->n_finalists && (out->n < wanted || looked < 2 * wanted); i++) {
        struct contender o = s->finalists[i];
        s->c.knobs = o.knobs;
        config_plan_layout(&s->c, &s->layout);
        const char *why =
            s->request->reject ? s->request->reject(s->request->context, &s->c) : NULL;
        if (why) {
            out->rejected++;
            out->last_rejection = why;
            continue;
        }
        looked++;
        refine(s, &o);
        keep(out->plans, &out->n, wanted, &o);
    }
}

static void set_sharding(struct knobs *k, enum fsdp fsdp)
{
    k->fsdp = (uint8_t)fsdp;
    k->tp = k->cp = k->pp = k->vpp = k->ep = k->etp = 1;
    k->layout = 0;
}

static bool pinned_fsdp(const struct search_request *r)
{
    return r->base->knobs.fsdp != FSDP_NONE;
}

void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out)
{
    struct arena_mark mark = arena_mark(scratch);
    struct search s = {.request = request,
                       .out = out,
                       .c = *request->base,
                       .ladder = space_recompute(request),
                       .finalists = ARENA_ARRAY(scratch, struct contender, FINALISTS)};
    *out = (struct search_result){0};
    if (request->base->framework == FRAMEWORK_AUTOMODEL) {
        set_sharding(&s.c.knobs, FSDP_FSDP2);
        search_layouts(&s);
    } else {
        if (request->three_d && !pinned_fsdp(request)) {
            set_sharding(&s.c.knobs, FSDP_NONE);
            search_layouts(&s);
        }
        if (request->fsdp) {
            set_sharding(&s.c.knobs, FSDP_OPTIM_GRADS_PARAMS);
            search_layouts(&s);
        }
    }
    finish(&s);
    arena_pop(scratch, mark);
}
