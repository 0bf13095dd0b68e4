/* SPDX-License-Identifier: Apache-2.0 */
/* One pipeline stage: static state, activations in flight, and the peak over the phases of a step.
 */
#include "cost/memory.h"

#include <math.h>

#define MIB (1024.0 * 1024.0)

static double max(double a, double b)
{
    return a > b ? a : b;
}

static bool sharded_parameters(const struct knobs *k)
{
    return k->fsdp == FSDP_OPTIM_GRADS_PARAMS || k->fsdp == FSDP_FSDP2;
}

static bool sharded_gradients(const struct knobs *k)
{
    return sharded_parameters(k) || k->fsdp == FSDP_OPTIM_GRADS;
}

static bool quantised(const struct knobs *k)
{
    return k->precision >= PREC_FP8_DELAYED;
}

static bool megatron_fsdp(const struct knobs *k)
{
    return k->fsdp >= FSDP_OPTIM && k->fsdp <= FSDP_OPTIM_GRADS_PARAMS;
}

/* ---- what a stage holds ---- */

/* Parameters of one rank of the stage, in elements, and its largest layer. */
struct holding {
    double dense, experts;            /* trained or not */
    double matrices, expert_matrices; /* of those: GEMM weights of layers */
    double embeddings;                /* of dense: embedding, its copy for MTP, and head */
    double vision, adapters;
    double unit_dense, unit_experts; /* the largest layer */
    double root;                     /* FSDP's root unit: embedding and head */
    double dummies;                  /* bytes of Transformer Engine's dummy weight gradients */
    bool first, last, mtp;
    int n_mtp;
    enum ffn last_ffn;
    const struct layer_memory *last_layer; /* the layer whose backward comes first; NULL: none */
};

static const struct chunk *stage_chunk(const struct memory_work *w, int stage, int v)
{
    return &w->chunks[v * w->c->knobs.pp + stage];
}

/* Layers of each kind on the stage. */
static void count_kinds(const struct memory_work *w, int stage, int counts[MODEL_MAX_KINDS])
{
    for (int i = 0; i < w->c->model.n_kinds; i++)
        counts[i] = 0;
    for (int v = 0; v < w->c->knobs.vpp; v++)
        for (int i = 0; i < w->c->model.n_kinds; i++)
            counts[i] += stage_chunk(w, stage, v)->counts[i];
}

static void hold_layer(struct holding *s, const struct layer_memory *l, double count)
{
    s->dense += l->dense * count;
    s->experts += l->experts * count;
    s->matrices += l->dense_matrices * count;
    s->expert_matrices += l->expert_matrices * count;
}

static void hold_units(struct holding *s, const struct layer_memory *l)
{
    s->unit_dense = max(s->unit_dense, l->dense);
    s->unit_experts = max(s->unit_experts, l->experts);
}

static void hold_chunk_ends(const struct memory_work *w, int stage, struct holding *s)
{
    for (int v = 0; v < w->c->knobs.vpp; v++) {
        const struct chunk *chunk = stage_chunk(w, stage, v);
        s->first = s->first || chunk->embedding;
        s->last = s->last || chunk->loss;
        s->n_mtp += chunk->mtp;
        if (chunk->last_kind >= 0) s->last_layer = &w->kinds[chunk->last_kind];
    }
    s->mtp = s->n_mtp > 0;
}

/* Embedding on the first stage, head on the last (once when tied and both are one stage; a copy
   when they are not), and an embedding copy for MTP where the embedding stands elsewhere. */
static void hold_embeddings(const struct memory_work *w, struct holding *s)
{
    const struct model_shape *m = &w->c->model;
    int copies = (s->first ? 1 : 0) + (s->last && !(m->tied && s->first) ? 1 : 0);
    s->root = ((s->first ? 1 : 0) + (s->last ? 1 : 0)) * w->embedding;
    if (s->mtp && !s->first) copies++;
    s->embeddings = copies * w->embedding;
    s->dense += s->embeddings;
    if (s->first) {
        s->dense += (double)m->learned_positions * m->hidden + w->vision;
        s->vision = w->vision;
    }
    if (s->last) s->dense += m->layernorm ? 2.0 * m->hidden : m->hidden;
}

