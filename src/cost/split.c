/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline takes as long as its busiest rank for every microbatch, and ramps in which nearly the
   sum alone counts: the layers are given to the ranks like water that finds its level. Of few
   microbatches most passes of a rank in front fall into the ramp, and its level is higher. Which
   chunks of a rank take them matters little as long as all ranks do it in the same turn. How chunks
   wait for each other, and how ranks that wait cool, is left to split_polish. */
#include "cost/split.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "cost/split_row.h"
#include "plan/framework.h"

/* A layout string is worth this part of a step. */
static const double EVEN_IS_WORTH = 0.005;

enum { MOST_ROUNDS = 4 };

/* What is divided. Seconds are of a microbatch, forward and backward. */
struct split {
    const struct config *c;
    int pp, vpp, layers;
    double mean;        /* of a decoder layer, but those of a kind that only stands in front */
    double first, last; /* beside as many mean layers on the first and on the last chunk */
    bool mixed;         /* the layers behind those in front take different times */
    const struct time_rates *rates;
    const int *most;                /* [pp] layers that a rank has room for; NULL: all */
    const struct split_room *rooms; /* [pp] the same where they are mixed */
    double scheduled, ramp;         /* microbatches; what weight_of takes off for a pass */
    int counts[LAYOUT_MAX_CHUNKS];  /* [pp] layers of a rank */
};

/* Layers in front whose kind no later layer has: dense ones of a MoE model. */
static int front_layers(const struct model_shape *m)
{
    int n = 1;
    while (n < m->num_layers && m->layers[n] == m->layers[0])
        n++;
    for (int i = n; i < m->num_layers; i++)
        if (m->layers[i] == m->layers[0]) return 0;
    return n < m->num_layers ? n : 0;
}

/* The forward part of a layer's seconds: a backward pass multiplies twice as much. */
static const double FORWARD_PART = 1.0 / 3;

/* What a second of a rank adds to the whole, as a part of what one of the last rank does. In plain
   1F1B rank r does pp - r - 1 forward passes more than the last one before it waits for the first
   backward pass: all but the first microbatch add to the sum of all ranks what they take there,
   less those passes, in which it would wait. */
static double weight_of(const struct split *s, int rank)
{
    double ahead = smaller(s->pp - rank - 1, s->scheduled - 1);
    return 1 - s->ramp * ahead;
}

/* Field by field: the search asks too often to clear what is not used. */
static void split_init(struct split *s, const struct config *c, const struct time_rates *rates)
{
    const struct model_shape *m = &c->model;
    const double *kinds = rates->kinds;
    int front = front_layers(m);
    s->rates = rates;
    s->c = c;
    s->pp = c->knobs.pp, s->vpp = c->knobs.vpp, s->layers = m->num_layers;
    s->most = NULL;
    s->rooms = NULL;
    s->scheduled = (double)knobs_scheduled(&c->knobs);
    s->ramp = s->vpp == 1 && s->scheduled > 1 ? FORWARD_PART / (s->scheduled - 1) : 0;
    double sum = 0, one = kinds[m->layers[front]];
    bool mixed = false;
    for (int i = front; i < m->num_layers; i++) {
        double seconds = kinds[m->layers[i]];
        sum += seconds;
        mixed |= seconds != one;
    }
    s->mean = sum / (m->num_layers - front);
    s->mixed = mixed;
    s->first = rates->embedding + front * (kinds[m->layers[0]] - s->mean);
    s->last = rates->head + m->mtp_layers * rates->mtp;
}

static int chunks_of(const struct split *s)
{
    return s->pp * s->vpp;
}

static int room(const struct split *s, int rank)
{
    return s->most ? s->most[rank] : s->layers;
}

/* Beside the decoder layers of a rank. */
static double fixed(const struct split *s, int rank)
{
    return (rank == 0 ? s->first : 0) + (rank == s->pp - 1 ? s->last : 0);
}

/* ---- layers of each rank ---- */

