/* SPDX-License-Identifier: Apache-2.0 */
/* The numeric view of one configuration: what the cost models and the search work on, millions of
   times, without touching facts. config_from_facts fills it once; the search then changes `knobs`
   only. */
#ifndef MOEPLAN_PLAN_CONFIG_H
#define MOEPLAN_PLAN_CONFIG_H

#include "facts/precision.h"

/* ---- the model ---- */

/* The sparse ones have an indexer of their own; layers without one, in a model that has indexers,
   see the keys that another layer's picked. */
enum mixer {
    MIXER_NONE,
    MIXER_ATTENTION,
    MIXER_WINDOW,
    MIXER_MLA,
    MIXER_MAMBA,
    MIXER_LINEAR,
    MIXER_SPARSE_ATTENTION,
    MIXER_SPARSE_MLA,
    MIXERS
};
enum ffn { FFN_NONE, FFN_DENSE, FFN_MOE, FFNS };

/* One decoder layer's kind; equal kinds are counted, not repeated. */
struct layer_kind {
    enum mixer mixer;
    enum ffn ffn;
};

enum { MODEL_MAX_LAYERS = 1024, MODEL_MAX_KINDS = 12 };

struct model_shape {
    struct str name;
    int num_layers, hidden, heads, groups, head_dim; /* groups: KV heads (num_query_groups) */
    int v_head_dim; /* differs from head_dim in a few models; else equal */
    int dense_ffn;  /* 0: no dense FFN */
    bool gated, add_bias, qkv_bias, qk_layernorm;
    bool layernorm;             /* LayerNorm, else RMSNorm */
    bool attention_output_gate; /* q projection is twice as wide */
    bool head_gate;             /* one attention gate a head (hidden x heads weights) */
    bool qk_norm_full;          /* qk norm spans all heads instead of one (OLMoE, MiniMax-M2) */
    bool sinks;                 /* a learned softmax sink a head (gpt-oss) */
    bool post_norms;            /* a further norm after attention and after the FFN (Gemma) */
    bool k_equals_v;            /* full-attention layers have no value projection (Gemma 4) */
    /* sliding-window layers; the same as the others in most models */
    int win_heads, win_groups, win_head_dim, win_v_head_dim;
    /* sparse-attention indexer (0: none), how many keys it picks (0: all), and how many layers own
       one (0: all) */
    int index_heads, index_dim, index_topk, index_layers;
    bool tied;              /* embedding and head share weights */
    int vocab;              /* as written, not padded */
    int vocab_divisible_by; /* Megatron's make_vocab_size_divisible_by; 128 */
    int learned_positions;  /* max_position_embeddings when positions are learned, else 0 */
    int window;             /* sliding window in tokens, 0: none */
    bool mla;
    int q_lora, kv_lora, qk_nope, qk_rope, mla_v; /* q_lora 0: direct q projection */
    int o_lora, o_groups; /* rank and groups of a low-rank output projection; 0: direct */
    int experts, topk, expert_ffn;
    int shared_ffn; /* of all shared experts together */
    int latent;     /* width that routed experts see; 0: hidden */
    int router_groups,
        router_group_topk; /* a token chooses experts of so many groups alone; 0: of all */
    bool shared_gate;      /* the shared expert has a sigmoid gate of its own (hidden weights) */
    bool router_bias;      /* an expert bias of the router (num_experts values) */
    int mamba_heads, mamba_head_dim, mamba_state, mamba_groups, mamba_conv;
    int lin_k_heads, lin_v_heads, lin_k_dim, lin_v_dim, lin_conv;
    int mtp_layers;                 /* depths */
    bool mtp_repeated;              /* one set of weights used at every depth */
    struct layer_kind mtp_kinds[8]; /* the layers of one depth */
    int n_mtp_kinds;
    int vision_layers, vision_hidden, vision_ffn, vision_heads, vision_patch, vision_merge;
    int vision_temporal, vision_positions, vision_deepstack; /* frames a patch; extra mergers */
    bool vision_gated;
    double hidden_dropout, attention_dropout;
    int n_kinds; /* distinct kinds, in order of first appearance */
    struct layer_kind kinds[MODEL_MAX_KINDS];
    uint8_t layers[MODEL_MAX_LAYERS]; /* layer -> index into kinds */
};

/* ---- the machine ---- */

enum { MACHINE_MAX_COEFFICIENTS = 176 };

