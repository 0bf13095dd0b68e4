/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/move.h"

#include "base/buf.h"
#include "facts/param_ids.h"
#include "plan/framework.h"
#include "plan/knob.h"

/* ---- changes ---- */

/* A size times `factor`, or over it where that is negative; the GPUs stay, so data parallelism
   gives or takes them. */
static bool scale(int *size, int factor)
{
    enum { MOST = 1 << 20 };
    if (factor < 0 ? *size % -factor != 0 : *size > MOST / factor) return false;
    *size = factor < 0 ? *size / -factor : *size * factor;
    return true;
}

static bool scale_tp(struct config *c, int factor)
{
    bool changed = scale(&c->knobs.tp, factor);
    c->knobs.sequence_parallel = c->knobs.tp > 1;
    return changed;
}

static bool scale_tp_and_etp(struct config *c, int factor)
{
    bool changed = scale_tp(c, factor);
    if (c->knobs.etp > c->knobs.tp) c->knobs.etp = c->knobs.tp;
    return changed;
}

static bool scale_pp(struct config *c, int factor)
{
    bool changed = scale(&c->knobs.pp, factor);
    if (c->knobs.pp == 1) c->knobs.vpp = 1;
    return changed;
}

static bool set_vpp(struct config *c, int vpp)
{
    bool free = c->knobs.vpp != vpp && c->knobs.layout == 0;
    c->knobs.vpp = vpp;
    return free;
}

/* The micro-batches that are powers of two: one or two of them up or down. */
static bool step_mbs(struct config *c, int steps)
{
    int power = 1, from = c->knobs.mbs;
    while (2 * power <= from)
        power *= 2;
    if (steps < 0 && power < from) steps++;
    c->knobs.mbs = steps < 0 ? power >> -steps : power << steps;
    return c->knobs.mbs > 0;
}

/* Expert parallelism in place of what `etp` leaves of expert tensor parallelism. */
static bool set_etp(struct config *c, int etp)
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
static bool recompute_layers(struct config *c, int recompute)
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
static bool recompute_cheapest(struct config *c, int more)
{
    uint32_t modules = c->model.experts > 0 ? MOD_MOE_ACT | MOD_LAYERNORM : MOD_MLP;
    modules |= (uint32_t)more & worthwhile(&c->model);
    if (more & MOD_MOE) modules = (modules & ~(uint32_t)MOD_MOE_ACT) | MOD_MOE;
    set_recompute(c, RECOMPUTE_SELECTIVE, modules);
    return true;
}

static bool recompute_modules(struct config *c, int modules)
{
    set_recompute(c, RECOMPUTE_SELECTIVE, (uint32_t)modules);
    return true;
}

static bool recompute_also(struct config *c, int modules)
{
    struct knobs *k = &c->knobs;
    uint32_t before = k->recompute_modules;
    k->recompute_modules |= (uint32_t)modules;
    bool more = k->recompute != RECOMPUTE_FULL && k->recompute_modules != before;
    k->recompute = RECOMPUTE_SELECTIVE;
    return more;
}

/* The worthwhile modules in place of another granularity. */
static bool recompute_not(struct config *c, int granularity)
{
    bool taken = c->knobs.recompute == granularity;
    set_recompute(c, RECOMPUTE_SELECTIVE, worthwhile(&c->model));
    return taken;
}

static bool capture(struct config *c, int scope)
{
    c->knobs.graph_impl = scope ? GRAPH_TE : GRAPH_NONE;
    c->knobs.graph_scope = (uint32_t)scope;
    return true;
}

/* Nothing may depend on how many tokens an expert gets: they are padded to a capacity, or a rank's
   experts share buffers of a fixed size, which HybridEP alone fills (rule
   whole-iteration-graph-of-experts). */
static bool capture_iteration(struct config *c, int experts)
{
    struct knobs *k = &c->knobs;
    k->graph_impl = GRAPH_FULL_ITERATION;
    k->graph_scope = 0;
    bool padded = k->capacity_factor > 0 && k->pad_to_capacity;
    bool fixed = padded || k->dispatcher == DISPATCH_HYBRIDEP;
    return experts ? fixed : c->model.experts == 0;
}

static bool dispatch(struct config *c, int dispatcher)
{
    c->knobs.dispatcher = (uint8_t)dispatcher;
    return true;
}

static bool overlap_ep(struct config *c, int on)
{
    c->knobs.overlap_ep = on;
    c->knobs.shared_expert_overlap = false; /* the two exclude each other */
    return true;
}

static bool overlap_shared_experts(struct config *c, int on)
{
    c->knobs.shared_expert_overlap = on;
    return !c->knobs.overlap_ep;
}

static bool overlap_tp(struct config *c, int on)
{
    c->knobs.tp_comm_overlap = on;
    return true;
}

