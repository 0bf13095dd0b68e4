/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's schedules (megatron/core/pipeline_parallel/schedules.py): rank r runs a fixed order of
   forwards and backwards, first its warm-up, then one of each in turn, then the remaining
   backwards. A forward waits for the chunk before it, a backward for the chunk behind it. */
#include "cost/pipeline.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_SLOTS = 4096, MAX_RANKS = 128 };

/* Where a rank stands in its order of forwards (or backwards): groups of microbatches go through
 * all its chunks in turn. */
struct cursor {
    int base, turn,
        at; /* first microbatch of the group, chunk of the rank, microbatch in the group */
    int done;
};

struct rank {
    struct cursor forward, backward;
    int warmup; /* forwards before the first backward */
    double clock;
};

struct simulation {
    const struct pipeline *p;
    int n, group, each; /* microbatches, of one group, slots of one kind on a rank */
    struct rank ranks[MAX_RANKS];
    double forward_end[MAX_SLOTS],
        backward_end[MAX_SLOTS]; /* [chunk * n + microbatch]; negative: not yet */
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* get_pp_rank_microbatches in schedules.py. */
static int warmup(const struct simulation *s, int rank)
{
    int p = s->p->stages, v = s->p->chunks_per_stage;
    return least(s->each, v == 1 ? p - rank - 1 : 2 * (p - rank - 1) + (v - 1) * s->group);
}

static void start(struct simulation *s, const struct pipeline *p, int n)
{
    s->p = p;
    s->n = n;
    s->group = p->group > 0 ? p->group : p->stages;
    s->each = n * p->chunks_per_stage;
    for (int i = 0; i < p->stages * s->each; i++)
        s->forward_end[i] = s->backward_end[i] = -1;
    for (int r = 0; r < p->stages; r++)
        s->ranks[r] = (struct rank){.warmup = warmup(s, r)};
}

static void step(struct cursor *c, const struct simulation *s)
{
    c->done++;
    if (++c->at < least(s->group, s->n - c->base)) return;
    c->at = 0;
    if (++c->turn < s->p->chunks_per_stage) return;
    c->turn = 0;
    c->base += s->group;
}

/* fmax without its care for what is no number, which costs a call. */
static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Runs the rank's next forward; false while its input is not there. */
static bool run_forward(struct simulation *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    int chunk = r->forward.turn * s->p->stages + rank,
        slot = chunk * s->n + r->forward.base + r->forward.at;
    double input = chunk == 0 ? 0 : s->forward_end[slot - s->n];
    if (input < 0) return false;
    r->clock = later(r->clock, input) + s->p->forward[chunk];
    s->forward_end[slot] = r->clock;
    step(&r->forward, s);
    return true;
}

static bool run_backward(struct simulation *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    int p = s->p->stages, v = s->p->chunks_per_stage, chunk = (v - 1 - r->backward.turn) * p + rank;
    int slot = chunk * s->n + r->backward.base + r->backward.at;
    double input = chunk == p * v - 1 ? s->forward_end[slot] : s->backward_end[slot + s->n];
    if (input < 0) return false;
    r->clock = later(r->clock, input) + s->p->backward[chunk];
    s->backward_end[slot] = r->clock;
    step(&r->backward, s);
    return true;
}

/* Runs a rank until it waits; whether it ran anything. */
static bool advance(struct simulation *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    bool ran = false;
    while (r->backward.done < s->each) {
        bool warm = r->forward.done < r->warmup,
             turn = r->forward.done - r->warmup == r->backward.done;
        bool forward = r->forward.done < s->each && (warm || turn);
        if (!(forward ? run_forward(s, rank) : run_backward(s, rank))) break;
        ran = true;
    }
    return ran;
}

double pipeline_simulate(const struct pipeline *p, int64_t microbatches)
{
    if (p->stages > MAX_RANKS || microbatches > MAX_SLOTS / (p->stages * p->chunks_per_stage))
        return -1;
    struct simulation s; /* 68 KiB, of which only what is used is set */
    start(&s, p, (int)microbatches);
    bool ran = true;
    while (ran) {
        ran = false;
        for (int rank = 0; rank < p->stages; rank++)
            ran = advance(&s, rank) || ran;
    }
    double end = 0;
    for (int rank = 0; rank < p->stages; rank++) {
        if (s.ranks[rank].backward.done < s.each) return -1;
        end = fmax(end, s.ranks[rank].clock);
    }
    return end;
}

struct totals {
    double all, largest; /* seconds of one microbatch: on all ranks, on the busiest */
    bool even;
};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * b;
}

static struct totals totals_of(const struct pipeline *p)
{
    struct totals t = {.even = true};
    for (int rank = 0; rank < p->stages; rank++) {
        double sum = 0;
        for (int c = rank; c < p->stages * p->chunks_per_stage; c += p->stages) {
            sum += p->forward[c] + p->backward[c];
            t.even = t.even && near(p->forward[c], p->forward[0]) &&
                     near(p->backward[c], p->backward[0]);
        }
        t.all += sum;
        t.largest = fmax(t.largest, sum);
    }
    return t;
}

/* Narayanan et al. 2021: the bubble of equal chunks is (p - 1)/v of a microbatch's time on a rank.
   With unequal ones the busiest rank sets the rate and the others' times make the ramps, within 1 %
   of a simulation for a heavier or lighter end. */
static double closed_form(const struct pipeline *p, struct totals t)
{
    double ramp = (t.all - t.all / p->stages) / p->chunks_per_stage;
    return (double)p->microbatches * t.largest + ramp;
}

double pipeline_busiest(const struct pipeline *p)
{
    return totals_of(p).largest;
}

double pipeline_time(const struct pipeline *p)
{
    struct totals t = totals_of(p);
    int64_t round = p->group > 0 ? p->group : p->stages, settled = 2 * round;
    bool whole = p->chunks_per_stage == 1 || (p->group == 0 && p->microbatches % p->stages == 0);
    if (p->stages == 1 || (t.even && whole && p->microbatches >= p->stages))
        return closed_form(p, t);
    if (p->microbatches <= settled + round) {
        double exact = pipeline_simulate(p, p->microbatches);
        return exact >= 0 ? exact : closed_form(p, t);
    }
    int64_t first = settled + (p->microbatches - settled) % round; /* the rest are whole rounds */
    double before = pipeline_simulate(p, first), after = pipeline_simulate(p, first + round);
    if (after < 0) return closed_form(p, t);
    /* the first rounds of unequal chunks may still live on the warm-up's lead over the busiest
       rank, which no later round can */
    double a_round = fmax(after - before, (double)round * t.largest);
    return after + (double)((p->microbatches - first) / round - 1) * a_round;
}
