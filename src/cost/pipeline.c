/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's schedules (megatron/core/pipeline_parallel/schedules.py): rank r runs a fixed order of
   forwards and backwards, first its warm-up, then one of each in turn, then the remaining
   backwards. A forward waits for the chunk before it, a backward for the chunk behind it. */
#include "cost/pipeline.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_SLOTS = 4096, MAX_RANKS = 256 };

struct slot {
    bool backward;
    int chunk; /* virtual stage */
    int microbatch;
};

struct simulation {
    const struct pipeline *p;
    int n; /* microbatches */
    int group;
    double ended[2][MAX_SLOTS]; /* [backward][chunk * n + microbatch]; negative: not yet */
    double clock[MAX_RANKS];
    int next[MAX_RANKS];
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Forwards before the first backward (schedules.py, get_pp_rank_microbatches). */
static int warmup(const struct simulation *s, int rank)
{
    int p = s->p->stages, v = s->p->chunks_per_stage;
    int w = v == 1 ? p - rank - 1 : 2 * (p - rank - 1) + (v - 1) * s->group;
    return least(w, s->n * v);
}

/* The k-th forward (or backward) of a rank: groups of microbatches go through all its chunks in
 * turn. */
static struct slot slot_of(const struct simulation *s, int rank, int k, bool backward)
{
    int v = s->p->chunks_per_stage, base = k / (s->group * v) * s->group;
    int width = least(s->group, s->n - base), rest = k - base * v;
    int turn = rest / width;
    int chunk = (backward ? v - 1 - turn : turn) * s->p->stages + rank;
    return (struct slot){backward, chunk, base + rest % width};
}

static struct slot next_slot(const struct simulation *s, int rank)
{
    int i = s->next[rank], all = s->n * s->p->chunks_per_stage, w = warmup(s, rank);
    if (i < w) return slot_of(s, rank, i, false);
    if (i >= 2 * all - w) return slot_of(s, rank, i - all, true);
    bool backward = (i - w) % 2 == 1;
    return slot_of(s, rank, backward ? (i - w) / 2 : w + (i - w) / 2, backward);
}

/* When the slot's input is there; negative while it is not. */
static double ready(const struct simulation *s, struct slot x)
{
    int last = s->p->stages * s->p->chunks_per_stage - 1;
    if (!x.backward) return x.chunk == 0 ? 0 : s->ended[0][(x.chunk - 1) * s->n + x.microbatch];
    if (x.chunk == last) return s->ended[0][x.chunk * s->n + x.microbatch];
    return s->ended[1][(x.chunk + 1) * s->n + x.microbatch];
}

/* Runs a rank until it waits; the number of slots it ran. */
static int advance(struct simulation *s, int rank)
{
    int ran = 0;
    for (; s->next[rank] < 2 * s->n * s->p->chunks_per_stage; ran++) {
        struct slot x = next_slot(s, rank);
        double at = ready(s, x);
        if (at < 0) break;
        double length = x.backward ? s->p->backward[x.chunk] : s->p->forward[x.chunk];
        s->clock[rank] = fmax(s->clock[rank], at) + length;
        s->ended[x.backward][x.chunk * s->n + x.microbatch] = s->clock[rank];
        s->next[rank]++;
    }
    return ran;
}

static void start(struct simulation *s, const struct pipeline *p, int n)
{
    s->p = p;
    s->n = n;
    s->group = p->group > 0 ? p->group : p->stages;
    for (int i = 0; i < p->stages * p->chunks_per_stage * n; i++)
        s->ended[0][i] = s->ended[1][i] = -1;
    for (int rank = 0; rank < p->stages; rank++)
        s->clock[rank] = 0, s->next[rank] = 0;
}

double pipeline_simulate(const struct pipeline *p, int64_t microbatches)
{
    int chunks = p->stages * p->chunks_per_stage;
    if (p->stages > MAX_RANKS || microbatches > MAX_SLOTS / chunks) return -1;
    struct simulation s; /* 64 KiB, of which only what is used is set */
    start(&s, p, (int)microbatches);
    int ran = 1;
    while (ran > 0) {
        ran = 0;
        for (int rank = 0; rank < p->stages; rank++)
            ran += advance(&s, rank);
    }
    double end = 0;
    for (int rank = 0; rank < p->stages; rank++)
        end = fmax(end, s.clock[rank]);
    return end;
}

struct totals {
    double all, largest; /* seconds of one microbatch: on all ranks, on the busiest */
    bool even;
};

static struct totals totals_of(const struct pipeline *p)
{
    struct totals t = {.even = true};
    for (int rank = 0; rank < p->stages; rank++) {
        double sum = 0;
        for (int c = rank; c < p->stages * p->chunks_per_stage; c += p->stages) {
            sum += p->forward[c] + p->backward[c];
            t.even = t.even && fabs(p->forward[c] - p->forward[0]) <= 1e-9 * p->forward[0] &&
                     fabs(p->backward[c] - p->backward[0]) <= 1e-9 * p->backward[0];
        }
        t.all += sum;
        t.largest = fmax(t.largest, sum);
    }
    return t;
}

/* Narayanan et al. 2021: the bubble of equal chunks is (p - 1)/v of a microbatch's time on a rank.
   For unequal ones the busiest rank sets the rate and the others' times make the ramps. */
static double closed_form(const struct pipeline *p, struct totals t)
{
    double ramp = (t.all - t.all / p->stages) / p->chunks_per_stage;
    return (double)p->microbatches * t.largest + ramp;
}

double pipeline_time(const struct pipeline *p)
{
    struct totals t = totals_of(p);
    bool whole = p->chunks_per_stage == 1 || (p->group == 0 && p->microbatches % p->stages == 0);
    if (p->stages == 1 || (t.even && whole && p->microbatches >= p->stages))
        return closed_form(p, t);
    int64_t round = p->group > 0 ? p->group : p->stages, settled = 2 * round;
    if (p->microbatches <= settled + round) {
        double exact = pipeline_simulate(p, p->microbatches);
        return exact >= 0 ? exact : closed_form(p, t);
    }
    int64_t first = settled + (p->microbatches - settled) % round; /* the rest are whole rounds */
    double before = pipeline_simulate(p, first), after = pipeline_simulate(p, first + round);
    if (after < 0) return closed_form(p, t);
    return after + (double)((p->microbatches - first) / round - 1) * (after - before);
}
