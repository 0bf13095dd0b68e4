/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/spots.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "cost/comm.h"
#include "cost/pipeline.h"
#include "cost/split.h"
#include "facts/param_ids.h"
#include "plan/documents.h"
#include "plan/framework.h"

/* The axes, outermost first: what an axis's values depend on stands before it. Layers' times depend
   on none of those after the micro-batch, weights not on the micro-batch. */
static const enum decision_id axes[] = {DECISION_TP,  DECISION_CP, DECISION_ETP,      DECISION_EP,
                                        DECISION_MBS, DECISION_PP, DECISION_SCHEDULES};
enum { AXES = sizeof axes / sizeof *axes };
enum { MOST_EXCHANGES = 5 }; /* of DECISION_CP_EXCHANGE, as it is among them */

bool spots_decide(const struct knob *knob)
{
    for (int i = 0; i < AXES; i++)
        if (decisions[axes[i]].size == knob->offset) return true;
    return false;
}

/* ---- bounds ---- */

void spots_take_least(struct time_rates *least, const struct time_rates *one)
{
    const double *from = (const double *)one;
    double *to = (double *)least;
    for (size_t i = 0; i < sizeof *one / sizeof(double); i++)
        to[i] = smaller(to[i], from[i]);
}

/* The last state of a switch that hides an exchange is the one that does. */
static void hide_exchange(const struct spots *s, enum decision_id id)
{
    struct states x = space_states(s->request, &decisions[id], s->c);
    space_set(x.items[x.n - 1], s->c);
}

/* What any of the graphs captures that the dispatcher of *c may have. */
static uint32_t most_captured(const struct spots *s)
{
    struct knobs *k = &s->c->knobs, saved = *k;
    struct states x = space_states(s->request, &decisions[DECISION_GRAPHS], s->c);
    uint32_t captured = knobs_captured(k);
    for (int i = 1; i < x.n; i++) {
        space_set(x.items[i], s->c);
        captured |= knobs_captured(k);
        *k = saved;
    }
    return captured;
}

/* Asked once, of a layout with every exchange. */
static void find_free(struct spots *s)
{
    struct knobs *k = &s->c->knobs, saved = *k;
    k->tp = k->ep = 2;
    k->sequence_parallel = true;
    s->dispatchers = space_states(s->request, &decisions[DECISION_DISPATCHER], s->c);
    s->plain = ARENA_ARRAY(s->arena, struct plain_layers *, SPOTS_KNOWN_PLAIN);
    for (int i = 0; i < s->dispatchers.n; i++) {
        space_set(s->dispatchers.items[i], s->c);
        s->captured[i] = most_captured(s);
        k->dispatcher = saved.dispatcher;
    }
    hide_exchange(s, DECISION_SHARED_EXPERT_OVERLAP);
    bool shared = k->shared_expert_overlap;
    hide_exchange(s, DECISION_EP_OVERLAP); /* the two exclude each other, and either may be */
    k->shared_expert_overlap = shared;
    hide_exchange(s, DECISION_TP_OVERLAP);
    s->hidden = *k;
    *k = saved;
}

/* Where the plain layers of the present sizes are kept, with one of the ways to run them. */
static struct plain_layers *plain_slot(const struct spots *s, int way)
{
    const struct knobs *k = &s->c->knobs;
    const int sizes[] = {k->tp, k->cp, k->etp, k->ep, k->mbs, k->fsdp};
    uint64_t at = (uint64_t)way;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        at = (at + (uint64_t)sizes[i]) * UINT64_C(0x9E3779B97F4A7C15);
    struct plain_layers **slot = &s->plain[(at >> 48) % SPOTS_KNOWN_PLAIN];
    if (!*slot) *slot = arena_room(s->arena, sizeof **slot), (*slot)->key.tp = 0;
    return *slot;
}

/* Takes the rates of the present dispatcher and graphs: of the layers with their exchange hidden,
   and seen. */