static bool fuse_loss(struct config *c, int fusion)
{
    struct knobs *k = &c->knobs;
    bool open = k->ce_fusion != CE_TE && k->ce_fusion != CE_LINEAR && k->fsdp != FSDP_FSDP2;
    k->ce_fusion = (uint8_t)fusion;
    return open;
}

static bool shard_optimizer(struct config *c, int on)
{
    bool open = !c->knobs.distributed_optimizer && !c->knobs.layer_wise_optimizer;
    c->knobs.distributed_optimizer = on;
    return open;
}

/* The fewest groups of the same shards of which each stands in one NVLink domain; more than there
   are ranks: none do. */
static int64_t groups_inside(const struct config *c, int64_t ranks, int64_t expert_ranks)
{
    int64_t domain = c->machine.nvlink_domain, most = expert_ranks < ranks ? expert_ranks : ranks;
    int64_t groups = 2;
    if (ranks * c->knobs.tp > groups * domain) groups = (ranks * c->knobs.tp + domain - 1) / domain;
    while (groups <= most && (ranks % groups || expert_ranks % groups))
        groups++;
    return groups <= most ? groups : ranks + 1;
}

/* How many groups of the same shards there can be, 0: none: for 0 as few as let each stand in one
   NVLink domain; or so many, which are fewer, where a step has one microbatch, behind which little
   of the exchange hides. AutoModel has a word for them with FSDP2 alone
   (nemo_automodel/components/distributed/mesh_utils.py). */
static int64_t groups_of(const struct config *c, int wanted)
{
    const struct knobs *k = &c->knobs;
    int64_t ranks = knobs_dp(k) * k->cp;
    int64_t expert_ranks = c->model.experts > 0 ? knobs_edp(k) : ranks;
    bool said = k->fsdp == FSDP_FSDP2 || config_traits(c)->megatron_words;
    if (!said || ranks * k->tp <= c->machine.nvlink_domain) return 0;
    int64_t groups = groups_inside(c, ranks, expert_ranks);
    bool fewer = wanted < groups && wanted && ranks % wanted == 0 && expert_ranks % wanted == 0;
    if (wanted) return fewer && knobs_microbatches(k) == 1 ? wanted : 0;
    return groups <= ranks ? groups : 0;
}

static bool shard_in_groups(struct config *c, int wanted)
{
    struct knobs *k = &c->knobs;
    int *field = k->fsdp == FSDP_FSDP2 ? &k->dp_replicate : &k->optimizer_instances;
    int64_t groups = groups_of(c, wanted);
    if (groups) *field = (int)groups;
    return groups > 0;
}

static bool reduce_gradients(struct config *c, int bytes)
{
    c->knobs.grad_bytes = bytes;
    return c->knobs.precision != PREC_FP16; /* has no others */
}

static bool gather_parameters(struct config *c, int in_fp8)
{
    c->knobs.fp8_param_gather = in_fp8;
    return true;
}

static bool keep_moments(struct config *c, int bytes)
{
    struct knobs *k = &c->knobs;
    k->precision_aware = true;
    k->exp_avg_bytes = k->exp_avg_sq_bytes = bytes;
    return !k->muon && (bytes > 1 || config_traits(c)->fp8_states);
}

/* Gradients and moments of so many bytes. */
static bool small_optimizer(struct config *c, int bytes)
{
    if (c->knobs.precision_aware) return false;
    c->knobs.grad_bytes = bytes;
    return keep_moments(c, bytes);
}

/* Megatron-LM offloads states of the optimizer that takes them in any format, and gathers
   parameters in FP8 beside it with delayed scaling alone (arguments.py:1885). */
static bool offload_optimizer(struct config *c, int percent)
{
    struct knobs *k = &c->knobs;
    double part = percent / 100.0;
    bool more = k->optimizer_offload < part && !k->muon;
    k->optimizer_offload = part;
    k->precision_aware = true;
    return more && (!k->fp8_param_gather || k->precision == PREC_FP8_DELAYED);
}

static bool offload_modules(struct config *c, int modules)
{
    c->knobs.offload_modules = (uint32_t)modules;
    return c->knobs.layers_offloaded == 0 && c->knobs.graph_impl != GRAPH_FULL_ITERATION;
}

static bool keep_on_gpu(struct config *c, int none)
{
    struct knobs *k = &c->knobs;
    bool taken = knobs_offload(k) || k->layers_offloaded > 0 || k->offload_optimizer_states;
    k->optimizer_offload = k->layers_offloaded = none;
    k->offload_modules = 0;
    k->offload_optimizer_states = false;
    return taken;
}

