/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/comm.h"
#include "cost/kernel.h"
#include "cost/layer_parts.h"

/* The first FFN matrix has gate and up parts when gated. The activation reads them and writes one;
   backward reads the gradient as well. */
static double up_parts(const struct timing *t)
{
    return layer_model(t)->gated ? 2 : 1;
}

static void add_activation(const struct timing *t, struct layer_time *x, double rows, double width)
{
    double up = up_parts(t), bytes = 2 * rows * width;
    layer_add_stream(t, x, (up + 1) * bytes, (2 * up + 1) * bytes);
}

static void add_mlp(const struct timing *t, struct layer_time *x, double width)
{
    double inner = width / layer_knobs(t)->tp;
    layer_add_linear(t, x, t->tokens, up_parts(t) * inner, layer_model(t)->hidden);
    add_activation(t, x, t->tokens, inner);
    layer_add_linear(t, x, t->tokens, layer_model(t)->hidden, inner);
}

static void add_dense(const struct timing *t, struct layer_time *x)
{
    struct pass before = x->forward;
    add_mlp(t, x, layer_model(t)->dense_ffn);
    if (layer_recomputes(t, MOD_MLP)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 6;
    }
    layer_add_tp(t, x);
    layer_add_ops(t, x, t->low ? 16 : 10, SCOPE_MLP | SCOPE_FULL, 1);
}

/* Scores, top-k, probabilities and the maps of the permutation: two GEMM-sized and several small
 * kernels in fp32. */
static void add_router(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = layer_model(t);
    struct linear scores = {
        .rows = t->tokens_rank, .out = m->experts, .in = m->hidden, .wide = true, .frozen = true};
    struct pass forward = {0}, unused = {0};
    kernel_linear(t, scores, &forward, &unused);
    double small = kernel_stream(t, 24 * t->tokens_rank * m->experts + 2 * layer_hidden_bytes(t));
    x->forward.gemm += 2 * forward.gemm;
    x->backward.gemm += (knobs_trains_language(layer_knobs(t)) ? 4 : 2) * forward.gemm;
    x->forward.memory += small;
    x->backward.memory += 2 * small;
    layer_add_ops(t, x, 16, SCOPE_MOE_ROUTER | SCOPE_MOE | SCOPE_FULL,
                  t->captured & SCOPE_FULL ? 0 : 1);
}

static void add_shared(const struct timing *t, struct layer_time *x)
{
    const struct model_shape *m = layer_model(t);
    struct pass before = x->forward;
    if (m->shared_ffn > 0) add_mlp(t, x, m->shared_ffn);
    if (layer_recomputes(t, MOD_SHARED_EXPERTS)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 6;
    }
    if (m->latent > 0) {
        layer_add_linear(t, x, t->tokens_rank, m->latent, m->hidden);
        layer_add_linear(t, x, t->tokens_rank, m->hidden, m->latent);
    }
    if (m->shared_ffn <= 0) return;
    layer_add_tp(t, x);
    layer_add_ops(t, x, 8, SCOPE_MOE_ROUTER | SCOPE_MOE | SCOPE_FULL,
                  t->captured & SCOPE_FULL ? 0 : 1);
}

/* A whole captured iteration without dropped tokens needs TE's fused grouped MLP
   (transformer_config.py:1870: a rank's capacity requires use_transformer_engine_op_fuser), and so
   do AutoModel's MXFP8 experts. Its MXFP8 kernels gate, clamp and quantise in the GEMM's epilogue;
   only the gradient of the gate still makes passes of its own. */
static bool fuses_experts(const struct timing *t)
{
    bool whole = (t->captured & SCOPE_FULL) && layer_knobs(t)->capacity_factor <= 0;
    return (whole || t->experts_only) && layer_knobs(t)->precision == PREC_MXFP8;
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
    const struct model_shape *m = layer_model(t);
    const struct knobs *k = layer_knobs(t);
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
        layer_add_stream(t, x, 0, 2 * up_parts(t) * r->all * r->inner);
    else
        add_activation(t, x, r->all, r->inner);
    if (layer_recomputes(t, MOD_MOE_ACT)) {
        pass_add_since(&x->again, &x->forward, &before);
        x->again.ops += 2;
    }
    if (layer_model(t)->add_bias) add_biases(t, x, 2 * r->all * r->inner, 2 * r->all * r->width);
}

static void add_experts(const struct timing *t, struct layer_time *x)
{
    struct expert_rows r = expert_rows(t);
    bool frozen = !knobs_trains_language(layer_knobs(t));
    struct linear up = {r.each, up_parts(t) * r.inner, r.width, r.local, false, frozen};
    struct linear down = {r.each, r.width, r.inner, r.local, false, frozen};
    struct pass forward = {0}, backward = {0};
    kernel_linear(t, up, &x->forward, &backward);
    kernel_linear(t, down, &forward, &x->backward);
    if (fuses_experts(t)) forward.quantise = backward.quantise = 0;
    pass_add(&x->forward, &forward, 1);
    pass_add(&x->backward, &backward, 1);
    add_expert_activation(t, x, &r);
    layer_add_ops(t, x, 12 + 0.5 * r.local + (t->low ? 8 + 0.25 * r.local : 0),
                  SCOPE_MOE | SCOPE_FULL, 0);
}

/* Permutation, exchange, and with expert TP a gather and a scatter of the routed rows. */
static void add_dispatch(const struct timing *t, struct layer_time *x)
{
    struct expert_rows r = expert_rows(t);
    double etp = layer_knobs(t)->etp, moved = t->law.passes * 2 * r.all * r.width;
    layer_add_stream(t, x, moved, moved);
    double exchange = comm_dispatch(t, r.width);
    double spread = 2 * comm_collective(t, 2 * r.all / t->load * r.width, etp, etp);
    x->forward.ep += exchange;
    x->backward.ep += exchange;
    x->forward.tp += spread;
    x->backward.tp += spread;
    layer_add_ops(t, x, t->law.prepare_ops, SCOPE_MOE_PREPROCESS | SCOPE_MOE | SCOPE_FULL, 0);
    layer_add_ops(t, x, t->law.move_ops, SCOPE_MOE | SCOPE_FULL, 0);
    if (!(t->captured & SCOPE_FULL)) x->syncs += t->law.syncs;
}

static void add_moe(const struct timing *t, struct layer_time *x)
{
    struct pass before = x->forward;
    add_router(t, x);
    add_shared(t, x);
    add_experts(t, x);
    add_dispatch(t, x);
    if (!layer_recomputes(t, MOD_MOE)) return;
    pass_add_since(&x->again, &x->forward, &before);
    x->sync_again = true;
}

void layer_add_ffn(const struct timing *t, struct layer_time *x, enum ffn ffn)
{
    if (ffn == FFN_NONE) return;
    layer_add_block(t, x);
    switch (ffn) {
    case FFN_NONE: break;
    case FFN_DENSE: add_dense(t, x); break;
    case FFN_MOE: add_moe(t, x); break;
    }
}

/* What PyTorch's checkpoint does not repeat: it stops once the last saved tensor is back, before
   the last GEMM, the unpermute and the combine. Megatron's own checkpoint runs the whole layer. */
struct pass layer_early_stop(const struct timing *t, const struct layer_time *x, enum ffn ffn)
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
