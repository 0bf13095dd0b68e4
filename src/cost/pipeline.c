/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's schedules (megatron/core/pipeline_parallel/schedules.py): rank r runs a fixed order of
   forwards and backwards, first its warm-up, then one of each in turn, then the remaining
   backwards. A forward waits for the chunk before it, a backward for the chunk behind it. */
#include "cost/pipeline.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_SLOTS = 4096, MAX_RANKS = 128 };

struct rank {
    int forwards, backwards; /* that are done */
    int warmup;              /* forwards before the first backward */
    double clock;
};

/* One place in the order of forwards, which all ranks share: groups of microbatches go through all
   chunks of a rank in turn. Backwards go through the chunks the other way. */
struct place {
    int chunk; /* of rank 0 */
    int microbatch;
};

struct simulation {
    const struct pipeline *p;
    int n, group, each, last; /* microbatches, of one group, slots of one kind on a rank; last chunk
                                 of rank 0 */
    struct rank ranks[MAX_RANKS];
    struct place order[MAX_SLOTS]; /* [each] */
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

static void put_in_order(struct simulation *s)
{
    struct place *next = s->order;
    for (int base = 0; base < s->n; base += s->group)
        for (int turn = 0; turn < s->p->chunks_per_stage; turn++)
            for (int at = base; at < least(base + s->group, s->n); at++)
                *next++ = (struct place){turn * s->p->stages, at};
}

static void start(struct simulation *s, const struct pipeline *p, int n)
{
    s->p = p;
    s->n = n;
    s->group = p->group > 0 ? p->group : p->stages;
    s->each = n * p->chunks_per_stage;
    s->last = (p->chunks_per_stage - 1) * p->stages;
    put_in_order(s);
    for (int i = 0; i < p->stages * s->each; i++)
        s->forward_end[i] = s->backward_end[i] = -1;
    for (int r = 0; r < p->stages; r++)
        s->ranks[r] = (struct rank){.warmup = warmup(s, r)};
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
    const struct place *at = &s->order[r->forwards];
    int chunk = at->chunk + rank, slot = chunk * s->n + at->microbatch;
    double input = chunk == 0 ? 0 : s->forward_end[slot - s->n];
    if (input < 0) return false;
    r->clock = later(r->clock, input) + s->p->forward[chunk];
    s->forward_end[slot] = r->clock;
    r->forwards++;
    return true;
}

static bool run_backward(struct simulation *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    const struct place *at = &s->order[r->backwards];
    int chunk = s->last - at->chunk + rank, slot = chunk * s->n + at->microbatch;
    bool first = chunk == s->last + s->p->stages - 1;
    double input = first ? s->forward_end[slot] : s->backward_end[slot + s->n];
    if (input < 0) return false;
    r->clock = later(r->clock, input) + s->p->backward[chunk];
    s->backward_end[slot] = r->clock;
    r->backwards++;
    return true;
}

/* Runs a rank until it waits; whether it ran anything. */
static bool advance(struct simulation *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    bool ran = false;
    while (r->backwards < s->each) {
        int most = least(s->each, r->warmup + r->backwards + 1);
        bool forward = r->forwards < most;
        if (!(forward ? run_forward(s, rank) : run_backward(s, rank))) break;
        ran = true;
    }
    return ran;
}

double pipeline_simulate(const struct pipeline *p, int64_t microbatches)
{
    if (p->stages > MAX_RANKS || microbatches > MAX_SLOTS / (p->stages * p->chunks_per_stage))
        return -1;
    struct simulation s; /* 100 KiB, of which only what is used is set */
    start(&s, p, (int)microbatches);
    bool ran = true;
    while (ran) {
        ran = false;
        for (int rank = 0; rank < p->stages; rank++)
            ran = advance(&s, rank) || ran;
    }
    double end = 0;
    for (int rank = 0; rank < p->stages; rank++) {
        if (s.ranks[rank].backwards < s.each) return -1;
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
