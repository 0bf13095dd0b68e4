/* SPDX-License-Identifier: Apache-2.0 */
/* The vision tower on the images of one microbatch: patch embedding, blocks, mergers. It computes
   in 16 bit, sees every patch of an image from every other, and stands where the embedding does. */
#include <math.h>

#include "base/larger.h"
#include "cost/kernel.h"
#include "cost/layer.h"
#include "cost/vision.h"

static void add_linear(const struct timing *t, struct layer_time *x, double rows, double out,
                       double in, bool frozen)
{
    struct linear l = {.rows = rows, .out = out, .in = in, .wide = true, .frozen = frozen};
    kernel_linear(t, l, &x->forward, &x->backward);
}

/* Attention over one image, whole. */
static void add_attention(const struct timing *t, struct layer_time *x, const struct vision_work *v)
{
    double heads = larger(1, t->config->model.vision_heads);
    struct attention core = {.queries = v->patches * heads / t->config->knobs.tp,
                             .seq = v->image,
                             .steps = 1,
                             .qk_dim = v->width / heads,
                             .v_dim = v->width / heads,
                             .square = true};
    x->forward.attention += t->f.attention * attention_forward(t, &core);
    x->backward.attention += t->f.attention * attention_backward(t, &core);
}

/* Two norms with their residuals (7 passes forward, 9 backward each), layout of q, k, v (3 and 5),
   the activation, and under TP a gather and a scatter around both halves. */
static void add_block(const struct timing *t, struct layer_time *x, const struct vision_work *v)
{
    double tp = t->config->knobs.tp, h = v->width, f = v->inner / tp, up = v->gated ? 2 : 1;
    bool frozen = !knobs_trains_vision(&t->config->knobs);
    double hidden = 2 * v->patches * h, inner = 2 * v->patches * f;
    add_linear(t, x, v->patches, 3 * h / tp, h, frozen);
    add_attention(t, x, v);
    add_linear(t, x, v->patches, h, h / tp, frozen);
    add_linear(t, x, v->patches, up * f, h, frozen);
    add_linear(t, x, v->patches, h, f, frozen);
    struct work w;
    layer_work(t, layer_none, &w);
    work_stream(&w, 2 * 7 * hidden + 3 * 3 * hidden / tp + (up + 1) * inner,
                2 * 9 * hidden + 5 * 3 * hidden / tp + (2 * up + 1) * inner);
    work_exchange(
        &w, (struct exchange){.kind = EXCHANGE_TP, .bytes = hidden, .forward = 4, .backward = 4});
    work_host(&w, 32, 0, 0);
    layer_add_work(t, &w, x);
}

/* The mergers, with the host's operations of everything around the blocks. */
static struct layer_time mergers_time(const struct timing *t, const struct vision_work *v)
{
    struct layer_time x = {0};
    struct work w;
    bool frozen = !knobs_trains_projector(&t->config->knobs);
    for (int i = 0; i < v->mergers; i++) {
        add_linear(t, &x, v->tokens, v->merged, v->merged, frozen);
        add_linear(t, &x, v->tokens, t->config->model.hidden, v->merged, frozen);
    }
    layer_work(t, layer_none, &w);
    work_host(&w, 10 + 6 * v->mergers, 0, 0);
    layer_add_work(t, &w, &x);
    return x;
}

/* What is frozen, with nothing trained before it, has no backward. */
struct layer_time layer_vision(const struct timing *t)
{
    const struct knobs *k = &t->config->knobs;
    struct layer_time one = {0}, x = {0}, mergers;
    struct vision_work v = vision_work(t->config);
    if (v.patches <= 0) return x;
    add_block(t, &one, &v);
    pass_add(&x.forward, &one.forward, v.layers);
    pass_add(&x.backward, &one.backward, v.layers);
    add_linear(t, &x, v.patches, v.width, v.pixels, !knobs_trains_vision(k));
    if (!knobs_trains_vision(k)) x.backward = (struct pass){0};
    mergers = mergers_time(t, &v);
    pass_add(&x.forward, &mergers.forward, 1);
    if (knobs_trains_vision(k) || knobs_trains_projector(k))
        pass_add(&x.backward, &mergers.backward, 1);
    return x;
}
