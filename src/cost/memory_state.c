/* SPDX-License-Identifier: Apache-2.0 */
/* Static state of a stage: parameters, gradients, optimizer states, buffers, and what FSDP gathers.
 */
#include "base/larger.h"
#include "cost/memory_stage.h"
#include "plan/framework.h"
#include "plan/peft.h"

#define MIB (1024.0 * 1024.0)

static bool sharded_parameters(const struct knobs *k)
{
    return k->fsdp == FSDP_OPTIM_GRADS_PARAMS || k->fsdp == FSDP_FSDP2;
}

static bool sharded_gradients(const struct knobs *k)
{
    return sharded_parameters(k) || k->fsdp == FSDP_OPTIM_GRADS;
}

static bool sharded_optimizer(const struct knobs *k)
{
    return k->distributed_optimizer || k->layer_wise_optimizer || sharded_gradients(k) ||
           k->fsdp == FSDP_OPTIM;
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

/* Frozen weights have no transposes to keep for a weight gradient: they are made for the backward's
   product, and how long they stay differs by release (coefficient frozen_transposes). */
static bool makes_transposes(const struct memory_work *w)
{
    const struct knobs *k = &w->c->knobs;
    bool whole = k->precision == PREC_FP8_DELAYED || k->precision == PREC_FP8_TENSORWISE;
    return whole && w->c->machine.compute_capability < 10 && k->fp8_param_gather &&
           !knobs_trains_language(k);
}

double state_frozen_transposes(const struct memory_work *w, const struct holding *s)
{
    bool whole = makes_transposes(w) && !sharded_parameters(&w->c->knobs);
    return whole ? s->quantised + s->expert_matrices : 0;
}

/* Scales are no parameters: sharding leaves them where they are. */
static double packed_parameters(const struct knobs *k, const struct holding *s, double shards,
                                struct cost_trace *trace)
{
    if (s->packed <= 0) return 0;
    double each = packed_bytes(k), scales = packed_scale_bytes(k);
    const char *name = k->four_bit ? "parameters in 4 bits" : "parameters in 8 bits";
    double sum = trace_term(trace, name, each * s->packed / shards, "%.2g B x %.0f / %.0f", each,
                            s->packed, shards);
    if (scales <= 0) return sum;
    return sum + trace_term(trace, "scales of 4-bit parameters", scales * s->packed,
                            "%.4g B x %.0f", scales, s->packed);
}

static double quantised_elements(const struct knobs *k, const struct holding *s)
{
    if (k->fsdp == FSDP_FSDP2) return s->expert_matrices;
    return sharded_parameters(k) ? 0 : s->quantised + s->expert_matrices;
}

double state_quantised_set(const struct memory_work *w, const struct holding *s)
{
    const struct knobs *k = &w->c->knobs;
    bool sets = k->fsdp == FSDP_FSDP2 && knobs_quantised(k);
    return sets ? quantised_weight_bytes(w->c) * s->expert_matrices : 0;
}

/* Parameters: 2 B (4 B in fp32). Quantised recipes keep FP8 copies of GEMM weights beside them for
   all microbatches of a step, or instead of them with fp8_param_gather. Megatron-FSDP gathers and
   quantises anew, so only its shards count; AutoModel quantises the experts' weights once a step
   and keeps the copies (nemo_automodel/components/models/common/utils.py:591 is_first_microbatch),
   in its measured runs more than one set of them. */
double state_parameters(const struct memory_work *w, const struct holding *s,
                        struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double bytes = k->precision == PREC_FP32 ? 4 : 2, shards = 1, expert_shards = 1;
    if (sharded_parameters(k)) shards = w->dense_shards, expert_shards = w->expert_shards;
    double wide = s->dense - s->packed;
    double sum = trace_term(trace, "parameters, dense", bytes * wide / shards,
                            "%.0f B x %.0f / %.0f", bytes, wide, shards);
    sum += packed_parameters(k, s, shards, trace);
    sum += trace_term(trace, "parameters, experts", bytes * s->experts / expert_shards,
                      "%.0f B x %.0f / %.0f", bytes, s->experts, expert_shards);
    double copied = quantised_elements(k, s);
    if (knobs_quantised(k)) {
        double extra = quantised_weight_bytes(w->c) - (k->fp8_param_gather ? bytes : 0);
        if (makes_transposes(w)) extra -= 1 - w->x.frozen_transposes.value;
        if (state_quantised_set(w, s) > 0) extra *= w->x.quantised_sets.value;
        sum +=
            trace_term(trace, "quantised weights", extra * copied, "%.4g B x %.0f", extra, copied);
    }
    double adapters = s->adapters / shards + s->expert_adapters / expert_shards;
    if (adapters > 0)
        sum += trace_term(trace, "adapters", bytes * adapters, "%.0f B x %.0f", bytes, adapters);
    return sum;
}

double state_gradients(const struct memory_work *w, const struct holding *s,
                       struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double dense = s->trained, experts = s->trained_experts, shards = 1, expert_shards = 1;
    if (sharded_gradients(k)) shards = w->dense_shards, expert_shards = w->expert_shards;
    return trace_term(trace, "gradients, dense", k->grad_bytes * dense / shards,
                      "%d B x %.0f / %.0f", k->grad_bytes, dense, shards) +
           trace_term(trace, "gradients, experts", k->grad_bytes * experts / expert_shards,
                      "%d B x %.0f / %.0f", k->grad_bytes, experts, expert_shards);
}

void state_place(struct memory_work *w)
{
    const struct knobs *k = &w->c->knobs;
    bool instanced = k->fsdp == FSDP_NONE && k->optimizer_instances > 1;
    double instances = instanced ? k->optimizer_instances : 1;
    bool any = sharded_optimizer(k);
    w->optimizer_shards = any ? larger(w->dense_shards / instances, 1) : 1;
    w->expert_optimizer_shards = any ? larger(w->expert_shards / instances, 1) : 1;
}

/* Bytes of main parameter and moments on the GPU, an element. CPU offload moves that fraction of
   the moments; the fp32 main parameter's shard stays whole (Qwen3-30B at 0, 25, ... 100 %: 3.8 GB a
   step of 25 %, 8 bytes an element in all). */
static double state_bytes(const struct knobs *k, double moments)
{
    bool whole = k->optimizer_offload > 0 || !knobs_keeps_remainder(k);
    return (whole ? k->main_param_bytes : 2) + (1 - k->optimizer_offload) * moments;
}

/* Optimizer states: main parameter, first and second moment; Muon keeps one moment of a matrix and
   leaves vectors, embedding and head to Adam. */
double state_optimizer(const struct memory_work *w, const struct holding *s,
                       struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double dense = s->trained, experts = s->trained_experts;
    double shards = w->optimizer_shards, expert_shards = w->expert_optimizer_shards;
    double adam = state_bytes(k, k->exp_avg_bytes + k->exp_avg_sq_bytes);
    double matrix = k->muon ? state_bytes(k, k->exp_avg_bytes) : adam;
    bool apart = matrix < adam && knobs_trains_language(k);
    double matrices = apart ? s->matrices : 0, expert_matrices = apart ? s->expert_matrices : 0;
    double sum = adam * (dense - matrices) + matrix * matrices;
    double expert_sum = adam * (experts - expert_matrices) + matrix * expert_matrices;
    return trace_term(trace, "optimizer states, dense", sum / shards,
                      "(%.4g B x %.0f + %.4g B x %.0f) / %.0f", adam, dense - matrices, matrix,
                      matrices, shards) +
           trace_term(trace, "optimizer states, experts", expert_sum / expert_shards,
                      "(%.4g B x %.0f + %.4g B x %.0f) / %.0f", adam, experts - expert_matrices,
                      matrix, expert_matrices, expert_shards);
}

/* PyTorch's Adam takes all parameters at once, unless it is told otherwise or ranks split tensors
   (components/optim/optimizer.py _foreach_for_mesh), and has the root of every second moment
   beside them (torch/optim/adam.py _multi_tensor_adam). */
static double foreach_transient(const struct memory_work *w, const struct holding *s,
                                struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (k->steps_singly || k->tp > 1 || k->muon || k->optimizer_offload > 0) return 0;
    double elements = s->trained / w->dense_shards + s->trained_experts / w->expert_shards;
    return trace_term(trace, "roots of the second moments", k->exp_avg_sq_bytes * elements,
                      "%d B x %.0f", k->exp_avg_sq_bytes, elements);
}

/* Transient of the optimizer step: an fp32 copy of bf16 gradients where the optimizer is not
   precision-aware, and Transformer Engine's fused Adam turns every low-precision state of one
   parameter group into fp32 at a time. */
double state_step_transient(const struct memory_work *w, const struct holding *s,
                            struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double shards = w->optimizer_shards, expert_shards = w->expert_optimizer_shards;
    double dense = s->trained, experts = s->trained_experts, kept = 1 - k->optimizer_offload;
    if (k->fsdp == FSDP_FSDP2) return foreach_transient(w, s, trace);
    if (!k->precision_aware) {
        if (k->grad_bytes >= 4) return 0;
        double elements = dense / shards + experts / expert_shards;
        return trace_term(trace, "fp32 copy of gradients", kept * 4 * elements, "%.2g x 4 B x %.0f",
                          kept, elements);
    }
    double part = w->x.adam_expansion.value;
    int low = (k->exp_avg_bytes < 4) + (k->exp_avg_sq_bytes < 4) + (k->main_param_bytes < 4);
    double largest = larger(dense / shards, experts / expert_shards);
    return trace_term(trace, "fp32 expansion of optimizer states", part * kept * 4 * low * largest,
                      "%.2g x 4 B x %d x %.0f", part * kept, low, largest);
}

/* ---- buffers ---- */

/* FSDP2's gathered parameters: two layers beside the root unit, or all of them where nothing is
   resharded before the backward (the default of AutoModel's MoE path:
   nemo_automodel/components/moe/parallelizer.py:646). Experts have a shard group of their own. */
static double gathered_parameters(const struct memory_work *w, const struct holding *s,
                                  struct cost_trace *trace)
{
    bool dense = w->dense_shards > 1, experts = w->expert_shards > 1;
    double packed = 1 - packed_bytes(&w->c->knobs) / 2; /* what an element lacks of a wide one */
    if (!knobs_reshards(&w->c->knobs)) {
        double elements = (dense ? s->dense - packed * s->packed : 0) + (experts ? s->experts : 0);
        return trace_term(trace, "gathered parameters", 2 * elements, "2 B x %.0f", elements);
    }
    double unit =
        (dense ? s->unit_dense - packed * s->unit_packed : 0) + (experts ? s->unit_experts : 0);
    double root = dense ? s->root : 0;
    return trace_term(trace, "gathered parameters", 2 * root + 2 * 2 * unit,
                      "2 B x %.0f + 2 x 2 B x %.0f", root, unit);
}

/* FSDP's working set. Megatron-FSDP holds two layers' parameters and whole gradients beside the
   root unit (double buffering). A group of one rank gathers nothing. */
double state_gathered(const struct memory_work *w, const struct holding *s,
                      struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    if (!sharded_parameters(k)) return 0;
    if (k->fsdp == FSDP_FSDP2) return gathered_parameters(w, s, trace);
    double root = w->dense_shards > 1 ? 2 * s->root : 0;
    double unit = s->unit_dense + s->unit_experts;
    double bytes = 2 + (knobs_trains_language(k) ? k->grad_bytes : 0);
    return trace_term(trace, "FSDP working set", root + 2 * bytes * unit,
                      "%.0f B + 2 x %.0f B x %.0f", root, bytes, unit);
}

/* PyTorch's schedule has a tensor to receive each microbatch of a pass, to and fro, at each chunk
   (torch/distributed/pipelining/stage.py: args_recv_info, grad_recv_info). Those in flight count
   among what their chunk's first layer keeps. */
static double schedule_buffers(const struct memory_work *w, const struct holding *s,
                               struct cost_trace *trace)
{
    const struct knobs *k = &w->c->knobs;
    double n = (double)knobs_scheduled(k), in_flight[LAYOUT_MAX_CHUNKS], tensors = 0;
    pipeline_in_flight(k, s->stage, in_flight);
    for (int v = 0; v < k->vpp; v++) {
        bool first = v == 0 && s->first, last = v == k->vpp - 1 && s->last;
        tensors += (first ? 0 : n - in_flight[v]) + (last ? 0 : n);
    }
    double width = w->c->model.hidden;
    return trace_term(trace, "receive tensors of the schedule",
                      tensors * 2 * w->t.sp_tokens * width, "%.0f x 2 B x %.0f x %.0f", tensors,
                      w->t.sp_tokens, width);
}

/* Receive and send tensors of the pipeline: two of each. */
static double pipeline_buffers(const struct memory_work *w, const struct holding *s,
                               struct cost_trace *trace)
{
    if (w->c->knobs.pp == 1) return 0;
    if (config_has_schedule(w->c)) return schedule_buffers(w, s, trace);
    double width = w->c->model.hidden;
    return trace_term(trace, "pipeline receive and send", 2 * 2 * w->t.sp_tokens * width,
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
    return trace_term(trace, "gathered input of the head", 2 * w->t.tokens * width,
                      "2 B x %.0f x %.0f", w->t.tokens, width);
}

/* The largest linear of a layer on this rank. */
static double largest_linear(const struct memory_work *w)
{
    double largest = 0;
    for (int i = 0; i < w->c->model.n_kinds; i++)
        for (int j = 0; j < w->kinds[i].n_gemms; j++) {
            const struct gemm *g = &w->kinds[i].gemms[j];
            if (!g->grouped) largest = larger(largest, g->rows * g->columns);
        }
    return largest;
}

/* A packed weight is wide for as long as its product takes. */
static double widened(const struct memory_work *w, const struct holding *s,
                      struct cost_trace *trace)
{
    if (s->packed <= 0) return 0;
    double elements = largest_linear(w);
    return trace_term(trace, "packed weight made wide", 2 * elements, "2 B x %.0f", elements);
}

/* Each GPU loads the whole model, which is then sharded and its stages cut out
   (_transformers/model_init.py _setup_bnb_loading_kwargs: device_map of one's own GPU). */
double state_loading(const struct memory_work *w, const struct holding *s, struct cost_trace *trace)
{
    const struct model_shape *m = &w->c->model;
    const struct knobs *k = &w->c->knobs;
    double packed = 0;
    if (!knobs_packs(k)) return 0;
    struct param_counts n = model_params(m);
    for (int i = 0; i < m->num_layers; i++)
        packed += layer_packed(w->c, m->kinds[m->layers[i]]);
    packed *= k->tp; /* parts of a linear add up to it */
    double wide = (double)(n.total + n.vision) - packed;
    double each = packed_bytes(k) + packed_scale_bytes(k);
    double more = 2 * wide + each * packed - state_parameters(w, s, NULL);
    return trace_term(trace, "whole model while it is loaded, beyond the shard", larger(more, 0),
                      "2 B x %.0f + %.4g B x %.0f - parameters", wide, each, packed);
}

double state_buffers(const struct memory_work *w, const struct holding *s, struct cost_trace *trace)
{
    return trace_term(trace, "GEMM workspaces", w->workspace, "%.5g MiB", w->workspace / MIB) +
           trace_term(trace, "dummy weight gradients", s->dummies, "2 B x distinct weight shapes") +
           pipeline_buffers(w, s, trace) + head_gather_buffer(w, s, trace) + widened(w, s, trace);
}
