/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that no division of the layers over the stages of a pipeline undercuts: a mean over the
   ranks, some of which has as much. What a rank has adds up layer by layer but for its intervals,
   and those are no smaller than any straight line below them. */
#include <math.h>

#include "base/larger.h"
#include "cost/memory_stage.h"
#include "cost/vision.h"

enum { QUANTISED = ACTIVATION_CAUSES, CAUSES };

/* A layer, or another part of a rank. */
struct bytes {
    double held, kept;     /* always; of every microbatch in flight */
    double spread[CAUSES]; /* half of what `kept` may be more, by independent causes */
    double spread_all;     /* of it what the straight line has */
};

struct floor {
    const struct memory_work *w;
    const int *counts;                    /* layers of each kind */
    struct bytes layers[MODEL_MAX_KINDS]; /* of each kind */
    const struct memory_flights *flights;
    double backward;          /* transient bytes of the layer whose backward needs least */
    double buffers;           /* of a rank in the middle */
    double ends[2];           /* of the first and the last rank beside layers, at least */
    const struct bytes *unit; /* the most frequent kind */
    double certain;           /* bytes at the upper end of the estimate for one of the estimate */
};

/* ---- parts ---- */

/* Parameters, gradients and optimizer states while the passes run. */
static double held(const struct memory_work *w, const struct holding *s)
{
    double states = w->c->knobs.offload_optimizer_states ? 0 : state_optimizer(w, s, NULL);
    return state_parameters(w, s, NULL) + state_gradients(w, s, NULL) + states;
}

static double half(struct range x)
{
    return x.high - x.value;
}

/* As stage_interval has them (memory_stage.c). */
static void add_spread(const struct memory_work *w, const struct layer_memory *l, struct bytes *out)
{
    struct cause causes[ACTIVATION_CAUSES];
    struct in_flight one = {.routed = l->routed,
                            .dispatched = l->dispatched,
                            .unmeasured = l->unmeasured,
                            .offloaded = l->offloaded};
    activation_causes(w, &one, causes);
    for (int i = 0; i < ACTIVATION_CAUSES; i++)
        out->spread[i] = causes[i].bytes * half(causes[i].relative);
    if (knobs_quantised(&w->c->knobs))
        out->spread[QUANTISED] = out->kept * half(w->x.quantised_activations);
}

/* One layer. Of the ways to recompute whole layers the one that keeps least. */
static struct bytes layer_bytes(const struct memory_work *w, int kind)
{
    const struct knobs *k = &w->c->knobs;
    const struct layer_memory *l = &w->kinds[kind];
    struct holding s = holding_of_layer(w, kind);
    struct bytes out = {.held = held(w, &s)};
    bool grouped = k->recompute_method == METHOD_UNIFORM && k->recompute_num_layers > 1;
    if (k->layers_offloaded > 0) return out;
    out.kept = l->kept + (w->imbalance.value - 1) * l->routed;
    if (k->recompute != RECOMPUTE_FULL)
        add_spread(w, l, &out);
    else
        out.kept = smaller(out.kept, grouped ? l->input / k->recompute_num_layers : l->input);
    return out;
}

static double on(const struct floor *f, const struct bytes *x, double flight)
{
    return f->certain * (x->held + flight * x->kept) + flight * x->spread_all;
}

/* Buffers of a rank in the middle, as many as the first of them would have. */
static double middle_buffers(const struct memory_work *w)
{
    struct holding nothing = {0};
    return state_buffers(w, &nothing, NULL);
}

/* What stands at an end beside the layers: the head's backward may be the peak in place of a
   layer's. */
static double end_bytes(const struct floor *f, int rank)
{
    const struct memory_work *w = f->w;
    struct holding s = holding_of_ends(w, rank == 0, rank > 0);
    s.stage = rank;
    double head = activation_head_transient(w, &s, NULL) + activation_logits(w, &s, NULL);
    double own = activation_outputs(w, &s, NULL) +
                 s.n_mtp * (w->mtp.kept + (w->imbalance.value - 1) * w->mtp.routed);
    if (rank == 0)
        own += f->flights->flight[0] * (activation_embedding_bytes(w) + vision_kept(w->c));
    own += state_buffers(w, &s, NULL) - f->buffers; /* an end receives from one side */
    return f->certain * (held(w, &s) + own + larger(0, head - f->backward));
}

