/* SPDX-License-Identifier: Apache-2.0 */
/* What a layer is made of, said once and read by parameter counts, FLOPs, memory, time and
   adapters: its weights (of the model alone), what it does in a pass (work), and what it keeps for
   its backward (saved). A token mixer, an FFN, each is one file with one entry of a
   table (op_kinds.c). Sizes are whole numbers in double, exact below 2^53. */
#ifndef MOEPLAN_PLAN_OPS_H
#define MOEPLAN_PLAN_OPS_H

#include "plan/config.h"

/* ---- weights ---- */

/* Linears by what adapters call them; knobs.lora_targets has a bit for each. Megatron-core fuses
   some that Hugging Face's classes, and AutoModel's, keep apart. */
enum linear_role {
    LINEAR_QKV,
    LINEAR_Q,
    LINEAR_K,
    LINEAR_V,
    LINEAR_O,
    LINEAR_Q_DOWN,
    LINEAR_Q_UP,
    LINEAR_KV_DOWN,
    LINEAR_KV_UP,
    LINEAR_MAMBA_IN,
    LINEAR_MAMBA_OUT,
    LINEAR_DELTA_IN,
    LINEAR_DELTA_OUT,
    LINEAR_FC1,
    LINEAR_GATE,
    LINEAR_UP,
    LINEAR_DOWN,
    LINEAR_SHARED_FC1,
    LINEAR_SHARED_GATE,
    LINEAR_SHARED_UP,
    LINEAR_SHARED_DOWN,
    LINEAR_LATENT_IN,
    LINEAR_LATENT_OUT,
    LINEAR_EXPERTS_UP,
    LINEAR_EXPERTS_DOWN,
    LINEAR_HEAD,
    LINEAR_ROLES,
    LINEAR_OTHER = LINEAR_ROLES /* no adapter's target */
};

/* The bit of a role in masks of roles. */
#define LINEAR_BIT(role) (UINT32_C(1) << (role))

/* How tensor parallelism cuts a matrix (experts: expert tensor parallelism). */
enum linear_cut { CUT_OUTPUT, CUT_INPUT, CUT_NOT };
/* The rows that pass through a matrix: all tokens of the TP group, a TP rank's share of them, or
   the tokens routed to each of the rank's experts. */
enum matrix_rows { ROWS_TOKENS, ROWS_RANK, ROWS_ROUTED };
/* What a matrix computes in: FP8 or FP4 where the plan asks for it, 16 bit, or FP32. */
enum matrix_numeric { NUMERIC_LOW, NUMERIC_16, NUMERIC_32 };

/* A GEMM weight of in -> out, whole; of routed experts: one expert's. */
struct matrix {
    enum linear_role role;
    enum linear_cut cut;
    double in, out;
    enum matrix_rows rows;
    enum matrix_numeric numeric;
    double groups, group_width; /* of `out`: KV heads and their width. Each TP rank computes a head,
                                   so with more ranks than heads some are computed again */
    uint32_t freed_by;          /* MOD_* bits whose recomputation repeats its forward */
    bool inner_in, inner_out; /* its input (output) is between the experts' GEMMs, which fused ones
                                 quantise on the chip */
    bool forward_only;        /* outside of autograd */
};

/* Who holds the small weights (norms, biases, convolutions): as matrices are spread. */
enum owner { OWNER_SHARDED, OWNER_REPLICATED, OWNER_EXPERTS, OWNERS };

enum { LAYER_MAX_MATRICES = 20 };

struct weights {
    const struct model_shape *m;
    enum mixer mixer; /* the one that is asked for: a file may serve several */
    bool apart;
    int n;
    struct matrix items[LAYER_MAX_MATRICES];
    double small[OWNERS]; /* elements, whole */
};

struct matrix *weights_add(struct weights *w, enum linear_role role, enum linear_cut cut, double in,
                           double out);
/* An up (and gate) and a down matrix between width and inner, and their biases. `fc1` is the role
   of up and gate in one; gate, up and down have the roles behind it. */
