/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/trace.h"

#include "base/buf.h"
#include "base/vec.h"
#include "plan/ops.h"

double trace_add(struct cost_trace *trace, const char *name, double value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str formula = arena_vprintf(trace->arena, format, args);
    va_end(args);
    *VEC_PUSH(trace->arena, &trace->terms) = (struct cost_term){name, formula.p, value};
    return value;
}

static void add_part(struct buf *b, const char *name, double seconds)
{
    if (seconds > 0) buf_printf(b, "%s%s %.3f ms", b->n > 0 ? " + " : "", name, 1e3 * seconds);
}

/* The parts are what kernels and communication would take alone; hiding and the host are applied to
 * their sum. */
static void add_pass(struct cost_trace *trace, const char *layer, const char *pass,
                     const struct pass *x)
{
    double sum = pass_kernels(x) + x->ep + x->tp + x->cp;
    if (sum <= 0) return;
    struct buf b = buf_new(trace->arena);
    add_part(&b, "GEMM", x->gemm);
    add_part(&b, "expert GEMM", x->grouped);
    add_part(&b, "attention", x->attention);
    add_part(&b, "scan", x->scan);
    add_part(&b, "memory passes", x->memory);
    add_part(&b, "quantisation", x->quantise);
    add_part(&b, "expert exchange", x->ep);
    add_part(&b, "TP collectives", x->tp);
    add_part(&b, "CP exchange", x->cp);
    buf_printf(&b, "; %.0f operations, %.0f launched by the host", x->gpu_ops, x->ops);
    *VEC_PUSH(trace->arena, &trace->terms) =
        (struct cost_term){arena_printf(trace->arena, "%s, %s", layer, pass).p, buf_str(&b).p, sum};
}

static void add_layer(struct cost_trace *trace, const char *layer, const struct layer_time *x)
{
    add_pass(trace, layer, "forward", &x->forward);
    add_pass(trace, layer, "backward", &x->backward);
    add_pass(trace, layer, "recompute", &x->again);
}

const char *trace_kind_name(struct arena *a, struct layer_kind kind)
{
    const struct mixer_kind *mixer = mixer_kinds[kind.mixer];
    const struct ffn_kind *ffn = ffn_kinds[kind.ffn];
    return arena_printf(a, "%s%s%s layer", mixer ? mixer->name : "", mixer && ffn ? " + " : "",
                        ffn ? ffn->name : "")
        .p;
}

void trace_layers(struct cost_trace *trace, const struct time_layers *l)
{
    if (!trace) return;
    const struct model_shape *m = &l->timing.config->model;
    for (int i = 0; i < m->n_kinds; i++)
        add_layer(trace, trace_kind_name(trace->arena, m->kinds[i]), &l->kinds[i]);
    if (m->mtp_layers > 0) add_layer(trace, "MTP depth", &l->mtp);
    add_layer(trace, "embedding", &l->embedding);
    add_layer(trace, "vision tower", &l->vision);
    add_layer(trace, "head and loss", &l->head);
}

void trace_step(struct cost_trace *trace, const struct config *c, const struct time_estimate *t,
                struct rank_params params)
{
    const struct knobs *k = &c->knobs;
    long long n = (long long)knobs_microbatches(k), gpus = (long long)k->gpus;
    trace_term(trace, "kernels", t->compute, "mean stage, %lld microbatches", n);
    trace_term(trace, "recomputation", t->recompute, "mean stage, %lld microbatches", n);
    trace_term(trace, "expert exchange", t->ep_exposed, "what overlap leaves, ep %d", k->ep);
    trace_term(trace, "TP collectives", t->tp_exposed, "what overlap leaves, tp %d", k->tp);
    trace_term(trace, "CP exchange", t->cp_exposed, "what attention leaves, cp %d", k->cp);
    trace_term(trace, "stage transfers", t->pp_exposed, "2 x %d chunks a stage, %lld microbatches",
               k->vpp, n);
    trace_term(trace, "host and gaps", t->host,
               "what launches add to the GPU's time, and the fixed part of a step");
    trace_term(trace, "bubble", t->bubble, "ramps and uneven stages, pp %d, vpp %d", k->pp, k->vpp);
    trace_term(trace, "data parallel", t->dp_exposed,
               "dense %.4g, experts %.4g parameters per rank, dp %lld, edp %lld", params.dense,
               params.experts, (long long)knobs_dp(k), (long long)knobs_edp(k));
    trace_term(trace, "optimizer", t->optimizer, "dense %.4g, experts %.4g parameters per rank",
               params.dense, params.experts);
    trace_term(trace, "step", t->step, "%lld sequences x %d tokens / (%lld GPUs x %.1f tokens/s)",
               (long long)k->gbs, k->seq, gpus, t->tokens_per_s_per_gpu);
}
