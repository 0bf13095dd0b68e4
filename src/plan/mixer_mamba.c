/* SPDX-License-Identifier: Apache-2.0 */
/* Mamba2: input projection, convolution, gated scan, output projection. */
#include "plan/ops.h"

static double inner(const struct model_shape *m)
{
    return (double)m->mamba_heads * m->mamba_head_dim;
}

/* B and C of all groups. */
static double states(const struct model_shape *m)
{
    return 2.0 * m->mamba_groups * m->mamba_state;
}

static void mamba_weights(enum mixer mixer, struct weights *w)
{
    (void)mixer;
    const struct model_shape *m = w->m;
    double h = m->hidden, n = m->mamba_heads;
    weights_add(w, LINEAR_MAMBA_IN, CUT_OUTPUT, h, 2 * inner(m) + states(m) + n);
    weights_add(w, LINEAR_MAMBA_OUT, CUT_INPUT, inner(m), h);
    w->small[OWNER_SHARDED] += (inner(m) + states(m)) * (m->mamba_conv + 1) + 3 * n /* A, D, dt */ +
                               inner(m) /* gated norm */;
}

/* The chunked scan, and 8 passes of convolution and gating. */
static void mamba_work(enum mixer mixer, struct work *w)
{
    (void)mixer;
    const struct model_shape *m = &w->c->model;
    double tp = w->c->knobs.tp, tokens = w->t.tokens;
    double moved = 2 * tokens * (inner(m) + states(m)) / tp;
    work_scan(w, 7 * tokens * inner(m) * m->mamba_state / tp, 0.25, 8 * moved);
    work_host(w, w->low ? 28 : 20, SCOPE_MAMBA | SCOPE_FULL, 2);
}

/* The fused scan keeps the projected z, x, B, C, dt and its output before the gate, and recomputes
   convolution and chunk states in its backward; the norm keeps the gated output, the projection the
   normed one (megatron/core/ssm/mamba_mixer.py:679). */
static void mamba_saved(enum mixer mixer, struct saved_list *l)
{
    (void)mixer;
    const struct model_shape *m = &l->c->model;
    const struct knobs *k = &l->c->knobs;
    double bytes = element_bytes(k), tokens = l->t.tokens, own = inner(m) / k->tp;
    saved_residual(l, true, true);
    saved_add(l, "z, x, B, C, dt", tokens, (2 * inner(m) + states(m) + m->mamba_heads) / k->tp,
              bytes);
    saved_add(l, "scan output", tokens, own, bytes);
    saved_add(l, "gated scan output", tokens, own, bytes);
    saved_add(l, "gated scan output, normed", tokens, own, gemm_input_bytes(k));
    saved_dropout(l);
    l->mixer_backward = bytes * 2 * tokens * inner(m) / k->tp;
}

/* Megatron takes the inner width as twice the hidden size, whatever the heads say
   (mamba_layer_flops). */
static double mamba_flops(enum mixer mixer, const struct model_shape *m, double seq)
{
    (void)mixer, (void)seq;
    double h = m->hidden, width = 2 * h, state = m->mamba_state;
    return 2 * h * (2 * width + 2 * m->mamba_groups * state + m->mamba_heads) + 7 * width * state +
           2 * width * h;
}

const struct mixer_kind mixer_mamba = {"Mamba",    SCOPE_MAMBA, mamba_weights,
                                       mamba_work, mamba_saved, mamba_flops};