void weights_add_mlp(struct weights *w, enum linear_role fc1, double width, double inner,
                     uint32_t freed_by);
/* A norm's elements: RMSNorm has a weight, LayerNorm a bias too. */
double norm_weights(const struct model_shape *m, double width);
/* The norm before a sub-block, and where there is one the norm behind it. */
void weights_add_norms(struct weights *w);

/* Widths of a matrix on one rank. */
static inline bool matrix_is_routed(const struct matrix *x)
{
    return x->rows == ROWS_ROUTED;
}
static inline double matrix_cut(const struct matrix *x, const struct knobs *k)
{
    return matrix_is_routed(x) ? k->etp : k->tp;
}
static inline double matrix_in(const struct matrix *x, const struct knobs *k)
{
    return x->cut == CUT_INPUT ? x->in / matrix_cut(x, k) : x->in;
}
static inline double matrix_out(const struct matrix *x, const struct knobs *k)
{
    return x->cut == CUT_OUTPUT ? x->out / matrix_cut(x, k) : x->out;
}

/* ---- work: one forward pass of one microbatch on one rank ---- */

/* Sizes that many tensors share. */
struct token_counts {
    double tokens;    /* mbs x seq / cp */
    double sp_tokens; /* of a sequence-parallel region: tokens / tp with sequence parallelism */
    double rows;      /* routed rows of this rank's experts */
    double dispatch_copies; /* dispatch outputs kept beside the permuted rows */
};

/* Bytes of streaming kernels, forward and backward. */
struct stream {
    double forward, backward;
    uint32_t freed_by;
    bool bias;  /* adds biases to the experts' rows, clamps them: at a rate of its own */
    bool eager; /* single operations, each of which takes as long as a copy of its bytes */
};

/* Attention's products with the keys and values that a query sees: causal, at most `window`. */
struct core {
    double heads, qk_dim, v_dim; /* heads on this rank; v_dim 0: scores alone */
    double window;               /* tokens; 0: all */
    double kv;                   /* elements of a token's keys and values on this rank */
    uint32_t freed_by;
    bool forward_only;
};

/* A chunked scan: state elements that all tokens update, and bytes streamed. */
struct scan {
    double states, bytes;
    bool delta; /* of a delta rule, whose chunks come one after another */
};

/* Operations that the host launches; captured by CUDA graphs of one of the scopes, `left` of them
   are still its own. `launches`: more kernels that one of these calls launches in a loop of its
   own, without Python or autograd. */
struct host {
    double ops, left, launches;
    double backward; /* operations of the backward for one of the forward; 0: as of most layers */
    uint32_t scope, freed_by;
};

/* TP: a gather or scatter of `bytes`, so often in each pass (backward 0: as of most sub-blocks).
   CP: keys and values in bytes, by a ring or a gather, of so many `ranks`. HEADS: tokens for heads
   among `ranks`, bytes of a rank on the way in and on the way out. EP: dispatch and combine of the
   routed rows, `width` elements each. */
struct exchange {
    enum { EXCHANGE_TP, EXCHANGE_CP, EXCHANGE_HEADS, EXCHANGE_EP } kind;
    double bytes, forward, backward;
    double kv, width;
    double in, out;
    int ranks;
    uint32_t freed_by;
};

/* What repeating a module costs beyond its operators, or, where it has none, alone. */
struct repeat {
    uint32_t module;
    double bytes, ops;
};

enum { WORK_MAX = 16, WORK_MAX_CORES = 2 };

struct work {
    const struct config *c;
    const struct model_shape *m;
    enum mixer mixer;
    struct token_counts t;
    double tp;
    bool low;
    bool fused_experts; /* TE's fused grouped MLP computes the experts */
    int n_streams, n_cores, n_scans, n_hosts, n_exchanges, n_repeats;
    struct stream streams[WORK_MAX];
    struct core cores[WORK_MAX_CORES];
    struct scan scans[WORK_MAX_CORES];
    struct host hosts[WORK_MAX];
    struct exchange exchanges[WORK_MAX];
    struct repeat repeats[WORK_MAX];
};

