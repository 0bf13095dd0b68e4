/* SPDX-License-Identifier: Apache-2.0 */
/* Exact parameter counts. Shapes are those of the published checkpoints (transformers' modeling
   files) and of megatron/core/transformer, which agree; biases and norms are counted. */
#include "plan/config.h"

/* Parameters of one norm over `width` values: RMSNorm has a weight, LayerNorm a bias too. */
static int64_t norm(const struct model_shape *m, int64_t width)
{
    return m->layernorm ? 2 * width : width;
}

static int64_t post_norm(const struct model_shape *m)
{
    return m->post_norms ? norm(m, m->hidden) : 0;
}

/* Fully connected pair up (and gate) and down between `width` and `inner`, biases included. */
static struct part_params mlp(const struct model_shape *m, int64_t width, int64_t inner)
{
    int64_t up = m->gated ? 2 : 1;
    struct part_params p = {.sharded = (up + 1) * width * inner};
    if (m->add_bias) {
        p.sharded += up * inner;
        p.replicated += width;
    }
    return p;
}

static struct part_params grouped_attention(const struct model_shape *m, bool window)
{
    int64_t h = m->hidden;
    int64_t heads = window ? m->win_heads : m->heads, groups = window ? m->win_groups : m->groups;
    int64_t d = window ? m->win_head_dim : m->head_dim,
            dv = window ? m->win_v_head_dim : m->v_head_dim;
    int64_t q = heads * d * (m->attention_output_gate ? 2 : 1), k = groups * d;
    int64_t v = m->k_equals_v && !window ? 0 : groups * dv;
    int64_t rank = m->q_lora;
    struct part_params p = {.sharded = (rank > 0 ? rank : h) * q + h * (k + v),
                            .replicated = norm(m, h)};
    if (rank > 0) p.replicated += h * rank + norm(m, rank);
    p.sharded += m->o_lora > 0 ? (heads * dv + m->o_groups * h) * m->o_lora : heads * dv * h;
    if (m->qkv_bias || m->add_bias) p.sharded += q + k + v;
    if (m->add_bias) p.replicated += h;
    if (m->qk_layernorm)
        p.replicated += m->qk_norm_full ? norm(m, heads * d) + norm(m, k) : 2 * norm(m, d);
    if (m->sinks) p.sharded += heads;
    if (m->head_gate) p.sharded += h * heads;
    p.replicated += post_norm(m);
    return p;
}

/* Multi-head latent attention: the down projections and their norms stand on every TP rank. */
static struct part_params latent_attention(const struct model_shape *m)
{
    int64_t h = m->hidden, heads = m->heads, qk = m->qk_nope + m->qk_rope, rank = m->q_lora;
    struct part_params p = {.replicated = norm(m, h) + post_norm(m)};
    if (rank > 0) {
        p.replicated += h * rank + norm(m, rank);
        p.sharded += rank * heads * qk;
    } else {
        p.sharded += h * heads * qk;
    }
    p.replicated += h * (m->kv_lora + m->qk_rope) + norm(m, m->kv_lora);
    p.sharded += (int64_t)m->kv_lora * heads * (m->qk_nope + m->mla_v) + heads * m->mla_v * h;
    if (m->attention_output_gate) p.sharded += h * heads * m->mla_v;
    return p;
}

/* DeepSeek sparse attention's indexer: queries from the q latent, one key head with a LayerNorm, a
 * weight a head. */
int64_t indexer_params(const struct model_shape *m)
{
    int64_t width = m->q_lora > 0 ? m->q_lora : m->hidden;
    return m->index_heads * (int64_t)m->index_dim * width + (int64_t)m->hidden * m->index_dim +
           2 * (int64_t)m->index_dim + (int64_t)m->hidden * m->index_heads;
}

static struct part_params mamba(const struct model_shape *m)
{
    int64_t h = m->hidden, heads = m->mamba_heads, inner = heads * m->mamba_head_dim;
    int64_t conv = inner + 2 * (int64_t)m->mamba_groups * m->mamba_state;
    int64_t in_proj = h * (inner + conv + heads), conv_weights = conv * (m->mamba_conv + 1);
    return (struct part_params){.sharded = in_proj + conv_weights + 3 * heads /* A, D, dt */ +
                                           inner /* gated norm */ + inner * h,
                                .replicated = norm(m, h) + post_norm(m)};
}

/* Gated delta net: q, k, v, output gate, and the decay and write strengths of each value head. */
static struct part_params linear_attention(const struct model_shape *m)
{
    int64_t h = m->hidden, key = (int64_t)m->lin_k_heads * m->lin_k_dim;
    int64_t value = (int64_t)m->lin_v_heads * m->lin_v_dim, heads = m->lin_v_heads;
    return (struct part_params){.sharded = h * (2 * key + 2 * value + 2 * heads) +
                                           (2 * key + value) * m->lin_conv + 2 * heads + value * h,
                                .replicated = norm(m, h) + m->lin_v_dim + post_norm(m)};
}

