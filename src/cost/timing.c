/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/timing.h"

#include <math.h>

/* Link efficiency and copy rate fit H800, H100 and GB200 measurements with one law (arXiv
   2603.07685 table 7; DeepEP README: 153-158 GB/s inside an H800 node). Passes: alltoall permutes,
   and sorts by local expert after the exchange; DeepEP copies from and to its buffers; HybridEP
   fuses both. Between domains NCCL stages its point-to-point traffic in buffers of its own, which
   an 800 Gbit/s NIC shows and a 400 Gbit/s one hides. Operations: counted in
   megatron/core/transformer/moe/token_dispatcher.py. */
static const struct dispatch_law laws[] = {
    [DISPATCH_ALLGATHER] = {false, false, 0.85, 1900e9, 200e9, 8, 12, 20, 1},
    [DISPATCH_ALLTOALL] = {false, false, 0.85, 1900e9, 200e9, 8, 24, 30, 3},
    [DISPATCH_DEEPEP] = {true, true, 0.85, 1300e9, 0, 4, 8, 16, 1.5},
    [DISPATCH_HYBRIDEP] = {true, false, 0.95, 4000e9, 0, 2, 6, 12, 1},
    [DISPATCH_TORCH] = {false, false, 0.85, 1900e9, 200e9, 8, 24, 30, 3},
};

void pass_add(struct pass *to, const struct pass *x, double times)
{
    to->gemm += times * x->gemm;
    to->grouped += times * x->grouped;
    to->attention += times * x->attention;
    to->memory += times * x->memory;
    to->quantise += times * x->quantise;
    to->scan += times * x->scan;
    to->ep += times * x->ep;
    to->tp += times * x->tp;
    to->cp += times * x->cp;
    to->ops += times * x->ops;
    to->gpu_ops += times * x->gpu_ops;
}

void pass_add_since(struct pass *to, const struct pass *x, const struct pass *before)
{
    pass_add(to, x, 1);
    pass_add(to, before, -1);
}

double pass_kernels(const struct pass *x)
{
    return x->gemm + x->grouped + x->attention + x->memory + x->quantise + x->scan;
}

/* Rows of the hottest rank. Experts padded to their capacity compute all of it; otherwise forced
   balance is even, and natural routing loads the hottest rank by a measured factor or, where a
   capacity c drops tokens, by 1 + 0.05 (c - 1)^2 (Pai-Megatron-Patch, capacities 1 to 5), three at
   most. */
static double load(const struct timing *t, const struct knobs *k)
{
    double over = fmax(k->capacity_factor - 1, 0);
    if (k->pad_to_capacity && k->capacity_factor > 0) return fmax(1, k->capacity_factor);
    if (k->force_balance) return 1;
    return k->capacity_factor > 0 ? fmin(1 + 0.05 * over * over, 3) : t->f.imbalance;
}

/* Peak rate and operand size of the precision; a chip without the mode computes in 16 bit. */
static void set_precision(struct timing *t)
{
    const struct machine *m = &t->config->machine;
    enum precision p = t->config->knobs.precision;
    double slow = p == PREC_FP32 ? 0.5 : 1; /* TF32 */
    t->rate_16 = m->peak_bf16 * t->f.gemm_bf16 * slow;
    t->low = p >= PREC_FP8_DELAYED && m->peak_fp8 > 0;
    bool fp4 = p == PREC_NVFP4 && m->peak_fp4 > 0;
    double scaled = p == PREC_MXFP8 || p == PREC_FP8_BLOCKWISE ? t->f.gemm_block_scaled : 1;
    double rate_8 = m->peak_fp8 * t->f.gemm_fp8 * scaled;
    t->rate_low = !t->low ? t->rate_16 : fp4 ? m->peak_fp4 * t->f.gemm_fp4 : rate_8;
    t->peak = !t->low ? m->peak_bf16 : fp4 ? m->peak_fp4 : m->peak_fp8;
    t->peak_name = !t->low ? "BF16" : fp4 ? "FP4" : "FP8";
    t->low_bytes = !t->low ? 2 : fp4 ? 0.5 : 1;
    t->quantise_bytes = !t->low ? 0 : fp4 ? 6 : 4;
    t->experts_only = t->low && t->config->framework == FRAMEWORK_AUTOMODEL;
}

/* The whole MoE layer has its parts in it. */
static uint32_t repeated(const struct knobs *k)
{
    uint32_t modules = k->recompute == RECOMPUTE_SELECTIVE ? k->recompute_modules : 0;
    return modules & MOD_MOE ? modules & ~(uint32_t)(MOD_MOE_ACT | MOD_SHARED_EXPERTS) : modules;
}

struct timing timing_of(const struct config *c)
{
    const struct knobs *k = &c->knobs;
    struct timing t = {.config = c, .f = coefficients_of(&c->machine), .law = laws[k->dispatcher]};
    t.tokens = (double)k->mbs * k->seq / k->cp;
    t.tokens_rank = t.tokens / k->tp;
    t.tokens_pass = k->sequence_parallel ? t.tokens_rank : t.tokens;
    t.load = load(&t, k);
    t.rows = t.tokens_rank * c->model.topk * k->etp * t.load;
    t.hbm = c->machine.hbm_bytes_per_s * t.f.hbm_stream;
    set_precision(&t);
    bool narrow = c->framework == FRAMEWORK_AUTOMODEL || k->grad_bytes == 2;
    t.wgrad_bytes = narrow ? 4 : 8; /* read and written, 2 or 4 bytes each */
    int domain = k->nvlink_domain > 0 ? k->nvlink_domain : c->machine.nvlink_domain;
    t.domain = k->gpus < domain ? (int)k->gpus : domain;
    t.captured = knobs_captured(k);
    t.repeated = repeated(k);
    if (k->capacity_factor > 0)
        t.law.prepare_ops = 12, t.law.move_ops = 20, t.law.syncs = 0; /* static shapes */
    if (k->ep == 1) t.law.passes = fmin(t.law.passes, 4); /* no exchange: no sort after it */
    return t;
}
