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

static void mamba_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    double h = m->hidden, n = m->mamba_heads;
    weights_add(w, LINEAR_MAMBA_IN, CUT_OUTPUT, h, 2 * inner(m) + states(m) + n);
    weights_add(w, LINEAR_MAMBA_OUT, CUT_INPUT, inner(m), h);
    w->small[OWNER_SHARDED] += (inner(m) + states(m)) * (m->mamba_conv + 1) + 3 * n /* A, D, dt */ +
                               inner(m) /* gated norm */;
}

/* The chunked scan, and 8 passes of convolution and gating. With context parallelism the scan has
   the whole sequence of some heads (megatron/core/ssm/mamba_context_parallel.py). */
static void mamba_work(struct work *w)
{
    double n = inner(w->m), tokens = w->t.tokens;
    work_scan(w, (struct scan){.states = tokens * n * w->m->mamba_state / w->tp,
                               .bytes = 8 * (2 * tokens * (n + states(w->m)) / w->tp)});
    double in = 2 * n + states(w->m) + w->m->mamba_heads;
    work_heads(w, 2 * tokens * in / w->tp, 2 * tokens * n / w->tp, 0);
    work_host(w, w->low ? 28 : 20, SCOPE_MAMBA | SCOPE_FULL, 2);
}

/* The fused scan keeps the projected z, x, B, C, dt and its output before the gate, and recomputes
   convolution and chunk states in its backward; the norm keeps the gated output, the projection the
   normed one (megatron/core/ssm/mamba_mixer.py:679). */
static void mamba_saved(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    double tokens = l->t.tokens, own = inner(m) / l->tp;
    saved_residual(l, true, true, LINEAR_BIT(LINEAR_MAMBA_IN));
    saved_add(l, "z, x, B, C, dt", tokens, (2 * inner(m) + states(m) + m->mamba_heads) / l->tp,
              l->wide);
    saved_add(l, "scan output", tokens, own, l->wide);
    saved_add(l, "gated scan output", tokens, own, l->wide);
    saved_add(l, "gated scan output, normed", tokens, own, l->gemm)->input_of =
        LINEAR_BIT(LINEAR_MAMBA_OUT);
    saved_dropout(l);
    l->mixer_backward = l->wide * 2 * tokens * inner(m) / l->tp;
}

/* Megatron takes the inner width as twice the hidden size, whatever the heads say
   (mamba_layer_flops). */
static double mamba_flops(const struct model_shape *m, double seq)
{
    (void)seq;
    double h = m->hidden, width = 2 * h, state = m->mamba_state;
    return 2 * h * (2 * width + 2 * m->mamba_groups * state + m->mamba_heads) + 7 * width * state +
           2 * width * h;
}

const struct mixer_kind mixer_mamba = {"Mamba",    SCOPE_MAMBA, mamba_weights,
                                       mamba_work, mamba_saved, mamba_flops};
