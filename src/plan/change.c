/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/change.h"

#include "plan/framework.h"
#include "plan/knob.h"

/* The GPUs stay, so that data parallelism gives or takes them. */
bool change_size(int *size, int factor)
{
    enum { MOST = 1 << 20 };
    if (factor < 0 ? *size % -factor != 0 : *size > MOST / factor) return false;
    *size = factor < 0 ? *size / -factor : *size * factor;
    return true;
}

bool change_tp(struct config *c, int factor)
{
    bool changed = change_size(&c->knobs.tp, factor);
    c->knobs.sequence_parallel = config_splits_sequence(c);
    return changed;
}

bool change_tp_and_etp(struct config *c, int factor)
{
    bool changed = change_tp(c, factor);
    if (c->knobs.etp > c->knobs.tp) c->knobs.etp = c->knobs.tp;
    return changed;
}

bool change_pp(struct config *c, int factor)
{
    bool changed = change_size(&c->knobs.pp, factor);
    if (c->knobs.pp == 1) c->knobs.vpp = 1;
    return changed;
}

bool change_vpp(struct config *c, int vpp)
{
    bool free = c->knobs.vpp != vpp && c->knobs.layout == 0;
    c->knobs.vpp = vpp;
    return free;
}

/* The micro-batches that are powers of two: one or two of them up or down. */
bool change_mbs(struct config *c, int steps)
{
    int power = 1, from = c->knobs.mbs;
    while (2 * power <= from)
        power *= 2;
    if (steps < 0 && power < from) steps++;
    c->knobs.mbs = steps < 0 ? power >> -steps : power << steps;
    return c->knobs.mbs > 0;
}

/* Expert parallelism in place of what `etp` leaves of expert tensor parallelism. */
bool change_etp(struct config *c, int etp)
{
    struct knobs *k = &c->knobs;
    int ep = k->ep * k->etp / etp;
    bool divides = k->etp > etp && c->model.experts % ep == 0;
    k->ep = ep;
    k->etp = etp;
    return divides;
}

static bool set_recompute(struct config *c, int recompute, uint32_t modules)
{
    struct knobs *k = &c->knobs;
    bool changed = k->recompute != recompute;
    k->recompute = (uint8_t)recompute;
    k->recompute_method = METHOD_UNIFORM;
    k->recompute_num_layers = recompute == RECOMPUTE_FULL;
    k->recompute_modules = modules;
    return changed;
}

/* None, or whole layers. */
bool change_recompute_layers(struct config *c, int recompute)
{
    return set_recompute(c, recompute, 0);
}

/* The model's modules of which selective recomputation frees many bytes for little work. */
static uint32_t worthwhile(const struct model_shape *m)
{
    return MOD_LAYERNORM | MOD_CORE_ATTN | (model_has_ffn(m, FFN_DENSE) ? MOD_MLP : 0) |
           (m->experts ? MOD_MOE_ACT : 0) | (m->shared_ffn ? MOD_SHARED_EXPERTS : 0) |
           (m->mla ? MOD_MLA_UP_PROJ : 0);
}

/* The cheapest bytes of the model's kind and those of `more` that it has; MOD_MOE in place of the
   activation inside it. */
bool change_recompute_cheapest(struct config *c, int more)
{
    uint32_t modules = c->model.experts > 0 ? MOD_MOE_ACT | MOD_LAYERNORM : MOD_MLP;
    modules |= (uint32_t)more & worthwhile(&c->model);
    if (more & MOD_MOE) modules = (modules & ~(uint32_t)MOD_MOE_ACT) | MOD_MOE;
    set_recompute(c, RECOMPUTE_SELECTIVE, modules);
    return true;
}

bool change_recompute_modules(struct config *c, int modules)
{
    set_recompute(c, RECOMPUTE_SELECTIVE, (uint32_t)modules);
    return true;
}

bool change_recompute_also(struct config *c, int modules)
{
    struct knobs *k = &c->knobs;
    uint32_t before = k->recompute_modules;
    k->recompute_modules |= (uint32_t)modules;
    bool more = k->recompute != RECOMPUTE_FULL && k->recompute_modules != before;
    k->recompute = RECOMPUTE_SELECTIVE;
    return more;
}