/* What a rank has below a level that all share, but at least what its chunks have to have. */
static int below(const struct split *s, int rank, double level)
{
    int low = s->vpp - (rank == 0) - (rank == s->pp - 1);
    int n = (int)((level / weight_of(s, rank) - fixed(s, rank)) / s->mean);
    if (n > room(s, rank)) n = room(s, rank);
    return n > low ? n : low > 0 ? low : 0;
}

/* Layers that are left when all ranks are filled up to a level. */
static int fill_to(struct split *s, double level)
{
    int left = s->layers;
    for (int r = 0; r < s->pp; r++) {
        s->counts[r] = below(s, r, level);
        left -= s->counts[r];
    }
    return left;
}

/* The shortest rank, the first of equal ones. */
static int shortest_rank(const struct split *s, const double *loads, double equal)
{
    int to = 0;
    for (int r = 1; r < s->pp; r++)
        if (loads[r] < loads[to] - equal) to = r;
    return to;
}

/* The level of all ranks if layers could be cut. */
static double level_of(const struct split *s)
{
    double ranks = 0;
    for (int r = 0; r < s->pp; r++)
        ranks += 1 / weight_of(s, r);
    return (s->layers * s->mean + s->first + s->last) / ranks;
}

/* Each further layer goes to the rank that is shortest, and after the first of equal ones to the
   next. */
static bool fill_ranks(struct split *s)
{
    double loads[LAYOUT_MAX_CHUNKS];
    int left = fill_to(s, level_of(s));
    if (left < 0) left = fill_to(s, 0); /* a rank stands above that level by its ends alone */
    for (int r = 0; r < s->pp; r++) {
        if (s->counts[r] > room(s, r)) return false;
        loads[r] = weight_of(s, r) * (fixed(s, r) + s->counts[r] * s->mean);
        if (s->counts[r] == room(s, r)) loads[r] = INFINITY;
    }
    double equal = 1e-9 * s->mean;
    while (left > 0) {
        int to = shortest_rank(s, loads, equal);
        double level = loads[to] + equal;
        if (loads[to] == INFINITY) return false;
        for (; to < s->pp && left > 0; to++) {
            if (loads[to] > level) continue;
            loads[to] += weight_of(s, to) * s->mean;
            if (++s->counts[to] == room(s, to)) loads[to] = INFINITY;
            left--;
        }
    }
    return left == 0;
}

/* ---- layers of each chunk ---- */

/* What stands on an end beside decoder layers, in whole layers: a small embedding must not move a
   layer into another turn than the other ranks have it in. */
static int stands_for(const struct split *s, double seconds)
{
    return (int)floor(seconds / s->mean + 0.5);
}

/* Fills the chunks of an end's rank up to a level and says what is left; only the ends may be
   empty. What stands on an end may be less than none: layers in front that are shorter. */
static int fill_end_to(const struct split *s, int rank, const int ends[2], int level,
                       uint16_t *decoders)
{
    int last = chunks_of(s) - 1, left = s->counts[rank];
    for (int i = rank; i <= last; i += s->pp) {
        int least = i > 0 && i < last;
        int n = level - (i == 0 ? ends[0] : 0) - (i == last ? ends[1] : 0);
        decoders[i] = (uint16_t)(n > least ? n : least);
        left -= decoders[i];
    }
    return left;
}

/* Each further layer goes to the shortest chunk, the first of equal ones. */
static void fill_end(const struct split *s, int rank, uint16_t *decoders)
{
    int last = chunks_of(s) - 1, ends[] = {stands_for(s, s->first), stands_for(s, s->last)};
    int all = s->counts[rank] + (rank == 0 ? ends[0] : 0) + (rank == s->pp - 1 ? ends[1] : 0);
    int left = fill_end_to(s, rank, ends, all / s->vpp, decoders);
    if (left < 0) left = fill_end_to(s, rank, ends, -s->layers, decoders); /* none but the least */
    for (; left > 0; left--) {
        int to = rank, shortest = INT_MAX;
        for (int i = rank; i <= last; i += s->pp) {
            int length = decoders[i] + (i == 0 ? ends[0] : 0) + (i == last ? ends[1] : 0);
            if (length >= shortest) continue;
            to = i;
            shortest = length;
        }
        decoders[to]++;
    }
}