/* A coefficient of the cost model: value and 80 % interval; name, unit, meaning and source are in
 * the platform file. */
struct coefficient {
    struct str name;
    double value, low, high;
};

struct machine {
    struct str id;                        /* h100 */
    struct str architecture;              /* Hopper, Blackwell Ultra; empty: unknown */
    struct str paced_model;               /* whose own runs set `pace`; empty: no run did */
    double compute_capability;            /* 9.0, 10.0, 10.3 */
    int gpus_per_node, nvlink_domain;     /* GPUs */
    double capacity_bytes;                /* what the allocator can use */
    double peak_bf16, peak_fp8, peak_fp4; /* dense FLOP/s; 0: the chip has no such mode */
    double sms;                           /* streaming multiprocessors */
    double hbm_bytes_per_s;
    double nvlink_bytes_per_s; /* one direction, a GPU */
    double nic_bytes_per_s;    /* one direction, a GPU */
    double pcie_bytes_per_s;
    int n_coefficients;
    struct coefficient coefficients[MACHINE_MAX_COEFFICIENTS];
};

/* ---- the knobs ---- */

enum dispatcher {
    DISPATCH_ALLGATHER,
    DISPATCH_ALLTOALL,
    DISPATCH_DEEPEP,
    DISPATCH_HYBRIDEP,
    DISPATCH_TORCH
};
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
enum recompute_method { METHOD_UNIFORM, METHOD_BLOCK };
enum graph_impl { GRAPH_NONE, GRAPH_LOCAL, GRAPH_TE, GRAPH_FULL_ITERATION };
/* CE_LINEAR: the head's GEMM and the loss fused and chunked over tokens (linear cross-entropy).
   CE_MASKED: AutoModel's masked cross-entropy on bf16 logits; CE_MASKED_FP32: on an fp32 copy. */
enum ce_fusion { CE_NONE, CE_NATIVE, CE_TE, CE_LINEAR, CE_MASKED, CE_MASKED_FP32 };
enum fsdp {
    FSDP_NONE,
    FSDP_OPTIM,
    FSDP_OPTIM_GRADS,
    FSDP_OPTIM_GRADS_PARAMS,
    FSDP_FSDP2,
    FSDP_DDP
};
/* FLASH: FlashAttention's own kernels. FUSED: cuDNN's through Transformer Engine. UNFUSED: scores
   are written. SDPA: PyTorch's, which picks one of its own. FLEX: compiled by PyTorch. AUTO:
   Transformer Engine picks FLASH or FUSED. */
enum attention_backend { ATTN_FLASH, ATTN_FUSED, ATTN_UNFUSED, ATTN_SDPA, ATTN_FLEX, ATTN_AUTO };
/* TE: a GEMM an expert on several streams (Transformer Engine's grouped linear). GROUPED: all local
   experts in one kernel (torch._grouped_mm, CUTLASS, TE's grouped tensors). LOOP: expert by expert.
   SLICES: the same over slices of one tensor, as AutoModel's MoE classes do. FUSED: TE's op fuser
   makes one operation of products and activation. */
enum experts_kernel { EXPERTS_TE, EXPERTS_GROUPED, EXPERTS_LOOP, EXPERTS_SLICES, EXPERTS_FUSED };
/* TE: one kernel, which keeps a number a row. TORCH: PyTorch's own. COMPILED: in fp32, made one
   kernel by torch.compile. EAGER: Hugging Face's module, operation by operation, as is the gate
   between two linears beside it. */
enum norm_kernel { NORM_TE, NORM_TORCH, NORM_COMPILED, NORM_EAGER };
enum linear_kernel { LINEARS_TE, LINEARS_TORCH };
/* How context-parallel ranks see all keys. RING: keys and values go round beside attention. HEADS:
   each gets the whole sequence of a part of the heads (a2a). GATHER: all keys and values first.
   LEVELS: heads inside an NVLink domain, a ring from one to the next (a2a+p2p).
   NEEDED: what the model's attention needs (config_cp_comm), of a plan that is still made. */
enum cp_comm { CP_RING, CP_HEADS, CP_GATHER, CP_LEVELS, CP_NEEDED };
enum task { TASK_PRETRAIN, TASK_SFT, TASK_PEFT };

