/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/layer.h"

#include <math.h>

#include "cost/comm.h"
#include "cost/flops.h"
#include "cost/kernel.h"
#include "cost/layer_parts.h"
#include "cost/memory.h"

/* Host operations of backward for one of forward: gradients of inputs and of weights, less what
 * autograd fuses. */
static const double backward_ops = 1.6;
/* Of the three sequence-parallel collectives of a sub-block's backward two run beside its GEMMs
   (megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication). */
static const double backward_collectives = 1.4;

bool layer_recomputes(const struct timing *t, uint32_t module)
{
    if (layer_knobs(t)->recompute != RECOMPUTE_SELECTIVE) return false;
    uint32_t modules = layer_knobs(t)->recompute_modules;
    if (modules & MOD_MOE) modules &= ~(uint32_t)(MOD_MOE_ACT | MOD_SHARED_EXPERTS); /* its parts */
    return modules & module;
}

void layer_add_stream(const struct timing *t, struct layer_time *x, double forward_bytes,
                      double backward_bytes)
{
    x->forward.memory += kernel_stream(t, forward_bytes);
    x->backward.memory += kernel_stream(t, backward_bytes);
}

void layer_add_linear(const struct timing *t, struct layer_time *x, double rows, double out,
                      double in)
{
    struct linear l = {
        .rows = rows, .out = out, .in = in, .frozen = !knobs_trains_language(layer_knobs(t))};
    kernel_linear(t, l, &x->forward, &x->backward);
}

void layer_add_ops(const struct timing *t, struct layer_time *x, double ops, uint32_t scope,
                   double left)
{
    double launched = t->captured & scope ? fmin(ops, left) : ops;
    x->forward.ops += launched;
    x->backward.ops += backward_ops * launched;
    x->forward.gpu_ops += ops;
    x->backward.gpu_ops += backward_ops * ops;
}

double layer_hidden_bytes(const struct timing *t)
{
    return 2 * t->tokens_pass * layer_model(t)->hidden;
}

/* Norm, residual and dropout around a sub-block: 7 passes forward, 9 backward; the norm alone is 2.
 */
void layer_add_block(const struct timing *t, struct layer_time *x)
{
    layer_add_stream(t, x, 7 * layer_hidden_bytes(t), 9 * layer_hidden_bytes(t));
    if (!layer_recomputes(t, MOD_LAYERNORM)) return;
    x->again.memory += kernel_stream(t, 2 * layer_hidden_bytes(t));
    x->again.ops += 1;
}

void layer_add_tp(const struct timing *t, struct layer_time *x)
{
    double tp = layer_knobs(t)->tp;
    double one = comm_collective(t, 2 * t->tokens * layer_model(t)->hidden, tp, tp);
    x->forward.tp += 2 * one;
    x->backward.tp += backward_collectives * one;
}

/* Activations that live on the CPU between the passes: the tensors of offloaded modules, or all of
 * an offloaded layer. */
static double offloaded_bytes(const struct timing *t, struct layer_kind kind)
{
    const struct knobs *k = layer_knobs(t);
    if (k->offload_modules == 0 && k->layers_offloaded == 0) return 0;
    struct memory_coefficients x = memory_coefficients_of(&t->config->machine);
    struct token_counts tokens = token_counts(t->config, &x);
    struct layer_memory memory;
    layer_measure(t->config, &tokens, kind, &memory);
    return memory.offloaded +
           memory.kept * fmin(1, (double)k->layers_offloaded / layer_model(t)->num_layers);
}

struct layer_time layer_time(const struct timing *t, struct layer_kind kind)
{
    struct layer_time x = {0};
    layer_add_mixer(t, &x, kind.mixer);
    layer_add_ffn(t, &x, kind.ffn);
    if (layer_knobs(t)->recompute == RECOMPUTE_FULL) {
        struct pass tail = layer_early_stop(t, &x, kind.ffn);
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
    double bytes = 6 * t->tokens * layer_model(t)->hidden;
    layer_add_stream(t, &x, bytes, bytes);
    x.forward.ops = x.backward.ops = x.forward.gpu_ops = x.backward.gpu_ops = 6;
    return x;
}

/* Logits stay in 16 bit; softmax and loss read and write them in fp32. */
struct layer_time layer_head(const struct timing *t)
{
    struct layer_time x = {0};
    double tp = layer_knobs(t)->tp, vocab = flops_vocab(t->config) / tp, h = layer_model(t)->hidden;
    bool frozen = !knobs_trains_language(layer_knobs(t));
    struct linear logits = {
        .rows = t->tokens, .out = vocab, .in = h, .wide = true, .frozen = frozen};
    kernel_linear(t, logits, &x.forward, &x.backward);
    layer_add_stream(t, &x, 6 * t->tokens * vocab, 4 * t->tokens * vocab);
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
    const struct model_shape *m = layer_model(t);
    struct layer_time x = layer_head(t);
    layer_add_linear(t, &x, t->tokens, (double)m->hidden / layer_knobs(t)->tp, 2 * m->hidden);
    x.forward.ops += 20, x.forward.gpu_ops += 20;
    x.backward.ops += 20, x.backward.gpu_ops += 20;
    for (int i = 0; i < m->n_mtp_kinds; i++) {
        struct layer_time one = layer_time(t, m->mtp_kinds[i]);
        layer_add(&x, &one);
    }
    return x;
}
