/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that Megatron-LM's flags need and cannot say. Each entry has its rule among
   rules/megatron, which finds what is missing in a run. */
#include "emit/flags.h"

#include "base/version.h"
#include "facts/param_ids.h"

static bool has_graphs(const struct facts *f)
{
    struct str impl = facts_str(f, P_cuda_graph_impl);
    return impl.n && !str_is(impl, "none");
}

/* What NVIDIA's recipes set beside a graph of the whole iteration, whose memory NCCL must not keep
   (Megatron-Bridge 067f987d, perf_recipes); registered buffers go without (optimizer.yaml). */
static bool has_whole_graph(const struct facts *f)
{
    return str_is(facts_str(f, P_cuda_graph_impl), "full_iteration") &&
           !facts_bool(f, P_nccl_ub, false);
}

static bool before_blackwell(const struct facts *f)
{
    return facts_double(f, P_compute_capability, 0) < 10;
}

/* one-connection-before-blackwell: there the order of TP and CP collectives relies on one hardware
   queue. FSDP and the overlap of expert communication need several. */
static bool needs_one_queue(const struct facts *f)
{
    bool wide = facts_int(f, P_tensor_model_parallel_size, 1) > 1 ||
                facts_int(f, P_context_parallel_size, 1) > 1;
    bool parallel_queues = facts_bool(f, P_use_megatron_fsdp, false) ||
                           facts_bool(f, P_use_torch_fsdp2, false) ||
                           facts_bool(f, P_overlap_moe_expert_parallel_comm, false);
    return wide && before_blackwell(f) && !parallel_queues;
}

static bool needs_queues(const struct facts *f)
{
    return !needs_one_queue(f);
}

/* fine-offload-environment */
static bool offloads_activations(const struct facts *f)
{
    return facts_bool(f, P_fine_grained_activation_offloading, false);
}

/* weight-shards-graph-environment */
static bool shards_weights_in_graphs(const struct facts *f)
{
    return facts_int(f, P_tensor_parallel_num_weight_shards, 1) > 1 && has_graphs(f) &&
           !before_blackwell(f);
}

/* deterministic-nccl-algorithm-stated; later releases of Megatron-LM see to it themselves, Bridge
   does not. */
static bool names_reductions(const struct facts *f)
{
    bool itself = f->framework == FRAMEWORK_MEGATRON && version_cmp(f->version, STR("0.19")) >= 0;
    return facts_bool(f, P_deterministic_mode, false) && !itself;
}

static const struct {
    struct environment variable;
    bool (*is_needed)(const struct facts *f);
} table[] = {
    {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}, needs_one_queue},
    {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}, needs_queues},
    /* graphs-expandable-segments: the allocator's setting may come from elsewhere */
    {{"NCCL_GRAPH_REGISTER", "0"}, has_graphs},
    {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True,graph_capture_record_stream_reuse:True"},
     has_whole_graph},
    {{"TORCH_NCCL_AVOID_RECORD_STREAMS", "0"}, has_whole_graph},
    {{"NVTE_CPU_OFFLOAD_V1", "1"}, offloads_activations},
    {{"CUDA_GRAPHS_USE_NODE_PRIORITY", "1"}, shards_weights_in_graphs},
    {{"NCCL_ALGO", "Ring"}, names_reductions},
};
_Static_assert(sizeof table / sizeof *table <= ENVIRONMENT_MAX, "room for every variable");

bool emit_environment_differs(const struct facts *f)
{
    return has_whole_graph(f) || offloads_activations(f) || names_reductions(f);
}

size_t emit_environment(const struct facts *f, struct environment *out)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].is_needed(f)) out[n++] = table[i].variable;
    return n;
}
