/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron's schedules (megatron/core/pipeline_parallel/schedules.py): rank r runs a fixed order of
   forwards and backwards, first its warm-up, then one of each in turn, then the remaining
   backwards. A forward waits for the chunk before it, a backward for the chunk behind it. */
#include "cost/pipeline.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/larger.h"

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
    double clock[MAX_RANKS];       /* of each rank, where they run in step */
    int row;                       /* ends of a rank */
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
    s->row = s->each + 1;
    put_in_order(s);
    int last = (p->chunks_per_stage - 1) * p->stages;
    for (int r = 0, end = p->stages - 1; r <= end; r++) {
        int at = r * (s->each + 1);
        s->forward_ends[at] = s->backward_ends[at] = s->clock[r] = 0;
        s->ranks[r] = (struct rank){.warmup = warmup(s, r),
                                    .forward_end = &s->forward_ends[at + 1],
                                    .backward_end = &s->backward_ends[at + 1],
                                    .before = &s->ranks[r > 0 ? r - 1 : end],
                                    .behind = &s->ranks[r < end ? r + 1 : 0],
                                    .forward = &p->forward[r],
                                    .backward = &p->backward[last + r]};
    }
}

/* Runs a rank until it waits, or has done `most_forwards` and would do another; whether it ran
   anything. */
static bool advance(struct rank *r, const struct place *order, int each, int most_forwards,
                    bool first, bool last)
{
    const struct rank *before = r->before, *behind = r->behind;
    int f = r->forwards, b = r->backwards, most = r->warmup + b; /* forwards before this backward */
    int forwards = first && last ? each : before->forwards;
    int backwards = first && last ? each : behind->backwards;
    double clock = r->clock;
    while (b < each) {
        if (f <= most && f < each) {
            if (f == most_forwards) break;
            int from = first ? order[f].from : f;
            if (from >= forwards) break;
            clock = larger(clock, before->forward_end[from]) + r->forward[order[f].chunk];
            r->forward_end[f++] = clock;
        } else {
            int from = last ? order[b].from : b;
            if (from >= backwards) break;
            clock = larger(clock, behind->backward_end[from]) + r->backward[-order[b].chunk];
            r->backward_end[b++] = clock;
            most++;
        }
    }
    bool ran = b > r->backwards || f > r->forwards;
    r->forwards = f, r->backwards = b, r->clock = clock;
    return ran;
}

/* Runs all ranks until each waits, or has done so many forwards. */
static void run(struct simulation *s, int most_forwards)
{
    int end = s->p->stages - 1;
    bool ran = true;
    while (ran) {
        ran = false;
        for (int r = 0; r <= end; r++)
            ran = advance(&s->ranks[r], s->order, s->each, most_forwards, r == 0, r == end) || ran;
    }
}

/* When the last rank is done; -1: one never is. */
static double finish(struct simulation *s)
{
    double end = 0;
    run(s, s->each);
    for (int rank = 0; rank < s->p->stages; rank++) {
        if (s->ranks[rank].backwards < s->each) return -1;
        end = larger(end, s->ranks[rank].clock);
    }
    return end;
}

/* ---- in step ---- */

/* Where groups are whole and of at least as many microbatches as there are stages, nobody has to be
   asked what it waits for. Were all passes equally long, rank r would do forward f in step f + r,
   and backward b in step b + behind(r) + lead; without virtual stages forward f in step f. Each
   pass comes in a later step than those it waits for, or in the same one behind them, if all
   forwards of a step are done first, by rank. */