static bool reshard(struct config *c, int on)
{
    struct knobs *k = &c->knobs;
    bool kept = k->fsdp == FSDP_FSDP2 && k->reshard_stated && !k->reshard_after_forward;
    k->reshard_after_forward = k->reshard_stated = on;
    return kept;
}

/* ---- words ---- */

static struct str recompute_text(struct arena *a, const struct knobs *k)
{
    if (k->recompute == RECOMPUTE_NONE) return STR("none");
    if (k->recompute == RECOMPUTE_FULL) return STR("full");
    return value_text(a, knob_get(a, k, knob_of(P_recompute_modules)));
}

static struct str graphs_text(struct arena *a, const struct knobs *k)
{
    if (k->graph_impl == GRAPH_NONE) return STR("none");
    return value_text(a, knob_get(a, k, knob_of(P_cuda_graph_scope)));
}

/* GPUs that share one copy of the optimizer's states, in how many groups. */
static struct str replicas_text(struct arena *a, const struct knobs *k)
{
    return arena_printf(a, "%d", k->fsdp == FSDP_FSDP2 ? k->dp_replicate : k->optimizer_instances);
}

static struct str offload_text(struct arena *a, const struct knobs *k)
{
    if (k->offload_optimizer_states) return STR("all between steps");
    if (k->layers_offloaded) return arena_printf(a, "%d layers", k->layers_offloaded);
    return arena_printf(a, "%.0f %%", 100 * k->optimizer_offload);
}

static struct str activations_text(struct arena *a, const struct knobs *k)
{
    if (!k->offload_modules) return STR("none");
    return value_text(a, knob_get(a, k, knob_of(P_offload_modules)));
}

static struct str bytes_text(struct arena *a, int bytes)
{
    return bytes ? arena_printf(a, "%d bytes", bytes) : STR("as the framework does");
}

static struct str gradients_text(struct arena *a, const struct knobs *k)
{
    return bytes_text(a, k->grad_bytes);
}

static struct str moments_text(struct arena *a, const struct knobs *k)
{
    return bytes_text(a, k->precision_aware ? k->exp_avg_bytes : 4);
}

static struct str loss_text(struct arena *a, const struct knobs *k)
{
    static const char *const words[] = {"no", "native", "te", "linear"};
    (void)a;
    return str_of(words[k->ce_fusion]);
}

static struct str schedules_text(struct arena *a, const struct knobs *k)
{
    return arena_printf(a, "%d", knobs_schedules(k));
}

static struct str resharding_text(struct arena *a, const struct knobs *k)
{
    (void)a;
    return k->reshard_after_forward ? STR("true") : STR("false");
}

struct str decision_text(struct arena *a, const struct decision *d, const struct knobs *k)
{
    return d->text ? d->text(a, k) : value_text(a, knob_get(a, k, knob_of(d->params[0])));
}

/* ---- the moves ---- */

/* Each ends with one that has no name. */