/* ---- microbatches in flight ---- */

/* Of the chunks of a rank those in front hold more, in layers and in microbatches, so that a layer
   has the chunks' mean at least; but for the first chunk of all, beside the embedding. */
static double mean_flight(const struct knobs *k, int rank)
{
    struct passes x = pipeline_passes(k, rank);
    return rank == 0 ? passes_of_last(&x, k->vpp) : x.all / k->vpp;
}

static bool is_same_schedule(const struct memory_flights *x, const struct knobs *k, int most_vpp)
{
    return x->pp == k->pp && x->vpp == k->vpp && x->most_vpp == most_vpp &&
           x->group_size == k->group_size && x->microbatches == knobs_scheduled(k);
}

/* It rises or falls with the number of virtual stages. */
static void set_flights(struct memory_flights *x, const struct knobs *k, int most_vpp)
{
    struct knobs most = *k;
    most.vpp = most_vpp;
    x->pp = k->pp, x->vpp = k->vpp, x->most_vpp = most_vpp, x->group_size = k->group_size;
    x->microbatches = knobs_scheduled(k);
    x->least = INFINITY;
    x->most = 0;
    for (int r = 0; r < k->pp; r++) {
        double one = mean_flight(k, r);
        if (most_vpp > k->vpp) one = smaller(one, mean_flight(&most, r));
        x->flight[r] = one;
        x->least = smaller(x->least, one);
        x->most = larger(x->most, one);
    }
}

/* ---- intervals ---- */

/* Half of what the whole peak may be more, as a part of it. */
static double peak_error(const struct memory_work *w)
{
    const struct knobs *k = &w->c->knobs;
    double graphs = k->graph_impl != GRAPH_NONE ? half(w->x.graph_error) : 0;
    double packed = knobs_packs(k) ? half(w->x.four_bit_error) : 0, any = half(w->x.memory_error);
    return sqrt(any * any + graphs * graphs + packed * packed);
}

/* The straight line that touches the interval of a rank in the middle that has layers of a kind
   alone. */
static void set_interval(struct floor *f, const struct bytes *x)
{
    double flight = f->flights->flight[f->w->c->knobs.pp / 2], error = peak_error(f->w);
    double widths[CAUSES], sure = error * (x->held + flight * x->kept), all = sure * sure;
    for (int i = 0; i < CAUSES; i++) {
        widths[i] = flight * x->spread[i];
        all += widths[i] * widths[i];
    }
    double length = sqrt(all);
    f->certain = 1 + (length > 0 ? error * sure / length : 0);
    for (int i = 0; i < CAUSES; i++)
        widths[i] = length > 0 ? widths[i] / length : 0;
    for (int i = 0; i < f->w->c->model.n_kinds; i++) {
        struct bytes *layer = &f->layers[i];
        for (int j = 0; j < CAUSES; j++)
            layer->spread_all += widths[j] * layer->spread[j];
    }
}

/* ---- the mean ---- */

static int most_frequent(const int counts[MODEL_MAX_KINDS])
{
    int most = 0;
    for (int i = 1; i < MODEL_MAX_KINDS; i++)
        if (counts[i] > counts[most]) most = i;
    return most;
}

/* All layers in terms of one of the most frequent kind, each where its share of that is least: as
   ratios of straight lines these rise or fall with the microbatches in flight. */
static double layers_in(const struct floor *f, const struct bytes *unit)
{
    double low = f->flights->least, high = f->flights->most, sum = 0;
    for (int i = 0; i < f->w->c->model.n_kinds; i++) {
        const struct bytes *x = &f->layers[i];
        sum += f->counts[i] *
               smaller(on(f, x, low) / on(f, unit, low), on(f, x, high) / on(f, unit, high));
    }
    return sum;
}

/* Weighted by how many layers a byte holds on a rank, which adds up to the same however they are
   divided. An end that stands empty needs no backward, but leaves its layers to the others. */