/* The worthwhile modules in place of another granularity. */
bool change_recompute_not(struct config *c, int granularity)
{
    bool taken = c->knobs.recompute == granularity;
    set_recompute(c, RECOMPUTE_SELECTIVE, worthwhile(&c->model));
    return taken;
}

bool change_capture(struct config *c, int scope)
{
    c->knobs.graph_impl = scope ? GRAPH_TE : GRAPH_NONE;
    c->knobs.graph_scope = (uint32_t)scope;
    return true;
}

/* Nothing may depend on how many tokens an expert gets: they are padded to a capacity, or a rank's
   experts share buffers of a fixed size, which HybridEP alone fills (rule
   whole-iteration-graph-of-experts). */
bool change_capture_iteration(struct config *c, int experts)
{
    struct knobs *k = &c->knobs;
    k->graph_impl = GRAPH_FULL_ITERATION;
    k->graph_scope = 0;
    bool padded = k->capacity_factor > 0 && k->pad_to_capacity;
    bool fixed = padded || k->dispatcher == DISPATCH_HYBRIDEP;
    return experts ? fixed : c->model.experts == 0;
}

bool change_dispatch(struct config *c, int dispatcher)
{
    c->knobs.dispatcher = (uint8_t)dispatcher;
    return true;
}

bool change_cp_exchange(struct config *c, int comm)
{
    bool other = (int)config_cp_comm(c) != comm;
    c->knobs.cp_comm = (uint8_t)comm;
    return other;
}

bool change_overlap_ep(struct config *c, int on)
{
    c->knobs.overlap_ep = on;
    c->knobs.shared_expert_overlap = false; /* the two exclude each other */
    return true;
}

bool change_overlap_shared_experts(struct config *c, int on)
{
    c->knobs.shared_expert_overlap = on;
    return !c->knobs.overlap_ep;
}

bool change_overlap_tp(struct config *c, int on)
{
    c->knobs.tp_comm_overlap = on;
    return true;
}

bool change_fuse_loss(struct config *c, int fusion)
{
    struct knobs *k = &c->knobs;
    bool open = k->ce_fusion != CE_TE && k->ce_fusion != CE_LINEAR && k->fsdp != FSDP_FSDP2;
    k->ce_fusion = (uint8_t)fusion;
    return open;
}

bool change_shard_optimizer(struct config *c, int on)
{
    bool open = !c->knobs.distributed_optimizer && !c->knobs.layer_wise_optimizer;
    c->knobs.distributed_optimizer = on;
    return open;
}

static bool has_groups(int64_t n, int64_t ranks, int64_t expert_ranks)
{
    return ranks % n == 0 && expert_ranks % n == 0;
}

/* From so many groups of the same shards on, of which each stands in one NVLink domain; 0: the
   ranks do not divide so. */
static int64_t groups_inside(int64_t groups, int64_t ranks, int64_t expert_ranks)
{
    int64_t most = expert_ranks < ranks ? expert_ranks : ranks;
    while (groups <= most && !has_groups(groups, ranks, expert_ranks))
        groups++;
    return groups <= most ? groups : 0;
}

/* A power of two in the middle, by factors, between one group and so many; 0: there is none. More
   groups exchange less across domains, and divide the optimizer's work among fewer. */
static int64_t groups_between(int64_t groups, int64_t ranks, int64_t expert_ranks)
{
    int64_t middle = 1;
    while (middle * middle < groups)
        middle *= 2;
    while (middle >= groups || !has_groups(middle, ranks, expert_ranks))
        middle /= 2;
    return middle > 1 ? middle : 0;
}

/* Behind more microbatches the exchange of a step hides, or is a small part of it. */
enum { SHOWS_BEHIND = 2 };

/* Frozen parameters are gathered for each microbatch, and there is next to nothing to reduce: as
   few ranks as can be share them, which are two (the rule dp-replicate-leaves-shards). */
static int64_t groups_of_two(const struct knobs *k, int64_t ranks, int64_t expert_ranks)
{
    int64_t groups = knobs_dp(k) / 2;
    bool frozen = k->task == TASK_PEFT && k->fsdp == FSDP_FSDP2;
    return frozen && groups > 1 && has_groups(groups, ranks, expert_ranks) ? groups : 0;
}