static const struct move tp_moves[] = {
    {"TP over 2", scale_tp, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"TP over 2, ETP with it", scale_tp_and_etp, -2, 0, MOVE_OUTLOOK, P_fits_with_smaller_tp, 0},
    {"TP times 2", scale_tp, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"TP times 4", scale_tp, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move pp_moves[] = {
    {"PP over 2", scale_pp, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"PP times 2", scale_pp, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"PP times 4", scale_pp, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

/* The search's alone: a pass takes a divisor of the step's microbatches. */
static const struct move schedules_moves[] = {{0}};

static const struct move ep_moves[] = {
    {"EP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"EP times 2", NULL, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"EP times 4", NULL, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move etp_moves[] = {
    {"EP in place of ETP", set_etp, 1, 0, MOVE_OUTLOOK, P_fits_with_ep_only, 0}, {0}};

static const struct move cp_moves[] = {
    {"CP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"CP times 2", NULL, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"CP times 4", NULL, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move vpp_moves[] = {{"VPP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
                                        {"VPP times 2", NULL, 2, 0, MOVE_NEIGHBOUR, 0, 0},
                                        {"one chunk a stage", set_vpp, 1, 0, MOVE_RELIEF, 0, 0},
                                        {0}};

static const struct move mbs_moves[] = {
    {"MBS over 4", NULL, -4, 0, MOVE_RELIEF, 0, 0},
    {"MBS over 2", NULL, -2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"MBS times 2", NULL, 2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"MBS two powers down", step_mbs, -2, 0, MOVE_TRIAL, 0, 0},
    {"MBS a power down", step_mbs, -1, 0, MOVE_TRIAL, 0, 0},
    {"MBS a power up", step_mbs, 1, 0, MOVE_TRIAL, 0, 0},
    {"MBS two powers up", step_mbs, 2, 0, MOVE_TRIAL, 0, 0},
    {0}};

/* Every set of modules that a plan may do best with, of those that the model has. The whole MoE
   layer has its activation and its shared experts in it; attention's core is left out, as fused
   kernels keep next to nothing of it. */
#define SET(words, modules, needs)                                                                 \
    {"recompute" words, recompute_modules, modules, NEED_CORE | (needs), MOVE_SEARCH, 0, 0},
#define NORMS(words, modules, needs)                                                               \
    SET(words, modules, needs) SET(words ", norms", (modules) | MOD_LAYERNORM, needs)
#define PROJECTIONS(words, modules, needs)                                                         \
    NORMS(words, modules, needs)                                                                   \
    NORMS(words ", MLA's projections", (modules) | MOD_MLA_UP_PROJ, (needs) | NEED_MLA)
#define DENSE(words, modules, needs)                                                               \
    PROJECTIONS(words, modules, needs)                                                             \
    PROJECTIONS(words ", dense FFNs", (modules) | MOD_MLP, (needs) | NEED_DENSE)
#define EVERY_SET                                                                                  \
    SET(" norms", MOD_LAYERNORM, 0)                                                                \
    NORMS(" MLA's projections", MOD_MLA_UP_PROJ, NEED_MLA)                                         \
    PROJECTIONS(" dense FFNs", MOD_MLP, NEED_DENSE)                                                \
    DENSE(" experts' activations", MOD_MOE_ACT, NEED_EXPERTS)                                      \
    DENSE(" shared experts", MOD_SHARED_EXPERTS, NEED_EXPERTS | NEED_SHARED)                       \
    DENSE(" experts' activations, shared experts", MOD_MOE_ACT | MOD_SHARED_EXPERTS,               \
          NEED_EXPERTS | NEED_SHARED)                                                              \
    DENSE(" experts", MOD_MOE, NEED_EXPERTS)

/* The cheapest bytes first. */
static const struct move recompute_moves[] = {
    {"recompute nothing", recompute_layers, RECOMPUTE_NONE, 0, MOVE_SEARCH | MOVE_OUTLOOK,
     P_fits_without_recompute, 0},
    {"recompute the cheapest", recompute_cheapest, 0, NEED_CORE, MOVE_SEARCH, 0, 0},
    {"the cheapest and MLA's projections", recompute_cheapest, MOD_MLA_UP_PROJ,
     NEED_CORE | NEED_MLA, MOVE_SEARCH, 0, 0},
    {"and dense FFNs", recompute_cheapest, MOD_MLA_UP_PROJ | MOD_MLP,
     NEED_CORE | NEED_EXPERTS | NEED_DENSE, MOVE_SEARCH, 0, 0},
    {"and experts", recompute_cheapest, MOD_MLA_UP_PROJ | MOD_MLP | MOD_MOE,
     NEED_CORE | NEED_EXPERTS, MOVE_SEARCH, 0, 0},
    EVERY_SET{"recompute modules, not layers", recompute_not, RECOMPUTE_FULL, NEED_CORE,
              MOVE_OUTLOOK, P_fits_with_selective, 0},
    {"norms too", recompute_also, MOD_LAYERNORM, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"experts' activations too", recompute_also, MOD_MOE_ACT, NEED_CORE | NEED_EXPERTS, MOVE_RELIEF,
     0, 0},
    {"experts' activations and norms too", recompute_also, MOD_MOE_ACT | MOD_LAYERNORM,
     NEED_CORE | NEED_EXPERTS, MOVE_RELIEF, 0, 0},
    {"MLA's projections too", recompute_also, MOD_MLA_UP_PROJ, NEED_CORE | NEED_MLA, MOVE_RELIEF, 0,
     0},
    {"shared experts too", recompute_also, MOD_SHARED_EXPERTS,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED, MOVE_RELIEF, 0, 0},
    {"dense FFNs too", recompute_also, MOD_MLP, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"all of these but shared experts", recompute_also,
     MOD_MLA_UP_PROJ | MOD_MOE_ACT | MOD_LAYERNORM | MOD_MLP, NEED_CORE | NEED_EXPERTS | NEED_MLA,
     MOVE_RELIEF, 0, 0},
    {"attention's core too", recompute_also, MOD_CORE_ATTN, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"experts too", recompute_also, MOD_MOE, NEED_CORE | NEED_EXPERTS, MOVE_RELIEF, 0, 0},
    {"recompute whole layers", recompute_layers, RECOMPUTE_FULL, 0, MOVE_SEARCH | MOVE_RELIEF, 0,
     0},
    {0}};

enum { NEED_GRAPHS = NEED_CORE | NEED_EXPERTS | NEED_TE_GRAPHS };
static const struct move graph_moves[] = {
    {"no graphs", capture, 0, NEED_GRAPHS, MOVE_TRIAL, 0, 0},
    {"graphs of the router", capture, SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS, NEED_GRAPHS,
     MOVE_SEARCH, 0, 0},
    {"graphs of attention too", capture, SCOPE_ATTN | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS,
     NEED_GRAPHS, MOVE_SEARCH, 0, 0},
    {"a graph of the iteration", capture_iteration, false, NEED_CORE | NEED_TE_GRAPHS, MOVE_SEARCH,
     0, 0},
    {"a graph of the iteration, experts' buffers of a fixed size", capture_iteration, true,
     NEED_GRAPHS | NEED_EXPERT_GROUP, MOVE_SEARCH, 0, RISK_DYNAMIC_GRAPHS},
    {0}};

/* The fused ones fail where a rank has all experts; DeepEP has no kernels for racks. The last keeps
   most memory. */
static const struct move dispatcher_moves[] = {
    {"PyTorch's exchange", dispatch, DISPATCH_TORCH, NEED_AUTOMODEL, MOVE_SEARCH, 0, 0},
    {"all-to-all", dispatch, DISPATCH_ALLTOALL, NEED_CORE | NEED_EXPERT_GROUP, MOVE_SEARCH, 0, 0},
    {"DeepEP", dispatch, DISPATCH_DEEPEP, NEED_EXPERT_GROUP | NEED_NODE_NVLINK, MOVE_SEARCH, 0, 0},
    {"HybridEP", dispatch, DISPATCH_HYBRIDEP, NEED_EXPERT_GROUP, MOVE_SEARCH, 0, 0},
    {0}};

static const struct move ep_overlap_moves[] = {
    {"show the expert exchange", overlap_ep, false, NEED_CORE | NEED_EXPERTS | NEED_EP, MOVE_TRIAL,
     0, 0},
    {"hide the expert exchange", overlap_ep, true, NEED_CORE | NEED_EXPERTS | NEED_EP, MOVE_SEARCH,
     0, 0},
    {0}};

static const struct move shared_expert_overlap_moves[] = {
    {"no exchange behind shared experts", overlap_shared_experts, false,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED | NEED_EP, MOVE_TRIAL, 0, 0},
    {"hide the expert exchange behind shared experts", overlap_shared_experts, true,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED | NEED_EP, MOVE_SEARCH, 0, 0},
    {0}};

/* Transformer Engine's user buffers. */
static const struct move tp_overlap_moves[] = {
    {"show TP's exchange", overlap_tp, false, NEED_CORE | NEED_SEQUENCE_PARALLEL, MOVE_TRIAL, 0, 0},
    {"hide TP's exchange", overlap_tp, true, NEED_CORE | NEED_SEQUENCE_PARALLEL, MOVE_SEARCH, 0, 0},
    {0}};

static const struct move loss_moves[] = {{"fuse the loss", fuse_loss, CE_TE, 0, MOVE_RELIEF, 0, 0},
                                         {0}};

static const struct move optimizer_sharding_moves[] = {
    {"shard the optimizer", shard_optimizer, true, NEED_UNSHARDED, MOVE_RELIEF, 0, 0}, {0}};

static const struct move replica_moves[] = {
    {"shards inside the NVLink domain", shard_in_groups, 0, NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0,
     0},
    {"four groups of shards", shard_in_groups, 4, NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, 0},
    {0}};

/* What Megatron-core's own optimizer can be told. */
enum { NEED_OPTIMIZER = NEED_CORE | NEED_UNSHARDED };
static const struct move gradient_moves[] = {
    {"gradients in fp32", reduce_gradients, 4, NEED_OPTIMIZER, MOVE_TRIAL, 0, 0},
    {"gradients in bf16", reduce_gradients, 2, NEED_OPTIMIZER, MOVE_SEARCH, 0, RISK_GRADIENTS},
    {0}};

static const struct move parameter_gather_moves[] = {
    {"parameters gathered in bf16", gather_parameters, false,
     NEED_OPTIMIZER | NEED_FP8 | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, 0},
    {"parameters gathered in FP8", gather_parameters, true,
     NEED_OPTIMIZER | NEED_FP8 | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, RISK_PARAMETERS},
    {0}};

/* Who keeps moments in fp32 still keeps the main parameters as two bytes beside the parameter: the
   same numbers in half the bytes (Transformer Engine's FusedAdam, store_param_remainders). */
static const struct move optimizer_precision_moves[] = {
    {"main parameters as remainders", keep_moments, 4, NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER,
     MOVE_SEARCH, 0, 0},
    {"moments in bf16", keep_moments, 2, NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0,
     RISK_MOMENTS},
    {"moments in FP8", keep_moments, 1, NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0,
     RISK_FP8_MOMENTS},
    {"optimizer states of two bytes", small_optimizer, 2, NEED_UNSHARDED | NEED_SHARDED_OPTIMIZER,
     MOVE_RELIEF, 0, RISK_GRADIENTS | RISK_MOMENTS},
    {0}};

static const struct move offload_moves[] = {
    {"offload half of the optimizer", offload_optimizer, 50, NEED_UNSHARDED,
     MOVE_SEARCH | MOVE_RELIEF, 0, 0},
    {"offload the optimizer", offload_optimizer, 100, NEED_UNSHARDED, MOVE_SEARCH | MOVE_RELIEF, 0,
     0},
    {"offload nothing", keep_on_gpu, 0, 0, MOVE_OUTLOOK, P_fits_without_offload, 0},
    {0}};

/* The sets of NVIDIA's recipes (Megatron-Bridge's perf_recipes, Megatron-MoE-ModelZoo). */
static const struct move activation_offload_moves[] = {
    {"offload no activations", offload_modules, 0, NEED_CORE, MOVE_TRIAL, 0, 0},
    {"offload what attention keeps", offload_modules, MOD_CORE_ATTN | MOD_ATTN_PROJ, NEED_CORE,
     MOVE_SEARCH, 0, 0},
    {"offload what experts keep", offload_modules, MOD_EXPERT_FC1 | MOD_MOE_ACT,
     NEED_CORE | NEED_EXPERTS, MOVE_SEARCH, 0, 0},
    {"offload what both keep", offload_modules,
     MOD_CORE_ATTN | MOD_ATTN_PROJ | MOD_EXPERT_FC1 | MOD_MOE_ACT, NEED_CORE | NEED_EXPERTS,
     MOVE_SEARCH, 0, 0},
    {0}};

static const struct move resharding_moves[] = {{"gather parameters anew", reshard, true,
                                                NEED_AUTOMODEL, MOVE_OUTLOOK,
                                                P_fits_with_resharding, 0},
                                               {0}};

/* ---- the decisions ---- */

#define PARAMS(...) ((const int[]){__VA_ARGS__, P_NONE})
#define SIZE(field) .size = offsetof(struct knobs, field)

/* How uncertain dispatchers and graphs are depends on the machine and the software; recomputation
   is counted work. */
const struct decision decisions[DECISIONS] = {
    [DECISION_TP] = {.symbol = "TP",
                     .word = "tp",
                     .doubt = 0.08,
                     .phase = PHASE_FIT,
                     .moves = tp_moves,
                     SIZE(tp),
                     .values = axis_tp,
                     .params = PARAMS(P_tensor_model_parallel_size),
                     .also = PARAMS(P_sequence_parallel, P_expert_tensor_parallel_size)},
    [DECISION_PP] = {.symbol = "PP",
                     .word = "pp",
                     .doubt = 0.06,
                     .phase = PHASE_FIT,
                     .moves = pp_moves,
                     SIZE(pp),
                     .values = axis_pp,
                     .params = PARAMS(P_pipeline_model_parallel_size),
                     .also = PARAMS(P_virtual_pipeline_model_parallel_size)},
    [DECISION_EP] = {.symbol = "EP",
                     .word = "ep",
                     .doubt = 0.08,
                     .phase = PHASE_FIT,
                     .moves = ep_moves,
                     SIZE(ep),
                     .values = axis_ep,
                     .params = PARAMS(P_expert_model_parallel_size)},
    [DECISION_ETP] = {.symbol = "ETP",
                      .word = "etp",
                      .doubt = 0.06,
                      .phase = PHASE_FIT,
                      .moves = etp_moves,
                      SIZE(etp),
                      .values = axis_etp,
                      .params = PARAMS(P_expert_tensor_parallel_size),
                      .also = PARAMS(P_expert_model_parallel_size)},
    [DECISION_CP] = {.symbol = "CP",
                     .word = "cp",
                     .doubt = 0.08,
                     .phase = PHASE_FIT,
                     .guide = "S2.6",
                     .moves = cp_moves,
                     SIZE(cp),
                     .values = axis_cp,
                     .params = PARAMS(P_context_parallel_size)},
    [DECISION_VPP] = {.symbol = "VPP",
                      .word = "vpp",
                      .doubt = 0.04,
                      .phase = PHASE_FIT,
                      .moves = vpp_moves,
                      SIZE(vpp),
                      .values = axis_vpp,
                      .params = PARAMS(P_virtual_pipeline_model_parallel_size)},
    [DECISION_MBS] = {.symbol = "MBS",
                      .word = "mbs",
                      .phase = PHASE_FIT,
                      .moves = mbs_moves,
                      SIZE(mbs),
                      .values = axis_mbs,
                      .doubt = 0.03,
                      .params = PARAMS(P_micro_batch_size)},
    [DECISION_SCHEDULES] = {.word = "passes of the schedule",
                            .phase = PHASE_FIT,
                            .moves = schedules_moves,
                            .text = schedules_text,
                            SIZE(schedules),
                            .values = axis_schedules,
                            .doubt = 0.03,
                            .params = (const int[]){P_NONE}},
    [DECISION_RECOMPUTE] = {.word = "recompute",
                            .phase = PHASE_FIT,
                            .guide = "S1.3",
                            .moves = recompute_moves,
                            .text = recompute_text,
                            .doubt = 0.02,
                            .params = PARAMS(P_recompute_granularity, P_recompute_modules),
                            .also = PARAMS(P_recompute_method, P_recompute_num_layers)},
    [DECISION_GRAPHS] = {.word = "graphs",
                         .phase = PHASE_PROFILE,
                         .guide = "S0.11",
                         .moves = graph_moves,
                         .text = graphs_text,
                         .doubt = 0.05,
                         .params = PARAMS(P_cuda_graph_impl, P_cuda_graph_scope)},
    [DECISION_DISPATCHER] = {.word = "dispatcher",
                             .phase = PHASE_SCALE,
                             .moves = dispatcher_moves,
                             .doubt = 0.08,
                             .params = PARAMS(P_dispatcher)},
    [DECISION_EP_OVERLAP] = {.word = "expert exchange hidden",
                             .doubt = 0.06,
                             .phase = PHASE_PROFILE,
                             .moves = ep_overlap_moves,
                             .params = PARAMS(P_overlap_moe_expert_parallel_comm),
                             .also = PARAMS(P_moe_shared_expert_overlap)},
    [DECISION_SHARED_EXPERT_OVERLAP] = {.word = "exchange behind shared experts",
                                        .doubt = 0.06,
                                        .phase = PHASE_PROFILE,
                                        .moves = shared_expert_overlap_moves,
                                        .params = PARAMS(P_moe_shared_expert_overlap)},
    [DECISION_TP_OVERLAP] = {.word = "TP exchange hidden",
                             .doubt = 0.05,
                             .phase = PHASE_PROFILE,
                             .moves = tp_overlap_moves,
                             .params = PARAMS(P_tp_comm_overlap)},
    [DECISION_LOSS] = {.text = loss_text,
                       .word = "fused loss",
                       .doubt = 0.02,
                       .phase = PHASE_FIT,
                       .moves = loss_moves,
                       .params = PARAMS(P_cross_entropy_loss_fusion),
                       .also = PARAMS(P_cross_entropy_fusion_impl)},
    [DECISION_OPTIMIZER_SHARDING] = {.word = "sharded optimizer",
                                     .doubt = 0.03,
                                     .phase = PHASE_FIT,
                                     .moves = optimizer_sharding_moves,
                                     .params = PARAMS(P_use_distributed_optimizer)},
    [DECISION_REPLICAS] = {.word = "groups of shards",
                           .doubt = 0.04,
                           .text = replicas_text,
                           .phase = PHASE_SCALE,
                           .moves = replica_moves,
                           .params =
                               PARAMS(P_num_distributed_optimizer_instances, P_dp_replicate_size)},
    [DECISION_GRADIENTS] = {.word = "gradients of",
                            .doubt = 0.02,
                            .text = gradients_text,
                            .phase = PHASE_PROFILE,
                            .moves = gradient_moves,
                            .params = PARAMS(P_main_grads_dtype)},
    [DECISION_PARAMETER_GATHER] = {.word = "parameters gathered in FP8",
                                   .doubt = 0.03,
                                   .phase = PHASE_PROFILE,
                                   .moves = parameter_gather_moves,
                                   .params = PARAMS(P_fp8_param_gather)},
    [DECISION_OPTIMIZER_PRECISION] = {.word = "moments of",
                                      .doubt = 0.01,
                                      .text = moments_text,
                                      .phase = PHASE_FIT,
                                      .moves = optimizer_precision_moves,
                                      .params = PARAMS(P_exp_avg_dtype, P_exp_avg_sq_dtype),
                                      .also = PARAMS(P_use_precision_aware_optimizer,
                                                     P_main_grads_dtype)},
    [DECISION_OFFLOAD] = {.word = "offload of the optimizer",
                          .doubt = 0.06,
                          .text = offload_text,
                          .phase = PHASE_FIT,
                          .moves = offload_moves,
                          .params = PARAMS(P_optimizer_offload_fraction),
                          .also =
                              PARAMS(P_cpu_offloading_num_layers, P_offload_modules,
                                     P_offload_optimizer_states, P_use_precision_aware_optimizer)},
    [DECISION_ACTIVATION_OFFLOAD] = {.text = activations_text,
                                     .word = "offload of activations",
                                     .doubt = 0.06,
                                     .phase = PHASE_FIT,
                                     .moves = activation_offload_moves,
                                     .params = PARAMS(P_offload_modules)},
    [DECISION_RESHARDING] = {.text = resharding_text,
                             .word = "resharding after the forward",
                             .doubt = 0.05,
                             .phase = PHASE_FIT,
                             .moves = resharding_moves,
                             .params = PARAMS(P_reshard_after_forward)},
};

/* ---- taking one ---- */

/* Block-wise scaling keeps two copies of a weight, which nothing gathers
   (megatron/bridge/training/mixed_precision.py bf16_with_fp8_subchannel_scaling_mixed). */
static bool precision_gathers(enum precision p)
{
    return p == PREC_FP8_DELAYED || p == PREC_FP8_TENSORWISE || p == PREC_MXFP8;
}

unsigned move_groups(const struct config *c)
{
    unsigned open = 0;
    for (int i = 0; replica_moves[i].name; i++)
        open |= (unsigned)(groups_of(c, replica_moves[i].argument) > 0) << i;
    return open;
}

unsigned move_given(const struct config *c)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    const struct {
        bool holds;
        unsigned need;
    } all[] = {{config_traits(c)->megatron_words, NEED_CORE},
               {!config_traits(c)->megatron_words, NEED_AUTOMODEL},
               {m->experts > 0, NEED_EXPERTS},
               {model_has_ffn(m, FFN_DENSE), NEED_DENSE},
               {m->shared_ffn > 0, NEED_SHARED},
               {m->mla, NEED_MLA},
               {k->fsdp == FSDP_NONE, NEED_UNSHARDED},
               {k->ep > 1, NEED_EP},
               {m->experts > 0 && k->ep * k->etp > 1, NEED_EXPERT_GROUP},
               {c->machine.nvlink_domain <= c->machine.gpus_per_node, NEED_NODE_NVLINK},
               {k->graph_impl == GRAPH_NONE || k->graph_impl == GRAPH_TE, NEED_TE_GRAPHS},
               {precision_gathers(k->precision), NEED_FP8},
               {k->distributed_optimizer, NEED_SHARDED_OPTIMIZER},
               {k->tp > 1 && k->sequence_parallel, NEED_SEQUENCE_PARALLEL}};
    unsigned given = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        given |= all[i].holds ? all[i].need : 0;
    return given;
}

bool move_take(const struct decision *d, const struct move *move, struct config *c)
{
    if (move->needs & ~move_given(c)) return false;
    return move->change ? move->change(c, move->argument)
                        : scale(decision_size(d, &c->knobs), move->argument);
}

/* Whether what a decision is about is as a move with risks leaves it. `plan` is given back as it
   was. */
static bool is_risked_by(struct config *plan, const struct decision *d, const struct move *move)
{
    struct knobs as_is = plan->knobs;
    if (!(move->uses & MOVE_SEARCH)) return false;
    bool risked = move->change(plan, move->argument);
    for (const int *param = d->params; risked && *param != P_NONE; param++)
        risked = knob_same(knob_of(*param), &plan->knobs, &as_is);
    plan->knobs = as_is;
    return risked;
}

/* The risks of the moves whose states a plan has, which is given back as it was; their names go to
   `names` unless that is NULL. */
static unsigned risks_in(struct config *plan, unsigned wanted, struct buf *names)
{
    unsigned risks = 0;
    for (const struct decision *d = decisions; d < decisions + DECISIONS; d++)
        for (const struct move *move = d->moves; move->name; move++) {
            if (!(move->risks & wanted) || !is_risked_by(plan, d, move)) continue;
            if (names) buf_printf(names, "%s%s", names->n ? ", " : "", move->name);
            risks |= move->risks;
        }
    return risks;
}

bool move_allowed(const struct config *c, const struct move *move)
{
    return !(move->risks & RISK_NUMERICS & ~c->knobs.open_numerics);
}

struct str move_numerics(struct arena *a, const struct config *base, const struct config *plan)
{
    struct buf names = buf_new(a);
    struct config before = *base, with = *plan;
    risks_in(&with, RISK_NUMERICS & ~risks_in(&before, RISK_NUMERICS, NULL), &names);
    return buf_str(&names);
}

bool decision_sets(const struct decision *d, int param)
{
    for (const int *p = d->params; p && *p != P_NONE; p++)
        if (*p == param) return true;
    return false;
}

unsigned move_risks_of(const struct config *base, const struct config *plan)
{
    struct config with = *plan;
    return move_risks_beyond(move_risks(base), &with);
}

unsigned move_risks(const struct config *plan)
{
    struct config with = *plan;
    return risks_in(&with, ~0u, NULL);
}

unsigned move_risks_beyond(unsigned usual, struct config *plan)
{
    return risks_in(plan, ~usual, NULL);
}
