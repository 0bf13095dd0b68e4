/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/timing.h"

#include <math.h>

/* Passes: alltoall permutes, and sorts by local expert after the exchange, each read and written,
   there and back (8); DeepEP copies from and to its buffers (4); HybridEP fuses both (2).
   Operations and waits: counted in megatron/core/transformer/moe/token_dispatcher.py. */
static const struct dispatch_law laws[] = {
    [DISPATCH_ALLGATHER] = {.passes = 8, .prepare_ops = 12, .move_ops = 20, .syncs = 1},
    [DISPATCH_ALLTOALL] = {.passes = 8, .prepare_ops = 24, .move_ops = 30, .syncs = 3},
    [DISPATCH_DEEPEP] =
        {.once = true, .added = true, .passes = 4, .prepare_ops = 8, .move_ops = 16},
    [DISPATCH_HYBRIDEP] = {.once = true, .passes = 2, .prepare_ops = 6, .move_ops = 12, .syncs = 1},
    [DISPATCH_TORCH] = {.passes = 8, .prepare_ops = 24, .move_ops = 30, .syncs = 3},
};

/* Links and copies in one law for H800, H100 and GB200 (arXiv 2603.07685 table 7; DeepEP README:
   153-158 GB/s inside an H800 node). Between domains NCCL stages its point-to-point traffic in
   buffers of its own. */
static struct dispatch_law law_of(const struct coefficients *f, enum dispatcher dispatcher)
{
    struct dispatch_law law = laws[dispatcher];
    bool deepep = dispatcher == DISPATCH_DEEPEP, hybridep = dispatcher == DISPATCH_HYBRIDEP;
    law.nvlink = deepep ? f->deepep_nvlink : hybridep ? f->hybridep_nvlink : f->nccl_nvlink;
    law.sm_bytes_per_s = 1e9 * (deepep     ? f->deepep_copy_gb_per_s
                                : hybridep ? f->hybridep_copy_gb_per_s
                                           : f->nccl_copy_gb_per_s);
    if (!deepep && !hybridep) law.proxy_bytes_per_s = 1e9 * f->nccl_staging_gb_per_s;
    if (deepep) law.syncs = f->deepep_syncs;
    return law;
}

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
   capacity c drops tokens, by more with the square of c - 1, up to a bound. */
static double load(const struct timing *t, const struct knobs *k)
{
    double over = fmax(k->capacity_factor - 1, 0);
    if (k->pad_to_capacity && k->capacity_factor > 0) return fmax(1, k->capacity_factor);
    if (k->force_balance) return 1;
    if (k->capacity_factor <= 0) return t->f.imbalance;
    return fmin(1 + t->f.capacity_imbalance * over * over, t->f.capacity_imbalance_most);
}

/* Peak rate and operand size of the precision; a chip without the mode computes in 16 bit. */
static void set_precision(struct timing *t)
{
    const struct machine *m = &t->config->machine;
    enum precision p = t->config->knobs.precision;
    double slow = p == PREC_FP32 ? 0.5 : 1; /* TF32: half the BF16 peak on every data sheet */
    t->rate_16 = m->peak_bf16 * t->f.gemm_bf16 * slow;
    t->low = p >= PREC_FP8_DELAYED && m->peak_fp8 > 0;
    bool fp4 = p == PREC_NVFP4 && m->peak_fp4 > 0;
    double scaled = p == PREC_MXFP8 || p == PREC_FP8_BLOCKWISE ? t->f.gemm_block_scaled : 1;
    double rate_8 = m->peak_fp8 * t->f.gemm_fp8 * scaled;
    t->rate_low = !t->low ? t->rate_16 : fp4 ? m->peak_fp4 * t->f.gemm_fp4 : rate_8;
    t->peak = !t->low ? m->peak_bf16 : fp4 ? m->peak_fp4 : m->peak_fp8;
    t->peak_name = !t->low ? "BF16" : fp4 ? "FP4" : "FP8";
    t->low_bytes = !t->low ? 2 : fp4 ? 0.5 : 1;
    double eight = 4; /* FP8: 2 bytes read, 1 by rows and 1 by columns written */
    t->quantise_bytes = !t->low ? 0 : fp4 ? eight * t->f.quantise_fp4 : eight;
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
    struct timing t = {.config = c, .f = coefficients_of(&c->machine)};
    t.law = law_of(&t.f, k->dispatcher);
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