static void take_ways(const struct spots *s, struct plain_layers *plain, struct least_rates *least)
{
    struct knobs *k = &s->c->knobs;
    struct time_layers layers;
    struct time_rates one;
    int n = s->hidden.overlap_ep ? 2 : 1;
    time_layers_beside(plain, s->c, s->kernels, &layers);
    for (int way = 0; way < n; way++) {
        k->overlap_ep = way == 0 && s->hidden.overlap_ep;
        time_rates_of(&layers, s->c, &one);
        one.cooled = time_least_cooled(s->timing); /* what takes longer may be hotter */
        if (least->n > 0)
            spots_take_least(&least->ways[way], &one);
        else
            least->ways[way] = one;
    }
    least->n = n;
}

/* How keys may be exchanged on the present layout, where there is somebody to exchange with. */
static struct states exchanges_of(const struct spots *s)
{
    struct states none = {.n = 1, .items = {NULL}};
    if (s->c->knobs.cp == 1) return none;
    struct states x = space_states(s->request, &decisions[DECISION_CP_EXCHANGE], s->c);
    assert(x.n <= MOST_EXCHANGES);
    return x;
}

/* Bytes: the products of weights' gradients write them. */
static int narrowest_gradients(const struct knobs *k)
{
    return k->grad_bytes < 2 ? k->grad_bytes : 2;
}

/* Of each dispatcher and each exchange of keys the rates with everything captured and overlapped
   that may be, whether that goes together or not. */
void spots_least_rates(const struct spots *s, bool whole, struct least_rates *least)
{
    struct knobs *k = &s->c->knobs, saved = *k;
    struct states exchanges = exchanges_of(s);
    least->n = 0;
    k->shared_expert_overlap = s->hidden.shared_expert_overlap;
    k->tp_comm_overlap = s->hidden.tp_comm_overlap;
    k->grad_bytes = narrowest_gradients(k);
    documents_leave_replicas(k);
    for (int i = 0; i < s->dispatchers.n; i++) {
        uint32_t captured = s->captured[i];
        if (whole && !(captured & SCOPE_FULL)) continue;
        k->dispatcher = saved.dispatcher;
        space_set(s->dispatchers.items[i], s->c);
        k->graph_scope = captured & ~(uint32_t)SCOPE_FULL;
        k->graph_impl = whole ? GRAPH_FULL_ITERATION : k->graph_scope ? GRAPH_TE : GRAPH_NONE;
        for (int x = 0; x < exchanges.n; x++) {
            k->cp_comm = saved.cp_comm;
            space_set(exchanges.items[x], s->c);
            take_ways(s, plain_slot(s, (i * 2 + whole) * MOST_EXCHANGES + x), least);
        }
    }
    *k = saved;
}

/* Seconds of one microbatch's layers, on all ranks together. */
struct microbatch {
    double all;          /* with the ends */
    double least, above; /* of the shortest kind of layer; what all layers take beyond that */
    double transfers;    /* of a chunk, to and fro */
    double n;            /* microbatches of the schedule */
};

static struct microbatch microbatch_of(const struct spots *s, const struct config *c,
                                       const struct time_rates *rates)
{
    struct microbatch w = {.least = INFINITY,
                           .transfers = 2 * comm_stage_exposed(s->timing, &c->knobs),
                           .n = (double)knobs_scheduled(&c->knobs)};
    double layers = 0;
    for (int i = 0; i < c->model.n_kinds; i++) {
        layers += s->kind_counts[i] * rates->kinds[i];
        w.least = smaller(w.least, rates->kinds[i]);
    }
    w.all = rates->embedding + rates->head + c->model.mtp_layers * rates->mtp + layers;
    w.above = layers - c->model.num_layers * w.least;
    return w;
}

static double power(double x, int times)
{
    double y = 1;
    for (; times > 0; times /= 2, x *= x)
        if (times % 2) y *= x;
    return y;
}

/* Of virtual stages. A rank between the ends has an even part of its layers, or more, in its first
   chunk (cost/split.c), which those behind it wait for: the weights of the ranks' inequalities are
   such that it does not matter which rank has a layer. What a layer takes beyond the shortest kind
   may stand where the weight is least. */
