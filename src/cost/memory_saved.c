/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that one layer keeps from the forward to the backward of one microbatch, after
   Megatron-core's modules and Transformer Engine's autograd functions (Megatron-LM d98e8a64:
   megatron/core/transformer, core/ssm). A GEMM keeps its input, attention its q, k, v and
   output, a norm its input; what the next module keeps anyway is counted once. */
#include "cost/memory.h"

#include <assert.h>

/* Both recomputed by the tag itself and by recomputing the whole MoE layer. */
#define FREED_MOE MOD_MOE
#define FREED_ACT (MOD_MOE | MOD_MOE_ACT)
#define FREED_SHARED (MOD_MOE | MOD_SHARED_EXPERTS)

static double max(double a, double b)
{
    return a > b ? a : b;
}

static struct saved *add(struct saved_list *list, const char *name, double rows, double width,
                         double bytes)
{
    assert(list->n < MEMORY_MAX_SAVED);
    struct saved *s = &list->items[list->n++];
    *s = (struct saved){.name = name, .rows = rows, .width = width, .bytes = bytes};
    return s;
}

/* Bytes of one element of a GEMM's input as it is kept: low-precision recipes keep the column-wise
   quantised copy and its scales (transformer_engine/pytorch/tensor: one scale for 32, 128 or 16
   elements). */
static double gemm_input_bytes(const struct knobs *k)
{
    switch ((enum precision)k->precision) {
    case PREC_FP32: return 4;
    case PREC_BF16:
    case PREC_FP16: return 2;
    case PREC_FP8_DELAYED:
    case PREC_FP8_TENSORWISE: return 1;
    case PREC_FP8_BLOCKWISE: return 1 + 4.0 / 128;
    case PREC_MXFP8: return 1 + 1.0 / 32;
    case PREC_NVFP4: return 0.5 + 1.0 / 16;
    }
    return 2;
}

/* Bytes of an element outside of quantised GEMMs. */
static double element_bytes(const struct knobs *k)
{
    return k->precision == PREC_FP32 ? 4 : 2;
}

struct token_counts token_counts(const struct config *c, const struct memory_coefficients *x)
{
    const struct knobs *k = &c->knobs;
    double tokens = (double)k->mbs * k->seq / k->cp;
    double sp_tokens = k->sequence_parallel ? tokens / k->tp : tokens;
    double rows = sp_tokens * c->model.topk * k->etp;
    if (k->pad_to_capacity && k->capacity_factor > 0) rows *= k->capacity_factor;
    double copies = k->dispatcher != DISPATCH_HYBRIDEP ? 0
                    : knobs_quantised(k)               ? x->hybridep_quantised_copies.value
                                                       : x->hybridep_copies.value;
    return (struct token_counts){tokens, sp_tokens, rows, copies};
}

/* Bytes of a norm's statistics for one token: mean and reciprocal deviation, or the latter alone.
 */
static double norm_statistics(const struct model_shape *m)
{
    return m->layernorm ? 8 : 4;
}

/* A residual branch's input, the statistics of its norm, and the norm's output, which is returned.
   `fused`: the norm is part of the GEMM behind it (TELayerNormColumnParallelLinear), so no tag
   frees its output alone; LoRA's adapter of such a GEMM keeps its input gathered over TP
   (Megatron-Bridge's runs with and without a second gather differ by that). */
static struct saved *add_residual(struct saved_list *list, const struct config *c,
                                  const struct token_counts *t, bool first, bool fused)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double h = m->hidden, bytes = element_bytes(k);
    bool alone = !fused || !k->transformer_engine;
    add(list, first ? "layer input" : "FFN input", t->sp_tokens, h, bytes)->offloaded_by =
        first ? MOD_ATTN_NORM : MOD_MLP_NORM;
    add(list, first ? "input norm statistics" : "FFN norm statistics", t->sp_tokens, 1,
        norm_statistics(m));
    struct saved *out = add(list, first ? "input norm output" : "FFN norm output", t->sp_tokens, h,
                            alone ? bytes : gemm_input_bytes(k));
    out->freed_by = alone ? MOD_LAYERNORM : 0;
    out->offloaded_by = first ? MOD_QKV_LINEAR : 0;
    bool gathers = k->task == TASK_PEFT && k->sequence_parallel && k->tp > 1 && fused;
    if (gathers) add(list, "gathered norm output of the adapters", t->tokens, h, bytes);
    return out;
}

