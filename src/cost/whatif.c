/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/whatif.h"

/* One decision: changes the knobs, or says that there is nothing to change. */
typedef bool change_fn(struct knobs *k, const struct model_shape *m, int argument);

static bool recompute_also(struct knobs *k, const struct model_shape *m, int modules)
{
    bool full = k->recompute == RECOMPUTE_FULL;
    uint32_t all = k->recompute_modules | (uint32_t)modules;
    bool moe = m->experts > 0, needs_moe = modules & (MOD_MOE | MOD_MOE_ACT | MOD_SHARED_EXPERTS);
    bool automodel = k->fsdp == FSDP_FSDP2 || k->fsdp == FSDP_DDP; /* knows no modules */
    if (full || automodel || all == k->recompute_modules || (needs_moe && !moe)) return false;
    if ((modules & MOD_MLA_UP_PROJ) && !m->mla) return false;
    if ((modules & MOD_SHARED_EXPERTS) && m->shared_ffn == 0) return false;
    k->recompute = RECOMPUTE_SELECTIVE;
    k->recompute_modules = all;
    return true;
}

static bool recompute_full(struct knobs *k, const struct model_shape *m, int argument)
{
    (void)m, (void)argument;
    if (k->recompute == RECOMPUTE_FULL) return false;
    k->recompute = RECOMPUTE_FULL;
    k->recompute_method = METHOD_UNIFORM;
    k->recompute_num_layers = 1;
    k->recompute_modules = 0;
    return true;
}

static bool smaller_microbatch(struct knobs *k, const struct model_shape *m, int divisor)
{
    (void)m;
    if (k->mbs % divisor != 0) return false;
    k->mbs /= divisor;
    return true;
}

/* A degree times `factor`; the GPUs stay, so data parallelism gives them. */
static bool grow(int *degree, int factor)
{
    if (*degree > (1 << 20) / factor) return false;
    *degree *= factor;
    return true;
}

static bool more_tensor(struct knobs *k, const struct model_shape *m, int factor)
{
    if (!grow(&k->tp, factor) || m->heads % k->tp != 0) return false;
    k->sequence_parallel = true;
    return true;
}

static bool more_pipeline(struct knobs *k, const struct model_shape *m, int factor)
{
    k->layout = k->first_stage_layers = k->last_stage_layers = 0;
    return grow(&k->pp, factor) && k->pp <= m->num_layers;
}

static bool more_context(struct knobs *k, const struct model_shape *m, int factor)
{
    (void)m;
    return grow(&k->cp, factor) && k->seq % (2 * k->cp) == 0;
}

static bool more_expert(struct knobs *k, const struct model_shape *m, int factor)
{
    return grow(&k->ep, factor) && m->experts > 0 && m->experts % k->ep == 0;
}

static bool fewer_chunks(struct knobs *k, const struct model_shape *m, int argument)
{
    (void)m, (void)argument;
    if (k->vpp == 1 || k->layout != 0) return false;
    k->vpp = 1;
    return true;
}

static bool shard_optimizer(struct knobs *k, const struct model_shape *m, int argument)
{
    (void)m, (void)argument;
    if (k->distributed_optimizer || k->fsdp != FSDP_NONE || k->layer_wise_optimizer) return false;
    k->distributed_optimizer = true;
    return true;
}

/* bf16 gradients and moments, the main parameter as the bf16 parameter's remainder. */
static bool small_optimizer(struct knobs *k, const struct model_shape *m, int argument)
{
    (void)m, (void)argument;
    if (k->precision_aware || k->muon || k->fsdp != FSDP_NONE || !k->distributed_optimizer)
        return false;
    k->precision_aware = true;
    k->grad_bytes = k->exp_avg_bytes = k->exp_avg_sq_bytes = 2;
    k->main_param_remainder = !k->fp8_param_gather;
    k->main_param_bytes = k->main_param_remainder ? 2 : 4;
    return true;
}

static bool offload_optimizer(struct knobs *k, const struct model_shape *m, int percent)
{
    (void)m;
    if (k->optimizer_offload >= percent / 100.0 || k->fsdp != FSDP_NONE || k->muon) return false;
    k->optimizer_offload = percent / 100.0;
    return true;
}

static bool fuse_loss(struct knobs *k, const struct model_shape *m, int argument)
{
    (void)m, (void)argument;
    if (k->ce_fusion == CE_TE || k->ce_fusion == CE_LINEAR || k->fsdp == FSDP_FSDP2) return false;
    k->ce_fusion = CE_TE;
    return true;
}

static const struct {
    change_fn *apply;
    int argument;
} changes[] = {
    {fuse_loss, 0},
    {shard_optimizer, 0},
    {recompute_also, MOD_LAYERNORM},
    {recompute_also, MOD_MOE_ACT},
    {recompute_also, MOD_MOE_ACT | MOD_LAYERNORM},
    {recompute_also, MOD_MLA_UP_PROJ},
    {recompute_also, MOD_SHARED_EXPERTS},
    {recompute_also, MOD_MLP},
    {recompute_also, MOD_MLA_UP_PROJ | MOD_MOE_ACT | MOD_LAYERNORM | MOD_MLP},
    {recompute_also, MOD_CORE_ATTN},
    {recompute_also, MOD_MOE},
    {recompute_full, 0},
    {small_optimizer, 0},
    {smaller_microbatch, 2},
    {smaller_microbatch, 4},
    {more_expert, 2},
    {more_expert, 4},
    {more_pipeline, 2},
    {more_pipeline, 4},
    {more_tensor, 2},
    {more_tensor, 4},
    {more_context, 2},
    {more_context, 4},
    {fewer_chunks, 0},
    {offload_optimizer, 50},
    {offload_optimizer, 100},
};

static bool cheaper(const struct memory_change *a, const struct memory_change *b)
{
    if (a->fits != b->fits) return a->fits < b->fits;
    if (a->slower != b->slower) return a->slower < b->slower;
    return a->freed > b->freed;
}

/* Keeps the list in order and at its length. */
static int insert(struct memory_change out[WHATIF_CHANGES], int n, const struct memory_change *one)
{
    int at = n;
    while (at > 0 && cheaper(one, &out[at - 1]))
        at--;
    if (at == WHATIF_CHANGES) return n;
    if (n < WHATIF_CHANGES) n++;
    for (int i = n - 1; i > at; i--)
        out[i] = out[i - 1];
    out[at] = *one;
    return n;
}

int memory_cheapest_changes(const struct config *c, memory_change_filter *allow, void *context,
                            struct memory_change out[WHATIF_CHANGES])
{
    struct memory_estimate memory;
    struct time_estimate time;
    if (!memory_estimate(c, &memory, NULL) || memory.fits == FITS_YES) return 0;
    if (!time_estimate(c, &time, NULL)) return 0;
    double peak = memory.peak, step = time.step;
    int n = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct config next = *c;
        if (!changes[i].apply(&next.knobs, &next.model, changes[i].argument)) continue;
        if (!knobs_divide(&next.knobs) || (allow && !allow(&next, context))) continue;
        if (!memory_estimate(&next, &memory, NULL) || !time_estimate(&next, &time, NULL)) continue;
        if (memory.fits == FITS_NO || memory.peak >= peak) continue;
        struct memory_change one = {.knobs = next.knobs,
                                    .peak = memory.peak,
                                    .freed = peak - memory.peak,
                                    .slower = time.step / step,
                                    .fits = (int)memory.fits};
        n = insert(out, n, &one);
    }
    return n;
}
