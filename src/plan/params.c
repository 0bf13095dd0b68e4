/* SPDX-License-Identifier: Apache-2.0 */
/* Exact parameter counts, of the lists that describe layers. Shapes are those of the published
   checkpoints (transformers' modeling files) and of megatron/core/transformer, which agree; biases
   and norms are counted. */
#include "plan/ops.h"

struct part_params layer_params(const struct model_shape *m, struct layer_kind kind)
{
    struct weights w;
    op_weights(m, kind, false, &w);
    return weights_params(&w);
}

struct part_params mixer_params(const struct model_shape *m, enum mixer mixer)
{
    return layer_params(m, (struct layer_kind){mixer, FFN_NONE});
}

struct part_params ffn_params(const struct model_shape *m, enum ffn ffn)
{
    return layer_params(m, (struct layer_kind){MIXER_NONE, ffn});
}

static void part_add(struct part_params *sum, struct part_params p)
{
    sum->sharded += p.sharded;
    sum->replicated += p.replicated;
    sum->experts += p.experts;
}

struct part_params mtp_params(const struct model_shape *m)
{
    struct part_params p = {0};
    struct weights w;
    if (m->mtp_layers == 0) return p;
    for (int i = 0; i < m->n_mtp_kinds; i++)
        part_add(&p, layer_params(m, m->mtp_kinds[i]));
    mtp_weights(m, &w);
    part_add(&p, weights_params(&w));
    return p;
}

/* A merger of merge^2 patches into the model's width, and one more with a norm as wide for each
   deepstack level. */
int64_t vision_projector_params(const struct model_shape *m)
{
    if (m->vision_layers == 0) return 0;
    int64_t merge = m->vision_merge > 0 ? m->vision_merge : 1;
    int64_t wide = m->vision_hidden * merge * merge;
    int64_t merger = wide * wide + wide + wide * m->hidden + m->hidden;
    return merger + 2 * m->vision_hidden + m->vision_deepstack * (merger + 2 * wide);
}

/* A vision transformer as in Qwen3-VL and kin: patch embedding with bias, learned positions, blocks
   with LayerNorm and biases, and the mergers. */
int64_t vision_params(const struct model_shape *m)
{
    if (m->vision_layers == 0) return 0;
    int64_t h = m->vision_hidden, f = m->vision_ffn;
    int64_t frames = m->vision_temporal > 0 ? m->vision_temporal : 1;
    int64_t patch = 3 * frames * m->vision_patch * m->vision_patch * h + h;
    int64_t up = m->vision_gated ? 2 : 1;
    int64_t block = 4 * h * h + 4 * h + (up + 1) * h * f + up * f + h + 4 * h;
    return patch + m->vision_positions * h + m->vision_layers * block + vision_projector_params(m);
}

struct param_counts model_params(const struct model_shape *m)
{
    struct part_params sum = {0};
    struct part_params kinds[MODEL_MAX_KINDS];
    for (int i = 0; i < m->n_kinds; i++)
        kinds[i] = layer_params(m, m->kinds[i]);
    for (int i = 0; i < m->num_layers; i++)
        part_add(&sum, kinds[m->layers[i]]);
    int64_t embedding = (int64_t)m->vocab * m->hidden * (m->tied ? 1 : 2);
    int64_t fixed = sum.sharded + sum.replicated + embedding + (int64_t)norm_weights(m, m->hidden) +
                    (int64_t)m->learned_positions * m->hidden;
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