/* Bytes of dropout's mask: one a token and channel. */
static void add_dropout(struct saved_list *list, const struct config *c,
                        const struct token_counts *t)
{
    if (c->model.hidden_dropout > 0) add(list, "dropout mask", t->sp_tokens, c->model.hidden, 1);
}

/* Elements of one layer's attention matrix on this rank: mbs x heads / tp x seq / cp x seq. */
static double attention_scores(const struct config *c, const struct token_counts *t)
{
    return t->tokens * c->model.heads / c->knobs.tp * c->knobs.seq;
}

/* FlashAttention 2 wants the batch dimension first, so that its output is kept in both layouts.
   cuDNN's kernel, which Transformer Engine prefers on Hopper and, unless determinism is asked for,
   on Blackwell, takes ours. */
static bool flash_layout_copies(const struct config *c)
{
    double capability = c->machine.compute_capability;
    bool flash2 = capability < 9 || (capability >= 10 && c->knobs.deterministic);
    return flash2 && c->knobs.attention == ATTN_FLASH && c->knobs.mbs > 1 && c->knobs.cp == 1;
}

/* What the attention kernel keeps beside q, k, v: the log-sum-exp (flash and fused), or the softmax
   and, with dropout, its mask and dropped output (unfused); then its output, which is also the
   projection's input. */
static void add_core_attention(struct saved_list *list, const struct config *c,
                               const struct token_counts *t, double heads, double width)
{
    const struct knobs *k = &c->knobs;
    double bytes = element_bytes(k);
    if (k->attention == ATTN_UNFUSED) {
        double dropout = c->model.attention_dropout > 0 ? 1 + bytes : 0;
        add(list, "attention probabilities", attention_scores(c, t), 1, bytes + dropout)->freed_by =
            MOD_CORE_ATTN;
    } else {
        add(list, "log-sum-exp", t->tokens, heads / k->tp, 4)->freed_by = MOD_CORE_ATTN;
    }
    add(list, "attention output", t->tokens, width / k->tp, bytes)->offloaded_by = MOD_ATTN_PROJ;
    if (flash_layout_copies(c))
        add(list, "attention output in flash attention's layout", t->tokens, width / k->tp, bytes)
            ->freed_by = MOD_CORE_ATTN;
    if (knobs_quantised(k))
        add(list, "projection input, quantised", t->tokens, width / k->tp, gemm_input_bytes(k))
            ->offloaded_by = MOD_ATTN_PROJ;
    if (k->cp > 1)
        add(list, "attention output before the context exchange", t->tokens, width / k->tp, bytes)
            ->freed_by = MOD_CORE_ATTN;
}

static void add_attention(struct saved_list *list, const struct config *c,
                          const struct token_counts *t, bool window)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double heads = window ? m->win_heads : m->heads, groups = window ? m->win_groups : m->groups;
    double d = window ? m->win_head_dim : m->head_dim;
    double dv = window ? m->win_v_head_dim : m->v_head_dim;
    double q = heads * d, kv = groups * (d + dv), bytes = element_bytes(k);
    add_residual(list, c, t, true, true);
    if (m->qk_layernorm)
        add(list, "q and k before their norm", t->tokens, (q + groups * d) / k->tp, bytes);
    add(list, "q, k, v", t->tokens, (q + kv) / k->tp, bytes)->offloaded_by = MOD_CORE_ATTN;
    if (m->attention_output_gate) add(list, "attention gate", t->tokens, heads * dv / k->tp, bytes);
    add_core_attention(list, c, t, heads, heads * dv);
    add_dropout(list, c, t);
}

/* Multi-head latent attention: the compressed latents stand on every TP rank; `mla_up_proj` frees
   what the up projections make of them. */