struct stream *work_stream(struct work *w, double forward, double backward);
struct core *work_core(struct work *w, double heads, double qk_dim, double v_dim, double window);
void work_scan(struct work *w, struct scan scan);
struct host *work_host(struct work *w, double ops, uint32_t scope, double left);
void work_repeat(struct work *w, uint32_t module, double bytes, double ops);
struct exchange *work_exchange(struct work *w, struct exchange x);
/* The gather before and the scatter after a tensor-parallel sub-block. */
struct exchange *work_tp(struct work *w);
/* Context parallelism of attention whose keys and values, queries, and output have so many bytes.
 */
void work_context(struct work *w, double kv, double q, double out);
/* Tokens for heads, by an all-to-all of so many bytes of a rank before and after the mixer's core.
 */
void work_heads(struct work *w, double in, double out, uint32_t freed_by);
/* What norms over so many elements do beyond a fused kernel, where they run operation by operation.
 */
void work_norm_apart(struct work *w, double elements);
/* Norm, residual and dropout around a sub-block. */
void work_block(struct work *w);
/* The activation between the two linears of an FFN. */
struct stream *work_activation(struct work *w, double rows, double inner);

/* ---- tensors that a layer keeps for its backward ---- */

/* rows x width elements of `bytes` each, kept from the forward to the backward of one microbatch.
 */
struct saved {
    const char *name;
    double rows, width, bytes;
    uint32_t input_of; /* LINEAR_* bits: kept for their weight gradients alone; 0: in any case */
    uint32_t freed_by; /* MOD_* bits whose recomputation frees it */
    uint32_t offloaded_by; /* MOD_* bits whose fine-grained offload moves it to the host */
    uint32_t captured_by;  /* SCOPE_* bits whose CUDA graphs keep it in their own pool */
    bool routed;           /* grows with the imbalance of routing */
    bool dispatched;       /* counted with the coefficient of dispatch outputs */
    bool unmeasured;       /* of linear or sparse attention, which no measured run has */
    bool enters_part;      /* the input of attention, of the feed-forward network or of a norm */
    bool late;             /* made after attention: gone already when attention's backward runs */
};

enum { LAYER_MAX_SAVED = 40 };

struct saved_list {
    const struct config *c;
    const struct model_shape *m;
    enum mixer mixer;
    struct token_counts t;
    double tp;
    double wide, gemm;  /* bytes of an element, and of one of a GEMM's input as it is kept */
    double core, inner; /* of one that attention's kernel keeps, and of an activation's input */
    int n;
    struct saved items[LAYER_MAX_SAVED];
    /* Transient bytes of the backward: of the mixer alone, of the FFN alone, of the gradient of the
       residual stream beside it, and of unfused attention's scores. */
    double mixer_backward, ffn_backward, residual_backward, scores_backward;
};

struct saved *saved_add(struct saved_list *l, const char *name, double rows, double width,
                        double bytes);
/* A residual branch's input, the statistics of its norm, and the norm's output, which is returned.
   `fused`: the norm is part of the GEMM behind it. `linears`: LINEAR_* bits of those that it is the
   input of; 0: kept in any case. */
struct saved *saved_residual(struct saved_list *l, bool first, bool fused, uint32_t linears);
/* What a norm that runs operation by operation keeps of so many values a token beyond its input:
   that is kept in fp32 in its place, and, for the weight's gradient, the values before the weight.
 */
void saved_norm_apart(struct saved_list *l, const char *name, double tokens, double width);
/* Leaves out what only the weight gradients of frozen linears need; an adapter keeps its linear's
   input in 16 bit. */
void saved_freeze(struct saved_list *l);
/* Bytes of dropout's mask: one a token and channel. */
void saved_dropout(struct saved_list *l);
static inline double saved_bytes(const struct saved *s)
{
    return s->rows * s->width * s->bytes;
}

/* Whether GEMMs run in FP8 or FP4. */
static inline bool knobs_quantised(const struct knobs *k)
{
    return k->precision >= PREC_FP8_DELAYED;
}