/* bits of recompute_modules, offload_modules and cuda_graph_scope */
enum {
    MOD_CORE_ATTN = 1,
    MOD_LAYERNORM = 2,
    MOD_MOE_ACT = 4,
    MOD_MLP = 8,
    MOD_SHARED_EXPERTS = 16,
    MOD_MLA_UP_PROJ = 32,
    MOD_MOE = 64,
    MOD_EXPERT_FC1 = 128,
    MOD_QKV_LINEAR = 256,
    MOD_ATTN_PROJ = 512,
    MOD_ATTN_NORM = 1024,
    MOD_MLP_NORM = 2048,
    MOD_FUSED_GROUP_MLP = 4096, /* offload_modules: the whole fused grouped MLP */
    MOD_OPERATIONS = 8192,      /* recompute: all but attention, the exchange and every second
                                   product (PyTorch's selective checkpointing) */
};
enum {
    SCOPE_ATTN = 1,
    SCOPE_MOE_ROUTER = 2,
    SCOPE_MOE_PREPROCESS = 4,
    SCOPE_MAMBA = 8,
    SCOPE_MLP = 16,
    SCOPE_MOE = 32,
    SCOPE_FULL = 64,
};

/* bits of open_numerics: what may have fewer bits than the framework's fp32 defaults, and what else
   a plan takes only where tuned recipes do */
enum {
    NUMERICS_GRADIENTS = 1,  /* added up and reduced in bf16 */
    NUMERICS_MOMENTS = 2,    /* the optimizer's, in bf16 */
    NUMERICS_PARAMETERS = 4, /* kept and gathered in FP8 */
    NUMERICS_FP8_MOMENTS = 8,
    OPEN_DYNAMIC_GRAPHS = 16, /* buffers of a fixed size for what varies, in a graph */
};

/* bits of unstated: what a run surely has, and neither the plan nor its framework's defaults say. A
   file that a framework starts as it is leaves nothing open but what its installation decides. */
enum {
    UNSTATED_ATTENTION = 1,
    UNSTATED_EXPERTS = 2,
    UNSTATED_NORMS = 4,
    UNSTATED_DISPATCHER = 8,
    UNSTATED_STAGES = 16, /* virtual stages of a pipeline */
    UNSTATED_GRAPHS = 32,
    UNSTATED_RECOMPUTE = 64,
    UNSTATED_SHARDING = 128,    /* FSDP */
    UNSTATED_GRADIENTS = 256,   /* their number format */
    UNSTATED_ACTIVATIONS = 512, /* whether an activation's input is kept in FP8 */
    UNSTATED_FROZEN = 1024,     /* the number format of frozen weights */
    UNSTATED_RESHARDING = 2048, /* whether FSDP2 gathers anew for the backward */
    UNSTATED_OVERLAP = 4096,    /* of the experts' exchange with another microbatch */
    UNSTATED_ROUTING = 8192,    /* balanced or natural */
    UNSTATED_MODULES = 16384,   /* which ones selective recomputation repeats */
    UNSTATED_SWITCHES = 32768,  /* all that recipes spell out beside their sizes */
    UNSTATED_NARROW = 65536     /* whether attention, and the head, are in 8 bits too */
};

