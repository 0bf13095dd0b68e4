/* SPDX-License-Identifier: Apache-2.0 */
/* The last percent of a split. Unequal chunks make ranks wait for each other in ways that only the
   schedule shows: layers are moved one at a time while the step's estimate gains by it. */
#include <math.h>
#include <stdlib.h>

#include "cost/pipeline.h"
#include "cost/sharding.h"
#include "cost/split.h"

/* Parts of a step: by which a move has to gain, and a layout string where there was none, all moves
   together. */
static const double MOVE_GAINS = 1e-4, LAYOUT_GAINS = 0.005;

enum { MOST_MOVES = 256, MOST_WAYS = 32 };

struct polish {
    struct config *c; /* with the layout being tried */
    const struct time_layers *layers;
    struct time_rates rates;
    struct time_lengths lengths;
    struct layout layout;
    struct pipeline_way *ways; /* [MOST_WAYS] the longest of the last plans that were asked */
    int n_ways;
    double mean;    /* seconds of a microbatch on a rank */
    double around;  /* seconds of a step beside its passes, at least */
    int fits;       /* of the plan before */
    double seconds; /* of its step now */
};

static void move_layer(struct layout *l, int from, int to)
{
    l->decoders[from]--;
    l->decoders[to]++;
}

/* Chunks between which layers are moved: neighbours, chunks of one rank that follow each other, and
   the ends with all. Only the ends may become empty. */
static bool may_move(const struct polish *p, int from, int to)
{
    int last = p->layout.n_chunks - 1, apart = abs(from - to);
    bool end = from == 0 || from == last, to_end = to == 0 || to == last;
    bool close = apart == 1 || apart == p->c->knobs.pp || end || to_end;
    return from != to && close && p->layout.decoders[from] > !end;
}

static double mean_of(const struct config *c, const struct time_rates *rates)
{
    double all = rates->embedding + rates->head + c->model.mtp_layers * rates->mtp;
    for (int i = 0; i < c->model.num_layers; i++)
        all += rates->kinds[c->model.layers[i]];
    return all / c->knobs.pp;
}

/* Seconds of each chunk. */
struct chunks {
    double forward[LAYOUT_MAX_CHUNKS], backward[LAYOUT_MAX_CHUNKS];
};

static void add_item(struct chunks *x, int chunk, int n, const struct time_length *one)
{
    x->forward[chunk] += n * one->forward;
    x->backward[chunk] += n * one->backward;
}

static void chunks_of(const struct polish *p, struct chunks *x)
{
    const struct layout *l = &p->layout;
    const struct model_shape *m = &p->c->model;
    for (int i = 0, layer = 0; i < l->n_chunks; i++) {
        x->forward[i] = x->backward[i] = p->lengths.transfer;
        if (l->embedding[i]) add_item(x, i, 1, &p->lengths.embedding);
        if (l->loss[i]) add_item(x, i, 1, &p->lengths.head);
        add_item(x, i, l->mtp[i], &p->lengths.mtp);
        for (int end = layer + l->decoders[i]; layer < end; layer++)
            add_item(x, i, 1, &p->lengths.kinds[m->layers[layer]]);
    }
}

static struct pipeline schedule_of(const struct polish *p, struct chunks *x)
{
    chunks_of(p, x);
    return pipeline_of_knobs(&p->c->knobs, p->layout.n_chunks, x->forward, x->backward);
}

/* Seconds that a step does not undercut whose busiest rank is busy for so many, and whose schedule
   takes so many at least. */
static double least_step(const struct polish *p, double busy, double longest)
{
    const struct knobs *k = &p->c->knobs;
    double pass = time_least_pipeline(&p->rates, busy, longest);
    return p->rates.slow * knobs_schedules(k) * (pass + p->rates.alone) + p->around;
}

/* Whether a step surely takes so many seconds: mostly the way that was too long for another move is
   for this one. If none of those is, its own is found, which takes less than a step's estimate. */
