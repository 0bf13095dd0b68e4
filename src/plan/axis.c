/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes that the search looks at. */
#include "plan/framework.h"
#include "plan/move.h"

enum {
    LONG_SEQUENCE = 8192,  /* tokens from which context parallelism is considered (guide S2.6) */
    SHORTEST_SHARD = 2048, /* tokens a context-parallel rank keeps at least: below, attention no
                              longer hides the ring */
    SHORTEST_OF_FEW = 256,
    MUCH_TENSOR = 4,  /* tensor-parallel ranks beside which short sequences are cut too */
    STATE_BYTES = 16, /* of a parameter: weight and gradient in bf16, the optimizer's in fp32 */
    MOST_VIRTUAL = 16,
    MOST_PASSES = 1024, /* of a pipeline's schedule in a step */
};

struct axis axis_of(int value)
{
    return (struct axis){1, {value}};
}

static void axis_add(struct axis *x, int value)
{
    if (x->n < AXIS_MAX_VALUES) x->values[x->n++] = value;
}

static bool is_fsdp(const struct knobs *k)
{
    return k->fsdp != FSDP_NONE;
}

/* Heads and KV heads a tensor-parallel rank can have: KV heads may be replicated in Megatron-core.
 */
static bool heads_divide(const struct model_shape *m, int tp)
{
    if (m->heads % tp) return false;
    return m->mla || m->groups % tp == 0 || tp % m->groups == 0;
}

/* Where tensor-parallel ranks repeat the experts' work, which is most of the model's, they are
   worth less than ranks with data of their own: no such size is looked at unless it is pinned. */
static bool tensor_is_worth_it(const struct config *base)
{
    return !base->model.experts || config_traits(base)->tensor_shares_experts;
}

struct axis axis_tp(const struct config *base, const struct knobs *k)
{
    struct axis x = {0};
    bool dense_only = !tensor_is_worth_it(base);
    for (int tp = 1; tp <= base->machine.nvlink_domain && tp <= k->gpus; tp *= 2) {
        if (k->gpus % tp || !heads_divide(&base->model, tp)) continue;
        if (tp > 1 && (k->fsdp == FSDP_DDP || dense_only)) break;
        if (base->model.dense_ffn % tp || base->model.shared_ffn % tp) continue;
        axis_add(&x, tp);
    }
    return x;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* GPUs that have to share a batch's sequence, as it does not divide among more. */
static int64_t left_by_batch(const struct knobs *k)
{
    return k->gpus / common_divisor(k->gpus, k->gbs);
}

/* Part of a GPU's memory that states take, were all of them divided among all GPUs, from which on
   activations may need more ranks than a short sequence asks for. */
static const double FULL = 1.0 / 3;

static bool is_full(const struct config *base)
{
    double all = STATE_BYTES * (double)model_params(&base->model).total;
    return all / (double)base->knobs.gpus > FULL * base->machine.capacity_bytes;
}

/* Where there is no tensor parallelism, nothing else divides a sequence's activations; where there
   is much of it, a ring of half as many ranks exchanges less. */
static bool cuts_short_ones(const struct config *base, const struct knobs *k)
{
    return !tensor_is_worth_it(base) || (k->tp >= MUCH_TENSOR && is_full(base));
}

struct axis axis_cp(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    int64_t few = k->gbs < k->gpus ? k->gpus : left_by_batch(k);
    bool is_long = k->seq >= LONG_SEQUENCE || cuts_short_ones(base, k);
    for (int64_t cp = 2; cp * k->tp <= k->gpus; cp *= 2) {
        int shortest = cp <= few ? SHORTEST_OF_FEW : SHORTEST_SHARD;
        if (k->seq / cp < shortest || (cp > few && !is_long)) break;
        if (k->seq % (2 * cp) == 0 && k->seq / cp % k->tp == 0 && k->gpus % (cp * k->tp) == 0)
            axis_add(&x, (int)cp);
    }
    return x;
}

struct axis axis_pp(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    if (k->fsdp == FSDP_OPTIM_GRADS_PARAMS) return x;
    int64_t left = k->gpus / (k->tp * k->cp);
    int64_t own = config_traits(base)->most_stages, least = left_by_batch(k) / (k->tp * k->cp);
    int64_t most = own == 0 ? AXIS_MAX_PP : own > least ? own : least;
    for (int pp = 2; pp <= left && pp <= base->model.num_layers && pp <= most; pp++)
        if (left % pp == 0) axis_add(&x, pp);
    return x;
}

struct axis axis_vpp(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    if (base->layout_given) {
        int given = base->layouts[0].n_chunks;
        return given % k->pp ? (struct axis){0} : axis_of(given / k->pp);
    }
    if (k->pp == 1) return x;
    int layers = base->model.num_layers;
    bool free = config_traits(base)->chooses_stages;
    int chunks = layers + (free ? 2 : 0); /* embedding and loss count as a layer each */
    for (int vpp = 2; vpp <= MOST_VIRTUAL && vpp * k->pp <= chunks; vpp++)
        if (layout_is_sayable(base, k->pp, vpp)) axis_add(&x, vpp);
    return x;
}

struct axis axis_etp(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    const struct model_shape *m = &base->model;
    if (!m->experts || !config_traits(base)->splits_experts || is_fsdp(k)) return x;
    /* Sequences that are cut as there are few of them leave ranks for the experts as well. */
    int most = k->gbs < k->gpus ? k->tp * k->cp : k->tp;
    for (int etp = 2; etp <= most && m->expert_ffn % etp == 0; etp *= 2)
        axis_add(&x, etp);
    return x;
}

struct axis axis_ep(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    int experts = base->model.experts;
    for (int ep = 2; ep <= experts; ep++)
        if (experts % ep == 0 && k->gpus % ((int64_t)k->etp * ep) == 0) axis_add(&x, ep);
    return x;
}

bool axis_has_mbs(int64_t gbs, int mbs)
{
    return (mbs & (mbs - 1)) == 0 || gbs % mbs == 0;
}

struct axis axis_mbs(const struct config *base, const struct knobs *k)
{
    struct axis x = {0};
    (void)base;
    for (int mbs = 1; mbs <= AXIS_MAX_MBS && mbs <= k->gbs; mbs++)
        if (axis_has_mbs(k->gbs, mbs)) axis_add(&x, mbs);
    return x;
}

/* A pass of fewer microbatches than stages never fills the pipeline. */
struct axis axis_schedules(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    if (!config_traits(base)->schedule_takes_batch || k->pp == 1) return x;
    int64_t n = knobs_microbatches(k);
    for (int passes = 2; passes <= MOST_PASSES && n / passes >= k->pp; passes++)
        if (n % passes == 0) axis_add(&x, passes);
    return x;
}
