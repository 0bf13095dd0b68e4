/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a configuration: every stage, the fullest, and whether it fits. */
#include <math.h>

#include "base/larger.h"
#include "cost/memory_stage.h"
#include "plan/framework.h"

#define MIB (1024.0 * 1024.0)

/* Workspaces that count as allocated: torch's cuBLAS handles of the forward and the backward thread
   (the deterministic mode of Megatron's tests sets its own size), Transformer Engine's GEMM
   workspace and one a stream of the grouped GEMM, its repetitions for TP overlap and for the second
   stream of expert overlap, and the router's small tensors. */
static double workspaces(const struct config *c, const struct memory_coefficients *x)
{
    const struct knobs *k = &c->knobs;
    bool moe = c->model.experts > 0;
    double cublas =
        k->deterministic ? x->deterministic_workspace_mib.value : x->cublas_workspace_mib.value;
    double te = x->te_workspace_mib.value;
    double sum = 2 * cublas + (k->transformer_engine || moe ? te : 0);
    if (moe) sum += x->moe_bookkeeping_mib.value;
    if (moe && k->grouped_gemm) sum += te * x->grouped_gemm_streams.value;
    if (k->tp_comm_overlap && k->sequence_parallel && k->tp > 1) sum += 2 * te;
    if (k->overlap_ep) sum += cublas;
    return MIB * sum;
}

static double at_least_one(double x)
{
    return x < 1 ? 1 : x;
}

/* Rows of the fullest rank's experts over the balanced share: at most all rows of the ep ranks, and
   not above what a capacity factor lets through; what buffers of a fixed size keep is known. */
static struct range imbalance(const struct config *c, struct range r)
{
    const struct knobs *k = &c->knobs;
    double fixed = knobs_kept_capacity(k);
    if (fixed > 0) return (struct range){fixed, fixed, fixed};
    double most = k->force_balance || k->pad_to_capacity ? 1 : k->ep;
    if (k->capacity_factor > 0) most = smaller(most, k->capacity_factor);
    return (struct range){smaller(r.value, most), smaller(r.low, most), smaller(r.high, most)};
}

static struct weight_shape *find_shape(struct memory_work *w, const struct gemm *g)
{
    for (int i = 0; i < w->n_shapes; i++) {
        const struct gemm *x = &w->shapes[i].gemm;
        if (x->rows == g->rows && x->columns == g->columns && x->grouped == g->grouped)
            return &w->shapes[i];
    }
    w->shapes[w->n_shapes] = (struct weight_shape){*g, g->rows * g->columns, 0};
    return &w->shapes[w->n_shapes++];
}

/* Of the weights whose gradients are accumulated by the fused kernel. */
static void find_shapes(struct memory_work *w)
{
    const struct knobs *k = &w->c->knobs;
    w->n_shapes = 0;
    if (!k->grad_accumulation_fusion || !k->transformer_engine || !knobs_trains_language(k)) return;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        for (int g = 0; g < w->kinds[i].n_gemms; g++)
            find_shape(w, &w->kinds[i].gemms[g])->kinds |= 1u << i;
}

void memory_measure(const struct config *c, const struct memory_coefficients *x,
                    struct memory_work *w)
{
    struct saved_list saved[MODEL_MAX_KINDS];
    memory_measure_saved(c, x, saved, w);
}

void memory_measure_again(const struct config *c, const struct memory_work *other,
                          const struct saved_list saved[MODEL_MAX_KINDS], struct memory_work *w)
{
    w->c = c;
    w->x = other->x;
    w->t = other->t;
    for (int i = 0; i < c->model.n_kinds; i++)
        layer_measure_again(&c->knobs, &other->kinds[i], &saved[i], &w->kinds[i]);
    layer_measure_mtp(c, &w->t, w->kinds, &w->mtp);
    w->n_shapes = other->n_shapes;
    memcpy(w->shapes, other->shapes, (size_t)w->n_shapes * sizeof *w->shapes);
    w->embedding = other->embedding;
    w->vision = other->vision;
}

void memory_measure_saved(const struct config *c, const struct memory_coefficients *x,
                          struct saved_list saved[MODEL_MAX_KINDS], struct memory_work *w)
{
    w->c = c;
    w->x = *x;
    w->t = token_counts(c, &w->x);
    for (int i = 0; i < c->model.n_kinds; i++)
        layer_measure_saved(c, &w->t, c->model.kinds[i], &saved[i], &w->kinds[i]);
    layer_measure_mtp(c, &w->t, w->kinds, &w->mtp);
    find_shapes(w);
    w->embedding = padded_vocab(c) * c->model.hidden / c->knobs.tp;
    w->vision = (double)vision_params(&c->model);
}

struct knobs memory_layers_key(const struct knobs *k)
{
    struct knobs x = time_layers_key(k);
    x.grad_bytes = x.main_param_bytes = 0;
    x.ce_fusion = 0;
    x.reshard_after_forward = x.reshard_stated = false;
    x.cp_comm = 0; /* keys that others have are given back in the layer */
    return x;
}

