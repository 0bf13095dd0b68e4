/* SPDX-License-Identifier: Apache-2.0 */
/* The last percent of a split. Unequal chunks make ranks wait for each other in ways that only the
   schedule shows: layers are moved one at a time while the step's estimate gains by it. */
#include <math.h>
#include <stdlib.h>

#include "cost/sharding.h"
#include "cost/split.h"

/* Parts of a step: by which a move has to gain, and a layout string where there was none, all moves
   together. */
static const double MOVE_GAINS = 1e-4, LAYOUT_GAINS = 0.005;

enum { MOST_MOVES = 256 };

struct polish {
    struct config *c; /* with the layout being tried */
    const struct time_layers *layers;
    struct time_rates rates;
    struct layout layout;
    double mean;      /* seconds of a microbatch on a rank */
    double optimizer; /* seconds of its step, however the layers are divided */
    int fits;         /* of the plan before */
    double seconds;   /* of its step now */
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

/* Seconds that the step cannot undercut. */
static double least_seconds(const struct polish *p)
{
    const struct knobs *k = &p->c->knobs;
    double busy = (double)knobs_scheduled(k) * p->mean;
    double pass = time_least_pipeline(&p->rates, busy, split_longest(p->c, &p->rates, &p->layout));
    return p->rates.slow * knobs_schedules(k) * (pass + p->rates.alone) + p->rates.fixed +
           p->optimizer;
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
    if (least_seconds(p) < most) {
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

bool split_polish(struct config *c, struct layout *slot)
{
    struct time_layers layers;
    struct memory_estimate m;
    struct config trial = *c;
    struct polish p = {.c = &trial, .layers = &layers};
    if (!split_is_free(c) || !config_layout(c, &p.layout) || !memory_estimate(c, &m, NULL))
        return false;
    trial.layouts = &p.layout;
    trial.n_layouts = trial.knobs.layout = 1;
    time_layers_init(&trial, &layers);
    time_rates_of(&layers, &trial, &p.rates);
    p.mean = mean_of(&trial, &p.rates);
    p.optimizer = sharding_optimizer(&layers.timing, &trial.knobs, sharding_params(&trial));
    p.fits = (int)m.fits;
    double before = p.seconds = time_step(&layers, &trial),
           wanted = c->knobs.layout > 0 ? 0 : LAYOUT_GAINS;
    int moves = take_moves(&p);
    while (take_pair(&p))
        moves += 2 + take_moves(&p);
    if (!moves || p.seconds > before * (1 - wanted)) return false;
    *slot = p.layout;
    c->layouts = slot;
    c->n_layouts = c->knobs.layout = 1;
    return true;
}
