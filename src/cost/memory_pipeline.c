/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline as the memory model sees it: what stands in every chunk, and how many microbatches
 * are in flight. */
#include "base/larger.h"
#include "cost/memory.h"

int pipeline_chunks(const struct config *c, struct chunk chunks[LAYOUT_MAX_CHUNKS])
{
    struct layout layout;
    if (!config_layout(c, &layout)) return 0;
    const uint8_t *layers = c->model.layers;
    int layer = 0, n = c->model.num_layers;
    for (int i = 0; i < layout.n_chunks; i++) {
        struct chunk *chunk = &chunks[i];
        *chunk = (struct chunk){.layers = layout.decoders[i],
                                .mtp = layout.mtp[i],
                                .last_kind = -1,
                                .embedding = layout.embedding[i],
                                .loss = layout.loss[i]};
        int end = layer + chunk->layers < n ? layer + chunk->layers : n;
        if (layer < end) chunk->last_kind = layers[end - 1];
        for (; layer < end; layer++)
            chunk->counts[layers[layer]]++;
    }
    return layout.n_chunks;
}

/* 1F1B: stage r starts pp - r microbatches before its first backward. Interleaved: 2 (pp - r - 1) +
   (vpp - 1) group + 1 chunk passes, handed out in groups to chunks 0, 1, ...
   (megatron/core/pipeline_parallel/schedules.py:934 get_pp_rank_microbatches). Where expert
   communication overlaps with the neighbour microbatch, the one more warm-up pass takes the place
   of the forward before the first backward. */
struct passes pipeline_passes(const struct knobs *k, int stage)
{
    double microbatches = (double)knobs_scheduled(k), behind = k->pp - stage - 1;
    if (k->pp == 1) return (struct passes){.all = k->vpp, .each = 1};
    if (k->vpp == 1) {
        double passes = smaller(microbatches, behind + 1);
        return (struct passes){.all = passes, .each = passes};
    }
    double group = k->group_size > 0 ? k->group_size : k->pp;
    double passes = 2 * behind + (k->vpp - 1) * group + 1;
    passes = smaller(passes, microbatches * k->vpp);
    double rounds = (double)(int64_t)(passes / (group * k->vpp));
    return (struct passes){.all = passes,
                           .each = rounds * group,
                           .rest = passes - rounds * group * k->vpp,
                           .group = group};
}

double passes_of_last(const struct passes *x, int vpp)
{
    double left = x->rest - (vpp - 1) * x->group;
    return x->each + (left > 0 ? smaller(x->group, left) : 0);
}

void pipeline_in_flight(const struct knobs *k, int stage, double in_flight[LAYOUT_MAX_CHUNKS])
{
    struct passes x = pipeline_passes(k, stage);
    for (int v = 0; v < k->vpp; v++)
        in_flight[v] = passes_of_next(&x);
}