void memory_place(const struct config *c, struct memory_work *w)
{
    const struct knobs *k = &c->knobs;
    w->c = c;
    double replicas = k->fsdp == FSDP_NONE ? 1 : knobs_replicas(k);
    w->dense_shards = at_least_one((double)knobs_dp(k) * k->cp / replicas);
    double expert_replicas = k->fsdp == FSDP_NONE ? 1 : knobs_expert_replicas(k);
    w->expert_shards = at_least_one((double)knobs_edp(k) / expert_replicas);
    state_place(w);
    w->workspace = workspaces(c, &w->x);
    w->imbalance = imbalance(c, w->x.routing_imbalance);
}

bool memory_divide(const struct config *c, struct memory_work *w)
{
    if (c->knobs.pp > COST_MAX_STAGES) return false;
    memory_place(c, w);
    w->n_chunks = pipeline_chunks(c, w->chunks);
    return w->n_chunks > 0;
}

bool memory_prepare(const struct config *c, struct memory_work *w)
{
    struct memory_coefficients x = memory_coefficients_of(&c->machine);
    memory_measure(c, &x, w);
    return memory_divide(c, w);
}

static void judge(const struct config *c, double slack, struct memory_estimate *out)
{
    out->capacity = c->machine_known ? c->machine.capacity_bytes : 0;
    out->reserved = out->peak * (1 + slack);
    out->fits = !c->machine_known || out->peak_high <= out->capacity ? FITS_YES
                : out->peak_low > out->capacity                      ? FITS_NO
                                                                     : FITS_TIGHT;
}

static void take_stage(const struct memory_work *w, int stage, struct memory_estimate *out)
{
    struct stage_memory *s = &out->stages[stage];
    stage_estimate(w, stage, s);
    if (s->total > out->stages[out->fullest].total) out->fullest = stage;
    if (s->low > out->peak_low) out->peak_low = s->low;
    if (s->high > out->peak_high) out->peak_high = s->high;
}

static void start_peaks(const struct memory_work *w, struct memory_estimate *out)
{
    out->n_stages = w->c->knobs.pp;
    out->open = 0;
    out->fullest = 0;
    out->peak = out->peak_low = out->peak_high = 0;
}

static void finish_peaks(const struct memory_work *w, struct memory_estimate *out)
{
    out->peak = out->stages[out->fullest].total;
    judge(w->c, w->x.allocator_slack.value, out);
}

void memory_peaks(const struct memory_work *w, struct memory_estimate *out)
{
    start_peaks(w, out);
    for (int i = 0; i < out->n_stages; i++)
        take_stage(w, i, out);
    finish_peaks(w, out);
}

/* Whether a stage needs no more than the one before it: that holds no fewer microbatches, and what
   stands here stands there too. Which does not show where a schedule has tensors for what is not in
   flight. */
static bool needs_less(const struct memory_work *w, int stage)
{
    if (stage == 0 || config_has_schedule(w->c)) return false;
    for (int at = stage; at < w->n_chunks; at += w->c->knobs.pp) {
        const struct chunk *own = &w->chunks[at], *before = own - 1;
        if (own->loss || own->mtp > 0 || own->last_kind != before->last_kind) return false;
        for (int i = 0; i < w->c->model.n_kinds; i++)
            if (own->counts[i] > before->counts[i]) return false;
    }
    return true;
}

void memory_peaks_if_fits(const struct memory_work *w, struct memory_estimate *out)
{
    bool left[COST_MAX_STAGES];
    start_peaks(w, out);
    for (int i = 0; i < out->n_stages; i++) {
        left[i] = needs_less(w, i);
        if (!left[i]) take_stage(w, i, out);
    }
    finish_peaks(w, out);
    if (out->fits == FITS_YES) return;
    for (int i = 0; i < out->n_stages; i++)
        if (left[i]) take_stage(w, i, out);
    finish_peaks(w, out);
}

void memory_peaks_or_over(const struct memory_work *w, struct memory_estimate *out)
{
    double capacity = w->c->machine_known ? w->c->machine.capacity_bytes : INFINITY;
    start_peaks(w, out);
    for (int i = 0; i < out->n_stages; i++) {
        out->stages[i].high = 0;
        if (!needs_less(w, i) && out->peak_high <= capacity) take_stage(w, i, out);
    }
    finish_peaks(w, out);
}

double memory_high_of(const struct memory_work *w, int stage, struct memory_estimate *m)
{
    struct stage_memory *s = &m->stages[stage];
    if (s->high == 0) stage_estimate(w, stage, s);
    return s->high;
}

bool memory_estimate(const struct config *c, struct memory_estimate *out, struct cost_trace *trace)
{
    struct memory_work w;
    if (!memory_prepare(c, &w)) return false;
    memory_peaks(&w, out);
    if (trace) stage_explain(&w, out->fullest, trace);
    return true;
}

const char *memory_fits(int fits)
{
    static const char *const answers[] = {
        [FITS_YES] = "yes", [FITS_TIGHT] = "tight", [FITS_NO] = "no"};
    return answers[fits];
}

const char *memory_verdict(int fits)
{
    static const char *const words[] = {
        [FITS_YES] = "fits", [FITS_TIGHT] = "tight", [FITS_NO] = "does not fit"};
    return words[fits];
}
