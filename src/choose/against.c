/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/against.h"

#include <math.h>

#include "base/sort.h"
#include "base/units.h"
#include "choose/lever.h"
#include "cost/evidence_table.h"
#include "facts/param_ids.h"

/* A lever is named when it shortens the step by this part. */
static const double least_gain = 0.005;

static double metric(const struct facts *f, int param)
{
    return facts_double(f, param, 0);
}

static double tokens_a_gpu(const struct config *c)
{
    return (double)c->knobs.gbs * c->knobs.seq / (double)c->knobs.gpus;
}

/* ---- the step ---- */

/* The part of 1 of its peak that the run says it reaches; AutoModel's is of a peak that nobody
   knows here, and says nothing of time. */
static double stated_mfu(const struct facts *f)
{
    double percent = f->framework == FRAMEWORK_AUTOMODEL ? 0 : metric(f, P_mfu_percent);
    double part = metric(f, P_mfu);
    return part > 0 ? part : percent / 100;
}

/* Times before tokens before FLOPs, which are counted in more than one way. */
static void measure_step(const struct facts *f, const struct config *c,
                         const struct time_estimate *time, struct against *out)
{
    double flops = model_flops_per_token(c) * tokens_a_gpu(c);
    const struct {
        const char *from;
        bool timed;
        double seconds;
    } ways[] = {{"step time", true, metric(f, P_step_time_s)},
                {"tokens/s", true, tokens_a_gpu(c) / metric(f, P_tokens_per_s_per_gpu)},
                {"TFLOP/s", false, flops / (1e12 * metric(f, P_tflops_per_gpu))},
                {"MFU", false, time->step * time->mfu / stated_mfu(f)}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !out->known; i++) {
        if (!(ways[i].seconds > 0) || !isfinite(ways[i].seconds)) continue;
        out->known = true;
        out->from = ways[i].from;
        out->timed = ways[i].timed;
        out->measured = ways[i].seconds;
    }
}

static void judge(const struct config *c, const struct time_estimate *time, struct against *out)
{
    out->estimated = time->step;
    out->low = time->low;
    out->high = time->high;
    out->tokens_per_s_per_gpu = tokens_a_gpu(c) / out->measured;
    out->estimated_tokens_per_s_per_gpu = time->tokens_per_s_per_gpu;
    if (out->measured > time->high) {
        out->pace = PACE_SLOWER;
        out->beyond = out->measured / time->high - 1;
    } else if (out->measured < time->low) {
        out->pace = PACE_FASTER;
        out->beyond = 1 - out->measured / time->low;
    }
}

/* ---- how FLOPs are counted ---- */

static void count_flops(const struct facts *f, const struct config *c,
                        const struct time_estimate *time, struct against *out)
{
    double rate = metric(f, P_tflops_per_gpu) * 1e12, part = metric(f, P_mfu);
    double each = rate * out->measured / tokens_a_gpu(c);
    if (part <= 0) part = metric(f, P_mfu_percent) / 100;
    double ours = model_flops_per_token(c);
    if (!out->timed) return;
    if (rate > 0) out->counted = each / ours;
    if (part <= 0) return;
    double reached = rate > 0 ? rate : time->peak * time->mfu * time->step / out->measured;
    out->peak_used = reached / part;
}

static const struct evidence_record *record_of(struct str id)
{
    for (size_t i = 0; i < evidence_record_count; i++)
        if (str_eq(evidence_records[i].id, id)) return &evidence_records[i];
    return NULL;
}

/* Whose throughput is the nearest that is public. */
static void find_nearest(const struct config *c, struct against *out)
{
    struct evidence e;
    evidence_find(c, &e);
    const struct evidence_record *r = e.n ? record_of(e.nearest[0].id) : NULL;
    if (!r) return;
    out->nearest = e.nearest[0];
    out->nearest_tokens_per_s = r->tokens_per_s_per_gpu;
    out->nearest_tflops = r->tflops_per_gpu;
    out->nearest_same =
        r->total_params > 0 && r->seq == c->knobs.seq &&
        fabs((double)r->total_params / (double)model_params(&c->model).total - 1) < 0.01;
    if (out->nearest_same && r->tokens_per_s_per_gpu > 0 && r->tflops_per_gpu > 0)
        out->nearest_counted =
            r->tflops_per_gpu * 1e12 / (r->tokens_per_s_per_gpu * model_flops_per_token(c));
}