static double shortest_interleaved(const struct microbatch *w, int p, double v)
{
    double n = w->n;
    double ranks = v * (1 - power(1 - 1 / (n * v), p - 1)), even = 1 / (ranks + 1 / n);
    return even * (w->all - w->above) + larger(0, even - 1 / v) * w->above;
}

/* Seconds from the first forward to the last backward. On rank r, T >= n load(r) + W(r): it does
   its chunks of every microbatch and waits for one to pass the chunks before its first. Added up
   over the ranks, whose loads are all that is to be done, this bounds T; without virtual stages
   W(r) is what the ranks before r do. A rank has whole layers besides. */
static double shortest_pipeline(const struct config *c, const struct microbatch *w, int most_vpp)
{
    const struct knobs *k = &c->knobs;
    double n = w->n, p = k->pp;
    double whole = ceil(c->model.num_layers / p) * n * w->least, sent = n * k->vpp * w->transfers;
    if (k->vpp == 1) return sent + larger(whole, w->all / (1 - power(1 - 1 / n, k->pp)));
    double waits =
        (p - 1) * (p - 2) / (2 * p) * w->least; /* chunks between the ends have a layer */
    double even = c->layout_given ? 0 : shortest_interleaved(w, k->pp, most_vpp);
    return sent + larger(larger(whole, even), n * w->all / p + waits);
}

static double shortest_schedule(const struct config *c, const struct time_rates *rates,
                                const struct microbatch *w, int most_vpp)
{
    const struct knobs *k = &c->knobs;
    if (k->pp == 1) return w->n * w->all;
    double busy = w->n * (w->all / k->pp + k->vpp * w->transfers);
    return time_least_pipeline(rates, busy, shortest_pipeline(c, w, most_vpp));
}

static double lacking(double times, double before, double now)
{
    return larger(0, times * before - now);
}

/* A pipeline whose items all take so many times as long as in another does too. Of what takes less,
   as much may be missing in every microbatch. */
static double shortest_by_schedule(const struct spots *s, const struct config *c,
                                   const struct time_rates *rates, const struct microbatch *w)
{
    const struct time_rates *r = &s->schedule.rates;
    const struct model_shape *m = &c->model;
    int most = m->layers[m->num_layers - 1];
    double sent = c->knobs.vpp * w->transfers;
    double times = rates->kinds[most] / r->kinds[most];
    double missing = lacking(times, r->embedding, rates->embedding) +
                     lacking(times, r->head, rates->head) +
                     m->mtp_layers * lacking(times, r->mtp, rates->mtp) +
                     c->knobs.pp * lacking(times, c->knobs.vpp * s->schedule.sent, sent);
    for (int i = 0; i < m->n_kinds; i++)
        missing += s->kind_counts[i] * lacking(times, r->kinds[i], rates->kinds[i]);
    double busy = w->n * (w->all / c->knobs.pp + sent);
    return time_least_pipeline(rates, busy, times * s->schedule.seconds - w->n * missing);
}

double spots_bound(const struct spots *s, const struct config *c, const struct time_rates *rates,
                   int most_vpp)
{
    struct microbatch w = microbatch_of(s, c, rates);
    double pass = shortest_schedule(c, rates, &w, most_vpp);
    if (s->schedule.seconds > 0) pass = larger(pass, shortest_by_schedule(s, c, rates, &w));
    return rates->slow * knobs_schedules(&c->knobs) * (pass + rates->alone) + rates->fixed;
}

double spots_least_bound(const struct spots *s, const struct config *c,
                         const struct least_rates *least, int most_vpp)
{
    double bound = INFINITY;
    for (int way = 0; way < least->n; way++)
        bound = smaller(bound, spots_bound(s, c, &least->ways[way], most_vpp));
    return bound;
}

/* Seconds of the next chunk of a layout, beside its transfers; *layer: its first one, then that of
   the chunk behind it. */