/* Fused weight-gradient accumulation returns a cached dummy, one for each distinct weight shape on
   the rank (transformer_engine/pytorch/module/base.py: get_dummy_wgrad). */
static void hold_dummies(const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                         struct holding *s)
{
    const struct knobs *k = &w->c->knobs;
    if (!k->grad_accumulation_fusion || !k->transformer_engine || k->task == TASK_PEFT) return;
    struct gemm seen[MODEL_MAX_KINDS * LAYER_MAX_GEMMS];
    int n = 0;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        for (int g = 0; counts[i] > 0 && g < w->kinds[i].n_gemms; g++) {
            struct gemm shape = w->kinds[i].gemms[g];
            /* Grouped weights have dummies of their own. */
            bool grouped = w->kinds[i].kind.ffn == FFN_MOE && g >= w->kinds[i].n_gemms - 2;
            shape.count = grouped ? 2 : 1;
            int at = 0;
            while (at < n && memcmp(&seen[at], &shape, sizeof shape) != 0)
                at++;
            if (at < n) continue;
            seen[n++] = shape;
            s->dummies += 2 * shape.rows * shape.columns;
        }
}

/* LoRA on the four linear modules of a layer: rank x (input + output) for each GEMM; experts share
 * one pair. */
static void hold_adapters(const struct memory_work *w, const int counts[MODEL_MAX_KINDS],
                          struct holding *s)
{
    const struct knobs *k = &w->c->knobs;
    if (k->task != TASK_PEFT) return;
    double rank = k->lora_rank > 0 ? k->lora_rank : 32;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        for (int g = 0; g < w->kinds[i].n_gemms; g++)
            s->adapters +=
                counts[i] * rank * (w->kinds[i].gemms[g].rows + w->kinds[i].gemms[g].columns);
}

static struct holding stage_holding(const struct memory_work *w, int stage)
{
    struct holding s = {0};
    int counts[MODEL_MAX_KINDS];
    count_kinds(w, stage, counts);
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        if (counts[i] == 0) continue;
        hold_layer(&s, &w->kinds[i], counts[i]);
        hold_units(&s, &w->kinds[i]);
    }
    hold_chunk_ends(w, stage, &s);
    if (s.mtp) hold_layer(&s, &w->mtp, w->c->model.mtp_repeated ? 1 : s.n_mtp);
    hold_embeddings(w, &s);
    hold_dummies(w, counts, &s);
    hold_adapters(w, counts, &s);
    return s;
}

/* ---- static state ---- */

__attribute__((format(printf, 4, 5))) static double term(struct cost_trace *trace, const char *name,
                                                         double value, const char *format, ...)
{
    if (!trace) return value;
    va_list args;
    va_start(args, format);
    struct str formula = arena_vprintf(trace->arena, format, args);
    va_end(args);
    *VEC_PUSH(trace->arena, &trace->terms) = (struct cost_term){name, formula.p, value};
    return value;
}

/* Bytes of a quantised weight's copies, an element: Hopper's FP8 GEMM needs the transpose beside
   it, Blackwell's does not; block-scaled recipes keep a row-wise and a column-wise copy with their
   scales. */
static double quantised_weight_bytes(const struct config *c)
{
    switch ((enum precision)c->knobs.precision) {
    case PREC_FP32:
    case PREC_BF16:
    case PREC_FP16: return 0;
    case PREC_FP8_DELAYED:
    case PREC_FP8_TENSORWISE: return c->machine.compute_capability >= 10 ? 1 : 2;
    case PREC_FP8_BLOCKWISE: return 2 * (1 + 4.0 / (128 * 128));
    case PREC_MXFP8: return 2 * (1 + 1.0 / 32);
    case PREC_NVFP4: return 2 * (0.5 + 1.0 / 16);
    }
    return 0;
}