/* AutoModel has a word for them with FSDP2 alone
   (nemo_automodel/components/distributed/mesh_utils.py). */
int64_t change_groups(const struct config *c, int how)
{
    const struct knobs *k = &c->knobs;
    int64_t ranks = knobs_dp(k) * k->cp, domain = c->machine.nvlink_domain;
    int64_t expert_ranks = c->model.experts > 0 ? knobs_edp(k) : ranks;
    bool said = k->fsdp == FSDP_FSDP2 || config_traits(c)->megatron_words;
    if (how == GROUPS_OF_TWO) return groups_of_two(k, ranks, expert_ranks);
    if (!said || ranks * k->tp <= domain) return 0;
    int64_t domains = (ranks * k->tp + domain - 1) / domain;
    if (how == GROUPS_IN_DOMAIN) return groups_inside(domains, ranks, expert_ranks);
    return knobs_microbatches(k) <= SHOWS_BEHIND ? groups_between(domains, ranks, expert_ranks) : 0;
}

bool change_shard_in_groups(struct config *c, int how)
{
    struct knobs *k = &c->knobs;
    int *field = k->fsdp == FSDP_FSDP2 ? &k->dp_replicate : &k->optimizer_instances;
    int64_t groups = change_groups(c, how);
    if (groups) *field = (int)groups;
    return groups > 0;
}

bool change_reduce_gradients(struct config *c, int bytes)
{
    c->knobs.grad_bytes = bytes;
    return c->knobs.precision != PREC_FP16; /* has no others */
}

/* With delayed scaling alone beside an optimizer on the CPU (arguments.py:1885): other recipes
   cannot cast what is there. */
static bool may_gather_in_fp8(const struct knobs *k)
{
    return k->optimizer_offload <= 0 || k->precision == PREC_FP8_DELAYED;
}

bool change_gather_parameters(struct config *c, int in_fp8)
{
    c->knobs.fp8_param_gather = in_fp8;
    return !in_fp8 || may_gather_in_fp8(&c->knobs);
}

bool change_keep_moments(struct config *c, int bytes)
{
    struct knobs *k = &c->knobs;
    k->precision_aware = true;
    k->exp_avg_bytes = k->exp_avg_sq_bytes = bytes;
    return !k->muon && (bytes > 1 || config_traits(c)->fp8_states);
}

/* Gradients and moments of so many bytes. */
bool change_small_optimizer(struct config *c, int bytes)
{
    if (c->knobs.precision_aware) return false;
    c->knobs.grad_bytes = bytes;
    return change_keep_moments(c, bytes);
}

/* Megatron-LM offloads states of the optimizer that takes them in any format. */
bool change_offload_optimizer(struct config *c, int percent)
{
    struct knobs *k = &c->knobs;
    double part = percent / 100.0;
    bool more = k->optimizer_offload < part && !k->muon;
    k->optimizer_offload = part;
    k->precision_aware = true;
    return more && (!k->fp8_param_gather || may_gather_in_fp8(k));
}

bool change_offload_modules(struct config *c, int modules)
{
    c->knobs.offload_modules = (uint32_t)modules;
    return c->knobs.layers_offloaded == 0 && c->knobs.graph_impl != GRAPH_FULL_ITERATION;
}

bool change_keep_on_gpu(struct config *c, int none)
{
    struct knobs *k = &c->knobs;
    bool taken = knobs_offload(k) || k->layers_offloaded > 0 || k->offload_optimizer_states;
    k->optimizer_offload = k->layers_offloaded = none;
    k->offload_modules = 0;
    k->offload_optimizer_states = false;
    return taken;
}

bool change_gather_anew(struct config *c, int on)
{
    struct knobs *k = &c->knobs;
    bool shared = knobs_dp(k) * k->cp > k->dp_replicate;
    if (k->fsdp != FSDP_FSDP2 || !shared || knobs_reshards(k) == on) return false;
    k->reshard_after_forward = on;
    return k->reshard_stated = true;
}

bool change_reshard(struct config *c, int on)
{
    struct knobs *k = &c->knobs;
    bool kept = k->fsdp == FSDP_FSDP2 && k->reshard_stated && !k->reshard_after_forward;
    k->reshard_after_forward = k->reshard_stated = on;
    return kept;
}