struct part_params mixer_params(const struct model_shape *m, enum mixer mixer)
{
    switch (mixer) {
    case MIXER_NONE: break;
    case MIXER_ATTENTION: return grouped_attention(m, false);
    case MIXER_WINDOW: return grouped_attention(m, true);
    case MIXER_MLA: return latent_attention(m);
    case MIXER_MAMBA: return mamba(m);
    case MIXER_LINEAR: return linear_attention(m);
    }
    return (struct part_params){0};
}

static struct part_params moe(const struct model_shape *m)
{
    int64_t h = m->hidden, width = m->latent > 0 ? m->latent : h, experts = m->experts;
    struct part_params one = mlp(m, width, m->expert_ffn), shared = {0};
    if (m->shared_ffn > 0) shared = mlp(m, h, m->shared_ffn);
    struct part_params p = {.sharded = shared.sharded,
                            .replicated =
                                shared.replicated + norm(m, h) + post_norm(m) + h * experts,
                            .experts = experts * (one.sharded + one.replicated)};
    if (m->router_bias || m->add_bias) p.replicated += experts;
    if (m->shared_gate) p.replicated += h;
    if (m->latent > 0) p.replicated += 2 * h * width;
    return p;
}

struct part_params ffn_params(const struct model_shape *m, enum ffn ffn)
{
    struct part_params p = {0};
    switch (ffn) {
    case FFN_NONE: break;
    case FFN_DENSE:
        p = mlp(m, m->hidden, m->dense_ffn);
        p.replicated += norm(m, m->hidden) + post_norm(m);
        break;
    case FFN_MOE: return moe(m);
    }
    return p;
}

static void part_add(struct part_params *sum, struct part_params p)
{
    sum->sharded += p.sharded;
    sum->replicated += p.replicated;
    sum->experts += p.experts;
}

static struct part_params kind_params(const struct model_shape *m, struct layer_kind kind)
{
    struct part_params p = mixer_params(m, kind.mixer);
    part_add(&p, ffn_params(m, kind.ffn));
    return p;
}

struct part_params mtp_params(const struct model_shape *m)
{
    struct part_params p = {0};
    if (m->mtp_layers == 0) return p;
    for (int i = 0; i < m->n_mtp_kinds; i++)
        part_add(&p, kind_params(m, m->mtp_kinds[i]));
    p.sharded += 2 * (int64_t)m->hidden * m->hidden;
    p.replicated += 3 * norm(m, m->hidden);
    return p;
}

/* A vision transformer as in Qwen3-VL and kin: patch embedding with bias, learned positions, blocks
   with LayerNorm and biases, a merger of merge^2 patches into the model's width, and one more
   merger per deepstack level. */
int64_t vision_params(const struct model_shape *m)
{
    if (m->vision_layers == 0) return 0;
    int64_t h = m->vision_hidden, f = m->vision_ffn,
            merge = m->vision_merge > 0 ? m->vision_merge : 1;
    int64_t frames = m->vision_temporal > 0 ? m->vision_temporal : 1;
    int64_t patch = 3 * frames * m->vision_patch * m->vision_patch * h + h;
    int64_t up = m->vision_gated ? 2 : 1;
    int64_t block = 4 * h * h + 4 * h + (up + 1) * h * f + up * f + h + 4 * h;
    int64_t wide = h * merge * merge, merger = wide * wide + wide + wide * m->hidden + m->hidden;
    return patch + m->vision_positions * h + m->vision_layers * block + merger + 2 * h +
           m->vision_deepstack * (merger + 2 * wide);
}

struct param_counts model_params(const struct model_shape *m)
{
    struct part_params sum = {0};
    struct part_params kinds[MODEL_MAX_KINDS];
    for (int i = 0; i < m->n_kinds; i++)
        kinds[i] = kind_params(m, m->kinds[i]);
    for (int i = 0; i < m->num_layers; i++)
        part_add(&sum, kinds[m->layers[i]]);
    int64_t embedding = (int64_t)m->vocab * m->hidden * (m->tied ? 1 : 2);
    int64_t fixed = sum.sharded + sum.replicated + embedding + norm(m, m->hidden) +
                    (int64_t)m->learned_positions * m->hidden + m->index_layers * indexer_params(m);
    struct part_params mtp = mtp_params(m);
    int64_t depths = m->mtp_repeated ? 1 : m->mtp_layers;
    return (struct param_counts){
        .total = fixed + sum.experts,
        .active = fixed + (m->experts > 0 ? sum.experts / m->experts * m->topk : 0),
        .mtp = depths * (mtp.sharded + mtp.replicated + mtp.experts),
        .vision = vision_params(m),
        .embedding = embedding,
    };
}