/* All that a plan decides. Degrees are at least 1. */
struct knobs {
    int64_t gpus;
    int tp, pp, vpp, cp, ep, etp, mbs;
    int64_t gbs;
    int seq;
    bool sequence_parallel;
    uint8_t precision, dispatcher, recompute, recompute_method, graph_impl, ce_fusion, fsdp,
        attention, experts, norms, linears, task, cp_comm;
    int recompute_num_layers; /* full: 0 means all */
    uint32_t recompute_modules, offload_modules, graph_scope;
    bool fp8_param_gather;
    bool distributed_optimizer, precision_aware, muon;
    int optimizer_instances; /* num_distributed_optimizer_instances */
    int grad_bytes, main_param_bytes, exp_avg_bytes, exp_avg_sq_bytes; /* bytes an element */
    double optimizer_offload;                                          /* fraction on the CPU */
    int layers_offloaded; /* cpu_offloading_num_layers */
    bool overlap_grad_reduce, overlap_param_gather, tp_comm_overlap, overlap_ep, delay_wgrad,
        shared_expert_overlap, overlap_p2p;
    bool permute_fusion, grouped_gemm, act_fusion, grad_accumulation_fusion, deterministic,
        transformer_engine;
    bool op_fuser;             /* Transformer Engine fuses the operations of a module */
    bool fp8_attention;        /* attention's products, and what it keeps, are FP8 */
    bool rope_apart;           /* rotary embedding by PyTorch's own operations, not one kernel */
    bool fp8_output;           /* fp8_output_proj: MXFP8's recipe has the head in MXFP8 too */
    bool fp8_activation_store; /* an activation's input is kept in FP8 for the backward */
    bool layer_wise_optimizer; /* dist_muon and kin: whole matrices dealt over dp x cp (experts over
                                  edp) */
    bool offload_optimizer_states; /* all optimizer states on the CPU between two steps */
    int lora_rank;                 /* TASK_PEFT: rank of the adapters */
    uint32_t lora_targets;         /* TASK_PEFT: bits of the linears that have one (plan/peft.h) */
    double lora_dropout;           /* TASK_PEFT: part of the adapters' input that is dropped */
    bool lora_all_to_all;          /* theirs exchange tokens for columns in place of a gather */
    bool dora;                     /* their outputs have magnitudes of their own */
    bool four_bit;                 /* frozen linears in 4 bits, made wide for each product: QLoRA */
    bool double_quant;             /* four_bit: their scales are quantised too */
    bool eight_bit;                /* the same in 8 bits, where four_bit is off */
    bool force_balance;            /* balanced routing: a benchmark's, or assumed */
    bool pad_to_capacity;   /* moe_pad_expert_input_to_capacity: every expert computes its full
                               capacity */
    double capacity_factor; /* 0: dropless */
    int exchange_sms;       /* of the flex dispatcher's kernels; 0: as many as they take */
    double rank_capacity;   /* moe_expert_rank_capacity_factor; 0: not said */
    bool paged_stash;       /* moe_paged_stash: experts' saved rows in pages of one buffer ... */
    double stash_factor;    /* ... of so many times the mean's rows */
    bool defer_embedding_wgrad;
    int wgrad_deferral_limit;
    int first_stage_layers, last_stage_layers; /* 0: not given */
    bool account_embedding, account_loss;
    int group_size;         /* microbatch_group_size_per_virtual_pipeline_stage; 0: pp */
    int layout;             /* 0: even or first/last; else a handle into config.layouts + 1 */
    uint32_t open_numerics; /* of the question */
    bool freeze_vision, freeze_projection, freeze_language;
    /* plan/documents.h; 0: not stated */
    double document_tokens, document_mean, document_spread, document_cut, padding;
    int image_tokens, images; /* of a sequence, as the language model sees them; 0: not stated */
    /* AutoModel */
    int schedules; /* passes of the pipeline's schedule a step, each over one local batch */
    int dp_replicate;
    bool reshard_after_forward; /* FSDP2: parameters are gathered anew for the backward, as the plan
                                   states, or where it does not unless it is pipelined */
    bool reshard_stated; /* false: the framework's default, from which recipes often differ */
    bool steps_singly;   /* PyTorch's optimizer goes through the parameters one by one */
    bool repeats_parts;  /* full: attention, feed-forward and their norms are recomputed each on its
                            own, and each keeps its input */
};

/* An explicit pipeline layout: for each of pp*vpp chunks its decoder layers, and where embedding,
 * MTP and loss stand. */
enum { LAYOUT_MAX_CHUNKS = 512 };
struct layout {
    int n_chunks;
    uint16_t decoders[LAYOUT_MAX_CHUNKS];
    uint8_t mtp[LAYOUT_MAX_CHUNKS];
    bool embedding[LAYOUT_MAX_CHUNKS], loss[LAYOUT_MAX_CHUNKS];
};

struct config {
    enum framework framework;
    struct model_shape model;
    struct machine machine;
    bool machine_known;
    struct knobs knobs;
    const struct layout *layouts; /* explicit layouts that knobs.layout names */
    int n_layouts;
    bool layout_given; /* the facts say the layout: the planner makes no other */
    uint32_t unstated; /* UNSTATED_* bits; 0 of a plan that the planner makes */
};

/* Fills a config from facts; what a complete plan needs and the facts do not say becomes an error
   diagnostic of rule `missing-fact` that names it. */
bool config_from_facts(struct arena *a, const struct facts *f, struct config *out);
/* UNSTATED_* bits of what the facts leave open. */
uint32_t config_unstated(const struct facts *f, const struct config *c);
/* How its context-parallel ranks see all keys: as the knobs say, or as the model's attention needs;
   with an indexer all are gathered, whatever the knobs say. Never CP_NEEDED. */