/* Parameters: 2 B (4 B in fp32). Quantised recipes keep FP8 copies of GEMM weights beside them for
   all microbatches of a step, or instead of them with fp8_param_gather. FSDP gathers and quantises
   anew, so only its shards count. */
static double parameters(const struct memory_work *w, const struct holding *s,
                         struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double bytes = k->precision == PREC_FP32 ? 4 : 2, shards = 1, expert_shards = 1;
    if (sharded_parameters(k)) shards = w->dense_shards, expert_shards = w->expert_shards;
    double sum = term(trace, "parameters, dense", bytes * s->dense / shards, "%.0f B x %.0f / %.0f",
                      bytes, s->dense, shards);
    sum += term(trace, "parameters, experts", bytes * s->experts / expert_shards,
                "%.0f B x %.0f / %.0f", bytes, s->experts, expert_shards);
    double copied = k->fsdp == FSDP_FSDP2   ? s->expert_matrices
                    : sharded_parameters(k) ? 0
                                            : s->matrices + s->expert_matrices;
    if (quantised(k)) {
        double extra = quantised_weight_bytes(w->c) - (k->fp8_param_gather ? bytes : 0);
        sum += term(trace, "quantised weights", extra * copied, "%.4g B x %.0f", extra, copied);
    }
    if (s->adapters > 0)
        sum += term(trace, "adapters", bytes * s->adapters, "%.0f B x %.0f", bytes, s->adapters);
    return sum;
}

/* Elements that are trained. */
static void trained(const struct memory_work *w, const struct holding *s, double *dense,
                    double *experts)
{
    bool peft = w->c->knobs.task == TASK_PEFT;
    bool frozen_vision = w->c->knobs.freeze_vision || w->c->model.vision_frozen;
    *dense = peft ? s->adapters : s->dense - (frozen_vision ? s->vision : 0);
    *experts = peft ? 0 : s->experts;
}

static double gradients(const struct memory_work *w, const struct holding *s,
                        struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double dense, experts, shards = 1, expert_shards = 1;
    trained(w, s, &dense, &experts);
    if (sharded_gradients(k)) shards = w->dense_shards, expert_shards = w->expert_shards;
    return term(trace, "gradients, dense", k->grad_bytes * dense / shards, "%d B x %.0f / %.0f",
                k->grad_bytes, dense, shards) +
           term(trace, "gradients, experts", k->grad_bytes * experts / expert_shards,
                "%d B x %.0f / %.0f", k->grad_bytes, experts, expert_shards);
}

/* Ranks over which optimizer states are spread. */
static void optimizer_shards(const struct memory_work *w, double *dense, double *experts)
{
    const struct knobs *k = &w->c->knobs;
    double instances = k->optimizer_instances > 1 ? k->optimizer_instances : 1;
    bool any = k->distributed_optimizer || k->layer_wise_optimizer || megatron_fsdp(k) ||
               k->fsdp == FSDP_FSDP2;
    *dense = any ? max(w->dense_shards / instances, 1) : 1;
    *experts = any ? max(w->expert_shards / instances, 1) : 1;
}

/* Optimizer states: main parameter, first and second moment; Muon keeps one moment of a matrix and
   leaves vectors, embedding and head to Adam. */
static double optimizer(const struct memory_work *w, const struct holding *s,
                        struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double dense, experts, shards, expert_shards, kept = 1 - k->optimizer_offload;
    trained(w, s, &dense, &experts);
    optimizer_shards(w, &shards, &expert_shards);
    double adam = k->main_param_bytes + k->exp_avg_bytes + k->exp_avg_sq_bytes;
    double saved = 0, expert_saved = 0;
    if (k->muon) {
        saved = k->exp_avg_sq_bytes * s->matrices;
        expert_saved = k->exp_avg_sq_bytes * s->expert_matrices;
    }
    return term(trace, "optimizer states, dense", kept * (adam * dense - saved) / shards,
                "%.2g x (%.0f B x %.0f - %.0f) / %.0f", kept, adam, dense, saved, shards) +
           term(trace, "optimizer states, experts",
                kept * (adam * experts - expert_saved) / expert_shards,
                "%.2g x (%.0f B x %.0f - %.0f) / %.0f", kept, adam, experts, expert_saved,
                expert_shards);
}

