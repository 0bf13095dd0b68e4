/* SPDX-License-Identifier: Apache-2.0 */
/* How far public measurements are from a configuration. The distance adds, over the properties that
   decide memory and speed, how many doublings or how different a word they are apart. The weights
   are a judgement of what matters more, in doublings of the model's size, and fitted to nothing: a
   distance orders the runs that are shown and enters no figure. A refresh of the same generation is
   one and a half doublings away, another generation four; what mostly moves time inside a layer's
   kernels (batch, virtual stages, expert tensor parallelism) weighs least. */
#include "cost/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "cost/evidence_table.h"
#include "facts/entry.h"
#include "plan/knob.h"

/* Distance up to which a measured run is near enough to speak of interpolation: one doubling of the
   cluster and one other step, say. */
static const double NEAR = 3.0;

/* Runs that share all of this are the same configuration for our purposes. */
static const double SAME = 1e-9;

static double doublings(double a, double b, double weight)
{
    if (a == b) return 0;
    if (a <= 0 || b <= 0) return weight;
    double d = weight * fabs(log2(a / b));
    return d < 1e-3 * weight ? 0 : d; /* rounding of published sizes */
}

static double differ(bool same, double weight)
{
    return same ? 0 : weight;
}

/* Of a built-in platform; empty: there is none, or it does not say. */
static struct str architecture_of(struct str platform)
{
    const struct entry *e = entry_find(catalogue_platforms, catalogue_platform_count, platform);
    struct value v = e ? entry_value(e, "gpu_architecture") : value_null();
    return v.kind == VALUE_STRING ? v.s : STR("");
}

/* "Blackwell Ultra" is a Blackwell. */
static bool same_generation(struct str a, struct str b)
{
    return a.n > 0 && b.n > 0 && (str_starts(a, b) || str_starts(b, a));
}

static double platform_distance(const struct machine *m, struct str measured)
{
    if (str_eq(m->id, measured)) return 0;
    return same_generation(m->architecture, architecture_of(measured)) ? 1.5 : 4;
}

/* Most words that are the same are one text. */
static bool same_word(struct str a, struct str b)
{
    return a.n == b.n && (a.p == b.p || str_eq(a, b));
}

/* `word` is the precision's. */
static double precision_distance(uint8_t precision, struct str word, struct str measured)
{
    if (same_word(measured, word)) return 0;
    bool narrow = precision >= PREC_FP8_DELAYED, measured_narrow = !str_ends(measured, STR("16"));
    return narrow == measured_narrow ? 1 : 2;
}

static bool same_dispatcher(const struct config *c, struct str measured)
{
    return c->model.experts == 0 || measured.n == 0 ||
           str_is(measured, knobs_dispatcher(&c->knobs));
}

/* "none", "full", or the modules joined with "+". */
static double recompute_distance(const struct knobs *k, struct str measured)
{
    if (str_is(measured, "none"))
        return differ(k->recompute == RECOMPUTE_NONE || k->recompute_modules == 0, 0.5);
    if (str_is(measured, "full")) return differ(k->recompute == RECOMPUTE_FULL, 1);
    return differ(k->recompute == RECOMPUTE_SELECTIVE, 0.5);
}

static bool same_sharding(const struct config *c, struct str measured)
{
    return (c->knobs.fsdp == FSDP_NONE) == (measured.n == 0);
}

/* Of a record farther away than `most`, some distance that is; `d` is its platform's and its
   precision's. */