static void fill_chunks(const struct split *s, int rank, uint16_t *decoders)
{
    int each = s->counts[rank] / s->vpp, more = s->counts[rank] % s->vpp;
    if (rank == 0 || rank == s->pp - 1) {
        fill_end(s, rank, decoders);
        return;
    }
    for (int v = 0; v < s->vpp; v++)
        decoders[v * s->pp + rank] = (uint16_t)(each + (v < more));
}

/* Seconds of a microbatch on each rank, and in the chunks before its first one. */
static void time_ranks(const struct config *c, const struct time_rates *rates,
                       const struct layout *layout, double *ranks, double *before)
{
    const struct model_shape *m = &c->model;
    double all = 0;
    int layer = 0, pp = c->knobs.pp;
    for (int r = 0; r < pp; r++)
        ranks[r] = before[r] = 0;
    for (int i = 0, r = 0; i < layout->n_chunks; i++, r = r + 1 < pp ? r + 1 : 0) {
        double chunk = layout->mtp[i] * rates->mtp;
        for (int end = layer + layout->decoders[i]; layer < end; layer++)
            chunk += rates->kinds[m->layers[layer]];
        if (layout->embedding[i]) chunk += rates->embedding;
        if (layout->loss[i]) chunk += rates->head;
        if (i < pp) before[r] = all;
        all += chunk;
        ranks[r] += chunk;
    }
}

/* Seconds of a microbatch on the rank that takes longest, by its weight. */
static double busiest(const struct split *s, const struct layout *layout)
{
    double ranks[LAYOUT_MAX_CHUNKS], before[LAYOUT_MAX_CHUNKS], longest = 0;
    time_ranks(s->c, s->rates, layout, ranks, before);
    for (int r = 0; r < s->pp; r++)
        longest = larger(longest, weight_of(s, r) * ranks[r]);
    return longest;
}

double split_longest(const struct config *c, const struct time_rates *rates,
                     const struct layout *layout)
{
    double ranks[LAYOUT_MAX_CHUNKS], before[LAYOUT_MAX_CHUNKS], longest = 0;
    time_ranks(c, rates, layout, ranks, before);
    for (int r = 0; r < c->knobs.pp; r++)
        longest = larger(longest, (double)knobs_scheduled(&c->knobs) * ranks[r] + before[r]);
    return longest;
}

/* ---- the split ---- */

/* As if all layers took as long. */
static bool divide_alike(struct split *s, struct layout *out)
{
    if (!fill_ranks(s)) return false;
    layout_start(s->c, chunks_of(s), out);
    for (int r = 0; r < s->pp; r++)
        fill_chunks(s, r, out->decoders);
    return true;
}

/* By what each layer takes. Of several chunks of a rank each is as short as can be, not their sum:
   ranks would wait for each other in every turn. */
static bool divide_row(const struct split *s, struct layout *out)
{
    const struct model_shape *m = &s->c->model;
    double ends[MODEL_MAX_LAYERS + 1];
    struct split_row row = {.layers = s->layers,
                            .chunks = chunks_of(s),
                            .ranks = s->pp,
                            .kinds = m->layers,
                            .ends = ends,
                            .first = s->rates->embedding,
                            .last = s->last,
                            .rooms = s->rooms};
    ends[0] = 0;
    for (int i = 0; i < s->layers; i++)
        ends[i + 1] = ends[i] + s->rates->kinds[m->layers[i]];
    layout_start(s->c, row.chunks, out);
    return split_row(&row, out->decoders);
}

static bool divide(struct split *s, struct layout *out)
{
    struct layout row;
    if (s->rooms) return divide_row(s, out);
    bool alike = divide_alike(s, out);
    if (!s->mixed || s->most || !divide_row(s, &row)) return alike;
    if (!alike || busiest(s, &row) < busiest(s, out)) *out = row;
    return true;
}

/* Models that Megatron reads from a pattern of layers: the pattern says the split
   (megatron/training/arguments.py:825). */
static bool has_pattern(const struct model_shape *m)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].mixer == MIXER_MAMBA || m->kinds[i].mixer == MIXER_NONE ||
            m->kinds[i].ffn == FFN_NONE)
            return true;
    return false;
}