/* Transient of the optimizer step: an fp32 copy of bf16 gradients where the optimizer is not
   precision-aware, and Transformer Engine's fused Adam turns every low-precision state of one
   parameter group into fp32 at a time. */
static double step_transient(const struct memory_work *w, const struct holding *s,
                             struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double dense, experts, shards, expert_shards, kept = 1 - k->optimizer_offload;
    trained(w, s, &dense, &experts);
    optimizer_shards(w, &shards, &expert_shards);
    if (k->fsdp == FSDP_FSDP2) return 0;
    if (!k->precision_aware) {
        if (k->grad_bytes >= 4) return 0;
        double elements = dense / shards + experts / expert_shards;
        return term(trace, "fp32 copy of gradients", kept * 4 * elements, "%.2g x 4 B x %.0f", kept,
                    elements);
    }
    int low = (k->exp_avg_bytes < 4) + (k->exp_avg_sq_bytes < 4) +
              (k->main_param_bytes < 4 && !k->main_param_remainder);
    double largest = max(dense / shards, experts / expert_shards);
    return term(trace, "fp32 expansion of optimizer states", kept * 4 * low * largest,
                "%.2g x 4 B x %d x %.0f", kept, low, largest);
}

/* ---- buffers ---- */

/* FSDP2's gathered parameters: two layers beside the root unit, or all of them where nothing is
   resharded before the backward (the default of AutoModel's MoE path:
   nemo_automodel/components/moe/parallelizer.py:646). Experts have a shard group of their own. */
static double gathered_parameters(const struct memory_work *w, const struct holding *s,
                                  struct cost_trace *trace)
{
    bool dense = w->dense_shards > 1, experts = w->expert_shards > 1;
    if (!w->c->knobs.reshard_after_forward) {
        double elements = (dense ? s->dense : 0) + (experts ? s->experts : 0);
        return term(trace, "gathered parameters", 2 * elements, "2 B x %.0f", elements);
    }
    double unit = (dense ? s->unit_dense : 0) + (experts ? s->unit_experts : 0);
    double root = dense ? s->root : 0;
    return term(trace, "gathered parameters", 2 * root + 2 * 2 * unit,
                "2 B x %.0f + 2 x 2 B x %.0f", root, unit);
}

/* FSDP's working set. Megatron-FSDP holds two layers' parameters and whole gradients beside the
   root unit (double buffering). A group of one rank gathers nothing. */
static double fsdp_working_set(const struct memory_work *w, const struct holding *s,
                               struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!sharded_parameters(k)) return 0;
    if (k->fsdp == FSDP_FSDP2) return gathered_parameters(w, s, trace);
    double root = w->dense_shards > 1 ? 2 * s->root : 0;
    double unit = s->unit_dense + s->unit_experts, bytes = 2 + k->grad_bytes;
    return term(trace, "FSDP working set", root + 2 * bytes * unit, "%.0f B + 2 x %.0f B x %.0f",
                root, bytes, unit);
}

/* Receive and send tensors of the pipeline: two of each. */
static double pipeline_buffers(const struct memory_work *w, struct cost_trace *trace)
{
    if (w->c->knobs.pp == 1) return 0;
    double width = w->c->model.hidden;
    return term(trace, "pipeline receive and send", 2 * 2 * w->t.sp_tokens * width,
                "2 x 2 B x %.0f x %.0f", w->t.sp_tokens, width);
}