/* ---- terms ---- */

enum term { TERM_EXPERTS, TERM_EXCHANGE, TERM_IDLE, TERM_DATA, TERM_OPTIMIZER, TERM_COMPUTE };

static void split_time(const struct time_estimate *t, double out[PACE_TERMS])
{
    out[TERM_EXPERTS] = t->ep_exposed;
    out[TERM_EXCHANGE] = t->tp_exposed + t->cp_exposed + t->pp_exposed + t->dp_exposed;
    out[TERM_IDLE] = t->host + t->bubble;
    out[TERM_DATA] = 0;
    out[TERM_OPTIMIZER] = t->optimizer;
    out[TERM_COMPUTE] = t->compute + t->recompute;
}

static const struct pace_term words[PACE_TERMS] = {
    [TERM_EXPERTS] = {.name = "experts' exchange",
                      .meaning = "tokens wait on the network: look at the balance of experts, at "
                                 "whether the expert group crosses nodes, and at the dispatcher"},
    [TERM_EXCHANGE] = {.name = "other exchanges",
                       .meaning = "collectives are seen that should be hidden, or links are slower "
                                  "than the platform's: run nccl-tests, look for a slow rank, and "
                                  "check overlap_grad_reduce and overlap_param_gather"},
    [TERM_IDLE] = {.name = "gaps and bubble",
                   .meaning =
                       "the GPU waits for launches or for other stages: look at the host "
                       "(garbage collection, CPU binding, logging, a profiler that is on) and "
                       "at stages of unequal length"},
    [TERM_DATA] = {.name = "data",
                   .meaning = "the data loader holds the step up: more workers, local or cached "
                              "files"},
    [TERM_OPTIMIZER] = {.name = "optimizer",
                        .meaning = "the optimizer is slow: unsharded states, offload, or no fused "
                                   "kernel"},
    [TERM_COMPUTE] = {.name = "computation",
                      .meaning = "kernels are slower than the platform's: look at clocks and power "
                                 "limits, at fused kernels that are missing, and at a precision "
                                 "other than planned"},
};

/* Percent of the step that a metric states; below 0: it does not. */
static double share(const struct facts *f, int param)
{
    return fact_is_set(facts_get(f, param)) ? metric(f, param) : -1;
}

/* What was measured of each term in percent of the step; below 0: nothing. Computation is the rest
   where a profile says all else. */
static void measured_shares(const struct facts *f, double out[PACE_TERMS])
{
    double all = share(f, P_exposed_communication_percent);
    out[TERM_EXPERTS] = share(f, P_exposed_all_to_all_percent);
    out[TERM_EXCHANGE] = all < 0 ? -1 : all - fmax(0, out[TERM_EXPERTS]);
    out[TERM_IDLE] = share(f, P_launch_gap_percent);
    out[TERM_DATA] = share(f, P_data_wait_percent);
    out[TERM_OPTIMIZER] = share(f, P_optimizer_percent);
    out[TERM_COMPUTE] = share(f, P_computation_percent);
    double rest =
        100 - all - out[TERM_IDLE] - fmax(0, out[TERM_DATA]) - fmax(0, out[TERM_OPTIMIZER]);
    if (out[TERM_COMPUTE] < 0 && all >= 0 && out[TERM_IDLE] >= 0 && rest > 0)
        out[TERM_COMPUTE] = rest;
    if (all >= 0 && all < out[TERM_EXPERTS]) out[TERM_EXCHANGE] = -1;
}

/* Both sides of each term. */
struct terms {
    double measured[PACE_TERMS];  /* percent of the step; below 0: not measured */
    double estimated[PACE_TERMS]; /* s */
};

/* Kernels of the optimizer are computation where nothing tells them apart. */
static struct terms terms_of(const struct facts *f, const struct time_estimate *time)
{
    struct terms t;
    measured_shares(f, t.measured);
    split_time(time, t.estimated);
    if (t.measured[TERM_OPTIMIZER] >= 0) return t;
    t.estimated[TERM_COMPUTE] += t.estimated[TERM_OPTIMIZER];
    t.estimated[TERM_OPTIMIZER] = 0;
    return t;
}