enum cp_comm config_cp_comm(const struct config *c);
/* Whether attention and its kernels can have it, and Megatron-core a word for it: false of one
   rank, and of NEEDED. */
bool config_has_cp_comm(const struct config *c, enum cp_comm comm);
/* Of them those among which heads are dealt out: 1 where keys and values alone move. */
int config_cp_dealt(const struct config *c);
/* Whether the facts say what decides most of the memory: overrides of a Bridge recipe leave much of
   it to the recipe, and a verdict on defaults would be a guess. */
bool config_is_decided(const struct facts *f);
/* Its parts, for callers that have no complete plan. The model: false with `missing-fact` errors
 * (none when `quiet`). */
bool config_model(const struct facts *f, struct model_shape *out, bool quiet);
/* The machine of f->platform; false when there is none. */
bool config_machine(const struct facts *f, struct machine *out);
/* The layout that the derived parameter pipeline_layout_stages states: a string of letters (E t m
   L) a chunk. False when it is none or above the limits. */
bool layout_from_stages(struct value stages, struct layout *out);
/* Whether the GPUs divide by both grids, tp·cp·pp and etp·ep·pp, and the batch by mbs·dp and the
   passes of the schedule. */
bool knobs_divide(const struct knobs *k);
/* SCOPE_* bits that CUDA graphs hold; what they hold when no scope is named:
   megatron/core/transformer/cuda_graphs.py. 0: no graphs. */
uint32_t knobs_captured(const struct knobs *k);
/* Whether both recompute the same: the granularity, and of selective recomputation the modules. */
bool knobs_same_recompute(const struct knobs *a, const struct knobs *b);
/* Takes the pipeline of other knobs: its stages, virtual ones, and the passes of its schedule. */
static inline void knobs_take_pipeline(struct knobs *k, const struct knobs *other)
{
    k->pp = other->pp;
    k->vpp = other->vpp;
    k->schedules = other->schedules;
}
/* Whether frozen linears are held in fewer bits than they are computed in. */
static inline bool knobs_packs(const struct knobs *k)
{
    return k->four_bit || k->eight_bit;
}
/* Whether the weights of the language model, and of the vision tower, are trained. */
static inline bool knobs_trains_language(const struct knobs *k)
{
    return k->task != TASK_PEFT && !k->freeze_language;
}
static inline bool knobs_trains_vision(const struct knobs *k)
{
    return k->task != TASK_PEFT && !k->freeze_vision;
}
/* Whether the mergers behind the tower are. */
static inline bool knobs_trains_projector(const struct knobs *k)
{
    return k->task != TASK_PEFT && !k->freeze_projection;
}
/* Whether FSDP2 gathers parameters anew for the backward. */
static inline bool knobs_reshards(const struct knobs *k)
{
    return k->reshard_after_forward && (k->reshard_stated || k->pp == 1);
}

/* Whether activations or optimizer states are kept on the CPU. */
static inline bool knobs_offload(const struct knobs *k)
{
    return k->optimizer_offload > 0 || k->offload_modules;
}
/* Whether the optimizer keeps its fp32 main parameter as the 16 bits that the bf16 parameter lacks:
   a precision-aware one does, unless the parameters are FP8, or FSDP keeps main parameters of its
   own (megatron_fsdp_main_params_dtype, megatron/core/optimizer/distrib_optimizer.py). */
static inline bool knobs_keeps_remainder(const struct knobs *k)
{
    bool own = k->precision_aware && k->fsdp == FSDP_NONE;
    return own && k->main_param_bytes == 4 && !k->fp8_param_gather;
}
/* Whether the dispatcher is a backend of Megatron's flex dispatcher. */
static inline bool knobs_flex(const struct knobs *k)
{
    return k->dispatcher == DISPATCH_DEEPEP || k->dispatcher == DISPATCH_HYBRIDEP;
}
/* Data-parallel sizes. dp = gpus/(tp·cp·pp), edp = gpus/(etp·ep·pp); at least 1. */
int64_t knobs_dp(const struct knobs *k);
int64_t knobs_edp(const struct knobs *k);
/* Rows that the buffers of a rank's experts have, over the mean, where they are of a fixed size; 0:
   they are as large as the rows. */