static double chunk_seconds(const struct config *c, const struct time_rates *rates,
                            const struct layout *layout, int chunk, int *layer)
{
    double sum = rates->mtp * layout->mtp[chunk] +
                 (layout->embedding[chunk] ? rates->embedding : 0) +
                 (layout->loss[chunk] ? rates->head : 0);
    for (int end = *layer + layout->decoders[chunk]; *layer < end; ++*layer)
        sum += rates->kinds[c->model.layers[*layer]];
    return sum;
}

double spots_bound_of_split(const struct spots *s, const struct config *c,
                            const struct time_rates *rates, const struct layout *layout)
{
    double transfers = 2 * comm_stage_exposed(s->timing, &c->knobs);
    double ranks[LAYOUT_MAX_CHUNKS], waits[LAYOUT_MAX_CHUNKS], before = 0, longest = 0;
    double n = (double)knobs_scheduled(&c->knobs), all = 0;
    int layer = 0, pp = c->knobs.pp;
    for (int r = 0; r < pp; r++) /* only what is used: this runs for tens of thousands */
        ranks[r] = waits[r] = 0;
    for (int i = 0, r = 0; i < layout->n_chunks; i++, r = r + 1 < pp ? r + 1 : 0) {
        double chunk = transfers + chunk_seconds(c, rates, layout, i, &layer);
        if (i < pp) waits[i] = before;
        before += chunk;
        ranks[r] += chunk;
    }
    for (int r = 0; r < pp; r++) {
        longest = larger(longest, n * ranks[r] + waits[r]);
        all += ranks[r];
    }
    double pass = time_least_pipeline(rates, n * all / pp, longest);
    return rates->slow * knobs_schedules(&c->knobs) * (pass + rates->alone) + rates->fixed;
}

/* Where the schedule of the present stages is kept. */
static struct schedule *known_schedule(const struct spots *s)
{
    const struct knobs *k = &s->c->knobs;
    uint64_t at = ((uint64_t)k->pp * 31 + (uint64_t)k->vpp) * 31 + (uint64_t)knobs_scheduled(k);
    return &s->known_schedules[at % SPOTS_KNOWN_SCHEDULES];
}

void spots_recall_schedule(struct spots *s)
{
    const struct knobs *k = &s->c->knobs;
    const struct schedule *x = known_schedule(s);
    if (x->pp == k->pp && x->vpp == k->vpp && x->microbatches == knobs_scheduled(k))
        s->schedule = *x;
}

static bool is_recalled(const struct spots *s, const struct time_rates *rates, double sent)
{
    return s->schedule.seconds > 0 && s->schedule.sent == sent &&
           memcmp(&s->schedule.rates, rates, sizeof *rates) == 0;
}

void spots_take_schedule(struct spots *s, const struct time_rates *rates)
{
    struct config *c = s->c;
    const struct knobs saved = c->knobs, *k = &saved;
    struct layout layout;
    double forward[LAYOUT_MAX_CHUNKS], backward[LAYOUT_MAX_CHUNKS];
    double transfer = comm_stage_exposed(s->timing, k);
    if (s->schedule.seconds > 0) return;
    if (is_recalled(s, rates, 2 * transfer)) return;
    spots_leave_schedule(s);
    bool divided = k->pp > 1 && split_by_time(c, rates, &layout);
    c->knobs = saved;
    if (!divided) return;
    for (int i = 0, layer = 0; i < layout.n_chunks; i++) {
        double chunk = chunk_seconds(c, rates, &layout, i, &layer);
        forward[i] = transfer + chunk / 3; /* how they share it hardly changes the whole */
        backward[i] = transfer + 2 * chunk / 3;
    }
    struct pipeline p = pipeline_of_knobs(k, layout.n_chunks, forward, backward);
    s->schedule = (struct schedule){.rates = *rates,
                                    .sent = 2 * transfer,
                                    .seconds = (1 - SPLIT_MOVING) * pipeline_time(&p),
                                    .pp = k->pp,
                                    .vpp = k->vpp,
                                    .microbatches = p.microbatches};
    *known_schedule(s) = s->schedule;
}

void spots_leave_schedule(struct spots *s)
{
    s->schedule.seconds = 0;
}