static void add_latent_attention(struct saved_list *list, const struct config *c,
                                 const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double bytes = element_bytes(k), gemm = gemm_input_bytes(k);
    double qk = (double)m->heads * (m->qk_nope + m->qk_rope), v = (double)m->heads * m->mla_v;
    add_residual(list, c, t, true, false);
    if (m->q_lora > 0) {
        add(list, "q latent", t->sp_tokens, m->q_lora, bytes);
        add(list, "q latent, normed", t->sp_tokens, m->q_lora, gemm)->freed_by = MOD_MLA_UP_PROJ;
    }
    add(list, "kv latent", t->sp_tokens, m->kv_lora + m->qk_rope, bytes);
    add(list, "kv latent, normed", t->sp_tokens, m->kv_lora, gemm)->freed_by = MOD_MLA_UP_PROJ;
    struct saved *s = add(list, "q and k", t->tokens, 2 * qk / k->tp, bytes);
    s->freed_by = MOD_MLA_UP_PROJ, s->offloaded_by = MOD_CORE_ATTN;
    s = add(list, "v", t->tokens, v / k->tp, bytes);
    s->freed_by = MOD_MLA_UP_PROJ, s->offloaded_by = MOD_CORE_ATTN;
    add_core_attention(list, c, t, m->heads, v);
    add_dropout(list, c, t);
}

/* Mamba2: the fused scan keeps the projected z, x, B, C, dt and its output before the gate, and
   recomputes convolution and chunk states in its backward; the norm keeps the gated output, the
   projection the normed one (megatron/core/ssm/mamba_mixer.py:679). */
static void add_mamba(struct saved_list *list, const struct config *c, const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double inner = (double)m->mamba_heads * m->mamba_head_dim;
    double states = 2.0 * m->mamba_groups * m->mamba_state, bytes = element_bytes(k);
    add_residual(list, c, t, true, true);
    add(list, "z, x, B, C, dt", t->tokens, (2 * inner + states + m->mamba_heads) / k->tp, bytes);
    add(list, "scan output", t->tokens, inner / k->tp, bytes);
    add(list, "gated scan output", t->tokens, inner / k->tp, bytes);
    add(list, "gated scan output, normed", t->tokens, inner / k->tp, gemm_input_bytes(k));
    add_dropout(list, c, t);
}

/* Tokens of one chunk of the gated delta rule's kernels. */
#define LINEAR_CHUNK 64

/* Gated delta net: the projection; the convolution's output; q and k normed and repeated to the
   value heads, and v, as the kernel takes them; its output before and after the gated norm; decays,
   write strengths and one chunk-wide row of the kernel's triangular solve a value head
   (megatron/core/ssm/gated_delta_net/common.py:396; fla's chunk_gated_delta_rule makes the chunk
   states again in its backward). */
static void add_linear_attention(struct saved_list *list, const struct config *c,
                                 const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double key = (double)m->lin_k_heads * m->lin_k_dim,
           value = (double)m->lin_v_heads * m->lin_v_dim;
    double heads = m->lin_v_heads, repeated = heads * m->lin_k_dim, bytes = element_bytes(k);
    double tp = k->tp;
    add_residual(list, c, t, true, true);
    int first = list->n;
    add(list, "q, k, v, z, b, a", t->tokens, (2 * key + 2 * value + 2 * heads) / tp, bytes);
    add(list, "convolution output", t->tokens, (2 * key + value) / tp, bytes);
    add(list, "kernel's q, k, v", t->tokens, (2 * repeated + value) / tp, bytes);
    add(list, "kernel's decays and solve", t->tokens, (LINEAR_CHUNK + 3) * heads / tp, bytes);
    add(list, "delta rule output", t->tokens, value / tp, bytes);
    add(list, "gated output", t->tokens, value / tp, gemm_input_bytes(k));
    for (int i = first; i < list->n; i++)
        list->items[i].linear = true;
}

/* Fully connected pair: the first GEMM's output (the activation's input) and the activation (the
 * second's input). */