static double distance(const struct config *c, const struct param_counts *size,
                       const struct evidence_record *r, double d, double most)
{
    const struct knobs *k = &c->knobs;
    if (d <= most) d += doublings((double)size->total, (double)r->total_params, 1);
    if (d <= most) d += doublings((double)size->active, (double)r->active_params, 1);
    if (d > most) return d;
    const struct {
        int64_t mine, measured;
        double weight;
    } sizes[] = {
        {k->gpus, r->gpus, 0.5},
        {k->seq, r->seq, 0.5},
        {k->gbs, r->gbs, 0.25},
        {k->mbs, r->mbs, 0.5},
        {k->tp, r->tp, 0.5},
        {k->pp, r->pp, 0.5},
        {k->vpp, r->vpp > 0 ? r->vpp : 1, 0.25},
        {k->cp, r->cp, 0.5},
        {k->ep, r->ep, 0.5},
        {k->etp, r->etp > 0 ? r->etp : 1, 0.25},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && d <= most; i++)
        d += doublings((double)sizes[i].mine, (double)sizes[i].measured, sizes[i].weight);
    return d + differ(same_dispatcher(c, r->dispatcher), 0.5) +
           recompute_distance(k, r->recompute) +
           differ((k->graph_impl == GRAPH_NONE) == (r->graphs.n == 0), 0.5) +
           differ(k->capacity_factor <= 0, 0.5) + /* no run of the table says one */
           differ(same_sharding(c, r->fsdp), 1) +
           differ((k->task == TASK_PEFT) == str_is(r->task, "peft"), 1);
}

/* Doublings that two numbers are apart at the least, by their highest bits. */
static int least_doublings(int64_t a, int64_t b)
{
    if (a <= 0 || b <= 0) return 0;
    int apart = abs(__builtin_clzll((uint64_t)a) - __builtin_clzll((uint64_t)b));
    return apart > 1 ? apart - 1 : 0;
}

/* Whether a record's model alone is farther away than `most`: so many are that it is asked first.
 */
static bool is_far(const struct param_counts *size, const struct evidence_record *r, double most)
{
    return least_doublings(size->total, r->total_params) +
               least_doublings(size->active, r->active_params) >
           most;
}

/* Keeps the nearest few in order; equal distances keep the order of the table. */
static void offer(struct evidence *out, const struct evidence_record *r, double d)
{
    size_t at = out->n;
    while (at > 0 && out->nearest[at - 1].distance > d)
        at--;
    if (at == EVIDENCE_NEAREST) return;
    if (out->n < EVIDENCE_NEAREST) out->n++;
    for (size_t i = out->n - 1; i > at; i--)
        out->nearest[i] = out->nearest[i - 1];
    out->nearest[at] = (struct evidence_run){.id = r->id, .source = r->source, .distance = d};
}

/* Platforms of the table and how far away they are, as far as they have been met. Neighbours in the
   table are mostly of one. */
struct away {
    struct str platforms[16];
    double distances[16];
    size_t n, last;
};

static double distance_of(struct away *away, const struct machine *m, struct str platform)
{
    for (size_t n = 0; n < away->n; n++) {
        size_t i = (away->last + n) % away->n;
        if (!same_word(away->platforms[i], platform)) continue;
        away->last = i;
        return away->distances[i];
    }
    double d = platform_distance(m, platform);
    if (away->n == sizeof away->distances / sizeof *away->distances) return d;
    away->last = away->n++;
    away->platforms[away->last] = platform;
    return away->distances[away->last] = d;
}

void evidence_find(const struct config *c, struct evidence *out)
{
    *out = (struct evidence){.grade = EVIDENCE_MODELLED};
    struct param_counts size = model_params(&c->model);
    struct str precision = str_of(precision_words[c->knobs.precision]);
    struct away away = {.n = 0};
    for (size_t i = 0; i < evidence_record_count; i++) {
        double most = out->n < EVIDENCE_NEAREST ? INFINITY : out->nearest[out->n - 1].distance;
        const struct evidence_record *r = &evidence_records[i];
        if (is_far(&size, r, most)) continue;
        double d = distance_of(&away, &c->machine, r->platform) +
                   precision_distance(c->knobs.precision, precision, r->precision);
        offer(out, r, distance(c, &size, r, d, most));
    }
    if (out->n == 0) return;
    if (out->nearest[0].distance < SAME)
        out->grade = EVIDENCE_MEASURED;
    else if (out->nearest[0].distance <= NEAR)
        out->grade = EVIDENCE_INTERPOLATED;
}
