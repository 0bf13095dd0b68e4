/* SPDX-License-Identifier: Apache-2.0 */
/* Activations of a stage: microbatches in flight, logits, and the transients of the backward. */
#include "base/larger.h"
#include "cost/memory_stage.h"
#include "cost/vision.h"
#include "plan/framework.h"

#include <math.h>

/* How the layers of a chunk keep their tensors, as parts of its layers, where whole layers are
   recomputed, which keeps the layer input alone: of all layers, of the first n (block), or one
   input for n layers (uniform). */
static void recompute_parts(const struct knobs *k, double layers, double *whole, double *inputs)
{
    double n = k->recompute_num_layers;
    *whole = 1, *inputs = 0;
    if (layers == 0) return;
    *whole = 0, *inputs = 1;
    if (n > 1 && k->recompute_method == METHOD_UNIFORM) *inputs = ceil(layers / n) / layers;
    if (n > 0 && n < layers && k->recompute_method == METHOD_BLOCK)
        *whole = 1 - n / layers, *inputs = n / layers;
}

/* CPU offloading of whole layers moves the tensors of that many of the stage's layers to the host.
 */
static double resident_part(const struct knobs *k, double layers)
{
    if (k->layers_offloaded == 0) return 1;
    return k->layers_offloaded < layers ? 1 - k->layers_offloaded / layers : 0;
}

void activation_layers(const struct memory_work *w, int stage, struct layers_in_flight *out)
{
    const struct knobs *k = &w->c->knobs;
    double layers = 0;
    struct passes passes = pipeline_passes(k, stage);
    const struct chunk *chunk = stage_chunks(w, stage);
    int n_kinds = w->c->model.n_kinds;
    bool full = k->recompute == RECOMPUTE_FULL;
    out->mtp = out->embeddings = 0;
    for (int i = 0; i < n_kinds; i++)
        out->whole[i] = out->inputs[i] = 0;
    for (int v = 0; v < k->vpp; v++, chunk += k->pp) {
        double flight = passes_of_next(&passes), whole = 1, inputs = 0;
        if (full) recompute_parts(k, chunk->layers, &whole, &inputs);
        for (int i = 0; i < n_kinds; i++) {
            if (chunk->counts[i] == 0) continue;
            double layers_in_flight = flight * chunk->counts[i];
            out->whole[i] += layers_in_flight * whole;
            if (full) out->inputs[i] += layers_in_flight * inputs;
        }
        layers += chunk->layers;
        if (chunk->mtp > 0) out->mtp += flight * chunk->mtp;
        if (chunk->embedding) out->embeddings += flight;
    }
    double resident = resident_part(k, layers);
    for (int i = 0; i < n_kinds && resident < 1; i++)
        out->whole[i] *= resident, out->inputs[i] *= resident;
}

/* The dropout mask behind the embedding. */
double activation_embedding_bytes(const struct memory_work *w)
{
    return w->c->model.hidden_dropout > 0 ? w->t.sp_tokens * w->c->model.hidden : 0;
}

struct in_flight activation_in_flight(const struct memory_work *w, const struct holding *s)
{
    struct layers_in_flight n;
    activation_layers(w, s->stage, &n);
    struct in_flight sum = {.kept = n.mtp * w->mtp.kept,
                            .routed = n.mtp * w->mtp.routed,
                            .dispatched = n.mtp * w->mtp.dispatched,
                            .unmeasured = n.mtp * w->mtp.unmeasured,
                            .captured = n.mtp * w->mtp.captured};
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        const struct layer_memory *l = &w->kinds[i];
        sum.kept += n.whole[i] * l->kept + n.inputs[i] * l->input;
        sum.routed += n.whole[i] * l->routed;
        sum.dispatched += n.whole[i] * l->dispatched;
        sum.unmeasured += n.whole[i] * l->unmeasured;
        sum.captured += n.whole[i] * l->captured;
        sum.offloaded += n.whole[i] * l->offloaded;
    }
    sum.kept += (w->imbalance.value - 1) * sum.routed;
    if (n.embeddings > 0)
        sum.kept += n.embeddings * (activation_embedding_bytes(w) + vision_kept(w->c));
    return sum;
}

void activation_causes(const struct memory_work *w, const struct in_flight *kept,
                       struct cause out[ACTIVATION_CAUSES])
{
    const struct memory_coefficients *x = &w->x;
    double copies = w->t.dispatch_copies;
    bool quantised = knobs_quantised(&w->c->knobs);
    out[0] = (struct cause){kept->routed, w->imbalance};
    out[1] = (struct cause){kept->offloaded, x->offload_residue};
    out[2] = (struct cause){kept->unmeasured, x->linear_attention_saved};
    out[3] = (struct cause){copies > 0 ? kept->dispatched / copies : 0,
                            quantised ? x->hybridep_quantised_copies : x->hybridep_copies};
}

/* Bytes of one logit at the peak. None: bf16 logits and an fp32 copy. Native fusion: the compiled
   loss cannot work in place, one more fp32 copy. Transformer Engine: in place on bf16. Linear: one
   chunk of tokens at a time. Masked: in the softmax's backward the bf16 logits, which the training
   step holds, and in the loss's format the log-probabilities, their gradient and the logits'
   (nemo_automodel/components/loss/masked_ce.py, torch.nn.functional.cross_entropy; peaks of eight
   runs on one H100 within 0.6 %). */