static void compare_terms(const struct terms *terms, struct against *out)
{
    double most = 0;
    for (int i = 0; i < PACE_TERMS; i++) {
        if (terms->measured[i] < 0) continue;
        struct pace_term t = words[i];
        t.measured = terms->measured[i] / 100 * out->measured;
        t.estimated = terms->estimated[i];
        double apart = fabs(t.measured - t.estimated);
        if (apart > most) out->worst = out->n_terms;
        most = fmax(most, apart);
        out->terms[out->n_terms++] = t;
    }
}

/* ---- levers on the machine as it was measured ---- */

/* What each term takes of what is estimated; where nothing was measured of it, what is left of the
   step takes of the rest. */
static void scales_of(const struct terms *terms, const struct time_estimate *time,
                      const struct against *x, double out[PACE_TERMS])
{
    const double *shares = terms->measured, *estimated = terms->estimated;
    double left = x->measured, rest = 0;
    for (int i = 0; i < PACE_TERMS; i++) {
        bool known = shares[i] >= 0 && estimated[i] > 0.01 * time->step;
        out[i] = known ? shares[i] / 100 * x->measured / estimated[i] : -1;
        if (shares[i] >= 0) left -= shares[i] / 100 * x->measured;
        if (shares[i] < 0) rest += estimated[i];
    }
    double other = rest > 0.05 * time->step && left > 0 ? left / rest : x->measured / time->step;
    for (int i = 0; i < PACE_TERMS; i++)
        if (out[i] < 0) out[i] = other;
}

/* The step of another plan: what it gains or loses of each term, as that term was measured. */
static double scaled_step(const struct time_estimate *base, const struct time_estimate *to,
                          double measured, const double scales[PACE_TERMS])
{
    double before[PACE_TERMS], after[PACE_TERMS], step = measured;
    split_time(base, before);
    split_time(to, after);
    for (int i = 0; i < PACE_TERMS; i++)
        step += scales[i] * (after[i] - before[i]);
    return fmax(step, 0.05 * measured);
}

struct ranked {
    const struct levered *lever;
    double step;
};

static int by_step(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return (a->step > b->step) - (a->step < b->step);
}

/* The best ways to take three decisions otherwise: two ways of one gain alike. */
static void try_levers(struct arena *a, const struct rule_set *rules, const struct facts *f,
                       const struct config *c, const struct time_estimate *time,
                       const struct terms *terms, struct arena *scratch, struct against *out)
{
    double scales[PACE_TERMS];
    struct lever_list levers;
    bool taken[DECISIONS] = {false};
    scales_of(terms, time, out, scales);
    levers_list(a, c, false, scratch, &levers);
    struct ranked *all = ARENA_ARRAY(a, struct ranked, levers.items.n + 1);
    for (size_t i = 0; i < levers.items.n; i++) {
        const struct levered *x = &levers.items.items[i];
        all[i] = (struct ranked){x, scaled_step(time, &x->time, out->measured, scales)};
    }
    sort_items(all, levers.items.n, sizeof *all, by_step);
    for (size_t i = 0; i < levers.items.n && out->n_moves < PACE_MOVES; i++) {
        const struct levered *x = all[i].lever;
        bool *seen = &taken[x->decision - decisions];
        if (*seen || x->fits == FITS_NO || all[i].step > out->measured * (1 - least_gain)) continue;
        struct facts *changed = levers_facts(a, f, c, &x->config);
        if (!levers_allowed(a, rules, changed, scratch)) continue;
        *seen = true;
        out->moves[out->n_moves++] =
            (struct pace_move){levers_text(a, c, &x->config), all[i].step, x->peak, x->fits};
    }
}

void against_estimate(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      const struct config *c, const struct memory_estimate *memory,
                      const struct time_estimate *time, struct arena *scratch, struct against *out)
{
    *out = (struct against){.worst = -1};
    measure_step(f, c, time, out);
    out->measured_peak = metric(f, P_max_allocated_gib) * GIB;
    out->estimated_peak = memory->peak;
    out->peak_low = memory->peak_low;
    out->peak_high = memory->peak_high;
    if (!out->known) return;
    judge(c, time, out);
    count_flops(f, c, time, out);
    find_nearest(c, out);
    struct terms terms = terms_of(f, time);
    compare_terms(&terms, out);
    try_levers(a, rules, f, c, time, &terms, scratch, out);
}