double spots_suspend_schedule(struct spots *s)
{
    double seconds = s->schedule.seconds;
    spots_leave_schedule(s);
    return seconds;
}

void spots_resume_schedule(struct spots *s, double seconds)
{
    s->schedule.seconds = seconds;
}

/* ---- enumeration ---- */

/* Interleaving wants a pipeline, and microbatches in groups of pp. Where its stages are pinned, a
   rule of Megatron-LM's (interleaving-needs-stages) would refuse each plan without one. */
static const struct axis *stages_of(struct spots *s, int *n)
{
    const struct knobs *k = &s->c->knobs;
    struct known_stages *known = &s->stages[k->pp < AXIS_MAX_PP ? k->pp : AXIS_MAX_PP];
    if (known->pp != k->pp) {
        known->pp = k->pp;
        known->all = space_values(s->request, &decisions[DECISION_VPP], k);
    }
    bool piped = k->pp > 1 || !config_traits(s->c)->megatron_words;
    bool interleaves = piped && knobs_scheduled(k) % k->pp == 0;
    *n = interleaves ? known->all.n : known->all.n > 0 && known->all.values[0] == 1;
    return &known->all;
}

struct axis spots_stages(struct spots *s)
{
    struct axis x;
    const struct axis *all = stages_of(s, &x.n);
    memcpy(x.values, all->values, (size_t)x.n * sizeof *x.values);
    return x;
}

/* The family of the present sizes, from 0 on in the order in which they come. */
static uint32_t family_of(struct spots *s)
{
    uint32_t *family = &s->families[s->c->knobs.pp < AXIS_MAX_PP ? s->c->knobs.pp : AXIS_MAX_PP];
    if (!*family) *family = ++s->n_families;
    return *family - 1;
}

/* Of the present sizes: of one stage, and of all numbers of virtual ones, the first n. */
static double bound_of(const struct spots *s, const struct axis *vpp, int n,
                       const struct least_rates least[2])
{
    struct knobs *k = &s->c->knobs;
    double bound = INFINITY;
    for (int i = 0; i < n && i < 2; i++) {
        k->vpp = vpp->values[i];
        int most = k->vpp > 1 ? vpp->values[n - 1] : 1;
        bound = smaller(bound, spots_least_bound(s, s->c, &least[0], most));
        bound = smaller(bound, spots_least_bound(s, s->c, &least[1], most));
    }
    k->vpp = 1;
    return bound;
}

/* The rough rates of the group that is being filled, unless they are known. */
static void take_rough(struct spots *s)
{
    struct least_rates *least = &s->rough[0];
    struct knobs *k = &s->c->knobs, saved = *k;
    struct time_rates one;
    struct time_rough rough;
    if (least->n > 0) return;
    *k = s->groups.items[s->groups.n - 1]->knobs;
    k->recompute = RECOMPUTE_NONE;
    documents_leave_replicas(k);
    k->grad_bytes = narrowest_gradients(k);
    time_rough_start(s->c, s->kernels, s->usual_kind, &rough);
    for (int x = 0; x < s->exchanges.n; x++) {
        space_set(s->exchanges.items[x], s->c);
        time_rough_rates(&rough, &one);
        if (x == 0) least->ways[0] = one;
        spots_take_least(&least->ways[0], &one);
    }
    least->n = 1;
    *k = saved;
}

/* prefer_sum of the present sizes, of which most are those of the spot before. */
static double wish_of(struct spots *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_preferences; i++) {
        const struct preference *p = &s->preferences[i];
        struct known_cost *known = &s->costs[i];
        double number = knob_number(&s->c->knobs, p->knob);
        if (known->number != number)
            *known = (struct known_cost){number, prefer_cost(p, &s->c->knobs)};
        sum += known->cost;
    }
    return sum;
}

