/* SPDX-License-Identifier: Apache-2.0 */
#include "base/larger.h"
#include "cost/kernel.h"
#include "plan/framework.h"
#include "plan/ops.h"

#include <math.h>

/* Passes: alltoall permutes, and sorts by local expert after the exchange, each read and written,
   there and back (8); DeepEP copies from and to its buffers (4); HybridEP fuses both (2).
   Operations and waits: counted in megatron/core/transformer/moe/token_dispatcher.py. */
static const struct dispatch_law laws[] = {
    [DISPATCH_ALLGATHER] =
        {.gathers = true, .passes = 8, .prepare_ops = 12, .move_ops = 20, .syncs = 1},
    [DISPATCH_ALLTOALL] = {.passes = 8, .prepare_ops = 24, .move_ops = 30, .syncs = 3},
    [DISPATCH_DEEPEP] = {.once = true, .passes = 4, .prepare_ops = 8, .move_ops = 16},
    [DISPATCH_HYBRIDEP] = {.once = true, .passes = 2, .prepare_ops = 6, .move_ops = 12, .syncs = 1},
    [DISPATCH_TORCH] =
        {.gathers = true, .passes = 8, .prepare_ops = 24, .move_ops = 30, .syncs = 3},
};

/* SMs of DeepEP's and HybridEP's kernels unless a plan says otherwise
   (moe_flex_dispatcher_num_sms). */
static const double deepep_sms = 20, hybridep_sms = 16;

