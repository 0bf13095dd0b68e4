/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/sharding.h"

#include <math.h>

#include "base/larger.h"
#include "cost/comm.h"
#include "plan/framework.h"
#include "plan/ops.h"
#include "plan/peft.h"

static void add_part(struct rank_params *p, struct part_params x, const struct knobs *k)
{
    p->dense += (double)x.sharded / k->tp + (double)x.replicated;
    p->experts += (double)x.experts / ((double)k->ep * k->etp);
}

/* Adapters are spread as the layers are. */
static void add_adapters(struct rank_params *p, const struct config *c)
{
    const struct model_shape *m = &c->model;
    for (int i = 0; i < m->num_layers; i++) {
        double dense, experts;
        layer_adapters(c, m->kinds[m->layers[i]], &dense, &experts);
        p->trained_dense += dense / c->knobs.pp;
        p->trained_experts += experts / c->knobs.pp;
    }
}

/* A vision tower that is trained stands beside the embedding. */
static void add_trained(struct rank_params *p, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    double vision = (double)vision_trained_params(c);
    bool language = knobs_trains_language(k);
    p->dense += vision;
    p->trained_dense = language ? p->dense : vision;
    p->trained_experts = language ? p->experts : 0;
    if (k->task == TASK_PEFT) add_adapters(p, c);
}

/* Layers are spread evenly over the stages; embedding and head stand on the first and the last, so
   the fuller of both holds one of them. */
struct rank_params sharding_params(const struct config *c)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    int count[MODEL_MAX_KINDS] = {0};
    struct rank_params p = {0};
    for (int i = 0; i < m->num_layers; i++)
        count[m->layers[i]]++;
    for (int i = 0; i < m->n_kinds; i++) {
        struct rank_params one = {0};
        add_part(&one, layer_params(m, m->kinds[i]), k);
        p.dense += count[i] * one.dense;
        p.experts += count[i] * one.experts;
        p.packed += count[i] * layer_packed(c, m->kinds[i]) / k->pp;
    }
    if (m->mtp_layers > 0) {
        struct part_params depth = mtp_params(m);
        for (int i = 0; i < (m->mtp_repeated ? 1 : m->mtp_layers); i++)
            add_part(&p, depth, k);
    }
    bool experts_only = config_traits(c)->low_experts_only;
    p.low = (experts_only ? p.experts : p.dense + p.experts) / k->pp;
    double embedding = (double)m->vocab * m->hidden / k->tp;
    if (head_is_low(c)) p.low += embedding;
    p.dense = p.dense / k->pp + embedding * (k->pp > 1 || m->tied ? 1 : 2);
    p.experts /= k->pp;
    add_trained(&p, c);
    return p;
}

struct collectives {
    double gather, reduce; /* seconds: all parameters once, all gradients once */
};

static bool shards_parameters(const struct knobs *k)
{
    return k->fsdp == FSDP_FSDP2 || k->fsdp == FSDP_OPTIM_GRADS_PARAMS;
}

/* Whether parameters travel in FP8. MXFP8's do so only as FSDP's own shards: the distributed
   optimizer gathers them in BF16, in the gradients' buffer (ParamAndGradBuffer's shared_buffer in
   megatron/core/distributed/param_and_grad_buffer.py). */
static bool gathers_low(const struct timing *t, const struct knobs *k)
{
    return t->low && k->fp8_param_gather && (k->precision != PREC_MXFP8 || shards_parameters(k));
}

/* Parameters are gathered and gradients reduced over the ranks that hold different shards, which
   stand side by side (megatron/core/parallel_state.py:984); between the groups that hold the same
   ones a shard's gradient is then added up and sent back. */
static void add_collectives(const struct timing *t, struct collectives *x, double gathered,
                            double reduced, double replicas, double ranks, double span)
{
    double sharded = larger(1, ranks / replicas);
    x->gather += comm_collective(t, gathered, sharded, span / replicas);
    x->reduce += comm_collective(t, reduced, sharded, span / replicas) +
                 2 * comm_collective(t, reduced / sharded, smaller(replicas, ranks), span);
}