/* Whether the framework takes a layout, and settings that are kept do not say the split. */
static bool is_open(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    bool given = k->first_stage_layers > 0 || k->last_stage_layers > 0 || k->account_embedding ||
                 k->account_loss || c->layout_given;
    return !given && config_traits(c)->chooses_stages;
}

bool split_is_free(const struct config *c)
{
    return c->knobs.pp * c->knobs.vpp > 1 && is_open(c) && !has_pattern(&c->model);
}

/* Seconds of the pipeline at the rate of its busiest rank. */
static double pipeline_of(const struct split *s, const struct layout *layout)
{
    double all = s->layers * s->mean + s->first + s->last;
    return s->scheduled * busiest(s, layout) + (all - all / s->pp) / s->vpp;
}

/* Puts the even split into *out where there is one. */
static bool even_split(const struct split *s, struct layout *out)
{
    if (s->layers % chunks_of(s) != 0) return false;
    layout_start(s->c, chunks_of(s), out);
    for (int i = 0; i < chunks_of(s); i++)
        out->decoders[i] = (uint16_t)(s->layers / chunks_of(s));
    return true;
}

/* Whether ranks of equal length have the room. */
static bool even_has_room(const struct split *s, int rank)
{
    int each = s->layers / chunks_of(s);
    double bytes = 0;
    if (!s->rooms) return each * s->vpp <= room(s, rank);
    for (int chunk = rank; chunk < chunks_of(s); chunk += s->pp)
        for (int i = chunk * each; i < (chunk + 1) * each; i++)
            bytes += s->rooms[rank].each[s->c->model.layers[i]];
    return bytes <= s->rooms[rank].left;
}

/* Whether the even split does as well as the best, and has the room. */
static bool even_serves(const struct split *s, const struct layout *best)
{
    struct layout even;
    if (!even_split(s, &even)) return false;
    for (int r = 0; r < s->pp; r++)
        if (!even_has_room(s, r)) return false;
    return pipeline_of(s, &even) <= (1 + EVEN_IS_WORTH) * pipeline_of(s, best);
}

/* Divides and names the split in `c`. */
static bool choose(struct split *s, struct config *c, struct layout *slot)
{
    c->knobs.layout = 0;
    if (!divide(s, slot)) return false;
    if (even_serves(s, slot)) return true;
    c->layouts = slot;
    c->n_layouts = c->knobs.layout = 1;
    return true;
}

bool split_by_time(struct config *c, const struct time_rates *rates, struct layout *slot)
{
    int64_t chunks = (int64_t)c->knobs.pp * c->knobs.vpp;
    c->knobs.layout = c->layout_given;
    if (!split_is_free(c)) {
        bool uneven = is_open(c) && c->model.num_layers % chunks != 0;
        return !uneven && config_layout(c, slot);
    }
    if (chunks > LAYOUT_MAX_CHUNKS || chunks > c->model.num_layers + 2) return false;
    struct split s;
    split_init(&s, c, rates);
    return choose(&s, c, slot);
}

/* ---- room ---- */

/* Adds a layer to a stage where it has fewest, or takes one where it has most: of the kind that
   stands last there, if there still is one. */
static void change_stage(struct memory_work *w, int stage, int by)
{
    struct chunk *at = &w->chunks[stage];
    for (int i = stage; i < w->n_chunks; i += w->c->knobs.pp)
        if (by * w->chunks[i].layers < by * at->layers) at = &w->chunks[i];
    if (at->last_kind < 0) at->last_kind = w->c->model.layers[w->c->model.num_layers - 1];
    int kind = at->last_kind;
    for (int i = 0; by < 0 && at->counts[kind] == 0 && i < w->c->model.n_kinds; i++)
        kind = i;
    at->counts[kind] += by;
    at->layers += by;
}

static double high_of(const struct memory_work *w, int stage)
{
    struct stage_memory m;
    stage_estimate(w, stage, &m);
    return m.high;
}

enum { PROBED = 4 };