double knobs_rank_capacity(const struct knobs *k);
/* Whether what experts keep for the backward goes into a stash of pages. */
bool knobs_stash(const struct knobs *k);
/* Rows that are kept for the backward, over the mean: all of the buffers, or what the stash holds;
   0: the rows themselves. */
double knobs_kept_capacity(const struct knobs *k);
/* Groups of data-parallel ranks that hold the same shards: HSDP, instances of the optimizer. At
   least 1. */
int knobs_replicas(const struct knobs *k);
/* The same of the ranks that share experts. AutoModel's mesh of expert-parallel groups leaves the
   rest of a stage's ranks to one group of shards, whatever the replicas of other parameters
   (nemo_automodel/components/distributed/mesh_utils.py, ep_shard). */
int knobs_expert_replicas(const struct knobs *k);
/* Microbatches of a step on one pipeline: gbs/(mbs·dp), at least 1. */
int64_t knobs_microbatches(const struct knobs *k);
/* Those that one pass of the pipeline's schedule takes, at least 1. */
int64_t knobs_scheduled(const struct knobs *k);
/* Sequences of one such pass: AutoModel's local batch. */
int64_t knobs_local_batch(const struct knobs *k);
/* The passes of a step, at least 1. */
static inline int knobs_schedules(const struct knobs *k)
{
    return k->pp > 1 && k->schedules > 1 ? k->schedules : 1;
}
/* The decoder layers, MTP depths, embedding and loss of every chunk (chunk c is on rank c % pp):
   explicit layout, first/last, accounting, even, or the planner's own uneven split, in this order.
   False when the split is impossible. */
bool config_layout(const struct config *c, struct layout *out);

/* A layout without decoder layers: the embedding on its first chunk, MTP and loss on its last. At
 * least one chunk. */
void layout_start(const struct config *c, int n_chunks, struct layout *out);
/* Copies the chunks that there are. */
void layout_copy(struct layout *to, const struct layout *from);
/* A layout as Megatron's string: "Ett|(ttt|)*14tmL". */
struct str layout_text(struct arena *a, const struct layout *layout);
/* NeMo AutoModel cuts stages of so many layers, and rounds their number to a multiple of the ranks
   where it is told to, up or down (components/distributed/pipelining/functional.py
   calculate_virtual_stages). The stages of a length; 0: it would refuse them. */
#define LAYOUT_ROUND_UP STR("up")
int layout_stages_of_length(int layers, int length, int pp, struct str rounding);
/* What gives so many stages: their length, 0 when none does, and whether it has to be rounded up.
 */
struct stage_cut {
    int length;
    bool rounded;
};
struct stage_cut layout_cut(int layers, int stages, int pp);
/* Whether the framework has words for so many virtual stages: it takes their number, or a length
   gives it. */
bool layout_is_sayable(const struct config *c, int pp, int vpp);

/* How many fields that say something about their layers differ in two models; 0: they are the same.
 */
int model_differences(const struct model_shape *a, const struct model_shape *b);

/* ---- exact parameter counts (include every weight, norm and bias of the checkpoint; both
 * embeddings, once if tied) ---- */
struct param_counts {
    int64_t total, active; /* without MTP and vision */
    int64_t mtp, vision, embedding;
};
struct param_counts model_params(const struct model_shape *m);
/* The index of a kind of layer; -1: no decoder layer is of this kind. */
int model_kind(const struct model_shape *m, struct layer_kind kind);
/* Whether any layer has such an FFN. */
bool model_has_ffn(const struct model_shape *m, enum ffn ffn);

/* Parameters of one part of a layer by how Megatron spreads them: `sharded` over TP, `replicated`
   on every TP rank, `experts` over EP and expert TP (all routed experts together). Each part
   carries its own input norm. */
struct part_params {
    int64_t sharded, replicated, experts;
};
struct part_params layer_params(const struct model_shape *m, struct layer_kind kind);
struct part_params mixer_params(const struct model_shape *m, enum mixer mixer);
struct part_params ffn_params(const struct model_shape *m, enum ffn ffn);
/* One MTP depth: its layers, two input norms, the 2h x h projection and the final norm; without
 * embedding copies. */
struct part_params mtp_params(const struct model_shape *m);
int64_t vision_params(const struct model_shape *m);
/* Of those the mergers', which make patches tokens of the language model. */
int64_t vision_projector_params(const struct model_shape *m);

#endif