static void add_spot(struct spots *s)
{
    struct knobs *k = &s->c->knobs;
    guard_tick(arena_guard(s->arena));
    int n;
    const struct axis *vpp = stages_of(s, &n);
    s->layouts += (size_t)n;
    if (n == 0) return;
    take_rough(s);
    *VEC_PUSH(s->growing, &s->items) = (struct spot){.bound = bound_of(s, vpp, n, s->rough),
                                                     .wish = wish_of(s),
                                                     .number = (uint32_t)s->items.n,
                                                     .group = (uint32_t)s->groups.n - 1,
                                                     .family = family_of(s) & INT32_MAX >> 1,
                                                     .pp = (uint16_t)k->pp,
                                                     .schedules = (uint16_t)k->schedules};
}

static void measure_group(struct spots *s, struct group *group)
{
    s->c->knobs = group->knobs;
    s->c->knobs.recompute = RECOMPUTE_NONE;
    group->least = ARENA_ARRAY(s->arena, struct least_rates, 2);
    spots_least_rates(s, false, &group->least[0]);
    spots_least_rates(s, true, &group->least[1]);
}

void spots_measure(struct spots *s, struct spot *spot)
{
    struct group *group = s->groups.items[spot->group];
    struct knobs *k = &s->c->knobs, saved = *k;
    if (spot->measured) return;
    spot->measured = true;
    if (!group->least) measure_group(s, group);
    *k = group->knobs;
    k->pp = spot->pp;
    k->schedules = spot->schedules;
    k->vpp = 1;
    int n;
    const struct axis *vpp = stages_of(s, &n);
    spot->bound = larger(spot->bound, bound_of(s, vpp, n, group->least));
    *k = saved;
}

/* Sequence parallelism goes with tensor parallelism unless the user decides. */
static void follow_tp(const struct spots *s)
{
    bool pinned = space_is_pinned(s->request, P_sequence_parallel);
    struct knobs *k = &s->c->knobs;
    k->sequence_parallel = pinned ? k->tp > 1 && s->request->base->knobs.sequence_parallel
                                  : config_splits_sequence(s->c);
}

/* Where a rank has all experts, DeepEP fails and HybridEP takes tokens through its buffers for
   nothing: Megatron's own is faster and keeps less. */
static void follow_experts(const struct spots *s)
{
    const struct knobs *base = &s->request->base->knobs;
    bool own = config_traits(s->c)->dispatcher == DISPATCH_ALLTOALL;
    struct knobs *k = &s->c->knobs;
    bool alone = own && s->c->model.experts > 0 && k->ep * k->etp == 1;
    bool settled = space_is_settled(s->request, &decisions[DECISION_DISPATCHER]);
    k->dispatcher = base->dispatcher;
    if (alone && !settled) k->dispatcher = DISPATCH_ALLTOALL;
}

/* The last one where it got no spot. */
static struct group *new_group(struct spots *s)
{
    size_t n = s->groups.n;
    if (n && (!s->items.n || s->items.items[s->items.n - 1].group != n - 1))
        return s->groups.items[n - 1];
    return *VEC_PUSH(s->arena, &s->groups) = ARENA_NEW(s->arena, struct group);
}

/* What is noted where an axis begins, those before it set. */
static void begin_axis(struct spots *s, enum decision_id axis)
{
    if (axis == DECISION_ETP) s->exchanges = exchanges_of(s);
    if (axis == DECISION_MBS) memset(s->families, 0, sizeof s->families);
    if (axis != DECISION_PP) return;
    follow_tp(s);
    follow_experts(s);
    struct group *group = new_group(s);
    group->knobs = s->c->knobs;
    s->rough[0].n = 0;
}

