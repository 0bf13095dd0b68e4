/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's schedules (megatron/core/pipeline_parallel/schedules.py): rank r runs a fixed order of
   forwards and backwards, first its warm-up, then one of each in turn, then the remaining
   backwards. A forward waits for the chunk before it, a backward for the chunk behind it. */
#include "cost/pipeline.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_SLOTS = 4096, MAX_RANKS = 128 };

/* What a rank has done, in the order of forwards that all ranks share, and of backwards. */
struct rank {
    int forwards, backwards;
    int warmup; /* forwards before the first backward */
    double clock;
    double *forward_end, *backward_end; /* [each]; before the first: 0 */
    /* What it waits for: forwards of the rank before, backwards of the one behind, in a ring. The
       first rank's forwards come from the last one a turn before, and the other way round with
       backwards; the last rank's first backward of a microbatch waits for its own forward alone,
       which is done. */
    const struct rank *before, *behind;
    const double *forward, *backward; /* seconds of its first forward and backward */
};

/* One place in that order: groups of microbatches go through all chunks of a rank in turn.
   Backwards go through the chunks the other way. */
struct place {
    int chunk; /* of rank 0 */
    int from;  /* place of the same microbatch one turn before; -1: there is none */
};

struct simulation {
    const struct pipeline *p;
    int n, group, each; /* microbatches, of one group, slots of one kind on a rank */
    struct rank ranks[MAX_RANKS];
    struct place order[MAX_SLOTS]; /* [each] */
    double forward_ends[MAX_SLOTS + MAX_RANKS], backward_ends[MAX_SLOTS + MAX_RANKS];
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
    int at = 0;
    for (int base = 0; base < s->n; base += s->group) {
        int size = least(s->group, s->n - base);
        for (int turn = 0; turn < s->p->chunks_per_stage; turn++)
            for (int i = 0; i < size; i++, at++)
                s->order[at] = (struct place){turn * s->p->stages, turn > 0 ? at - size : -1};
    }
}

static void start(struct simulation *s, const struct pipeline *p, int n)
{
    s->p = p;
    s->n = n;
    s->group = p->group > 0 ? p->group : p->stages;
    s->each = n * p->chunks_per_stage;
    put_in_order(s);
    int last = (p->chunks_per_stage - 1) * p->stages;
    for (int r = 0, end = p->stages - 1; r <= end; r++) {
        int at = r * (s->each + 1);
        s->forward_ends[at] = s->backward_ends[at] = 0;
        s->ranks[r] = (struct rank){.warmup = warmup(s, r),
                                    .forward_end = &s->forward_ends[at + 1],
                                    .backward_end = &s->backward_ends[at + 1],
                                    .before = &s->ranks[r > 0 ? r - 1 : end],
                                    .behind = &s->ranks[r < end ? r + 1 : 0],
                                    .forward = &p->forward[r],
                                    .backward = &p->backward[last + r]};
    }
}

/* fmax without its care for what is no number, which costs a call. */
static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Runs a rank until it waits; whether it ran anything. */
static bool advance(struct rank *r, const struct place *order, int each, bool first, bool last)
{
    const struct rank *before = r->before, *behind = r->behind;
    int f = r->forwards, b = r->backwards, most = r->warmup + b; /* forwards before this backward */
    int forwards = first && last ? each : before->forwards;
    int backwards = first && last ? each : behind->backwards;
    double clock = r->clock;
    while (b < each) {
        if (f <= most && f < each) {
            int from = first ? order[f].from : f;
            if (from >= forwards) break;
            clock = later(clock, before->forward_end[from]) + r->forward[order[f].chunk];
            r->forward_end[f++] = clock;
        } else {
            int from = last ? order[b].from : b;
            if (from >= backwards) break;
            clock = later(clock, behind->backward_end[from]) + r->backward[-order[b].chunk];
            r->backward_end[b++] = clock;
            most++;
        }
    }
    bool ran = b > r->backwards || f > r->forwards;
    r->forwards = f, r->backwards = b, r->clock = clock;
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
            ran = advance(&s.ranks[rank], s.order, s.each, rank == 0, rank == p->stages - 1) || ran;
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

struct pipeline pipeline_of_knobs(const struct knobs *k, int n_chunks, const double *forward,
                                  const double *backward)
{
    return (struct pipeline){.stages = k->pp,
                             .chunks_per_stage = n_chunks / k->pp,
                             .microbatches = knobs_scheduled(k),
                             .group =
                                 k->group_size > 0 && k->group_size != k->pp ? k->group_size : 0,
                             .forward = forward,
                             .backward = backward};
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