/* The head's column-parallel GEMM gathers its input into a buffer that Megatron-core keeps
   (megatron/core/tensor_parallel/layers.py: get_global_memory_buffer). */
static double head_gather_buffer(const struct memory_work *w, const struct holding *s,
                                 struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!s->last || !k->sequence_parallel || k->tp == 1) return 0;
    double width = w->c->model.hidden;
    return term(trace, "gathered input of the head", 2 * w->t.tokens * width, "2 B x %.0f x %.0f",
                w->t.tokens, width);
}

static double buffers(const struct memory_work *w, const struct holding *s,
                      struct cost_trace *trace)
{
    return term(trace, "GEMM workspaces", w->workspace, "%.5g MiB", w->workspace / MIB) +
           term(trace, "dummy weight gradients", s->dummies, "2 B x distinct weight shapes") +
           pipeline_buffers(w, trace) + head_gather_buffer(w, s, trace);
}

/* ---- activations ---- */

/* What the microbatches of a chunk, or a stage, keep. */
struct in_flight_bytes {
    double kept;
    double routed;     /* of `kept`: grows with routing imbalance */
    double offloaded;  /* moved to the host by module, not in `kept` */
    double dispatched; /* of `kept`: dispatch outputs */
};

static struct in_flight_bytes chunk_layers(const struct memory_work *w, const struct chunk *chunk)
{
    struct in_flight_bytes sum = {0};
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        sum.kept += chunk->counts[i] * w->kinds[i].kept;
        sum.routed += chunk->counts[i] * w->kinds[i].routed;
        sum.offloaded += chunk->counts[i] * w->kinds[i].offloaded;
        sum.dispatched += chunk->counts[i] * w->kinds[i].dispatched;
    }
    sum.kept += (w->imbalance.value - 1) * sum.routed;
    return sum;
}

/* One microbatch in one chunk. Whole-layer recomputation keeps layer inputs: of all layers, of the
   first n (block), or one for every n layers (uniform). */
static struct in_flight_bytes chunk_activations(const struct memory_work *w,
                                                const struct chunk *chunk)
{
    const struct knobs *k = &w->c->knobs;
    struct in_flight_bytes sum = chunk_layers(w, chunk);
    if (k->recompute == RECOMPUTE_FULL && chunk->layers > 0) {
        double layers = chunk->layers, n = k->recompute_num_layers, inputs = 0, rest = 0;
        for (int i = 0; i < w->c->model.n_kinds; i++)
            inputs += chunk->counts[i] * w->kinds[i].input;
        if (k->recompute_method == METHOD_BLOCK)
            rest = n > 0 && n < layers ? 1 - n / layers : 0;
        else if (n > 1)
            inputs *= ceil(layers / n) / layers;
        sum.kept = (1 - rest) * inputs + rest * sum.kept;
        sum.routed *= rest;
        sum.dispatched *= rest;
    }
    sum.kept += chunk->mtp * (w->mtp.kept + (w->imbalance.value - 1) * w->mtp.routed);
    sum.routed += chunk->mtp * w->mtp.routed;
    sum.dispatched += chunk->mtp * w->mtp.dispatched;
    if (chunk->embedding && w->c->model.hidden_dropout > 0)
        sum.kept += w->t.sp_tokens * w->c->model.hidden;
    return sum;
}

/* Microbatches in flight times what one keeps, over the stage's chunks. CPU offloading of whole
   layers takes the activations of that many layers of the stage away. */