static void add_dense_ffn(struct saved_list *list, const struct config *c,
                          const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double f = (double)m->dense_ffn / k->tp, up = m->gated ? 2 : 1;
    int first = list->n;
    struct saved *norm = add_residual(list, c, t, false, true);
    if (k->transformer_engine) norm->freed_by = MOD_MLP;
    add(list, "FC1 output", t->tokens, up * f, element_bytes(k))->freed_by = MOD_MLP;
    add(list, "activation", t->tokens, f, gemm_input_bytes(k))->freed_by = MOD_MLP;
    for (int i = first; i < list->n; i++)
        list->items[i].late = true;
    add_dropout(list, c, t);
}

static void add_shared_experts(struct saved_list *list, const struct config *c,
                               const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    if (m->shared_ffn == 0) return;
    double f = (double)m->shared_ffn / k->tp, up = m->gated ? 2 : 1;
    add(list, "shared FC1 output", t->tokens, up * f, element_bytes(k))->freed_by = FREED_SHARED;
    add(list, "shared activation", t->tokens, f, gemm_input_bytes(k))->freed_by = FREED_SHARED;
}

/* Routed experts. The probability is applied before FC2 (memory-efficient permutation), so FC2's
   output is not kept; an activation that is not fused with it is kept before and after. HybridEP's
   dispatch output outlives the permuted copy in measured runs (coefficient hybridep_copies). */
static void add_experts(struct saved_list *list, const struct config *c,
                        const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double f = (double)m->expert_ffn / k->etp, up = m->gated ? 2 : 1;
    double width = m->latent > 0 ? m->latent : m->hidden;
    double bytes = element_bytes(k), gemm = gemm_input_bytes(k);
    int first = list->n;
    struct saved *s = add(list, "permuted tokens", t->rows, width, gemm);
    s->freed_by = FREED_MOE, s->offloaded_by = MOD_EXPERT_FC1 | MOD_FUSED_GROUP_MLP;
    s = add(list, "expert FC1 output", t->rows, up * f, bytes);
    s->freed_by = FREED_MOE, s->offloaded_by = MOD_MOE_ACT | MOD_FUSED_GROUP_MLP;
    s = add(list, "expert activation", t->rows, f, gemm);
    s->freed_by = FREED_ACT, s->offloaded_by = MOD_FUSED_GROUP_MLP;
    if (!k->act_fusion)
        add(list, "expert activation, unweighted", t->rows, f, bytes)->freed_by = FREED_ACT;
    add(list, "expert probabilities", t->rows, 1, 4)->freed_by = FREED_MOE;
    if (t->dispatch_copies > 0) {
        s = add(list, "dispatch output", t->rows * t->dispatch_copies, width, bytes);
        s->freed_by = FREED_MOE, s->dispatched = true;
    }
    for (int i = first; i < list->n; i++)
        list->items[i].routed = true;
}

/* Router logits, scores and probabilities in fp32, and the row maps of permutation: 12 and 8 bytes
   a token and expert. The router's CUDA graph holds the norm before it and the shared experts too
   (megatron/core/transformer/transformer_layer.py: _te_cuda_graph_capture). */
static void add_moe(struct saved_list *list, const struct config *c, const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    int first = list->n;
    add_residual(list, c, t, false, false);
    add(list, "router logits and scores", t->sp_tokens, m->experts, 12)->freed_by = FREED_MOE;
    add_shared_experts(list, c, t);
    for (int i = first; i < list->n; i++)
        list->items[i].captured_by = SCOPE_MOE_ROUTER;
    struct saved *maps = add(list, "permutation maps", t->sp_tokens, m->experts, 8);
    maps->freed_by = FREED_MOE, maps->captured_by = SCOPE_MOE_PREPROCESS;
    if (m->latent > 0)
        add(list, "latent in and out", t->sp_tokens, 2.0 * m->latent, element_bytes(&c->knobs))
            ->freed_by = FREED_MOE;
    add_experts(list, c, t);
    for (int i = first; i < list->n; i++)
        list->items[i].late = true;
    add_dropout(list, c, t);
}

