/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/layer.h"

#include <math.h>

#include "cost/comm.h"
#include "cost/flops.h"
#include "cost/kernel.h"
#include "cost/memory.h"

/* Host operations of backward for one of forward: gradients of inputs and of weights, less what
 * autograd fuses. */
static const double backward_ops = 1.6;
/* Of the three sequence-parallel collectives of a sub-block's backward two run beside its GEMMs
   (megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication). */
static const double backward_collectives = 1.4;

static const struct model_shape *model_of(const struct timing *t)
{
    return &t->config->model;
}

static const struct knobs *knobs_of(const struct timing *t)
{
    return &t->config->knobs;
}

static bool recomputes(const struct timing *t, uint32_t module)
{
    return knobs_of(t)->recompute == RECOMPUTE_SELECTIVE &&
           (knobs_of(t)->recompute_modules & module);
}

static void add_stream(const struct timing *t, struct layer_time *x, double forward_bytes,
                       double backward_bytes)
{
    x->forward.memory += kernel_stream(t, forward_bytes);
    x->backward.memory += kernel_stream(t, backward_bytes);
}

static void add_linear(const struct timing *t, struct layer_time *x, double rows, double out,
                       double in)
{
    struct linear l = {
        .rows = rows, .out = out, .in = in, .frozen = knobs_of(t)->task == TASK_PEFT};
    kernel_linear(t, l, &x->forward, &x->backward);
}

/* Operations in a captured part run without the host but for `left` of them. */
static void add_ops(const struct timing *t, struct layer_time *x, double ops, uint32_t scope,
                    double left)
{
    double launched = t->captured & scope ? fmin(ops, left) : ops;
    x->forward.ops += launched;
    x->backward.ops += backward_ops * launched;
    x->forward.gpu_ops += ops;
    x->backward.gpu_ops += backward_ops * ops;
}

/* Bytes of one pass over the hidden states. */
static double hidden_bytes(const struct timing *t)
{
    return 2 * t->tokens_pass * model_of(t)->hidden;
}

/* Norm, residual and dropout around a sub-block: 7 passes forward, 9 backward; the norm alone is 2.
 */
static void add_block(const struct timing *t, struct layer_time *x)
{
    add_stream(t, x, 7 * hidden_bytes(t), 9 * hidden_bytes(t));
    if (!recomputes(t, MOD_LAYERNORM)) return;
    x->again.memory += kernel_stream(t, 2 * hidden_bytes(t));
    x->again.ops += 1;
}

/* All-gather before and reduce-scatter after a tensor-parallel sub-block. */
static void add_tp(const struct timing *t, struct layer_time *x)
{
    double tp = knobs_of(t)->tp;
    double one = comm_collective(t, 2 * t->tokens * model_of(t)->hidden, tp, tp);
    x->forward.tp += 2 * one;
    x->backward.tp += backward_collectives * one;
}

/* Ring attention computes block by block: every step after the first corrects the output so far,
   and in backward adds to the gradients (transformer_engine context_parallel.py,
   flash_attn_fwd_out_correction). Backward carries the gradients of KV beside KV. Called once
   attention's own times stand in the layer. */
static void add_context(const struct timing *t, struct layer_time *x, double kv_bytes,
                        double q_bytes)
{
    int steps = knobs_of(t)->cp - 1;
    if (steps <= 0) return;
    x->forward.cp += comm_context(t, kv_bytes, q_bytes, x->forward.attention);
    x->backward.cp += comm_context(t, 2 * kv_bytes, 2 * q_bytes, x->backward.attention);
    add_stream(t, x, 4 * steps * q_bytes, 4 * steps * q_bytes);
}

/* Unfused attention writes the scores, masks, exponentiates and drops out in kernels of their own
   (5 passes over the whole square forward, 8 backward); fused kernels keep them on the chip. */
static void add_scores(const struct timing *t, struct layer_time *x, double heads)
{
    if (knobs_of(t)->attention != ATTN_UNFUSED) return;
    double square = 2 * t->tokens * knobs_of(t)->seq * heads;
    add_stream(t, x, 5 * square, 8 * square);
}

static void add_core(const struct timing *t, struct layer_time *x, struct attention_shape s)
{
    struct pass before = x->forward;
    kernel_attention(t, s, &x->forward, &x->backward);
    add_scores(t, x, s.heads);
    if (recomputes(t, MOD_CORE_ATTN)) pass_add_since(&x->again, &x->forward, &before);
}