/* A stage whose number of layers is changed to see what it has room for. */
struct probe {
    struct memory_work *w;
    int stage, n, n_known;
    double high; /* bytes, upper end of the estimate */
    struct {
        uint64_t layers;
        double high;
    } known[PROBED]; /* the last ones */
};

/* Which layers stand where on the stage: the same number may be divided otherwise. */
static uint64_t layers_of(const struct probe *p)
{
    const struct memory_work *w = p->w;
    uint64_t sum = 0;
    for (int i = p->stage; i < w->n_chunks; i += w->c->knobs.pp) {
        sum = sum * 0x100000001b3 + (uint64_t)(w->chunks[i].last_kind + 1);
        for (int k = 0; k < w->c->model.n_kinds; k++)
            sum = sum * 0x100000001b3 + (uint64_t)w->chunks[i].counts[k];
    }
    return sum;
}

static void note_high(struct probe *p, uint64_t layers, double high)
{
    int at = p->n_known++ % PROBED;
    p->known[at].layers = layers;
    p->known[at].high = p->high = high;
}

static void set_layers(struct probe *p, int n)
{
    for (; p->n < n; p->n++)
        change_stage(p->w, p->stage, 1);
    for (; p->n > n; p->n--)
        change_stage(p->w, p->stage, -1);
    uint64_t layers = layers_of(p);
    for (int i = 0; i < PROBED && i < p->n_known; i++)
        if (p->known[i].layers == layers) {
            p->high = p->known[i].high;
            return;
        }
    note_high(p, layers, high_of(p->w, p->stage));
}

static int layers_on(const struct memory_work *w, int stage)
{
    int n = 0;
    for (int i = stage; i < w->n_chunks; i += w->c->knobs.pp)
        n += w->chunks[i].layers;
    return n;
}

/* Layers that a stage has room for; fewer than its chunks have to have where these are too many.
   Memory is nearly a straight line of them. */
static int room_of(struct memory_work *w, int stage, double high)
{
    const struct knobs *k = &w->c->knobs;
    double capacity = w->c->machine.capacity_bytes;
    struct probe p = {.w = w, .stage = stage, .n = layers_on(w, stage)};
    int low = k->vpp - (stage == 0) - (stage == k->pp - 1), most = w->c->model.num_layers;
    note_high(&p, layers_of(&p), high);
    int n = p.n;
    set_layers(&p, n + 1);
    double more = p.high > high ? (capacity - high) / (p.high - high) : 0;
    set_layers(&p, (int)larger(low, smaller(most, floor(n + more))));
    while (p.high > capacity && p.n >= low && p.n > 0)
        set_layers(&p, p.n - 1);
    while (p.high <= capacity && p.n <= most)
        set_layers(&p, p.n + 1);
    return p.high > capacity ? p.n - 1 : p.n;
}

/* What all stages have room for, from the last one on. False: they have not for all layers; those
   in front have no more, for they hold more microbatches. A stage that needs too much has room for
   fewer than it has, which mostly is all that has to be known of it. */
static bool find_room(struct memory_work *w, struct memory_estimate *m, int *most)
{
    int sum = 0, last = m->n_stages - 1, layers = w->c->model.num_layers;
    for (int r = last; r >= 0; r--) {
        bool over = memory_high_of(w, r, m) > m->capacity;
        most[r] = over ? layers_on(w, r) - 1 : room_of(w, r, m->stages[r].high);
        sum += most[r];
        if (r < last && sum + r * most[r] < layers) return false;
    }
    for (int r = last; r >= 0 && sum >= layers; r--) {
        if (m->stages[r].high <= m->capacity) continue;
        sum -= most[r];
        most[r] = room_of(w, r, m->stages[r].high);
        sum += most[r];
    }
    return sum >= layers;
}

/* Room of layers of each kind: what one more of them takes where a stage has fewest, and what there
   is beside the layers. */