static bool is_slower(struct polish *p, double most)
{
    static const double rounding = 1e-9;
    double n = (double)knobs_scheduled(&p->c->knobs);
    most /= 1 - rounding;
    if (least_step(p, n * p->mean, split_longest(p->c, &p->rates, &p->layout)) >= most) return true;
    struct chunks x;
    struct pipeline one = schedule_of(p, &x);
    double busiest = pipeline_busiest(&one);
    for (int i = p->n_ways - 1; i >= 0 && i >= p->n_ways - MOST_WAYS; i--) {
        double longest = pipeline_least(&one, &p->ways[i % MOST_WAYS], busiest);
        if (least_step(p, n * busiest, longest) >= most) return true;
    }
    struct pipeline_way *own = &p->ways[p->n_ways % MOST_WAYS];
    if (!pipeline_find_way(&one, own)) return false;
    p->n_ways++;
    return least_step(p, n * busiest, pipeline_least(&one, own, busiest)) >= most;
}

static bool goes_on_to_fit(const struct polish *p)
{
    struct memory_estimate m;
    return memory_estimate(p->c, &m, NULL) && (int)m.fits <= p->fits;
}

/* Takes the move if the step gains by it. */
static bool try_move(struct polish *p, int from, int to)
{
    double most = p->seconds * (1 - MOVE_GAINS);
    move_layer(&p->layout, from, to);
    if (!is_slower(p, most)) {
        double seconds = time_step(p->layers, p->c);
        if (seconds < most && goes_on_to_fit(p)) {
            p->seconds = seconds;
            return true;
        }
    }
    move_layer(&p->layout, to, from);
    return false;
}

/* All moves in turn, until none of them gains. */
static int take_moves(struct polish *p)
{
    int n = p->layout.n_chunks, moves = 0, tried = 0;
    for (int at = 0; tried < n * n && moves < MOST_MOVES; at = (at + 1) % (n * n), tried++) {
        int from = at / n, to = at % n;
        if (!may_move(p, from, to) || !try_move(p, from, to)) continue;
        moves++;
        tried = 0;
    }
    return moves;
}

/* Two moves that gain together alone. Their number grows with the fourth power of the chunks'. */
static bool take_pair(struct polish *p)
{
    enum { MOST_CHUNKS = 8 };
    int n = p->layout.n_chunks;
    for (int first = 0; n <= MOST_CHUNKS && first < n * n; first++) {
        int from = first / n, to = first % n;
        if (!may_move(p, from, to)) continue;
        move_layer(&p->layout, from, to);
        for (int at = first + 1; at < n * n; at++)
            if (may_move(p, at / n, at % n) && try_move(p, at / n, at % n)) return true;
        move_layer(&p->layout, to, from);
    }
    return false;
}

/* Beside the passes a step takes the same however the layers are divided, unless the division says
   how many are repeated. */
static double around(const struct polish *p, double step_s)
{
    const struct config *c = p->c;
    struct time_pass pass;
    if (c->knobs.recompute_method != METHOD_BLOCK && time_pass_of(p->layers, c, &pass))
        return step_s - pass.seconds;
    return p->rates.fixed + sharding_optimizer(&p->layers->timing, &c->knobs, sharding_params(c));
}

bool split_polish(struct config *c, struct layout *slot)
{
    struct time_layers layers;
    struct memory_estimate m;
    struct config trial = *c;
    struct pipeline_way ways[MOST_WAYS];
    struct polish p = {.c = &trial, .layers = &layers, .ways = ways};
    if (!split_is_free(c) || !config_layout(c, &p.layout) || !memory_estimate(c, &m, NULL))
        return false;
    trial.layouts = &p.layout;
    trial.n_layouts = trial.knobs.layout = 1;
    time_layers_init(&trial, &layers);
    time_rates_of(&layers, &trial, &p.rates);
    time_lengths_of(&layers, &trial, &p.lengths);
    p.mean = mean_of(&trial, &p.rates);
    p.fits = (int)m.fits;
    double before = p.seconds = time_step(&layers, &trial);
    p.around = around(&p, before);
    double wanted = c->knobs.layout > 0 ? 0 : LAYOUT_GAINS;
    int moves = take_moves(&p);
    while (take_pair(&p))
        moves += 2 + take_moves(&p);
    if (!moves || p.seconds > before * (1 - wanted)) return false;
    *slot = p.layout;
    c->layouts = slot;
    c->n_layouts = c->knobs.layout = 1;
    return true;
}