/* ---- the kinds ---- */

/* A token mixer. */
struct mixer_kind {
    const char *name;
    uint32_t scope; /* SCOPE_*: the CUDA graphs that hold it */
    void (*weights)(struct weights *w);
    void (*work)(struct work *w);
    void (*saved)(struct saved_list *l);
    /* Forward FLOPs of one token as Megatron-LM counts them for its throughput, which leaves out
       some of what the list has. */
    double (*flops)(const struct model_shape *m, double seq);
};

/* A feed-forward part; its FLOPs are those of its matrices. */
struct ffn_kind {
    const char *name;
    uint32_t scope;
    void (*weights)(struct weights *w);
    void (*work)(struct work *w);
    void (*saved)(struct saved_list *l);
};

extern const struct mixer_kind mixer_attention, mixer_window, mixer_mla, mixer_mamba, mixer_delta,
    mixer_sparse_attention, mixer_sparse_mla;
extern const struct ffn_kind ffn_dense, ffn_moe;
/* Whether TE's fused grouped MLP computes the experts; low: in FP8 or FP4. */
bool experts_are_fused(const struct config *c, bool low);
/* Whether one kernel computes a linear of all local experts, without a launch for each. */
bool experts_are_one_kernel(const struct config *c);
/* Bytes that PyTorch's operations around such a kernel pass, beyond a permutation's, to add up so
   many elements of the experts' output. */
double experts_scattered(const struct config *c, double elements);
/* So many rows of a rank's experts when those of each are filled up for its kernels, on average. */
double experts_filled_up(const struct config *c, bool low, double rows);
/* The tables (op_kinds.c); NULL for none. */
extern const struct mixer_kind *const mixer_kinds[MIXERS];
extern const struct ffn_kind *const ffn_kinds[FFNS];

/* The lists of one layer, mixer before FFN. `apart`: fused linears one by one, as AutoModel has
   them. `low`: linears run in FP8 or FP4. */
void op_weights(const struct model_shape *m, struct layer_kind kind, bool apart, struct weights *w);
void op_work(const struct config *c, const struct token_counts *t, bool low, struct layer_kind kind,
             struct work *w);
void op_saved(const struct config *c, const struct token_counts *t, struct layer_kind kind,
              struct saved_list *l);
/* Forward FLOPs of one token. */
double op_flops(struct layer_kind kind, const struct model_shape *m, double seq);
/* The parameters that stand in a list. */
struct part_params weights_params(const struct weights *w);

/* ---- around the layers (op_ends.c): they add to lists that were begun ---- */

/* Vocabulary rows of the logits: Megatron pads them to a multiple of make_vocab_size_divisible_by
   times tp. */
double padded_vocab(const struct config *c);
/* Whether the head's products are MXFP8's. */
bool head_is_low(const struct config *c);
struct matrix head_weights(const struct config *c);
void embedding_work(struct work *w);
void head_work(struct work *w);
/* One MTP depth's own part, without its layers, its logits and copies of the embedding. */
void mtp_weights(const struct model_shape *m, struct weights *w);
void mtp_work(struct work *w);
void mtp_saved(struct saved_list *l);

/* ---- a sparse-attention indexer, which picks the keys that attention sees (op_indexer.c) ---- */

bool mixer_has_indexer(enum mixer mixer);
void indexer_weights(struct weights *w);
void indexer_work(struct work *w);
void indexer_saved(struct saved_list *l);
/* Full attention with an indexer of its own. */
enum mixer mixer_with_indexer(enum mixer mixer);

/* ---- the attention kernel (op_core.c) ---- */

/* With the passes of one that is not fused. `kv`: elements of a token's keys and values. */
void work_attention(struct work *w, double heads, double qk_dim, double v_dim, double window,
                    double kv);
/* What it keeps beside q, k and v; a token's output has `width` values, whole, and the output
   projection's input `projected`. */
void saved_attention(struct saved_list *l, double heads, double width, double projected);

#endif
