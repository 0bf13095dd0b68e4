/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "cost/comm.h"
#include "cost/kernel.h"
#include "cost/layer_parts.h"

/* Ring attention computes block by block: every step after the first corrects the output so far,
   and in backward adds to the gradients (transformer_engine context_parallel.py,
   flash_attn_fwd_out_correction). Backward carries the gradients of KV beside KV. Called once
   attention's own times stand in the layer. */
static void add_context(const struct timing *t, struct layer_time *x, double kv_bytes,
                        double q_bytes)
{
    int steps = layer_knobs(t)->cp - 1;
    if (steps <= 0) return;
    x->forward.cp += comm_context(t, kv_bytes, q_bytes, x->forward.attention);
    x->backward.cp += comm_context(t, 2 * kv_bytes, 2 * q_bytes, x->backward.attention);
    layer_add_stream(t, x, 4 * steps * q_bytes, 4 * steps * q_bytes);
}

/* Unfused attention writes the scores, masks, exponentiates and drops out in kernels of their own
   (5 passes over the whole square forward, 8 backward); fused kernels keep them on the chip. */
static void add_scores(const struct timing *t, struct layer_time *x, double heads)
{
    if (layer_knobs(t)->attention != ATTN_UNFUSED) return;
    double square = 2 * t->tokens * layer_knobs(t)->seq * heads;
    layer_add_stream(t, x, 5 * square, 8 * square);
}

static void add_core(const struct timing *t, struct layer_time *x, struct attention_shape s)
{
    struct pass before = x->forward;
    kernel_attention(t, s, &x->forward, &x->backward);
    add_scores(t, x, s.heads);
    if (layer_recomputes(t, MOD_CORE_ATTN)) pass_add_since(&x->again, &x->forward, &before);
}

/* QKV projection, rotary embedding and layout (3 passes, backward 5), core attention, output
 * projection. */
static void add_attention(const struct timing *t, struct layer_time *x, bool window)
{
    const struct model_shape *m = layer_model(t);
    double tp = layer_knobs(t)->tp, heads = window ? m->win_heads : m->heads;
    double d = window ? m->win_head_dim : m->head_dim,
           v = window ? m->win_v_head_dim : m->v_head_dim;
    double q = heads * d, kv = fmax(window ? m->win_groups : m->groups, tp) * (d + v);
    double gate = m->attention_output_gate ? q : 0;
    if (m->q_lora > 0) {
        layer_add_linear(t, x, t->tokens, m->q_lora, m->hidden);
        layer_add_linear(t, x, t->tokens, (q + gate) / tp, m->q_lora);
        layer_add_linear(t, x, t->tokens, kv / tp, m->hidden);
    } else {
        layer_add_linear(t, x, t->tokens, (q + kv + gate) / tp, m->hidden);
    }
    double moved = 2 * t->tokens * (q + kv) / tp;
    layer_add_stream(t, x, 3 * moved, 5 * moved);
    add_core(t, x, (struct attention_shape){heads / tp, d, v, window ? m->window : 0});
    if (m->o_lora > 0) layer_add_linear(t, x, t->tokens, m->o_lora, heads * v / tp);
    layer_add_linear(t, x, t->tokens, m->hidden,
                     (m->o_lora > 0 ? (double)m->o_groups * m->o_lora : heads * v) / tp);
    add_context(t, x, 2 * t->tokens * kv / tp, 2 * t->tokens * q / tp);
    layer_add_ops(t, x, t->low ? 30 : 22, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Low-rank projections; the up-projections and the rotary embedding are what mla_up_proj
 * recomputes. */
static void add_mla(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = layer_model(t);
    double tp = layer_knobs(t)->tp, n = m->heads / tp, qk = m->qk_nope + m->qk_rope, v = m->mla_v;
    if (m->q_lora > 0) layer_add_linear(t, x, t->tokens, m->q_lora, m->hidden);
    layer_add_linear(t, x, t->tokens, m->kv_lora + m->qk_rope, m->hidden);
    struct pass before = x->forward;
    layer_add_linear(t, x, t->tokens, n * qk, m->q_lora > 0 ? m->q_lora : m->hidden);
    layer_add_linear(t, x, t->tokens, n * (m->qk_nope + v), m->kv_lora);
    double moved = 2 * t->tokens * n * (2 * qk + v);
    layer_add_stream(t, x, 4 * moved, 6 * moved);
    if (layer_recomputes(t, MOD_MLA_UP_PROJ)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 10;
    }
    add_core(t, x, (struct attention_shape){n, qk, v, 0});
    layer_add_linear(t, x, t->tokens, m->hidden, n * v);
    add_context(t, x, 2 * t->tokens * n * (qk + v), 2 * t->tokens * n * qk);
    layer_add_ops(t, x, t->low ? 46 : 38, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Mamba2: input projection, convolution and gating (8 passes), chunked scan, output projection. */
static void add_mamba(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = layer_model(t);
    double tp = layer_knobs(t)->tp, inner = (double)m->mamba_heads * m->mamba_head_dim;
    double state = (double)m->mamba_groups * m->mamba_state;
    layer_add_linear(t, x, t->tokens, (2 * inner + 2 * state + m->mamba_heads) / tp, m->hidden);
    double flops = 7 * t->tokens * inner * m->mamba_state / tp,
           moved = 2 * t->tokens * (inner + 2 * state) / tp;
    kernel_scan(t, flops, 0.25, 8 * moved, &x->forward, &x->backward);
    layer_add_linear(t, x, t->tokens, m->hidden, inner / tp);
    layer_add_ops(t, x, t->low ? 28 : 20, SCOPE_MAMBA | SCOPE_FULL, 2);
}

/* Gated delta net: the scan's products are smaller than Mamba's. */
static void add_linear_attention(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = layer_model(t);
    double tp = layer_knobs(t)->tp, qk = (double)m->lin_k_heads * m->lin_k_dim,
           v = (double)m->lin_v_heads * m->lin_v_dim;
    layer_add_linear(t, x, t->tokens, (2 * qk + 2 * v + 2 * m->lin_v_heads) / tp, m->hidden);
    double flops = 10 * t->tokens * v * m->lin_k_dim / tp,
           moved = 2 * t->tokens * (2 * qk + 2 * v) / tp;
    kernel_scan(t, flops, 0.2, 8 * moved, &x->forward, &x->backward);
    layer_add_linear(t, x, t->tokens, m->hidden, v / tp);
    add_context(t, x, 2 * t->tokens * 2 * qk / tp, 2 * t->tokens * v / tp);
    layer_add_ops(t, x, t->low ? 38 : 30, SCOPE_ATTN | SCOPE_FULL, 2);
}

void layer_add_mixer(const struct timing *t, struct layer_time *x, enum mixer mixer)
{
    if (mixer == MIXER_NONE) return;
    layer_add_block(t, x);
    layer_add_tp(t, x);
    switch (mixer) {
    case MIXER_NONE: break;
    case MIXER_ATTENTION: add_attention(t, x, false); break;
    case MIXER_WINDOW: add_attention(t, x, true); break;
    case MIXER_MLA: add_mla(t, x); break;
    case MIXER_MAMBA: add_mamba(t, x); break;
    case MIXER_LINEAR: add_linear_attention(t, x); break;
    }
}