static struct collectives collectives_of(const struct timing *t, const struct knobs *k,
                                         struct rank_params p)
{
    double ranks = (double)knobs_dp(k) * k->cp, expert_ranks = (double)knobs_edp(k);
    double span = ranks * k->tp, expert_span = expert_ranks * k->ep * k->etp;
    double grad = k->fsdp != FSDP_NONE ? 2 : config_grad_bytes(t->config),
           param = gathers_low(t, k) ? 1 : 2;
    bool whole = shards_parameters(k); /* else only what the optimizer changed */
    double packed = (1 - packed_bytes(k) / 2) * p.packed;
    double dense = whole ? p.dense - packed : p.trained_dense;
    double experts = whole ? p.experts : p.trained_experts;
    struct collectives x = {0};
    add_collectives(t, &x, param * dense, grad * p.trained_dense, knobs_replicas(k), ranks, span);
    add_collectives(t, &x, param * experts, grad * p.trained_experts, knobs_expert_replicas(k),
                    expert_ranks, expert_span);
    return x;
}

/* How often a microbatch gathers parameters. Megatron-FSDP does for the forward and the backward;
   FSDP2 not for the backward where nothing is resharded after the forward, and not for the forward
   in a pipeline, whose stages reshard after the last backward alone
   (nemo_automodel/components/moe/fsdp_mixin.py, torch/distributed/pipelining/stage.py). */
static int gathers_of(const struct knobs *k)
{
    if (k->fsdp != FSDP_FSDP2) return 2;
    return (k->pp > 1 ? 0 : 1) + (knobs_reshards(k) ? 1 : 0);
}

/* What compute does not hide of `each` seconds beside a microbatch, and what they slow it by. */
static double shown_beside(const struct timing *t, double each, double stage_s)
{
    return larger(0, each - t->f.fsdp_hidden * stage_s) +
           t->f.dp_contention * smaller(each, stage_s);
}

/* Every microbatch gathers parameters and reduces gradients (FSDP2 at the last one only), all
   beside compute. A part of the first gather has nothing beside it, and FSDP2's reduction neither;
   the first microbatch of a pipeline gathers once more than the others. */
static double exposed_fsdp(const struct timing *t, const struct knobs *k, struct collectives x,
                           double stage_s)
{
    bool once = config_traits(t->config)->reduces_once,
         pipelined = k->fsdp == FSDP_FSDP2 && k->pp > 1;
    double each = gathers_of(k) * x.gather + (once ? 0 : x.reduce);
    double exposed = (double)knobs_microbatches(k) * shown_beside(t, each, stage_s);
    if (pipelined)
        exposed += shown_beside(t, each + x.gather, stage_s) - shown_beside(t, each, stage_s);
    return exposed + (once ? x.reduce : 0) + t->f.fsdp_first_gather * x.gather;
}

/* Seconds of passes beside which DDP's collectives run: in all, and of the chunk whose backward
   ends the step and whose forward begins it. */
struct ddp_windows {
    double all, chunk, chunks;
};

/* In a pipeline only the first stage's first chunk is cut into buckets, which travel beside its own
   pass: all others are one (megatron/core/distributed/distributed_data_parallel.py: bucket_size is
   None where pp_rank > 0 or bucketing is disabled). The second stage is through one such pass
   earlier than the first, so on both one pass hides a chunk's part. */
static double chunk_shows(const struct timing *t, double seconds, struct ddp_windows w)
{
    return larger(0, seconds / w.chunks - t->f.dp_window * w.chunk);
}

/* The optimizer's reduce-scatter hides under the last backward, two thirds of a microbatch's time
   (two products for one of the forward), its all-gather under the first forward. With virtual
   stages chunks finish one after another, a turn of as many microbatches as there are stages apart,
   or of the time they would take; that widens both windows. */
static struct ddp_windows ddp_windows(const struct knobs *k, double stage_s, int passes)
{
    double v = k->vpp, pass = passes * stage_s / 3;
    double all = pass * (v > 1 ? larger(1, k->pp * (v - 1) / v) : 1);
    return (struct ddp_windows){.all = all, .chunk = k->pp > 1 ? pass / v : INFINITY, .chunks = v};
}

/* All of it beyond the whole window, or what the chunk at the end of the step shows, if that is
   more; hidden parts slow kernels. */
static double shown_ddp(const struct timing *t, double seconds, struct ddp_windows w)
{
    double late = larger(0, seconds - t->f.dp_window * w.all);
    return larger(late, chunk_shows(t, seconds, w)) + t->f.dp_contention * smaller(seconds, w.all);
}

/* The least for windows no wider than these. What kernels slow by grows with the window, faster
   than what the last chunk shows falls. */