static double logit_bytes(const struct knobs *k)
{
    switch ((enum ce_fusion)k->ce_fusion) {
    case CE_NONE: return 6;
    case CE_NATIVE: return 10;
    case CE_TE: return 2;
    case CE_LINEAR: return 0;
    case CE_MASKED: return 8;
    case CE_MASKED_FP32: return 14;
    }
    return 0;
}

/* Of a token, on one rank. */
static double logits_of(const struct memory_work *w)
{
    return w->embedding / w->c->model.hidden * w->c->knobs.tp / config_sharers(w->c);
}

/* The logits of every microbatch of a pass, which PyTorch's schedule keeps to return them
   (torch/distributed/pipelining/stage.py: output_chunks) until the next pass. */
double activation_outputs(const struct memory_work *w, const struct holding *s,
                          struct cost_trace *trace)
{
    if (!s->last || !config_has_schedule(w->c)) return 0;
    double n = (double)knobs_scheduled(&w->c->knobs), vocab = logits_of(w);
    return trace_term(trace, "outputs that the schedule keeps", n * 2 * w->t.tokens * vocab,
                      "%.0f microbatches x 2 B x %.0f x %.0f", n, w->t.tokens, vocab);
}

/* Logits of the main loss and, until their backward, of every MTP depth; deferred embedding weight
   gradients keep the gradients of some microbatches' logits and the head's inputs. */
double activation_logits(const struct memory_work *w, const struct holding *s,
                         struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!s->last) return 0;
    double vocab = logits_of(w), elements = w->t.tokens * vocab;
    double kept = config_has_schedule(w->c) ? 2 : 0; /* among the outputs */
    double bytes = larger(0, logit_bytes(k) - kept), depth = bytes > 0 ? 4 : 0;
    if (k->ce_fusion == CE_TE) depth = 2;
    double mtp = s->n_mtp * depth;
    double sum = trace_term(trace, "logits and loss", (bytes + mtp) * elements,
                            "%.0f B x %.0f x %.0f", bytes + mtp, w->t.tokens, vocab);
    if (!k->defer_embedding_wgrad) return sum;
    double microbatches = (double)knobs_microbatches(k), limit = k->wgrad_deferral_limit;
    double deferred = limit > 0 && limit < microbatches ? limit : microbatches;
    return sum + trace_term(trace, "deferred embedding weight gradients",
                            deferred * 2 * w->t.tokens * (vocab + w->c->model.hidden),
                            "%.0f x 2 B x %.0f x (%.0f + %d)", deferred, w->t.tokens, vocab,
                            w->c->model.hidden);
}

/* Of the logits' gradient, which the MXFP8 products of a head take by rows and by columns. */
static double quantised_logits(const struct memory_work *w)
{
    return head_is_low(w->c) ? 2 * (1 + 1.0 / 32) * w->t.tokens * logits_of(w) : 0;
}

/* Backward of the head: the final norm's input and output, the gradient of the gathered hidden
   states, the dummy weight gradient of the head, and a quantised gradient of the logits. */
double activation_head_transient(const struct memory_work *w, const struct holding *s,
                                 struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!s->last) return 0;
    bool te = k->ce_fusion == CE_TE, trained = knobs_trains_language(k);
    double tokens = 2 * w->t.sp_tokens + (te ? w->t.tokens : 0);
    double hidden = 2 * tokens * w->c->model.hidden;
    double dummy = trained && (te || k->grad_accumulation_fusion) ? 2 * w->embedding : 0;
    double low = quantised_logits(w);
    return trace_term(trace, "head backward", hidden + dummy + low,
                      "%.0f B of hidden states + %.0f B dummy + %.0f B quantised", hidden, dummy,
                      low);
}

/* A forward that runs beside a backward takes memory layer by layer as the other gives it back: one
   layer of both is there at a time (overlap_moe_expert_parallel_comm:
   megatron/core/pipeline_parallel/combined_1f1b.py). */
static double overlapped_layer(const struct memory_work *w, const struct layer_memory *l,
                               struct cost_trace *trace)
{
    if (!w->c->knobs.overlap_ep) return 0;
    double bytes = w->c->knobs.recompute == RECOMPUTE_FULL ? l->input : l->kept;
    return trace_term(trace, "one layer of the overlapped microbatch", bytes, "%.6g B", bytes);
}

/* Backward of the stage's last layer: its own transient, and what recomputation has to make again
   (the n layers of one uniform group). */
double activation_layer_transient(const struct memory_work *w, const struct holding *s,
                                  struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    const struct layer_memory *l = s->last_layer;
    double norm = s->last ? 2 * 2 * w->t.sp_tokens * w->c->model.hidden : 0;
    if (!l) return trace_term(trace, "backward of the final norm", norm, "%.0f B", norm);
    bool full = k->recompute == RECOMPUTE_FULL;
    double group = full && k->recompute_method == METHOD_UNIFORM && k->recompute_num_layers > 1
                       ? k->recompute_num_layers
                       : 1;
    double again = full                                  ? group * l->all - l->input
                   : k->recompute == RECOMPUTE_SELECTIVE ? l->all - l->kept
                                                         : 0;
    return trace_term(trace, "layer backward", norm + l->backward, "%.0f B", norm + l->backward) +
           trace_term(trace, "recomputed tensors of one layer", again, "%.0f B", again) +
           overlapped_layer(w, l, trace);
}