static void measure_room(struct memory_work *w, int stage, double high, struct split_room *out)
{
    const struct model_shape *m = &w->c->model;
    struct chunk *at = &w->chunks[stage];
    out->left = w->c->machine.capacity_bytes - high;
    for (int i = stage; i < w->n_chunks; i += w->c->knobs.pp)
        if (w->chunks[i].layers < at->layers) at = &w->chunks[i];
    for (int k = 0; k < m->n_kinds; k++) {
        if (!memchr(m->layers, k, (size_t)m->num_layers)) continue;
        at->counts[k]++, at->layers++;
        out->each[k] = high_of(w, stage) - high;
        at->counts[k]--, at->layers--;
        for (int i = stage; i < w->n_chunks; i += w->c->knobs.pp)
            out->left += w->chunks[i].counts[k] * out->each[k];
    }
}

/* Divides layers of several kinds anew within the room that there is beside the present ones, which
   is nearly a straight line of them. False: there is none, or it is the same split again. */
static bool fit_mixed(struct split *s, struct config *c, struct memory_work *w,
                      struct memory_estimate *m, struct layout *slot, int *most)
{
    struct split_room rooms[COST_MAX_STAGES];
    struct layout before, now;
    s->rooms = rooms;
    most[0] = 0;
    for (int r = 0; r < m->n_stages; r++)
        measure_room(w, r, memory_high_of(w, r, m), &rooms[r]);
    if (!config_layout(c, &before) || !choose(s, c, slot) || !config_layout(c, &now)) return false;
    return memcmp(before.decoders, now.decoders, (size_t)now.n_chunks * sizeof *now.decoders) != 0;
}

/* The same where all take as much. `before`: the room of the round before, then of this one. */
static bool fit_alike(struct split *s, struct config *c, struct memory_work *w,
                      struct memory_estimate *m, struct layout *slot, int *before)
{
    int most[COST_MAX_STAGES];
    size_t bytes = (size_t)m->n_stages * sizeof *most;
    if (!find_room(w, m, most) || memcmp(most, before, bytes) == 0) return false;
    memcpy(before, most, bytes);
    s->most = most;
    return choose(s, c, slot);
}

/* One round: divides anew within the room that the stages of the present split have, as it stands
   in *w. False: there is none, or the split would be the same again. */
static bool fit_once(struct config *c, const struct time_rates *rates, struct memory_work *w,
                     struct memory_estimate *m, struct layout *slot, int *before)
{
    struct split s;
    split_init(&s, c, rates);
    bool divided = s.mixed && s.vpp == 1 ? fit_mixed(&s, c, w, m, slot, before)
                                         : fit_alike(&s, c, w, m, slot, before);
    if (!divided || !memory_divide(c, w)) return false;
    memory_peaks_or_over(w, m);
    return true;
}

/* Whether a stage has room to spare: of any other split some stage has as many layers as now. Those
   behind hold fewer microbatches. */
static bool has_spare(const struct memory_work *w, struct memory_estimate *m)
{
    for (int r = m->n_stages - 1; r >= 0; r--)
        if (memory_high_of(w, r, m) <= m->capacity) return true;
    return false;
}

bool split_to_fit(struct config *c, const struct time_rates *rates, struct memory_work *w,
                  struct memory_estimate *m, struct layout *slot)
{
    if (m->fits == FITS_YES || !split_is_free(c) || !has_spare(w, m)) return false;
    int before[COST_MAX_STAGES] = {-1}; /* until it is divided otherwise */
    /* again where other kinds of layers came to stand on a stage than its room was counted in */
    for (int i = 0; i < MOST_ROUNDS && fit_once(c, rates, w, m, slot, before); i++)
        if (m->fits == FITS_YES) return true;
    if (before[0] >= 0) split_by_time(c, rates, slot);
    return false;
}

bool split_plan(struct config *c, struct layout *slot)
{
    struct time_layers layers;
    struct time_rates rates;
    struct memory_work w;
    struct memory_estimate m;
    bool open = split_is_free(c);
    if (open) {
        time_layers_init(c, &layers);
        time_rates_of(&layers, c, &rates);
    }
    if (!split_by_time(c, &rates, slot)) return false;
    if (!open || !memory_prepare(c, &w)) return true;
    memory_peaks(&w, &m);
    split_to_fit(c, &rates, &w, &m, slot);
    return true;
}
