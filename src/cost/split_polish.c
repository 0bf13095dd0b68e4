/* SPDX-License-Identifier: Apache-2.0 */
/* The last percent of a split. Unequal chunks make ranks wait for each other in ways that only the
   schedule shows: layers are moved one at a time while its estimate gains by it. */
#include <stdlib.h>

#include "cost/split.h"

/* Parts of a schedule: by which a move has to gain, and a layout string where there was none. */
static const double MOVE_GAINS = 1e-4, LAYOUT_GAINS = 0.005;

struct polish {
    struct config *c; /* with the layout being tried */
    const struct time_layers *layers;
    struct layout layout;
    int fits;       /* of the plan before */
    double seconds; /* of its schedule now */
};

static void move_layer(struct layout *l, int from, int to)
{
    l->decoders[from]--;
    l->decoders[to]++;
}

/* Chunks between which layers are moved: neighbours, chunks of one rank that follow each other, and
   the ends with all. */
static bool are_close(const struct polish *p, int from, int to)
{
    int last = p->layout.n_chunks - 1, apart = abs(from - to);
    return apart == 1 || apart == p->c->knobs.pp || from % last == 0 || to % last == 0;
}

static bool goes_on_to_fit(const struct polish *p)
{
    struct memory_estimate m;
    return memory_estimate(p->c, &m, NULL) && (int)m.fits <= p->fits;
}

/* Seconds of the schedule after a move, where it is one and what fits goes on to; else *best. */
static double after_move(struct polish *p, int from, int to, double best)
{
    struct layout *l = &p->layout;
    bool end = from == 0 || from == l->n_chunks - 1;
    if (l->decoders[from] <= !end) return best;
    move_layer(l, from, to);
    double seconds = time_schedule(p->layers, p->c);
    if (seconds >= best * (1 - MOVE_GAINS) || !goes_on_to_fit(p)) seconds = best;
    move_layer(l, to, from);
    return seconds;
}

/* Takes the move that gains most; false: none does. */
static bool take_best(struct polish *p)
{
    int n = p->layout.n_chunks, best_from = 0, best_to = 0;
    double best = p->seconds;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            if (from == to || !are_close(p, from, to)) continue;
            double seconds = after_move(p, from, to, best);
            if (seconds >= best) continue;
            best = seconds;
            best_from = from, best_to = to;
        }
    if (best >= p->seconds) return false;
    move_layer(&p->layout, best_from, best_to);
    p->seconds = best;
    return true;
}

bool split_polish(struct config *c, struct layout *slot)
{
    struct time_layers layers;
    struct memory_estimate m;
    struct config trial = *c;
    struct polish p = {.c = &trial, .layers = &layers};
    if (!split_is_free(c) || !config_layout(c, &p.layout) || !memory_estimate(c, &m, NULL))
        return false;
    p.fits = (int)m.fits;
    trial.layouts = &p.layout;
    trial.n_layouts = trial.knobs.layout = 1;
    time_layers_init(&trial, &layers);
    double before = p.seconds = time_schedule(&layers, &trial);
    int moves = 0;
    while (moves < c->model.num_layers && take_best(&p))
        moves++;
    bool worth = c->knobs.layout > 0 || p.seconds < before * (1 - LAYOUT_GAINS);
    if (!worth || moves == 0) return false;
    *slot = p.layout;
    c->layouts = slot;
    c->n_layouts = c->knobs.layout = 1;
    return true;
}