static double weighted_mean(const struct floor *f)
{
    const struct bytes *unit = f->unit;
    int last = f->w->c->knobs.pp - 1;
    double layers = layers_in(f, unit), weights = 0, first = 1 / on(f, unit, f->flights->flight[0]);
    for (int r = 0; r <= last; r++)
        weights += 1 / on(f, unit, f->flights->flight[r]);
    double end = 1 / on(f, unit, f->flights->flight[last]);
    double ends = first * f->ends[0] + end * f->ends[1];
    return smaller(f->certain * f->backward + (layers + ends) / weights,
                   layers / (weights - smaller(first, end)));
}

/* The bytes of a rank that none undercuts. */
static double least_bytes(const struct floor *f)
{
    return weighted_mean(f) + f->certain * f->buffers;
}

/* Until these are worked out an end may lack all buffers, and nothing else. */
static void take_ends(struct floor *f)
{
    f->ends[0] = end_bytes(f, 0), f->ends[1] = end_bytes(f, f->w->c->knobs.pp - 1);
}

static double least_backward(const struct memory_work *w)
{
    double least = INFINITY;
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        struct holding s = {.last_layer = &w->kinds[i]};
        least = smaller(least, activation_layer_transient(w, &s, NULL));
    }
    return least;
}

/* Without a pipeline there is nothing to divide. */
static double undivided(const struct config *c, bool high, struct memory_work *w)
{
    struct stage_memory m;
    if (!memory_divide(c, w)) return 0;
    stage_estimate(w, 0, &m);
    return high ? m.high : m.total;
}

/* Field by field: the search asks too often to clear what is not used. */
static void start(struct floor *f, const struct memory_work *w, const int counts[MODEL_MAX_KINDS])
{
    f->w = w;
    f->counts = counts;
    f->certain = 1;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        f->layers[i] = layer_bytes(w, i);
    f->backward = least_backward(w);
    f->buffers = middle_buffers(w);
}

static void start_pipeline(struct floor *f, const struct config *c, int most_vpp,
                           const int counts[MODEL_MAX_KINDS], bool high,
                           struct memory_flights *known, struct memory_work *w)
{
    memory_place(c, w);
    start(f, w, counts);
    if (!is_same_schedule(known, &c->knobs, most_vpp)) set_flights(known, &c->knobs, most_vpp);
    f->flights = known;
    f->unit = &f->layers[most_frequent(counts)];
    if (high) set_interval(f, f->unit);
    f->ends[0] = f->ends[1] = -f->certain * f->buffers;
}

static bool is_known(const struct config *c)
{
    return !c->layout_given && c->knobs.pp <= COST_MAX_STAGES;
}

double memory_floor(const struct config *c, int most_vpp, const int counts[MODEL_MAX_KINDS],
                    bool high, struct memory_flights *known, struct memory_work *w)
{
    struct floor f;
    if (!is_known(c)) return 0;
    if (c->knobs.pp == 1) return undivided(c, high, w);
    start_pipeline(&f, c, most_vpp, counts, high, known, w);
    take_ends(&f);
    return least_bytes(&f);
}

/* Layers of the most frequent kind that all ranks have room for: each of them whole ones. */
static int room_for(const struct floor *f, double capacity)
{
    double around = f->certain * (f->buffers + f->backward);
    int sum = 0, last = f->w->c->knobs.pp - 1;
    for (int r = 0; r <= last; r++) {
        double left = capacity - around - (r == 0 ? f->ends[0] : r == last ? f->ends[1] : 0);
        double n = left / on(f, f->unit, f->flights->flight[r]);
        if (n > 0) sum += n < f->w->c->model.num_layers ? (int)n : f->w->c->model.num_layers;
    }
    return sum;
}

bool memory_lacks(const struct config *c, int most_vpp, const int counts[MODEL_MAX_KINDS],
                  bool high, double capacity, struct memory_flights *known, struct memory_work *w)
{
    struct floor f;
    if (!is_known(c)) return false;
    if (c->knobs.pp == 1) return undivided(c, high, w) > capacity;
    start_pipeline(&f, c, most_vpp, counts, high, known, w);
    if (least_bytes(&f) > capacity) return true; /* mostly the layers alone say so */
    take_ends(&f);
    if (least_bytes(&f) > capacity) return true;
    return room_for(&f, capacity) < counts[most_frequent(counts)];
}