static struct in_flight_bytes activations(const struct memory_work *w, int stage,
                                          struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    struct in_flight_bytes sum = {0};
    double in_flight[LAYOUT_MAX_CHUNKS], layers = 0;
    pipeline_in_flight(k, stage, in_flight);
    for (int v = 0; v < k->vpp; v++) {
        const struct chunk *chunk = stage_chunk(w, stage, v);
        struct in_flight_bytes one = chunk_activations(w, chunk);
        layers += chunk->layers;
        sum.kept +=
            term(trace, "activations of a chunk", in_flight[v] * one.kept,
                 "%.0f microbatches x %.0f B in %d layers", in_flight[v], one.kept, chunk->layers);
        sum.routed += in_flight[v] * one.routed;
        sum.offloaded += in_flight[v] * one.offloaded;
        sum.dispatched += in_flight[v] * one.dispatched;
    }
    if (k->layers_offloaded == 0 || layers == 0) return sum;
    double gone = k->layers_offloaded < layers ? k->layers_offloaded / layers : 1;
    sum.routed *= 1 - gone;
    sum.dispatched *= 1 - gone;
    sum.kept += term(trace, "activations of offloaded layers", -gone * sum.kept, "-%.3g x %.0f B",
                     gone, sum.kept);
    return sum;
}

/* Bytes of one logit at the peak. None: bf16 logits and an fp32 copy. Native fusion: the compiled
   loss cannot work in place, one more fp32 copy. Transformer Engine: in place on bf16. Linear: one
   chunk of tokens at a time. */
static double logit_bytes(const struct knobs *k)
{
    switch ((enum ce_fusion)k->ce_fusion) {
    case CE_NONE: return 6;
    case CE_NATIVE: return 10;
    case CE_TE: return 2;
    case CE_LINEAR: return 0;
    }
    return 0;
}

/* Logits of the main loss and, until their backward, of every MTP depth; deferred embedding weight
   gradients keep the gradients of some microbatches' logits and the head's inputs. */
static double logits(const struct memory_work *w, const struct holding *s, struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!s->last) return 0;
    double vocab = w->embedding / w->c->model.hidden, elements = w->t.tokens * vocab;
    double bytes = logit_bytes(k), mtp = s->n_mtp * (k->ce_fusion == CE_TE ? 2 : bytes > 0 ? 4 : 0);
    double sum = term(trace, "logits and loss", (bytes + mtp) * elements, "%.0f B x %.0f x %.0f",
                      bytes + mtp, w->t.tokens, vocab);
    if (!k->defer_embedding_wgrad) return sum;
    double microbatches = (double)knobs_microbatches(k), limit = k->wgrad_deferral_limit;
    double deferred = limit > 0 && limit < microbatches ? limit : microbatches;
    return sum + term(trace, "deferred embedding weight gradients",
                      deferred * 2 * w->t.tokens * (vocab + w->c->model.hidden),
                      "%.0f x 2 B x %.0f x (%.0f + %d)", deferred, w->t.tokens, vocab,
                      w->c->model.hidden);
}

/* Backward of the head: the final norm's input and output, the gradient of the gathered hidden
   states, and the dummy weight gradient of the head. */
static double head_transient(const struct memory_work *w, const struct holding *s,
                             struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!s->last) return 0;
    double h = w->c->model.hidden, te = k->ce_fusion == CE_TE;
    double hidden = 2 * (2 * w->t.sp_tokens + te * w->t.tokens) * h;
    double dummy = te > 0 || k->grad_accumulation_fusion ? 2 * w->embedding : 0;
    return term(trace, "head backward", hidden + dummy, "%.0f B of hidden states + %.0f B dummy",
                hidden, dummy);
}

/* Backward of the stage's last layer: its own transient, and what recomputation has to make again
   (the n layers of one uniform group). */
static double layer_transient(const struct memory_work *w, const struct holding *s,
                              struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    const struct layer_memory *l = s->last_layer;
    double norm = s->last ? 2 * 2 * w->t.sp_tokens * w->c->model.hidden : 0;
    if (!l) return norm;
    bool full = k->recompute == RECOMPUTE_FULL;
    double group = full && k->recompute_method == METHOD_UNIFORM && k->recompute_num_layers > 1
                       ? k->recompute_num_layers
                       : 1;
    double again = full                                  ? group * l->all - l->input
                   : k->recompute == RECOMPUTE_SELECTIVE ? l->all - l->kept
                                                         : 0;
    return term(trace, "layer backward", norm + l->backward, "%.0f B", norm + l->backward) +
           term(trace, "recomputed tensors of one layer", again, "%.0f B", again);
}