static bool is_in_step(const struct simulation *s)
{
    return s->p->chunks_per_stage == 1 || (s->n % s->group == 0 && s->group >= s->p->stages);
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* The forwards of a step on a range of ranks. Places go along with the ranks, as this is most of
   what a schedule takes. */
static void forwards(struct simulation *s, int step, int lag, int first, int last)
{
    if (first > last) return;
    int f = step - lag * first, row = s->row, next = row - lag, out = first * row + 1 + f;
    int before = first > 0 ? first - 1 : s->p->stages - 1;
    int from = before * row + 1 + (first > 0 ? f : s->order[f].from);
    const double *seconds = s->p->forward;
    double *ends = s->forward_ends, *clock = s->clock;
    for (int r = first; r <= last; r++, f -= lag, out += next) {
        ends[out] = clock[r] = larger(clock[r], ends[from]) + seconds[s->order[f].chunk + r];
        from = out - lag;
    }
}

/* And the backwards; `idle`: ranks in front which have none yet. */
static void backwards(struct simulation *s, int idle, int first, int last)
{
    if (first > last) return;
    int b = first - idle, row = s->row, end = s->p->stages - 1, next = row + 1;
    const double *seconds = &s->p->backward[(s->p->chunks_per_stage - 1) * s->p->stages];
    int out = first * row + 1 + b;
    double *ends = s->backward_ends, *clock = s->clock;
    for (int r = first; r <= last; r++, b++, out += next) {
        double from = ends[r < end ? out + row : 1 + s->order[b].from];
        ends[out] = clock[r] = larger(clock[r], from) + seconds[r - s->order[b].chunk];
    }
}

/* Of a schedule with so many forwards on each rank the steps from that on in which a rank would do
   forward `low`, before that in which it would do `high`. */
static void run_in_step(struct simulation *s, int each, int low, int high)
{
    int end = s->p->stages - 1, v = s->p->chunks_per_stage;
    int lag = v > 1, lead = lag * (end + (v - 1) * s->group), after = each + lead + end;
    for (int step = low; step < after && step - lag * end < high; step++) {
        int first = lag ? most(0, step - high + 1) : 0, last = lag ? least(end, step - low) : end;
        int idle = end + lead - step, done = lag ? step - each + 1 : step < each ? 0 : end + 1;
        forwards(s, step, lag, most(first, done), last);
        backwards(s, idle, most(first, idle), least(last, idle + each - 1));
    }
}

static double latest(const struct simulation *s)
{
    double end = 0;
    for (int r = 0; r < s->p->stages; r++)
        end = larger(end, s->clock[r]);
    return end;
}

/* ---- whole schedules ---- */

static bool is_too_long(const struct pipeline *p, int64_t microbatches)
{
    return p->stages > MAX_RANKS || microbatches > MAX_SLOTS / (p->stages * p->chunks_per_stage);
}

double pipeline_simulate(const struct pipeline *p, int64_t microbatches)
{
    if (is_too_long(p, microbatches)) return -1;
    struct simulation s; /* 100 KiB, of which only what is used is set */
    start(&s, p, (int)microbatches);
    if (!is_in_step(&s)) return finish(&s);
    run_in_step(&s, s.each, 0, INT_MAX);
    return latest(&s);
}

/* Seconds of a schedule of so many microbatches, and of a longer one; < 0: too long. */
struct two_schedules {
    double shorter, longer;
};

/* Up to the last forward of the shorter one, both do the same on each rank, but where its last
   group is not whole or its warm-up is all it has. */
static struct two_schedules simulate_two(const struct pipeline *p, int64_t shorter, int64_t longer)
{
    struct simulation s;
    struct rank ranks[MAX_RANKS];
    size_t bytes = (size_t)p->stages * sizeof *ranks;
    if (is_too_long(p, longer)) return (struct two_schedules){-1, -1};
    start(&s, p, (int)longer);
    int each = s.each, before = (int)shorter * p->chunks_per_stage;
    if (is_in_step(&s) && (p->chunks_per_stage == 1 || shorter % s.group == 0)) {
        double clock[MAX_RANKS];
        bytes = (size_t)p->stages * sizeof *clock;
        run_in_step(&s, before, 0, before);
        memcpy(clock, s.clock, bytes);
        run_in_step(&s, before, before, INT_MAX);
        double first = latest(&s);
        memcpy(s.clock, clock, bytes);
        run_in_step(&s, each, before, INT_MAX);
        return (struct two_schedules){first, latest(&s)};
    }
    if (shorter % s.group != 0 || s.ranks[0].warmup >= before)
        return (struct two_schedules){pipeline_simulate(p, shorter), finish(&s)};
    run(&s, before);
    memcpy(ranks, s.ranks, bytes);
    s.each = before;
    double first = finish(&s);
    memcpy(s.ranks, ranks, bytes);
    s.each = each;
    return (struct two_schedules){first, finish(&s)};
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
        t.largest = larger(t.largest, sum);
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

/* What is simulated of a schedule: all, or until it repeats. */
struct extent {
    int64_t first;  /* microbatches of the shorter simulation, where it repeats; else 0 */
    int64_t all;    /* of the longer */
    int64_t round;  /* that repeats, */
    int64_t rounds; /* and how often after these */
};

static struct extent extent_of(const struct pipeline *p)
{
    int64_t round = p->group > 0 ? p->group : p->stages, settled = 2 * round;
    if (p->microbatches <= settled + round) return (struct extent){0, p->microbatches, round, 0};
    int64_t first = settled + (p->microbatches - settled) % round; /* the rest are whole rounds */
    return (struct extent){first, first + round, round, (p->microbatches - first) / round - 1};
}

double pipeline_time(const struct pipeline *p)
{
    struct totals t = totals_of(p);
    struct extent x = extent_of(p);
    bool whole = p->chunks_per_stage == 1 || (p->group == 0 && p->microbatches % p->stages == 0);
    if (p->stages == 1 || (t.even && whole && p->microbatches >= p->stages))
        return closed_form(p, t);
    if (x.first == 0) {
        double exact = pipeline_simulate(p, x.all);
        return exact >= 0 ? exact : closed_form(p, t);
    }
    struct two_schedules s = simulate_two(p, x.first, x.all);
    if (s.longer < 0) return closed_form(p, t);
    /* the first rounds of unequal chunks may still live on the warm-up's lead over the busiest
       rank, which no later round can */
    double a_round = larger(s.longer - s.shorter, (double)x.round * t.largest);
    return s.longer + (double)x.rounds * a_round;
}

/* ---- the longest way ---- */

/* One pass of a rank; at: in the order of its kind, -1: there is none. */
struct pass_at {
    int rank, at;
    bool backward;
};

static double end_of(const struct simulation *s, struct pass_at x)
{
    int place = x.rank * s->row + 1 + x.at; /* before the first: 0 */
    return x.backward ? s->backward_ends[place] : s->forward_ends[place];
}

/* What its rank does before it. */
static struct pass_at before_on_rank(const struct simulation *s, struct pass_at x)
{
    int warmup = s->ranks[x.rank].warmup;
    if (!x.backward && x.at <= warmup) return (struct pass_at){x.rank, x.at - 1, false};
    if (!x.backward) return (struct pass_at){x.rank, x.at - warmup - 1, true};
    if (x.at > 0 && warmup + x.at >= s->each) return (struct pass_at){x.rank, x.at - 1, true};
    return (struct pass_at){x.rank, least(warmup + x.at, s->each - 1), false};
}

/* What it waits for on another. */
static struct pass_at before_elsewhere(const struct simulation *s, struct pass_at x)
{
    int end = s->p->stages - 1, from = s->order[x.at].from;
    if (x.backward && x.rank < end) return (struct pass_at){x.rank + 1, x.at, true};
    if (x.backward) return (struct pass_at){0, from, true};
    if (x.rank > 0) return (struct pass_at){x.rank - 1, x.at, false};
    return (struct pass_at){end, from, false};
}

static void count_pass(const struct simulation *s, struct pass_at x, struct pipeline_way *way)
{
    int chunk = s->order[x.at].chunk, last = (s->p->chunks_per_stage - 1) * s->p->stages;
    if (x.backward)
        way->backward[last - chunk + x.rank]++;
    else
        way->forward[chunk + x.rank]++;
}

static bool simulate_all(struct simulation *s)
{
    if (!is_in_step(s)) return finish(s) >= 0;
    run_in_step(s, s->each, 0, INT_MAX);
    return true;
}

bool pipeline_find_way(const struct pipeline *p, struct pipeline_way *way)
{
    int64_t microbatches = extent_of(p).all;
    if (p->stages == 1 || is_too_long(p, microbatches)) return false;
    struct simulation s;
    start(&s, p, (int)microbatches);
    if (!simulate_all(&s)) return false;
    *way = (struct pipeline_way){{0}, {0}};
    struct pass_at x = {0, s.each - 1, true};
    for (int r = 1; r < p->stages; r++) {
        struct pass_at last = {r, s.each - 1, true};
        if (end_of(&s, last) > end_of(&s, x)) x = last;
    }
    while (x.at >= 0) {
        count_pass(&s, x, way);
        struct pass_at own = before_on_rank(&s, x), other = before_elsewhere(&s, x);
        x = end_of(&s, own) >= end_of(&s, other) ? own : other;
    }
    return true;
}

double pipeline_least(const struct pipeline *p, const struct pipeline_way *way, double busiest)
{
    struct extent x = extent_of(p);
    double sum = 0;
    for (int i = 0; i < p->stages * p->chunks_per_stage; i++)
        sum += way->forward[i] * p->forward[i] + way->backward[i] * p->backward[i];
    return sum + (double)(x.rounds * x.round) * busiest;
}
