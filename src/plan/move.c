/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/move.h"

#include "base/buf.h"
#include "facts/param_ids.h"
#include "plan/change.h"
#include "plan/framework.h"
#include "plan/knob.h"

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
    struct value parts = knob_get(a, k, knob_of(P_cuda_graph_scope));
    bool whole = parts.kind != VALUE_LIST || parts.list->n == 0;
    return value_text(a, whole ? knob_get(a, k, knob_of(P_cuda_graph_impl)) : parts);
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

/* p2p, a2a, all_gather or a2a+p2p, in a plan that leaves it to its attention too. */
static struct str cp_exchange_text(struct arena *a, const struct knobs *k)
{
    struct value v = knob_get(a, k, knob_of(P_cp_comm_type));
    return v.kind == VALUE_NULL ? STR("as attention needs it") : value_text(a, v.list->items[0]);
}

static struct str loss_text(struct arena *a, const struct knobs *k)
{
    static const char *const words[] = {"no", "native", "te", "linear", "bf16", "fp32"};
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
    {"TP over 2", change_tp, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"TP over 2, ETP with it", change_tp_and_etp, -2, 0, MOVE_OUTLOOK, P_fits_with_smaller_tp, 0},
    {"TP times 2", change_tp, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"TP times 4", change_tp, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move pp_moves[] = {
    {"PP over 2", change_pp, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"PP times 2", change_pp, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"PP times 4", change_pp, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

/* The search's alone: a pass takes a divisor of the step's microbatches. */
static const struct move schedules_moves[] = {{0}};

static const struct move ep_moves[] = {
    {"EP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"EP times 2", NULL, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"EP times 4", NULL, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move etp_moves[] = {
    {"EP in place of ETP", change_etp, 1, 0, MOVE_OUTLOOK, P_fits_with_ep_only, 0}, {0}};

static const struct move cp_moves[] = {
    {"CP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"CP times 2", NULL, 2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"CP times 4", NULL, 4, 0, MOVE_RELIEF, 0, 0},
    {0}};

static const struct move vpp_moves[] = {{"VPP over 2", NULL, -2, 0, MOVE_NEIGHBOUR, 0, 0},
                                        {"VPP times 2", NULL, 2, 0, MOVE_NEIGHBOUR, 0, 0},
                                        {"one chunk a stage", change_vpp, 1, 0, MOVE_RELIEF, 0, 0},
                                        {0}};

static const struct move mbs_moves[] = {
    {"MBS over 4", NULL, -4, 0, MOVE_RELIEF, 0, 0},
    {"MBS over 2", NULL, -2, 0, MOVE_NEIGHBOUR | MOVE_RELIEF, 0, 0},
    {"MBS times 2", NULL, 2, 0, MOVE_NEIGHBOUR, 0, 0},
    {"MBS two powers down", change_mbs, -2, 0, MOVE_TRIAL, 0, 0},
    {"MBS a power down", change_mbs, -1, 0, MOVE_TRIAL, 0, 0},
    {"MBS a power up", change_mbs, 1, 0, MOVE_TRIAL, 0, 0},
    {"MBS two powers up", change_mbs, 2, 0, MOVE_TRIAL, 0, 0},
    {0}};

/* Every set of modules that a plan may do best with, of those that the model has. The whole MoE
   layer has its activation and its shared experts in it; attention's core is left out, as fused
   kernels keep next to nothing of it. */
#define SET(words, modules, needs)                                                                 \
    {"recompute" words, change_recompute_modules, modules, NEED_CORE | (needs), MOVE_SEARCH, 0, 0},
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
    {"recompute nothing", change_recompute_layers, RECOMPUTE_NONE, 0, MOVE_SEARCH | MOVE_OUTLOOK,
     P_fits_without_recompute, 0},
    {"recompute the cheapest", change_recompute_cheapest, 0, NEED_CORE, MOVE_SEARCH, 0, 0},
    {"the cheapest and MLA's projections", change_recompute_cheapest, MOD_MLA_UP_PROJ,
     NEED_CORE | NEED_MLA, MOVE_SEARCH, 0, 0},
    {"and dense FFNs", change_recompute_cheapest, MOD_MLA_UP_PROJ | MOD_MLP,
     NEED_CORE | NEED_EXPERTS | NEED_DENSE, MOVE_SEARCH, 0, 0},
    {"and experts", change_recompute_cheapest, MOD_MLA_UP_PROJ | MOD_MLP | MOD_MOE,
     NEED_CORE | NEED_EXPERTS, MOVE_SEARCH, 0, 0},
    EVERY_SET{"recompute modules, not layers", change_recompute_not, RECOMPUTE_FULL, NEED_CORE,
              MOVE_OUTLOOK, P_fits_with_selective, 0},
    {"norms too", change_recompute_also, MOD_LAYERNORM, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"experts' activations too", change_recompute_also, MOD_MOE_ACT, NEED_CORE | NEED_EXPERTS,
     MOVE_RELIEF, 0, 0},
    {"experts' activations and norms too", change_recompute_also, MOD_MOE_ACT | MOD_LAYERNORM,
     NEED_CORE | NEED_EXPERTS, MOVE_RELIEF, 0, 0},
    {"MLA's projections too", change_recompute_also, MOD_MLA_UP_PROJ, NEED_CORE | NEED_MLA,
     MOVE_RELIEF, 0, 0},
    {"shared experts too", change_recompute_also, MOD_SHARED_EXPERTS,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED, MOVE_RELIEF, 0, 0},
    {"dense FFNs too", change_recompute_also, MOD_MLP, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"all of these but shared experts", change_recompute_also,
     MOD_MLA_UP_PROJ | MOD_MOE_ACT | MOD_LAYERNORM | MOD_MLP, NEED_CORE | NEED_EXPERTS | NEED_MLA,
     MOVE_RELIEF, 0, 0},
    {"attention's core too", change_recompute_also, MOD_CORE_ATTN, NEED_CORE, MOVE_RELIEF, 0, 0},
    {"experts too", change_recompute_also, MOD_MOE, NEED_CORE | NEED_EXPERTS, MOVE_RELIEF, 0, 0},
    {"recompute whole layers", change_recompute_layers, RECOMPUTE_FULL, 0,
     MOVE_SEARCH | MOVE_RELIEF, 0, 0},
    {0}};

enum { NEED_GRAPHS = NEED_CORE | NEED_EXPERTS | NEED_TE_GRAPHS };
static const struct move graph_moves[] = {
    {"no graphs", change_capture, 0, NEED_GRAPHS, MOVE_TRIAL, 0, 0},
    {"graphs of the router", change_capture, SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS, NEED_GRAPHS,
     MOVE_SEARCH, 0, 0},
    {"graphs of attention too", change_capture,
     SCOPE_ATTN | SCOPE_MOE_ROUTER | SCOPE_MOE_PREPROCESS, NEED_GRAPHS, MOVE_SEARCH, 0, 0},
    {"a graph of the iteration", change_capture_iteration, false, NEED_CORE | NEED_TE_GRAPHS,
     MOVE_SEARCH, 0, 0},
    {"a graph of the iteration, experts' buffers of a fixed size", change_capture_iteration, true,
     NEED_GRAPHS | NEED_EXPERT_GROUP, MOVE_SEARCH, 0, RISK_DYNAMIC_GRAPHS},
    {0}};

/* The fused ones fail where a rank has all experts, and move tokens over NVLink (S1.9); DeepEP has
   no kernels for racks. The last keeps most memory. */
static const struct move dispatcher_moves[] = {
    {"PyTorch's exchange", change_dispatch, DISPATCH_TORCH, NEED_AUTOMODEL, MOVE_SEARCH, 0, 0},
    {"all-to-all", change_dispatch, DISPATCH_ALLTOALL, NEED_CORE | NEED_EXPERTS, MOVE_SEARCH, 0, 0},
    {"DeepEP", change_dispatch, DISPATCH_DEEPEP, NEED_EXPERT_GROUP | NEED_NVLINK | NEED_NODE_NVLINK,
     MOVE_SEARCH, 0, 0},
    {"HybridEP", change_dispatch, DISPATCH_HYBRIDEP, NEED_EXPERT_GROUP | NEED_NVLINK, MOVE_SEARCH,
     0, 0},
    {0}};

/* What a ring hides behind attention another way does not have to hide. */
static const struct move cp_exchange_moves[] = {
    {"a ring of keys and values", change_cp_exchange, CP_RING, NEED_CP_RING, MOVE_TRIAL, 0, 0},
    {"an exchange of heads", change_cp_exchange, CP_HEADS, NEED_CP_HEADS, MOVE_SEARCH, 0, 0},
    {"a gather of keys and values", change_cp_exchange, CP_GATHER, NEED_CP_GATHER, MOVE_SEARCH, 0,
     0},
    {"heads inside NVLink and a ring beyond", change_cp_exchange, CP_LEVELS, NEED_CP_LEVELS,
     MOVE_SEARCH, 0, 0},
    {0}};

static const struct move ep_overlap_moves[] = {
    {"show the expert exchange", change_overlap_ep, false, NEED_CORE | NEED_EXPERTS | NEED_EP,
     MOVE_TRIAL, 0, 0},
    {"hide the expert exchange", change_overlap_ep, true, NEED_CORE | NEED_EXPERTS | NEED_EP,
     MOVE_SEARCH, 0, 0},
    {0}};

static const struct move shared_expert_overlap_moves[] = {
    {"no exchange behind shared experts", change_overlap_shared_experts, false,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED | NEED_EP, MOVE_TRIAL, 0, 0},
    {"hide the expert exchange behind shared experts", change_overlap_shared_experts, true,
     NEED_CORE | NEED_EXPERTS | NEED_SHARED | NEED_EP, MOVE_SEARCH, 0, 0},
    {0}};

/* Transformer Engine's user buffers. */
static const struct move tp_overlap_moves[] = {
    {"show TP's exchange", change_overlap_tp, false, NEED_CORE | NEED_SEQUENCE_PARALLEL, MOVE_TRIAL,
     0, 0},
    {"hide TP's exchange", change_overlap_tp, true, NEED_CORE | NEED_SEQUENCE_PARALLEL, MOVE_SEARCH,
     0, 0},
    {0}};

static const struct move loss_moves[] = {
    {"fuse the loss", change_fuse_loss, CE_TE, 0, MOVE_RELIEF, 0, 0}, {0}};

static const struct move optimizer_sharding_moves[] = {
    {"shard the optimizer", change_shard_optimizer, true, NEED_UNSHARDED, MOVE_RELIEF, 0, 0}, {0}};

static const struct move replica_moves[] = {
    {"shards inside the NVLink domain", change_shard_in_groups, GROUPS_IN_DOMAIN,
     NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, 0},
    {"fewer groups of shards", change_shard_in_groups, GROUPS_FEWER, NEED_SHARDED_OPTIMIZER,
     MOVE_SEARCH, 0, 0},
    {"shards of two ranks", change_shard_in_groups, GROUPS_OF_TWO, NEED_SHARDED_OPTIMIZER,
     MOVE_SEARCH, 0, 0},
    {0}};

_Static_assert(sizeof replica_moves / sizeof *replica_moves == MOVE_GROUPS + 1,
               "MOVE_GROUPS is how many there are");

/* What Megatron-core's own optimizer can be told. */
enum { NEED_OPTIMIZER = NEED_CORE | NEED_UNSHARDED };
static const struct move gradient_moves[] = {
    {"gradients in fp32", change_reduce_gradients, 4, NEED_OPTIMIZER, MOVE_TRIAL, 0, 0},
    {"gradients in bf16", change_reduce_gradients, 2, NEED_OPTIMIZER, MOVE_SEARCH, 0,
     RISK_GRADIENTS},
    {0}};

static const struct move parameter_gather_moves[] = {
    {"parameters gathered in bf16", change_gather_parameters, false,
     NEED_OPTIMIZER | NEED_FP8 | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, 0},
    {"parameters gathered in FP8", change_gather_parameters, true,
     NEED_OPTIMIZER | NEED_FP8 | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, RISK_PARAMETERS},
    {0}};

/* Who keeps moments in fp32 still keeps the main parameters as two bytes beside the parameter: the
   same numbers in half the bytes (Transformer Engine's FusedAdam, store_param_remainders). */
static const struct move optimizer_precision_moves[] = {
    {"main parameters as remainders", change_keep_moments, 4,
     NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH, 0, 0},
    {"moments in bf16", change_keep_moments, 2, NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER,
     MOVE_SEARCH, 0, RISK_MOMENTS},
    {"moments in FP8", change_keep_moments, 1, NEED_OPTIMIZER | NEED_SHARDED_OPTIMIZER, MOVE_SEARCH,
     0, RISK_FP8_MOMENTS},
    {"optimizer states of two bytes", change_small_optimizer, 2,
     NEED_UNSHARDED | NEED_SHARDED_OPTIMIZER, MOVE_RELIEF, 0, RISK_GRADIENTS | RISK_MOMENTS},
    {0}};

static const struct move offload_moves[] = {
    {"offload half of the optimizer", change_offload_optimizer, 50, NEED_UNSHARDED,
     MOVE_SEARCH | MOVE_RELIEF, 0, 0},
    {"offload the optimizer", change_offload_optimizer, 100, NEED_UNSHARDED,
     MOVE_SEARCH | MOVE_RELIEF, 0, 0},
    {"offload nothing", change_keep_on_gpu, 0, 0, MOVE_OUTLOOK, P_fits_without_offload, 0},
    {0}};

/* The sets of NVIDIA's recipes (Megatron-Bridge's perf_recipes, Megatron-MoE-ModelZoo). */
static const struct move activation_offload_moves[] = {
    {"offload no activations", change_offload_modules, 0, NEED_CORE, MOVE_TRIAL, 0, 0},
    {"offload what attention keeps", change_offload_modules, MOD_CORE_ATTN | MOD_ATTN_PROJ,
     NEED_CORE, MOVE_SEARCH, 0, 0},
    {"offload what experts keep", change_offload_modules, MOD_EXPERT_FC1 | MOD_MOE_ACT,
     NEED_CORE | NEED_EXPERTS, MOVE_SEARCH, 0, 0},
    {"offload what both keep", change_offload_modules,
     MOD_CORE_ATTN | MOD_ATTN_PROJ | MOD_EXPERT_FC1 | MOD_MOE_ACT, NEED_CORE | NEED_EXPERTS,
     MOVE_SEARCH, 0, 0},
    {0}};

/* FSDP2's, which keeps the parameters of experts' models and of pipelines for the backward. */
static const struct move resharding_moves[] = {
    {"gather parameters for the backward", change_gather_anew, true, NEED_AUTOMODEL, MOVE_SEARCH, 0,
     0},
    {"gather parameters anew", change_reshard, true, NEED_AUTOMODEL, MOVE_OUTLOOK,
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
    [DECISION_CP_EXCHANGE] = {.word = "CP exchange",
                              .doubt = 0.05,
                              .text = cp_exchange_text,
                              .phase = PHASE_SCALE,
                              .guide = "S2.6",
                              .moves = cp_exchange_moves,
                              .params = PARAMS(P_cp_comm_type),
                              .also = PARAMS(P_hierarchical_context_parallel_sizes)},
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
                             .params =
                                 PARAMS(P_reshard_after_forward, P_moe_reshard_after_forward)},
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
        open |= (unsigned)(change_groups(c, replica_moves[i].argument) > 0) << i;
    return open;
}

static unsigned cp_given(const struct config *c)
{
    return (config_has_cp_comm(c, CP_RING) ? NEED_CP_RING : 0u) |
           (config_has_cp_comm(c, CP_HEADS) ? NEED_CP_HEADS : 0u) |
           (config_has_cp_comm(c, CP_GATHER) ? NEED_CP_GATHER : 0u) |
           (config_has_cp_comm(c, CP_LEVELS) ? NEED_CP_LEVELS : 0u);
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
               {c->machine.nvlink_domain != 1, NEED_NVLINK},
               {k->graph_impl == GRAPH_NONE || k->graph_impl == GRAPH_TE, NEED_TE_GRAPHS},
               {precision_gathers(k->precision), NEED_FP8},
               {k->distributed_optimizer, NEED_SHARDED_OPTIMIZER},
               {k->tp > 1 && k->sequence_parallel, NEED_SEQUENCE_PARALLEL}};
    unsigned given = k->cp > 1 ? cp_given(c) : 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        given |= all[i].holds ? all[i].need : 0;
    return given;
}

bool move_take(const struct decision *d, const struct move *move, struct config *c)
{
    if (move->needs & ~move_given(c)) return false;
    return move->change ? move->change(c, move->argument)
                        : change_size(decision_size(d, &c->knobs), move->argument);
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
