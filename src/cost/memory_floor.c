/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that no division of the layers over the stages of a pipeline undercuts: a mean over the
   ranks, some of which has as much. What a rank has adds up layer by layer but for its intervals,
   and those are no smaller than any straight line below them. */
#include <math.h>

#include "base/larger.h"
#include "cost/memory_stage.h"
#include "cost/vision.h"
#include "plan/framework.h"

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

/* Whether what FSDP gathers adds up layer by layer too: as it does where all stay gathered. Else it
   is of two layers, whichever a rank has, and left out. */
static bool stays_gathered(const struct knobs *k)
{
    return k->fsdp == FSDP_FSDP2 && !knobs_reshards(k);
}

/* Parameters, gradients and optimizer states while the passes run. */
static double held(const struct memory_work *w, const struct holding *s)
{
    double states = w->c->knobs.offload_optimizer_states ? 0 : state_optimizer(w, s, NULL);
    double gathered = stays_gathered(&w->c->knobs) ? state_gathered(w, s, NULL) : 0;
    return state_parameters(w, s, NULL) + state_gradients(w, s, NULL) + states + gathered;
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
static double mean_flight(const struct knobs *k, int rank, double *last)
{
    struct passes x = pipeline_passes(k, rank);
    *last = passes_of_last(&x, k->vpp);
    return rank == 0 ? *last : x.all / k->vpp;
}

static bool is_same_schedule(const struct memory_flights *x, const struct knobs *k, int most_vpp)
{
    return x->pp == k->pp && x->vpp == k->vpp && x->most_vpp == most_vpp &&
           x->group_size == k->group_size && x->microbatches == knobs_scheduled(k);
}

/* Kinds of layers, as bits, that may stand last on a rank. With virtual stages that is in its last
   chunk, which the last rank's alone may be without any; and of the chunks before all but the very
   first have a layer. So those that stand in front alone are not among them. */
static uint32_t last_kinds(const struct model_shape *m, const struct knobs *k)
{
    int first = (k->vpp - 1) * k->pp - 2;
    uint32_t kinds = 0;
    for (int i = first > 0 ? first : 0; i < m->num_layers; i++)
        kinds |= (uint32_t)1 << m->layers[i];
    return kinds;
}

/* It rises or falls with the number of virtual stages. */
static void set_flights(struct memory_flights *x, const struct config *c, int most_vpp)
{
    const struct knobs *k = &c->knobs;
    struct knobs most = *k;
    x->last_kinds = last_kinds(&c->model, k);
    most.vpp = most_vpp;
    x->pp = k->pp, x->vpp = k->vpp, x->most_vpp = most_vpp, x->group_size = k->group_size;
    x->microbatches = knobs_scheduled(k);
    x->least = x->lowest = INFINITY;
    x->most = 0;
    for (int r = 0; r < k->pp; r++) {
        double last, other, one = mean_flight(k, r, &last);
        if (most_vpp > k->vpp) {
            one = smaller(one, mean_flight(&most, r, &other));
            last = smaller(last, other);
        }
        x->flight[r] = one;
        x->last[r] = last;
        x->least = smaller(x->least, one);
        x->lowest = smaller(x->lowest, last);
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

static double least_backward(const struct memory_work *w, uint32_t last_kinds)
{
    double least = INFINITY;
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        if (!(last_kinds >> i & 1)) continue;
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
static void start(struct floor *f, const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                  uint32_t last_kinds)
{
    f->w = w;
    f->counts = counts;
    f->certain = 1;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        f->layers[i] = layer_bytes(w, i);
    f->backward = least_backward(w, last_kinds);
    f->buffers = middle_buffers(w);
}

static void start_pipeline(struct floor *f, const struct config *c, int most_vpp,
                           const int counts[MODEL_MAX_KINDS], bool high,
                           struct memory_flights *known, struct memory_work *w)
{
    memory_place(c, w);
    if (!is_same_schedule(known, &c->knobs, most_vpp)) set_flights(known, c, most_vpp);
    start(f, w, counts, known->last_kinds);
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

/* ---- whole layers ---- */

enum { MOST_OTHERS = 7 };

/* Layers that need no less than one of the most frequent kind; of those that need less one kind, if
   there are few, as dense ones in front. */
struct whole {
    int needed, n_others;
    const struct bytes *other;
};

static struct whole whole_of(const struct floor *f)
{
    struct whole x = {.other = NULL};
    double low = smaller(f->flights->least, f->flights->lowest), high = f->flights->most;
    double one_low = on(f, f->unit, low), one_high = on(f, f->unit, high);
    for (int i = 0; i < f->w->c->model.n_kinds; i++) {
        const struct bytes *one = &f->layers[i];
        if (on(f, one, low) >= one_low && on(f, one, high) >= one_high)
            x.needed += f->counts[i];
        else if (f->counts[i] > 0 && f->counts[i] <= MOST_OTHERS)
            x.other = one, x.n_others = f->counts[i];
    }
    return x;
}

/* Bytes of a rank for its layers. */
static double left_on(const struct floor *f, int rank, double capacity)
{
    double end = rank == 0 ? f->ends[0] : rank == f->w->c->knobs.pp - 1 ? f->ends[1] : 0;
    return capacity - f->certain * (f->buffers + f->backward) - end;
}

/* Whole layers that a rank has room for, with so many microbatches in flight. */
static int room_on(const struct floor *f, double flight, double left)
{
    double n = left / on(f, f->unit, flight);
    int most = f->w->c->model.num_layers;
    return n <= 0 ? 0 : n < most ? (int)n : most;
}

static int room_for(const struct floor *f, double capacity)
{
    int sum = 0;
    for (int r = 0; r < f->w->c->knobs.pp; r++)
        sum += room_on(f, f->flights->flight[r], left_on(f, r, capacity));
    return sum;
}

/* The same beside the others, wherever they stand, as in front, where most are in flight: best[j]
   of the ranks so far, which have j of them. */
static int room_beside(const struct floor *f, const struct whole *x, double capacity)
{
    int best[MOST_OTHERS + 1] = {0}, n = x->n_others;
    for (int r = 0; r < f->w->c->knobs.pp; r++) {
        double left = left_on(f, r, capacity), last = f->flights->last[r];
        int rooms[MOST_OTHERS + 1] = {room_on(f, f->flights->flight[r], left)};
        for (int i = 1; i <= n; i++)
            rooms[i] = room_on(f, last, left - i * on(f, x->other, last));
        for (int j = n; j >= 0; j--) {
            int most = 0;
            for (int i = 0; i <= (r > 0 ? j : 0); i++)
                if (best[j - i] + rooms[i] > most) most = best[j - i] + rooms[i];
            best[j] = r > 0 ? most : rooms[j];
        }
    }
    return best[n];
}

/* Whether the ranks lack room for whole layers. Another takes the place of one at most. */
static bool lacks_whole(const struct floor *f, double capacity)
{
    struct whole x = whole_of(f);
    int spare = room_for(f, capacity) - x.needed;
    return spare < 0 || (spare < x.n_others && room_beside(f, &x, capacity) < x.needed);
}

/* ---- stages that nobody chooses ---- */

/* Layers that every rank has at least where the framework divides them evenly over the chunks, with
   any number of virtual stages of the class. */
static int even_layers(const struct config *c, int most_vpp)
{
    int layers = c->model.num_layers, least = layers / c->knobs.pp;
    for (int vpp = c->knobs.vpp; vpp <= most_vpp; vpp++) {
        int each = layers / (c->knobs.pp * vpp) * vpp;
        if (each < least) least = each;
    }
    return least;
}

/* Bytes of the last rank when a pass is over, whose outputs are there twice (memory_stage.c), with
   so many layers that hold what a common one does. No interval is of less than the whole's. */
static double outputs_bytes(const struct floor *f, int layers, bool high)
{
    const struct memory_work *w = f->w;
    struct holding s = holding_of_ends(w, false, true);
    s.stage = w->c->knobs.pp - 1;
    double outputs = activation_outputs(w, &s, NULL);
    if (outputs == 0) return 0;
    double bytes = layers * f->unit->held + held(w, &s) + state_buffers(w, &s, NULL) + 2 * outputs;
    return (high ? 1 + peak_error(w) : 1) * bytes;
}

/* Whether a rank lacks room for so many layers, of which `others` at most may be of kinds that need
   less: with none of them, and with all of them in front, where most are in flight. */
static bool rank_lacks(const struct floor *f, int rank, int layers, int others, double capacity)
{
    double left = left_on(f, rank, capacity), flight = f->flights->flight[rank];
    if (room_on(f, flight, left) >= layers) return false;
    return others == 0 || room_on(f, f->flights->last[rank], left) < layers - others;
}

/* Whether a rank lacks room for its part of the layers. */
static bool lacks_even(const struct floor *f, int most_vpp, bool high, double capacity)
{
    const struct config *c = f->w->c;
    if (config_traits(c)->chooses_stages) return false;
    int layers = even_layers(c, most_vpp), others = c->model.num_layers - whole_of(f).needed;
    for (int r = 0; r < c->knobs.pp; r++)
        if (rank_lacks(f, r, layers, others, capacity)) return true;
    return layers > others && outputs_bytes(f, layers - others, high) > capacity;
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
    return lacks_whole(&f, capacity) || lacks_even(&f, most_vpp, high, capacity);
}