/* ---- the peak ---- */

struct phase {
    double transient, activations, logits, grads, optimizer, working_set;
    char name;
};

static double phase_total(const struct phase *p)
{
    return p->transient + p->activations + p->logits + p->grads + p->optimizer + p->working_set;
}

/* torch's optimizers drop gradients after the step, so that FSDP2's first backward starts without
 * any. */
static bool lazy_gradients(const struct knobs *k)
{
    return k->fsdp == FSDP_FSDP2 && k->pp == 1 && knobs_microbatches(k) == 1;
}

/* Half-widths of independent causes add in squares. */
struct spread {
    double low, high;
};

static void spread_add(struct spread *s, double bytes, struct range relative)
{
    double low = bytes * (relative.value - relative.low),
           high = bytes * (relative.high - relative.value);
    s->low += low * low;
    s->high += high * high;
}

/* `routed`, `offloaded`: bytes of the activations that grow with imbalance, and that module offload
 * has moved away. */
static void stage_interval(const struct memory_work *w, struct stage_memory *m,
                           const struct in_flight_bytes *bytes, double working_set)
{
    const struct knobs *k = &w->c->knobs;
    const struct memory_coefficients *x = &w->x;
    struct spread s = {0};
    spread_add(&s, m->total, x->memory_error);
    if (m->activations > 0) {
        spread_add(&s, bytes->routed, w->imbalance);
        spread_add(&s, bytes->offloaded, x->offload_residue);
        if (w->t.dispatch_copies > 0)
            spread_add(&s, bytes->dispatched / w->t.dispatch_copies,
                       quantised(k) ? x->hybridep_quantised_copies : x->hybridep_copies);
    }
    if (quantised(k)) spread_add(&s, m->activations, x->quantised_activations);
    if (k->graph_impl != GRAPH_NONE) spread_add(&s, m->total, x->graph_error);
    if (working_set > 0) {
        spread_add(&s, m->total, x->fsdp_error);
        struct range gathered = x->gathered_parameters;
        if (!k->reshard_stated && !k->reshard_after_forward) gathered.low = 0;
        spread_add(&s, working_set, gathered);
    }
    m->low = m->total - sqrt(s.low);
    m->high = m->total + sqrt(s.high);
}

void stage_estimate(const struct memory_work *w, int stage, struct stage_memory *out,
                    struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    struct holding s = stage_holding(w, stage);
    double params = parameters(w, &s, trace), grads = gradients(w, &s, trace);
    double states = optimizer(w, &s, trace), fixed = buffers(w, &s, trace);
    double set = fsdp_working_set(w, &s, trace);
    struct in_flight_bytes saved = activations(w, stage, trace);
    double loss = logits(w, &s, trace);
    double early = lazy_gradients(k) ? 0 : grads;
    double resident = k->offload_optimizer_states ? 0 : states;
    struct phase phases[] = {
        {head_transient(w, &s, trace), saved.kept, loss, early, resident, set, 'A'},
        {layer_transient(w, &s, trace), saved.kept, 0, early, resident, set, 'B'},
        {step_transient(w, &s, trace), 0, 0, grads, states, k->fsdp == FSDP_FSDP2 ? 0 : set, 'C'},
    };
    const struct phase *peak = &phases[0];
    for (int i = 1; i < 3; i++)
        if (phase_total(&phases[i]) > phase_total(peak)) peak = &phases[i];
    *out = (struct stage_memory){.params = params,
                                 .grads = peak->grads,
                                 .optimizer = peak->optimizer,
                                 .activations = peak->activations,
                                 .logits = peak->logits,
                                 .buffers = fixed + peak->working_set + peak->transient,
                                 .phase = peak->name};
    out->total = params + fixed + phase_total(peak);
    stage_interval(w, out, &saved, peak->working_set);
}