/* All values of this axis with all of those after it. */
static void walk(struct spots *s, int axis)
{
    struct knobs *k = &s->c->knobs;
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
static void add_space(struct spots *s, enum fsdp fsdp)
{
    struct knobs *k = &s->c->knobs;
    k->fsdp = (uint8_t)fsdp;
    k->vpp = 1;
    for (int i = 0; i < AXES; i++)
        *decision_size(&decisions[axes[i]], k) = 1;
    walk(s, 0);
}

/* Whether a size is pinned that plans with sharded parameters have only where they are asked for:
   no public recipe has them, as every stage would gather its parameters for each microbatch. */
static bool is_pinned_apart(const struct search_request *r)
{
    const struct knobs *k = &r->base->knobs;
    return (k->pp > 1 && space_is_pinned(r, P_pipeline_model_parallel_size)) ||
           (k->etp > 1 && space_is_pinned(r, P_expert_tensor_parallel_size));
}

static void add_spaces(struct spots *s)
{
    const struct config *base = s->request->base;
    bool pinned = space_is_pinned(s->request, P_use_megatron_fsdp),
         sharded = base->knobs.fsdp != FSDP_NONE;
    if (!config_traits(base)->chooses_fsdp) {
        add_space(s, (enum fsdp)base->knobs.fsdp);
        return;
    }
    if (!pinned || !sharded) add_space(s, FSDP_NONE);
    bool alone = base->knobs.gpus == 1; /* one GPU has nobody to share with */
    alone = alone || is_pinned_apart(s->request);
    if (pinned ? sharded : !alone) add_space(s, FSDP_OPTIM_GRADS_PARAMS);
    s->two_kinds = !pinned && !alone;
}

/* Where a spot stands in the list by its bound, whose bits are in the order of its size. */
struct place {
    uint64_t bits;
    uint32_t at;
};

/* Sorts by the byte that begins at a bit, and leaves equal ones as they are; false: all have the
   same. */
static bool sort_by_byte(const struct place *from, size_t n, int bit, struct place *to)
{
    size_t starts[UINT8_MAX + 1] = {0}, before = 0;
    for (size_t i = 0; i < n; i++)
        starts[from[i].bits >> bit & UINT8_MAX]++;
    if (starts[from[0].bits >> bit & UINT8_MAX] == n) return false;
    for (int i = 0; i <= UINT8_MAX; i++) {
        size_t these = starts[i];
        starts[i] = before;
        before += these;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].bits >> bit & UINT8_MAX]++] = from[i];
    return true;
}

/* The spots by their bounds, which are positive, and those of equal ones as they were enumerated:
   byte by byte, as there are hundreds of thousands. */
static const struct place *sort_spots(const struct spots *s)
{
    size_t n = s->items.n;
    struct place *places = ARENA_ARRAY(s->growing, struct place, n + 1),
                 *other = ARENA_ARRAY(s->growing, struct place, n + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(&places[i].bits, &s->items.items[i].bound, sizeof places[i].bits);
        places[i].at = (uint32_t)i;
    }
    for (int bit = 0; bit < 64 && n > 0; bit += 8) {
        if (!sort_by_byte(places, n, bit, other)) continue;
        struct place *sorted = other;
        other = places;
        places = sorted;
    }
    return places;
}

/* Their list grows in memory of its own: of the largest searches the lengths that it had on the way
   are as much as all of it. */
static void add_spaces_apart(struct spots *s)
{
    s->growing = arena_child(s->arena, 0);
    add_spaces(s);
    size_t n = s->items.n;
    const struct place *places = sort_spots(s);
    struct spot *sorted = arena_room(s->arena, (n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = s->items.items[places[i].at];
    s->items.cap = n;
    s->items.items = sorted;
    arena_free(s->growing);
    s->growing = NULL;
}

void spots_fill(struct spots *s)
{
    s->known_schedules = ARENA_ARRAY(s->arena, struct schedule, SPOTS_KNOWN_SCHEDULES);
    s->stages = ARENA_ARRAY(s->arena, struct known_stages, AXIS_MAX_PP + 1);
    s->costs = ARENA_ARRAY(s->arena, struct known_cost, s->n_preferences);
    for (size_t i = 0; i < s->n_preferences; i++)
        s->costs[i].number = NAN; /* of no knob */
    const struct model_shape *m = &s->c->model;
    for (int i = 0; i < m->num_layers; i++)
        s->kind_counts[m->layers[i]]++;
    for (int i = 0; i < m->n_kinds; i++)
        if (s->kind_counts[i] > s->kind_counts[s->usual_kind]) s->usual_kind = i;
    find_free(s);
    add_spaces_apart(s);
}
