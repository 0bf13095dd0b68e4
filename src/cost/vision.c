/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/vision.h"

static double at_least_one(double x)
{
    return x < 1 ? 1 : x;
}

struct vision_work vision_work(const struct config *c)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    struct vision_work v = {0};
    if (m->vision_layers == 0 || k->image_tokens <= 0) return v;
    double merge = at_least_one(m->vision_merge);
    v.tokens = (double)k->mbs * k->image_tokens / k->cp;
    v.patches = v.tokens * merge * merge;
    v.image = k->image_tokens * merge * merge / at_least_one(k->images);
    v.width = m->vision_hidden;
    v.inner = m->vision_ffn;
    v.merged = v.width * merge * merge;
    v.pixels = 3 * at_least_one(m->vision_temporal) * m->vision_patch * m->vision_patch;
    v.layers = m->vision_layers;
    v.mergers = 1 + m->vision_deepstack;
    v.gated = m->vision_gated;
    return v;
}

/* A block in 16 bit: both norms' inputs and outputs (4 widths), q, k, v and the attention's output
   (4, split by TP), FC1's output and the activation. */
double vision_kept(const struct config *c)
{
    struct vision_work v = vision_work(c);
    const struct knobs *k = &c->knobs;
    double tp = k->tp, up = v.gated ? 2 : 1;
    double widths = 4 * v.width + (4 * v.width + (up + 1) * v.inner) / tp;
    double mergers = v.mergers * 3 * v.tokens * v.merged;
    if (knobs_trains_vision(k)) return 2 * (v.patches * (v.layers * widths + v.pixels) + mergers);
    return knobs_trains_projector(k) ? 2 * mergers : 0;
}
