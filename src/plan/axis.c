/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes that the search looks at. */
#include "plan/framework.h"
#include "plan/move.h"
#include "plan/ops.h"

enum {
    LONG_SEQUENCE = 8192,  /* tokens from which context parallelism is considered (guide S2.6) */
    SHORTEST_SHARD = 2048, /* tokens a context-parallel rank keeps at least: below, attention no
                              longer hides the ring, */
    SHORTEST_OF_FEW = 256, /* which pays where nothing else makes use of the ranks or room */
    STATE_BYTES = 10, /* of a parameter: weight, gradient and moments in bf16, and what is left of
                         the main parameter in 16 bits; */
    FROZEN_BYTES = 2, /* beside adapters the weight alone */
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

static bool is_frozen(const struct knobs *k)
{
    return k->task == TASK_PEFT;
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

/* Part of a GPU's memory that states and activations fill, were they divided among ranks without
   rest: the others hold weights and gradients that ranks repeat, buffers, logits, and what the
   estimate may be wrong by. */
static const double FULL = 0.75;

/* Bytes of a GPU's states in their leanest formats, were all of them divided among all GPUs. */
static double states_bytes(const struct config *base)
{
    int bytes = is_frozen(&base->knobs) ? FROZEN_BYTES : STATE_BYTES;
    return bytes * (double)model_params(&base->model).total / (double)base->knobs.gpus;
}

/* Bytes that the layers of the whole model keep of a sequence on one rank, nothing recomputed: as
   much as the first stage of a pipeline has in flight, however many stages there are. */
static double sequence_bytes(const struct config *base, int64_t seq)
{
    const struct model_shape *m = &base->model;
    struct token_counts t = {(double)seq, (double)seq, (double)(seq * m->topk), 0};
    struct config alone = *base;
    alone.knobs.tp = alone.knobs.cp = alone.knobs.ep = alone.knobs.etp = alone.knobs.mbs = 1;
    alone.knobs.sequence_parallel = false;
    double of_kind[MODEL_MAX_KINDS] = {0}, sum = 0;
    for (int i = 0; i < m->n_kinds; i++) {
        struct saved_list list;
        op_saved(&alone, &t, m->kinds[i], &list);
        for (int j = 0; j < list.n; j++)
            of_kind[i] += saved_bytes(&list.items[j]);
    }
    for (int i = 0; i < m->num_layers; i++)
        sum += of_kind[m->layers[i]];
    return sum;
}

/* What lets a sequence be cut further than attention hides. */
struct crowd {
    double states, sequence, capacity; /* bytes */
};

static struct crowd crowd_of(const struct config *base, int64_t seq)
{
    return (struct crowd){states_bytes(base), sequence_bytes(base, seq),
                          base->machine.capacity_bytes};
}

/* Whether so many ranks that share a sequence have no room for it unless they recompute or offload.
   Where states alone have none, cutting it makes none. */
static bool is_crowded(const struct crowd *x, int64_t ranks)
{
    return x->states < x->capacity && x->states + x->sequence / (double)ranks > FULL * x->capacity;
}

/* Sequences are cut where they are long; where there is no tensor parallelism, nothing else divides
   the activations of short ones; beside it a ring of half as many ranks exchanges less. Short ones
   of ranks that could share tensors and do not are left: they lead in 2 of 110 such questions,
   and a search with them costs half as much again. Where weights are frozen they are not: what
   tensors save there are weights alone, and they exchange with every layer. */
struct axis axis_cp(const struct config *base, const struct knobs *k)
{
    struct axis x = axis_of(1);
    int64_t few = k->gbs < k->gpus ? k->gpus : left_by_batch(k);
    bool is_long = k->seq >= LONG_SEQUENCE || !tensor_is_worth_it(base);
    struct crowd crowd = crowd_of(base, k->seq);
    for (int64_t cp = 2; cp * k->tp <= k->gpus; cp *= 2) {
        bool cut = (is_long || k->tp > 1 || is_frozen(k)) && is_crowded(&crowd, cp / 2 * k->tp);
        int shortest = cut || cp <= few ? SHORTEST_OF_FEW : SHORTEST_SHARD;
        if (k->seq / cp < shortest || (cp > few && !is_long && !cut)) break;
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