struct dispatch_law dispatch_law(const struct coefficients *f, const struct machine *m,
                                 enum dispatcher dispatcher, double sms)
{
    struct dispatch_law law = laws[dispatcher];
    bool deepep = dispatcher == DISPATCH_DEEPEP, hybridep = dispatcher == DISPATCH_HYBRIDEP;
    double part = deepep ? f->deepep_nvlink : hybridep ? f->hybridep_nvlink : f->nccl_nvlink;
    law.nvlink = part * m->nvlink_bytes_per_s;
    law.nic = (hybridep ? f->hybridep_nic : f->nic) * m->nic_bytes_per_s;
    law.inside = law.forward = law.move = INFINITY;
    law.across_s = f->dispatch_across_s;
    law.combine = 1;
    if (deepep) {
        law.own = f->deepep_own;
        law.inside = (sms > 0 ? sms : deepep_sms) * 1e9 * f->deepep_sm_gb_per_s;
        law.forward = law.inside * f->deepep_across_sm;
        law.combine = f->deepep_combine_sm;
        law.combine_s = f->deepep_combine_s;
        law.syncs = f->deepep_syncs;
    }
    if (hybridep) law.move = (sms > 0 ? sms : hybridep_sms) * 1e9 * f->hybridep_sm_gb_per_s;
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
    to->shared += times * x->shared;
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

/* Mean of the largest of 1, 2, 4, ... 1024 standard normal numbers. */
static const double largest[] = {0,     0.564, 1.029, 1.424, 1.766, 2.070,
                                 2.343, 2.594, 2.824, 3.039, 3.241};

/* Natural routing loads an expert by more or less than the mean; a rank has several, whose loads
   even out, and all ranks of an exchange wait for the hottest. One rank alone has the mean. */
static double hottest(const struct timing *t, const struct knobs *k)
{
    int most = sizeof largest / sizeof *largest - 1;
    double at = smaller(log2((double)k->ep), most);
    int below = (int)smaller(floor(at), most - 1);
    double beyond = largest[below] + (at - below) * (largest[below + 1] - largest[below]);
    double experts = larger(1, (double)t->config->model.experts / k->ep);
    return 1 + t->f.routing_spread * beyond / sqrt(experts);
}

/* Rows of the hottest rank. Experts padded to their capacity compute all of it; otherwise forced
   balance is even, and natural routing loads the hottest rank by a measured factor or, where a
   capacity c drops tokens, by more with the square of c - 1, up to a bound. */
static double load(const struct timing *t, const struct knobs *k)
{
    double over = larger(k->capacity_factor - 1, 0);
    if (k->pad_to_capacity && k->capacity_factor > 0) return larger(1, k->capacity_factor);
    if (k->force_balance) return 1;
    if (k->capacity_factor <= 0) return hottest(t, k);
    return smaller(1 + t->f.capacity_imbalance * over * over, t->f.capacity_imbalance_most);
}

static struct gemm_law law_16(const struct timing *t, double slow)
{
    return (struct gemm_law){.rate = t->config->machine.peak_bf16 * t->f.gemm_bf16 * slow,
                             .bytes = 2,
                             .memory = t->hbm,
                             .inner = t->f.gemm_inner,
                             .start_s = t->f.gemm_start_s};
}

/* Scaled by the tensor or by MXFP8's blocks of 32. */
static struct gemm_law law_fp8(const struct timing *t, bool mx)
{
    double scaled = mx ? t->f.gemm_mxfp8 : 1;
    return (struct gemm_law){.rate = t->config->machine.peak_fp8 * t->f.gemm_fp8 * scaled,
                             .bytes = 1,
                             .memory = t->hbm,
                             .inner = t->f.gemm_fp8_inner,
                             .start_s = t->f.gemm_fp8_start_s};
}

/* Scaled by blocks of 128 in kernels that add up in 32 bit outside of the tensor cores. */
static struct gemm_law law_block(const struct timing *t)
{
    return (struct gemm_law){.rate = t->config->machine.peak_fp8 * t->f.gemm_block,
                             .bytes = 1,
                             .memory = t->hbm / t->f.gemm_block_traffic,
                             .inner = t->f.gemm_block_inner,
                             .start_s = t->f.gemm_block_start_s};
}

/* Four bits, and a scale of eight for sixteen of them. */
static struct gemm_law law_fp4(const struct timing *t)
{
    double rate = t->config->machine.peak_fp4 * t->f.gemm_fp4 * t->f.gemm_fp4_training;
    return (struct gemm_law){.rate = rate,
                             .bytes = 0.5625,
                             .memory = t->hbm / t->f.gemm_fp4_traffic,
                             .inner = t->f.gemm_fp4_inner,
                             .start_s = t->f.gemm_fp4_start_s};
}

static struct gemm_law grouped(struct gemm_law law, double rate, double inner)
{
    law.rate *= rate;
    law.inner = inner;
    return law;
}

/* The laws of the precision; a chip without the mode computes in 16 bit. */
static void set_precision(struct timing *t)
{
    const struct machine *m = &t->config->machine;
    const struct coefficients *f = &t->f;
    enum precision p = t->config->knobs.precision;
    double slow = p == PREC_FP32 ? 0.5 : 1; /* TF32: half the BF16 peak on every data sheet */
    bool fp4 = p == PREC_NVFP4 && m->peak_fp4 > 0, block = p == PREC_FP8_BLOCKWISE;
    t->low = p >= PREC_FP8_DELAYED && m->peak_fp8 > 0;
    t->tail = f->gemm_tail * m->sms * 128 * 256; /* elements of a tile */
    t->gemm_16 = law_16(t, slow);
    t->grouped_16 = grouped(t->gemm_16, f->grouped_training, f->gemm_inner);
    t->gemm_low = fp4 ? law_fp4(t) : block ? law_block(t) : law_fp8(t, p == PREC_MXFP8);
    double low = f->grouped_training_low;
    t->grouped_low = fp4     ? grouped(t->gemm_low, low * f->grouped_fp4, f->grouped_fp4_inner)
                     : block ? grouped(t->gemm_low, low * f->grouped_block, f->grouped_block_inner)
                             : grouped(t->gemm_low, low * f->grouped_fp8, f->grouped_fp8_inner);
    t->peak = !t->low ? m->peak_bf16 : fp4 ? m->peak_fp4 : m->peak_fp8;
    t->peak_name = !t->low ? "BF16" : fp4 ? "FP4" : "FP8";
    double part = fp4                        ? f->quantise_fp4
                  : block || p == PREC_MXFP8 ? f->quantise_mxfp8
                  : p == PREC_FP8_DELAYED    ? f->quantise_delayed
                                             : 1;
    t->quantise_bytes = t->low ? f->quantise * part : 0;
    t->host_op_s = f->host_op_s * (t->low && p == PREC_FP8_DELAYED ? f->delayed_host : 1);
    t->experts_only = t->low && config_traits(t->config)->low_experts_only;
}

/* The whole MoE layer has its parts in it. */
uint32_t timing_repeated(const struct knobs *k)
{
    uint32_t modules = k->recompute == RECOMPUTE_SELECTIVE ? k->recompute_modules : 0;
    return modules & MOD_MOE ? modules & ~(uint32_t)(MOD_MOE_ACT | MOD_SHARED_EXPERTS) : modules;
}

struct timing timing_of(const struct config *c)
{
    return timing_of_known(c, NULL);
}

struct timing timing_of_known(const struct config *c, struct known_kernels *known)
{
    const struct knobs *k = &c->knobs;
    struct timing t = {
        .config = c, .f = known ? known->f : coefficients_of(&c->machine), .known = known};
    t.law = dispatch_law(&t.f, &c->machine, k->dispatcher, k->exchange_sms);
    t.tokens = (double)k->mbs * k->seq / k->cp;
    t.tokens_rank = t.tokens / config_sharers(c);
    t.tokens_pass = k->sequence_parallel ? t.tokens / k->tp : t.tokens;
    t.load = load(&t, k);
    t.routed = t.tokens_rank * c->model.topk * k->etp;
    t.hbm = c->machine.hbm_bytes_per_s * t.f.hbm_stream;
    set_precision(&t);
    t.rows = experts_filled_up(c, t.low, t.routed * t.load);
    t.wgrad_bytes = 2 * config_grad_bytes(c); /* read and written */
    int domain = c->machine.nvlink_domain;
    t.domain = k->gpus < domain ? (int)k->gpus : domain;
    t.captured = knobs_captured(k);
    t.paced = c->machine.paced_model.n > 0 && str_eq(c->machine.paced_model, c->model.name);
    t.repeated = timing_repeated(k);
    if (k->capacity_factor > 0)
        t.law.prepare_ops = 12, t.law.move_ops = 20, t.law.syncs = 0; /* static shapes */
    if (k->ep == 1) t.law.passes = smaller(t.law.passes, 4); /* no exchange: no sort after it */
    return t;
}