static double shown_ddp_least(const struct timing *t, double seconds, struct ddp_windows w)
{
    double late = larger(0, seconds - t->f.dp_window * w.all);
    return larger(late + t->f.dp_contention * smaller(seconds, w.all), chunk_shows(t, seconds, w));
}

typedef double shown_law(const struct timing *t, double seconds, struct ddp_windows w);

static double exposed_ddp(const struct timing *t, const struct knobs *k, struct collectives x,
                          double stage_s, shown_law *shown)
{
    struct ddp_windows backward = ddp_windows(k, stage_s, 2), forward = ddp_windows(k, stage_s, 1);
    return (k->overlap_grad_reduce ? shown(t, x.reduce, backward) : x.reduce) +
           (k->overlap_param_gather ? shown(t, x.gather, forward) : x.gather);
}

static double exposed(const struct timing *t, const struct knobs *k, struct rank_params p,
                      double stage_s, shown_law *shown)
{
    struct collectives x = collectives_of(t, k, p);
    return shards_parameters(k) ? exposed_fsdp(t, k, x, stage_s)
                                : exposed_ddp(t, k, x, stage_s, shown);
}

double sharding_exposed(const struct timing *t, const struct knobs *k, struct rank_params p,
                        double stage_s)
{
    return exposed(t, k, p, stage_s, shown_ddp);
}

double sharding_exposed_least(const struct timing *t, const struct knobs *k, struct rank_params p,
                              double most_s)
{
    const struct coefficients *f = &t->f;
    double ddp = f->dp_window, fsdp = f->fsdp_hidden, contention = f->dp_contention;
    bool falls = contention <= ddp && ddp <= 1 && contention <= fsdp && fsdp <= 1;
    return falls ? exposed(t, k, p, most_s, shown_ddp_least) : 0;
}

/* Muon orthogonalises every matrix, m x n with m <= n, in five Newton-Schulz steps of 4 m^2 n + 2
   m^3 FLOPs (emerging-optimizers, muon_utils.py). The experts' matrices stand for all. */
static double muon_seconds(const struct timing *t, double own)
{
    const struct model_shape *m = &t->config->model;
    double inner = m->experts > 0 ? m->expert_ffn : m->dense_ffn;
    double less = smaller(m->hidden, inner), more = larger(m->hidden, inner);
    return more > 0 ? own * 5 * (4 * less + 2 * less * less / more) / t->gemm_16.rate : 0;
}

/* Each step's first microbatch makes the linears' low-precision copies anew, by rows and by
   columns, but of weights that came so, or that nothing trains. */
static double quantised_weights(const struct timing *t, const struct knobs *k, struct rank_params p)
{
    if (!t->low || gathers_low(t, k) || !knobs_trains_language(k)) return 0;
    return t->quantise_bytes * p.low / t->hbm;
}

/* Bytes a parameter's update moves: fp32 gradient, master copy and two moments read, three of them
   and the parameter written (4 x 4 + 3 x 4 + 2 = 30), less what the precision-aware optimizer keeps
   narrow (gradient and remainder of the master copy read and written, 2 B each: 24). The norm reads
   the fp32 gradients once more. On the CPU gradient, master copy and moments pass
   once, 4 B each. */
double sharding_optimizer(const struct timing *t, const struct knobs *k, struct rank_params p)
{
    double ranks = larger(1, (double)knobs_dp(k) * k->cp / knobs_replicas(k)),
           expert_ranks = larger(1, (double)knobs_edp(k) / knobs_expert_replicas(k));
    bool dealt = k->distributed_optimizer || k->fsdp != FSDP_NONE;
    double all = p.trained_dense + p.trained_experts;
    double own = dealt ? p.trained_dense / ranks + p.trained_experts / expert_ranks : all;
    double on_gpu = own * (1 - k->optimizer_offload), on_cpu = own * k->optimizer_offload;
    double update = on_gpu * (k->precision_aware ? 24 : 30) / (t->f.optimizer_stream * t->hbm);
    double norm_and_casts = 4 * all / t->hbm;
    double cpu = on_cpu * 16 / (1e9 * t->f.cpu_memory_gb_per_s);
    double pcie = t->f.pcie * t->config->machine.pcie_bytes_per_s;
    double states =
        k->offload_optimizer_states && pcie > 0 ? own * 24 / pcie : 0; /* 12 bytes there and back */
    double muon = k->muon ? muon_seconds(t, own) : 0;
    return update + norm_and_casts + cpu + states + muon + quantised_weights(t, k, p);
}