static void add_mixer(struct saved_list *out, const struct config *c, const struct token_counts *t,
                      enum mixer mixer)
{
    switch (mixer) {
    case MIXER_NONE: break;
    case MIXER_ATTENTION: add_attention(out, c, t, false); break;
    case MIXER_WINDOW: add_attention(out, c, t, true); break;
    case MIXER_MLA: add_latent_attention(out, c, t); break;
    case MIXER_MAMBA: add_mamba(out, c, t); break;
    case MIXER_LINEAR: add_linear_attention(out, c, t); break;
    }
}

static void capture_from(struct saved_list *list, int first, uint32_t scope)
{
    for (int i = first; i < list->n; i++)
        list->items[i].captured_by |= scope;
}

void saved_of_layer(const struct config *c, const struct token_counts *t, struct layer_kind kind,
                    struct saved_list *out)
{
    out->n = 0;
    add_mixer(out, c, t, kind.mixer);
    capture_from(out, 0, kind.mixer == MIXER_MAMBA ? SCOPE_MAMBA : SCOPE_ATTN);
    int ffn = out->n;
    if (kind.ffn == FFN_DENSE) add_dense_ffn(out, c, t);
    if (kind.ffn == FFN_MOE) add_moe(out, c, t);
    capture_from(out, ffn, kind.ffn == FFN_MOE ? SCOPE_MOE : SCOPE_MLP);
}

bool saved_is_kept(const struct saved *s, const struct knobs *k)
{
    if (k->recompute == RECOMPUTE_SELECTIVE && (s->freed_by & k->recompute_modules)) return false;
    return !(s->offloaded_by & k->offload_modules);
}

bool saved_is_captured(const struct saved *s, const struct knobs *k)
{
    return knobs_captured(k) & (s->captured_by | SCOPE_FULL);
}

/* Backward of unfused attention: the fp32 gradient of the scores, less what the layer's later half
 * has given back. */
static double attention_backward(const struct config *c, const struct token_counts *t,
                                 const struct saved_list *saved)
{
    if (c->knobs.attention != ATTN_UNFUSED) return 0;
    double bytes = 4 * attention_scores(c, t);
    for (int i = 0; i < saved->n; i++)
        if (saved->items[i].late) bytes -= saved_bytes(&saved->items[i]);
    return bytes;
}

/* Dense FFN: gradients of the activation and of FC1's output, the gathered FC2 output gradient
   under TP, the weight gradient itself where it is not accumulated in the GEMM, and the gradient of
   the residual stream. */
static double dense_backward(const struct config *c, const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double f = (double)m->dense_ffn / k->tp, up = m->gated ? 2 : 1, bytes = element_bytes(k);
    double gathered = k->tp > 1 ? t->tokens * m->hidden : 0;
    double wgrad = k->grad_accumulation_fusion ? 0 : up * f * m->hidden;
    return bytes * (t->tokens * (1 + up) * f + gathered + wgrad);
}

static double moe_backward(const struct config *c, const struct token_counts *t)
{
    const struct model_shape *m = &c->model;
    double f = (double)m->expert_ffn / c->knobs.etp, up = m->gated ? 2 : 1;
    double width = m->latent > 0 ? m->latent : m->hidden;
    return element_bytes(&c->knobs) * t->rows * (width + (1 + up) * f);
}

double saved_backward_transient(const struct config *c, const struct token_counts *t,
                                struct layer_kind kind, const struct saved_list *saved)
{
    const struct model_shape *m = &c->model;
    bool attention =
        kind.mixer == MIXER_ATTENTION || kind.mixer == MIXER_WINDOW || kind.mixer == MIXER_MLA;
    double scores = attention ? attention_backward(c, t, saved) : 0;
    double bytes = element_bytes(&c->knobs);
    switch (kind.ffn) {
    case FFN_DENSE:
        return max(max(scores, dense_backward(c, t)), 0) + bytes * t->sp_tokens * m->hidden;
    case FFN_MOE: return max(scores, moe_backward(c, t));
    case FFN_NONE: break;
    }
    if (kind.mixer == MIXER_MAMBA)
        return bytes * 2 * t->tokens * m->mamba_heads * m->mamba_head_dim / c->knobs.tp;
    return max(scores, bytes * 3 * t->tokens * m->heads * m->head_dim / c->knobs.tp);
}