/* QKV projection, rotary embedding and layout (3 passes, backward 5), core attention, output
 * projection. */
static void add_attention(const struct timing *t, struct layer_time *x, bool window)
{
    const struct model_shape *m = model_of(t);
    double tp = knobs_of(t)->tp, heads = window ? m->win_heads : m->heads,
           d = window ? m->win_head_dim : m->head_dim;
    double v = window ? m->win_v_head_dim : m->v_head_dim,
           groups = fmax(window ? m->win_groups : m->groups, tp);
    double gate = m->attention_output_gate ? heads * d : 0;
    add_linear(t, x, t->tokens, (heads * d + groups * (d + v) + gate) / tp, m->hidden);
    double moved = 2 * t->tokens * (heads * d + groups * (d + v)) / tp;
    add_stream(t, x, 3 * moved, 5 * moved);
    add_core(t, x, (struct attention_shape){heads / tp, d, v, window ? m->window : 0});
    add_linear(t, x, t->tokens, m->hidden, heads * v / tp);
    add_context(t, x, 2 * t->tokens * groups * (d + v) / tp, 2 * t->tokens * heads * d / tp);
    add_ops(t, x, t->low ? 30 : 22, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Low-rank projections; the up-projections and the rotary embedding are what mla_up_proj
 * recomputes. */
static void add_mla(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = model_of(t);
    double tp = knobs_of(t)->tp, n = m->heads / tp, qk = m->qk_nope + m->qk_rope, v = m->mla_v;
    if (m->q_lora > 0) add_linear(t, x, t->tokens, m->q_lora, m->hidden);
    add_linear(t, x, t->tokens, m->kv_lora + m->qk_rope, m->hidden);
    struct pass before = x->forward;
    add_linear(t, x, t->tokens, n * qk, m->q_lora > 0 ? m->q_lora : m->hidden);
    add_linear(t, x, t->tokens, n * (m->qk_nope + v), m->kv_lora);
    double moved = 2 * t->tokens * n * (2 * qk + v);
    add_stream(t, x, 4 * moved, 6 * moved);
    if (recomputes(t, MOD_MLA_UP_PROJ)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 10;
    }
    add_core(t, x, (struct attention_shape){n, qk, v, 0});
    add_linear(t, x, t->tokens, m->hidden, n * v);
    add_context(t, x, 2 * t->tokens * n * (qk + v), 2 * t->tokens * n * qk);
    add_ops(t, x, t->low ? 46 : 38, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Mamba2: input projection, convolution and gating (8 passes), chunked scan, output projection. */
static void add_mamba(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = model_of(t);
    double tp = knobs_of(t)->tp, inner = (double)m->mamba_heads * m->mamba_head_dim;
    double state = (double)m->mamba_groups * m->mamba_state;
    add_linear(t, x, t->tokens, (2 * inner + 2 * state + m->mamba_heads) / tp, m->hidden);
    double flops = 7 * t->tokens * inner * m->mamba_state / tp,
           moved = 2 * t->tokens * (inner + 2 * state) / tp;
    kernel_scan(t, flops, 0.25, 8 * moved, &x->forward, &x->backward);
    add_linear(t, x, t->tokens, m->hidden, inner / tp);
    add_ops(t, x, t->low ? 28 : 20, SCOPE_MAMBA | SCOPE_FULL, 2);
}

/* Gated delta net: the scan's products are smaller than Mamba's. */
static void add_linear_attention(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = model_of(t);
    double tp = knobs_of(t)->tp, qk = (double)m->lin_k_heads * m->lin_k_dim,
           v = (double)m->lin_v_heads * m->lin_v_dim;
    add_linear(t, x, t->tokens, (2 * qk + 2 * v + 2 * m->lin_v_heads) / tp, m->hidden);
    double flops = 10 * t->tokens * v * m->lin_k_dim / tp,
           moved = 2 * t->tokens * (2 * qk + 2 * v) / tp;
    kernel_scan(t, flops, 0.2, 8 * moved, &x->forward, &x->backward);
    add_linear(t, x, t->tokens, m->hidden, v / tp);
    add_context(t, x, 2 * t->tokens * 2 * qk / tp, 2 * t->tokens * v / tp);
    add_ops(t, x, t->low ? 38 : 30, SCOPE_ATTN | SCOPE_FULL, 2);
}

static void add_mixer(const struct timing *t, struct layer_time *x, enum mixer mixer)
{
    if (mixer == MIXER_NONE) return;
    add_block(t, x);
    add_tp(t, x);
    switch (mixer) {
    case MIXER_NONE: break;
    case MIXER_ATTENTION: add_attention(t, x, false); break;
    case MIXER_WINDOW: add_attention(t, x, true); break;
    case MIXER_MLA: add_mla(t, x); break;
    case MIXER_MAMBA: add_mamba(t, x); break;
    case MIXER_LINEAR: add_linear_attention(t, x); break;
    }
}

/* The first FFN matrix has gate and up parts when gated. The activation reads them and writes one;
   backward reads the gradient as well. */
static double up_parts(const struct timing *t)
{
    return model_of(t)->gated ? 2 : 1;
}

static void add_activation(const struct timing *t, struct layer_time *x, double rows, double width)
{
    double up = up_parts(t), bytes = 2 * rows * width;
    add_stream(t, x, (up + 1) * bytes, (2 * up + 1) * bytes);
}

static void add_mlp(const struct timing *t, struct layer_time *x, double width)
{
    double inner = width / knobs_of(t)->tp;
    add_linear(t, x, t->tokens, up_parts(t) * inner, model_of(t)->hidden);
    add_activation(t, x, t->tokens, inner);
    add_linear(t, x, t->tokens, model_of(t)->hidden, inner);
}

static void add_dense(const struct timing *t, struct layer_time *x)
{
    struct pass before = x->forward;
    add_mlp(t, x, model_of(t)->dense_ffn);
    if (recomputes(t, MOD_MLP)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 6;
    }
    add_tp(t, x);
    add_ops(t, x, t->low ? 16 : 10, SCOPE_MLP | SCOPE_FULL, 1);
}

/* Scores, top-k, probabilities and the maps of the permutation: two GEMM-sized and several small
 * kernels in fp32. */
static void add_router(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = model_of(t);
    struct linear scores = {
        .rows = t->tokens_rank, .out = m->experts, .in = m->hidden, .wide = true, .frozen = true};
    struct pass forward = {0}, unused = {0};
    kernel_linear(t, scores, &forward, &unused);
    double small = kernel_stream(t, 24 * t->tokens_rank * m->experts + 2 * hidden_bytes(t));
    x->forward.gemm += 2 * forward.gemm;
    x->backward.gemm += 4 * forward.gemm;
    x->forward.memory += small;
    x->backward.memory += 2 * small;
    add_ops(t, x, 16, SCOPE_MOE_ROUTER | SCOPE_MOE | SCOPE_FULL, t->captured & SCOPE_FULL ? 0 : 1);
}

static void add_shared(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = model_of(t);
    struct pass before = x->forward;
    if (m->shared_ffn > 0) add_mlp(t, x, m->shared_ffn);
    if (recomputes(t, MOD_SHARED_EXPERTS)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 6;
    }
    if (m->latent > 0) {
        add_linear(t, x, t->tokens_rank, m->latent, m->hidden);
        add_linear(t, x, t->tokens_rank, m->hidden, m->latent);
    }
    if (m->shared_ffn <= 0) return;
    add_tp(t, x);
    add_ops(t, x, 8, SCOPE_MOE_ROUTER | SCOPE_MOE | SCOPE_FULL, t->captured & SCOPE_FULL ? 0 : 1);
}

/* A whole captured iteration without dropped tokens needs TE's fused grouped MLP
   (transformer_config.py:1870: a rank's capacity requires use_transformer_engine_op_fuser), and so
   do AutoModel's MXFP8 experts. Its MXFP8 kernels gate, clamp and quantise in the GEMM's epilogue;
   only the gradient of the gate still makes passes of its own. */
static bool fuses_experts(const struct timing *t)
{
    bool whole = (t->captured & SCOPE_FULL) && knobs_of(t)->capacity_factor <= 0;
    return (whole || t->experts_only) && knobs_of(t)->precision == PREC_MXFP8;
}

/* Separate bias additions read and write the experts' inner and outer rows once more each, a
   separate clamp the inner rows twice; AutoModel compiles gate and clamp into one kernel
   (nemo_automodel/components/moe/experts.py:752). */
static void add_biases(const struct timing *t, struct layer_time *x, double inner_bytes,
                       double outer_bytes)
{
    bool compiled = t->config->framework == FRAMEWORK_AUTOMODEL;
    double clamp = compiled || fuses_experts(t) ? 0 : 4 * inner_bytes;
    double bytes = 2 * (up_parts(t) * inner_bytes + outer_bytes) + clamp;
    double one = t->f.bias_passes * kernel_stream(t, bytes) / t->f.activation_passes;
    x->forward.memory += one;
    x->backward.memory += 1.5 * one;
}

struct expert_rows {
    double all, each;    /* routed rows on a rank, and of one expert with its alignment padding */
    double local;        /* experts on the rank */
    double width, inner; /* of the expert's input and of its hidden part on the rank */
};

static struct expert_rows expert_rows(const struct timing *t)
{
    const struct model_shape *m = model_of(t);
    const struct knobs *k = knobs_of(t);
    struct expert_rows r = {.local = (double)m->experts / k->ep};
    r.all = t->tokens_rank * m->topk * k->etp * t->load;
    r.each = r.all / r.local + 16;
    r.width = m->latent > 0 ? m->latent : m->hidden;
    r.inner = (double)m->expert_ffn / k->etp;
    return r;
}

static void add_expert_activation(const struct timing *t, struct layer_time *x,
                                  const struct expert_rows *r)
{
    struct pass before = x->forward;
    if (fuses_experts(t))
        add_stream(t, x, 0, 2 * up_parts(t) * r->all * r->inner);
    else
        add_activation(t, x, r->all, r->inner);
    if (recomputes(t, MOD_MOE_ACT)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 2;
    }
    if (model_of(t)->add_bias) add_biases(t, x, 2 * r->all * r->inner, 2 * r->all * r->width);
}

static void add_experts(const struct timing *t, struct layer_time *x)
{
    struct expert_rows r = expert_rows(t);
    bool frozen = knobs_of(t)->task == TASK_PEFT;
    struct linear up = {r.each, up_parts(t) * r.inner, r.width, r.local, false, frozen};
    struct linear down = {r.each, r.width, r.inner, r.local, false, frozen};
    struct pass forward = {0}, backward = {0};
    kernel_linear(t, up, &x->forward, &backward);
    kernel_linear(t, down, &forward, &x->backward);
    if (fuses_experts(t)) forward.quantise = backward.quantise = 0;
    pass_add(&x->forward, &forward, 1);
    pass_add(&x->backward, &backward, 1);
    add_expert_activation(t, x, &r);
    add_ops(t, x, 12 + 0.5 * r.local + (t->low ? 8 + 0.25 * r.local : 0), SCOPE_MOE | SCOPE_FULL,
            0);
}

/* Permutation, exchange, and with expert TP a gather and a scatter of the routed rows. */
static void add_dispatch(const struct timing *t, struct layer_time *x)
{
    struct expert_rows r = expert_rows(t);
    double etp = knobs_of(t)->etp, moved = t->law.passes * 2 * r.all * r.width;
    add_stream(t, x, moved, moved);
    double exchange = comm_dispatch(t, r.width),
           spread = 2 * comm_collective(t, 2 * r.all / t->load * r.width, etp, etp);
    x->forward.ep += exchange;
    x->backward.ep += exchange;
    x->forward.tp += spread;
    x->backward.tp += spread;
    add_ops(t, x, t->law.prepare_ops, SCOPE_MOE_PREPROCESS | SCOPE_MOE | SCOPE_FULL, 0);
    add_ops(t, x, t->law.move_ops, SCOPE_MOE | SCOPE_FULL, 0);
    if (!(t->captured & SCOPE_FULL)) x->syncs += t->law.syncs;
}

static void add_moe(const struct timing *t, struct layer_time *x)
{
    struct pass before = x->forward;
    add_router(t, x);
    add_shared(t, x);
    add_experts(t, x);
    add_dispatch(t, x);
    if (!recomputes(t, MOD_MOE)) return;
    pass_add_since(&x->again, &x->forward, &before);
    x->sync_again = true;
}

static void add_ffn(const struct timing *t, struct layer_time *x, enum ffn ffn)
{
    if (ffn == FFN_NONE) return;
    add_block(t, x);
    switch (ffn) {
    case FFN_NONE: break;
    case FFN_DENSE: add_dense(t, x); break;
    case FFN_MOE: add_moe(t, x); break;
    }
}

/* What PyTorch's checkpoint does not repeat: it stops once the last saved tensor is back, before
   the last GEMM, the unpermute and the combine. Megatron's own checkpoint runs the whole layer. */
static struct pass early_stop(const struct timing *t, const struct layer_time *x, enum ffn ffn)
{
    struct pass tail = {0};
    if (t->config->framework != FRAMEWORK_AUTOMODEL) return tail;
    if (ffn == FFN_MOE) {
        tail.grouped = x->forward.grouped / (up_parts(t) + 1);
        tail.ep = x->forward.ep / 2;
        tail.memory = kernel_stream(t, t->law.passes * expert_rows(t).all * expert_rows(t).width);
    } else {
        tail.gemm = x->forward.gemm / 4;
    }
    return tail;
}

/* Activations that live on the CPU between the passes: the tensors of offloaded modules, or all of
 * an offloaded layer. */
static double offloaded_bytes(const struct timing *t, struct layer_kind kind)
{
    const struct knobs *k = knobs_of(t);
    if (k->offload_modules == 0 && k->layers_offloaded == 0) return 0;
    struct memory_coefficients x = memory_coefficients_of(&t->config->machine);
    struct token_counts tokens = token_counts(t->config, &x);
    struct layer_memory memory;
    layer_measure(t->config, &tokens, kind, &memory);
    return memory.offloaded +
           memory.kept * fmin(1, (double)k->layers_offloaded / model_of(t)->num_layers);
}

struct layer_time layer_time(const struct timing *t, struct layer_kind kind)
{
    struct layer_time x = {0};
    add_mixer(t, &x, kind.mixer);
    add_ffn(t, &x, kind.ffn);
    if (knobs_of(t)->recompute == RECOMPUTE_FULL) {
        struct pass tail = early_stop(t, &x, kind.ffn);
        x.again = (struct pass){0};
        pass_add_since(&x.again, &x.forward, &tail);
        x.sync_again = true;
    }
    x.offloaded = offloaded_bytes(t, kind);
    return x;
}

struct layer_time layer_embedding(const struct timing *t)
{
    struct layer_time x = {0};
    double bytes = 6 * t->tokens * model_of(t)->hidden;
    add_stream(t, &x, bytes, bytes);
    x.forward.ops = x.backward.ops = x.forward.gpu_ops = x.backward.gpu_ops = 6;
    return x;
}

/* Logits stay in 16 bit; softmax and loss read and write them in fp32. */
struct layer_time layer_head(const struct timing *t)
{
    struct layer_time x = {0};
    double tp = knobs_of(t)->tp, vocab = flops_vocab(t->config) / tp, h = model_of(t)->hidden;
    struct linear logits = {.rows = t->tokens, .out = vocab, .in = h, .wide = true};
    kernel_linear(t, logits, &x.forward, &x.backward);
    add_stream(t, &x, 6 * t->tokens * vocab, 4 * t->tokens * vocab);
    double one = comm_collective(t, 2 * t->tokens * h, tp, tp);
    x.forward.tp = one;
    x.backward.tp = 2 * one;
    x.forward.ops = x.forward.gpu_ops = 12;
    x.backward.ops = x.backward.gpu_ops = 10;
    return x;
}

static void layer_add(struct layer_time *to, const struct layer_time *x)
{
    pass_add(&to->forward, &x->forward, 1);
    pass_add(&to->backward, &x->backward, 1);
    pass_add(&to->again, &x->again, 1);
    to->syncs += x->syncs;
    to->sync_again = to->sync_again || x->sync_again;
}

struct layer_time layer_mtp(const struct timing *t)
{
    const struct model_shape *m = model_of(t);
    struct layer_time x = layer_head(t);
    add_linear(t, &x, t->tokens, (double)m->hidden / knobs_of(t)->tp, 2 * m->hidden);
    x.forward.ops += 20, x.forward.gpu_ops += 20;
    x.backward.ops += 20, x.backward.gpu_ops += 20;
    for (int i = 0; i < m->n_mtp_kinds; i++) {
        struct layer_time one = layer_time(t, m->mtp_kinds[i]);
        layer_add(&x, &one);
    }
    return x;
}
