/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's num_floating_point_operations (megatron/training/training.py:802 at d98e8a64):
   matrix products only, causal attention halved, sliding windows not deducted, no router, no
   recompute, backward twice the forward. */
#include "cost/flops.h"

#include "cost/cost.h"

double flops_vocab(const struct config *c)
{
    int64_t multiple = (int64_t)c->model.vocab_divisible_by * c->knobs.tp, v = c->model.vocab;
    if (c->framework == FRAMEWORK_AUTOMODEL || multiple <= 1) return (double)v;
    return (double)((v + multiple - 1) / multiple * multiple);
}

/* Query, key, value, optional gate and output projections, and QK^T and PV over half of the square.
 */
static double attention(const struct model_shape *m, double seq)
{
    double h = m->hidden, q = (double)m->heads * m->head_dim, kv = (double)m->groups * m->head_dim;
    double gate = m->attention_output_gate ? q : 0;
    double query = m->q_lora > 0 ? m->q_lora * (h + q + gate) : h * (q + gate);
    double output = m->o_lora > 0 ? m->o_lora * (q + m->o_groups * h) : q * h;
    return 2 * (query + 2 * h * kv + output) + 2 * seq * q;
}

/* Low-rank projections with their norms (the + 1), as Megatron counts them. */
static double mla(const struct model_shape *m, double seq)
{
    double h = m->hidden, n = m->heads, qk = m->qk_nope + m->qk_rope;
    double q = m->q_lora > 0 ? m->q_lora * (h + n * qk + 1) : h * n * qk;
    double kv = m->kv_lora * (h + n * (m->qk_nope + m->mla_v) + 1) + h * m->qk_rope;
    return 2 * (q + kv + n * m->mla_v * h) + seq * n * (qk + m->mla_v);
}

/* Megatron takes the inner width as twice the hidden size, whatever the heads say
 * (mamba_layer_flops). */
static double mamba(const struct model_shape *m)
{
    double h = m->hidden, inner = 2 * h, state = m->mamba_state;
    return 2 * h * (2 * inner + 2 * m->mamba_groups * state + m->mamba_heads) + 7 * inner * state +
           2 * inner * h;
}

/* Gated delta net: projections, convolution and four products with the state of every value head.
 */
static double linear_attention(const struct model_shape *m)
{
    double h = m->hidden, qk = (double)m->lin_k_heads * m->lin_k_dim,
           v = (double)m->lin_v_heads * m->lin_v_dim;
    double projections = h * (2 * qk + 2 * v + 2 * m->lin_v_heads) + h * v;
    return 2 * (projections + m->lin_conv * (2 * qk + v) + 4 * v * m->lin_v_dim);
}

static double flops_mixer(const struct model_shape *m, enum mixer mixer, double seq)
{
    switch (mixer) {
    case MIXER_NONE: return 0;
    case MIXER_ATTENTION:
    case MIXER_WINDOW: return attention(m, seq);
    case MIXER_MLA: return mla(m, seq);
    case MIXER_MAMBA: return mamba(m);
    case MIXER_LINEAR: return linear_attention(m);
    }
    return 0;
}

static double flops_ffn(const struct model_shape *m, enum ffn ffn)
{
    double h = m->hidden, matrices = m->gated ? 3 : 2;
    switch (ffn) {
    case FFN_NONE: return 0;
    case FFN_DENSE: return 2 * matrices * h * m->dense_ffn;
    case FFN_MOE: break;
    }
    double width = m->latent > 0 ? m->latent : h;
    double routed = matrices * width * m->topk * m->expert_ffn;
    double latent = m->latent > 0 ? 2 * h * m->latent : 0;
    return 2 * (routed + matrices * h * m->shared_ffn + latent);
}

static double layer(const struct model_shape *m, struct layer_kind k, double seq)
{
    return flops_mixer(m, k.mixer, seq) + flops_ffn(m, k.ffn);
}

/* Layers of one sub-block only are written as a hybrid pattern, for which Megatron counts no MTP
 * projection. */
static bool is_hybrid(const struct model_shape *m)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].mixer == MIXER_NONE || m->kinds[i].ffn == FFN_NONE) return true;
    return false;
}

double model_flops_per_token(const struct config *c)
{
    const struct model_shape *m = &c->model;
    double h = m->hidden, seq = c->knobs.seq, forward = 0, depth = 0;
    for (int i = 0; i < m->num_layers; i++)
        forward += layer(m, m->kinds[m->layers[i]], seq);
    for (int i = 0; i < m->n_mtp_kinds; i++)
        depth += layer(m, m->mtp_kinds[i], seq);
    if (!is_hybrid(m)) depth += 2 * (3 * h + 2 * h * h);
    forward += m->mtp_layers * depth + 2 * h * flops_vocab(c) * (1 + m->mtp_layers);
    /* Of frozen weights no gradient is computed. */
    return (knobs_trains_language(&c->knobs) ? 3 : 2) * forward;
}
