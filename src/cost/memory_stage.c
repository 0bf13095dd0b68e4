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
    if (quantised(k) && !sharded_parameters(k)) {
        double extra = quantised_weight_bytes(w->c) - (k->fp8_param_gather ? bytes : 0);
        double matrices = s->matrices + s->expert_matrices;
        sum += term(trace, "quantised weights", extra * matrices, "%.4g B x %.0f", extra, matrices);
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

/* FSDP's working set: two layers gathered and, in Megatron-FSDP, two layers' whole gradients,
   beside the root unit. A group of one rank gathers nothing. */
static double fsdp_working_set(const struct memory_work *w, const struct holding *s,
                               struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!sharded_parameters(k)) return 0;
    double root = w->dense_shards > 1 ? 2 * s->root : 0;
    if (k->fsdp == FSDP_FSDP2) {
        double unit = s->unit_dense + (w->expert_shards > 1 ? s->unit_experts : 0);
        if (!k->reshard_after_forward)
            return term(trace, "gathered parameters", 2 * s->dense, "2 B x %.0f", s->dense);
        return term(trace, "FSDP working set", root + 2 * 2 * unit, "%.0f B + 2 x 2 B x %.0f", root,
                    unit);
    }
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

static double buffers(const struct memory_work *w, const struct holding *s,
                      struct cost_trace *trace)
{
    return term(trace, "GEMM workspaces", w->workspace, "%.5g MiB", w->workspace / MIB) +
           term(trace, "dummy weight gradients", s->dummies, "2 B x distinct weight shapes") +
           pipeline_buffers(w, trace);
}

/* ---- activations ---- */

/* Layers of a chunk that whole-layer recomputation covers: all, or under the block method the first
   n. Those of the uniform method keep one input for n layers. */
static double chunk_activations(const struct memory_work *w, const struct chunk *chunk,
                                double *routed)
{
    const struct knobs *k = &w->c->knobs;
    double bytes = 0, scale = 0;
    *routed = 0;
    for (int i = 0; i < w->c->model.n_kinds; i++) {
        bytes += chunk->counts[i] * w->kinds[i].kept;
        *routed += chunk->counts[i] * w->kinds[i].routed;
    }
    if (k->recompute != RECOMPUTE_FULL || chunk->layers == 0) return bytes;
    double layers = chunk->layers, n = k->recompute_num_layers, inputs = 0;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        inputs += chunk->counts[i] * w->kinds[i].input;
    if (k->recompute_method == METHOD_BLOCK) {
        scale = n > 0 && n < layers ? n / layers : 1;
        *routed *= 1 - scale;
        return scale * inputs + (1 - scale) * bytes;
    }
    *routed = 0;
    return n > 1 ? inputs * ceil(layers / n) / layers : inputs;
}

/* Microbatches in flight times what one keeps, summed over the stage's chunks. CPU offloading of
   whole layers takes the activations of that many layers of the stage away. */
static double activations(const struct memory_work *w, int stage, const struct holding *s,
                          double *routed, struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double in_flight[LAYOUT_MAX_CHUNKS], sum = 0, layers = 0;
    *routed = 0;
    pipeline_in_flight(k, stage, in_flight);
    for (int v = 0; v < k->vpp; v++) {
        const struct chunk *chunk = stage_chunk(w, stage, v);
        double mine, bytes = chunk_activations(w, chunk, &mine);
        layers += chunk->layers;
        bytes += chunk->mtp * w->mtp.kept;
        if (chunk->embedding && w->c->model.hidden_dropout > 0)
            bytes += w->t.sp_tokens * w->c->model.hidden;
        sum += term(trace, "activations of a chunk", in_flight[v] * bytes,
                    "%.0f microbatches x %.0f B in %d layers", in_flight[v], bytes, chunk->layers);
        *routed += in_flight[v] * (mine + chunk->mtp * w->mtp.routed);
    }
    (void)s;
    if (k->layers_offloaded == 0 || layers == 0) return sum;
    double gone = k->layers_offloaded < layers ? k->layers_offloaded / layers : 1;
    *routed *= 1 - gone;
    return sum + term(trace, "activations offloaded", -gone * sum, "%.3g x %.0f B", gone, sum);
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
    double dummy = te || k->grad_accumulation_fusion ? 2 * w->embedding : 0;
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
    double transient, activations, logits, optimizer;
    char name;
};

static double phase_total(const struct phase *p)
{
    return p->transient + p->activations + p->logits + p->optimizer;
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

static void stage_interval(const struct memory_work *w, struct stage_memory *m, double routed,
                           double working_set)
{
    const struct knobs *k = &w->c->knobs;
    struct spread s = {0};
    spread_add(&s, m->total, w->model);
    if (!k->force_balance) spread_add(&s, routed, w->imbalance);
    if (quantised(k)) spread_add(&s, m->activations, w->activations);
    if (k->graph_impl != GRAPH_NONE) spread_add(&s, m->activations, w->graphs);
    if (working_set > 0) spread_add(&s, working_set, w->working_set);
    m->low = m->total - sqrt(s.low);
    m->high = m->total + sqrt(s.high);
}

void stage_estimate(const struct memory_work *w, int stage, struct stage_memory *out,
                    struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    struct holding s = stage_holding(w, stage);
    double routed, params = parameters(w, &s, trace), grads = gradients(w, &s, trace);
    double states = optimizer(w, &s, trace), fixed = buffers(w, &s, trace);
    double set = fsdp_working_set(w, &s, trace), saved = activations(w, stage, &s, &routed, trace);
    double resident = k->offload_optimizer_states ? 0 : states;
    double loss = logits(w, &s, trace);
    struct phase phases[] = {
        {head_transient(w, &s, trace), saved, loss, resident, 'A'},
        {layer_transient(w, &s, trace), saved, 0, resident, 'B'},
        {step_transient(w, &s, trace), 0, 0, states, 'C'},
    };
    const struct phase *peak = &phases[0];
    for (int i = 1; i < 3; i++)
        if (phase_total(&phases[i]) > phase_total(peak)) peak = &phases[i];
    *out = (struct stage_memory){.params = params,
                                 .grads = grads,
                                 .optimizer = peak->optimizer,
                                 .activations = peak->activations,
                                 .logits = peak->logits,
                                 .buffers = fixed + set + peak->transient,
                                 .phase = peak->name};
    out->total = params + grads + fixed + set + phase_total(peak);
    stage_interval(w, out, peak->activations > 0 ? routed : 0, set);
}
