/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a configuration: every stage, the fullest, and whether it fits. */
#include "cost/memory.h"

#define MIB (1024.0 * 1024.0)

/* A coefficient of the platform with its interval; `otherwise` where the platform has none of that
 * name. */
static struct range coefficient(const struct config *c, const char *name, struct range otherwise)
{
    struct str wanted = str_of(name);
    for (int i = 0; i < c->machine.n_coefficients; i++) {
        const struct coefficient *x = &c->machine.coefficients[i];
        if (str_eq(x->name, wanted)) return (struct range){x->value, x->low, x->high};
    }
    return otherwise;
}

static double mib(const struct config *c, const char *name, double otherwise)
{
    return MIB * machine_coefficient(&c->machine, name, otherwise);
}

/* Workspaces that count as allocated: torch's cuBLAS handles of the forward and the backward thread
   (the deterministic mode of Megatron's tests sets its own size), Transformer Engine's GEMM
   workspace and one a stream of the grouped GEMM, its repetitions for TP overlap and for the second
   stream of expert overlap, and the router's small tensors. */
static double workspaces(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    bool moe = c->model.experts > 0;
    double cublas = k->deterministic ? mib(c, "cublas_workspace_deterministic_mib", 32)
                                     : mib(c, "cublas_workspace_mib", 32);
    double te = mib(c, "te_workspace_mib", 32);
    double sum = 2 * cublas + (k->transformer_engine || moe ? te : 0);
    if (moe) sum += mib(c, "moe_bookkeeping_mib", 8);
    if (moe && k->grouped_gemm)
        sum += te * machine_coefficient(&c->machine, "grouped_gemm_streams", 4);
    if (k->tp_comm_overlap && k->sequence_parallel && k->tp > 1) sum += 2 * te;
    if (k->overlap_ep) sum += cublas;
    return sum;
}

/* The vocabulary as Megatron pads it; AutoModel does not. */
static double padded_vocab(const struct config *c)
{
    if (c->framework == FRAMEWORK_AUTOMODEL) return c->model.vocab;
    double unit = (double)c->model.vocab_divisible_by * c->knobs.tp;
    if (unit < 1) return c->model.vocab;
    int64_t units = (int64_t)((c->model.vocab + unit - 1) / unit);
    return (double)units * unit;
}

static double at_least_one(double x)
{
    return x < 1 ? 1 : x;
}

bool memory_prepare(const struct config *c, struct memory_work *w)
{
    const struct knobs *k = &c->knobs;
    w->c = c;
    w->n_chunks = pipeline_chunks(c, w->chunks);
    if (w->n_chunks == 0) return false;
    w->t = token_counts(c);
    for (int i = 0; i < c->model.n_kinds; i++)
        layer_measure(c, &w->t, c->model.kinds[i], &w->kinds[i]);
    layer_measure_mtp(c, &w->t, &w->mtp);
    w->embedding = padded_vocab(c) * c->model.hidden / k->tp;
    w->vision = (double)vision_params(&c->model);
    double replicas = k->fsdp == FSDP_FSDP2 ? at_least_one(k->dp_replicate) : 1;
    w->dense_shards = at_least_one((double)knobs_dp(k) * k->cp / replicas);
    w->expert_shards = at_least_one((double)knobs_edp(k) / replicas);
    w->workspace = workspaces(c);
    w->model = coefficient(c, "memory_model_error", (struct range){1, 0.97, 1.03});
    w->imbalance = coefficient(c, "routing_imbalance", (struct range){1, 0.95, 1.3});
    w->activations = coefficient(c, "quantised_activations", (struct range){1, 0.85, 1.05});
    w->graphs = coefficient(c, "graph_pool", (struct range){0, -0.05, 0.1});
    w->working_set = coefficient(c, "fsdp_working_set", (struct range){1, 0.5, 2});
    return true;
}

static void judge(const struct config *c, struct memory_estimate *out)
{
    double slack = machine_coefficient(&c->machine, "allocator_slack", 0.05);
    out->capacity = c->machine_known ? c->machine.capacity_bytes : 0;
    out->reserved = out->peak * (1 + slack);
    out->fits = !c->machine_known || out->peak_high <= out->capacity ? FITS_YES
                : out->peak_low > out->capacity                      ? FITS_NO
                                                                     : FITS_TIGHT;
}

bool memory_estimate(const struct config *c, struct memory_estimate *out, struct cost_trace *trace)
{
    struct memory_work w;
    if (!memory_prepare(c, &w)) return false;
    out->n_stages = c->knobs.pp;
    out->fullest = 0;
    out->peak = out->peak_low = out->peak_high = 0;
    for (int i = 0; i < out->n_stages; i++) {
        struct stage_memory *s = &out->stages[i];
        stage_estimate(&w, i, s, NULL);
        if (s->total > out->stages[out->fullest].total) out->fullest = i;
        if (s->low > out->peak_low) out->peak_low = s->low;
        if (s->high > out->peak_high) out->peak_high = s->high;
    }
    out->peak = out->stages[out->fullest].total;
    judge(c, out);
    if (trace) {
        struct stage_memory again;
        stage_estimate(&w, out->fullest, &again, trace);
    }
    return true;
}
