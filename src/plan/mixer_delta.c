/* SPDX-License-Identifier: Apache-2.0 */
/* Gated delta net: q, k, v, output gate, and the decay and write strengths of each value head. */
#include "plan/ops.h"

static double key(const struct model_shape *m)
{
    return (double)m->lin_k_heads * m->lin_k_dim;
}

static double value(const struct model_shape *m)
{
    return (double)m->lin_v_heads * m->lin_v_dim;
}

static void delta_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    double h = m->hidden, wide = 2 * key(m) + 2 * value(m), strengths = 2 * m->lin_v_heads;
    weights_add(w, LINEAR_DELTA_IN, CUT_OUTPUT, h, wide + (w->apart ? 0 : strengths));
    if (w->apart) weights_add(w, LINEAR_OTHER, CUT_OUTPUT, h, strengths);
    weights_add(w, LINEAR_DELTA_OUT, CUT_INPUT, value(m), h);
    w->small[OWNER_SHARDED] += (2 * key(m) + value(m)) * m->lin_conv + strengths;
    w->small[OWNER_REPLICATED] += m->lin_v_dim;
}

static void delta_work(struct work *w)
{
    double tp = w->tp, tokens = w->t.tokens, k = key(w->m), v = value(w->m);
    work_scan(w, (struct scan){.states = tokens * v * w->m->lin_k_dim / tp,
                               .bytes = 8 * (2 * tokens * (2 * k + 2 * v) / tp),
                               .delta = true});
    work_heads(w, 2 * tokens * (2 * k + 2 * v + 2 * w->m->lin_v_heads) / tp, 2 * tokens * v / tp,
               0); /* megatron/core/ssm/gated_delta_net/gdn.py, a2a_cp_to_hp */
    work_host(w, w->low ? 38 : 30, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Tokens of one chunk of the gated delta rule's kernels. */
#define CHUNK 64

/* The projection; the convolution's output; q and k normed and repeated to the value heads, and v,
   as the kernel takes them; its output before and after the gated norm; decays, write strengths and
   one chunk-wide row of the kernel's triangular solve a value head
   (megatron/core/ssm/gated_delta_net/common.py:396; fla's chunk_gated_delta_rule makes the chunk
   states again in its backward). */
static void delta_saved(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    double heads = m->lin_v_heads, repeated = heads * m->lin_k_dim, bytes = l->wide;
    double tp = l->tp, tokens = l->t.tokens, qk = 2 * key(m), v = value(m);
    saved_residual(l, true, true, LINEAR_BIT(LINEAR_DELTA_IN));
    int first = l->n;
    saved_add(l, "q, k, v, z, b, a", tokens, (qk + 2 * v + 2 * heads) / tp, bytes);
    saved_add(l, "convolution output", tokens, (qk + v) / tp, bytes);
    saved_add(l, "kernel's q, k, v", tokens, (2 * repeated + v) / tp, bytes);
    saved_add(l, "kernel's decays and solve", tokens, (CHUNK + 3) * heads / tp, bytes);
    saved_add(l, "delta rule output", tokens, v / tp, bytes);
    saved_add(l, "gated output", tokens, v / tp, l->gemm)->input_of = LINEAR_BIT(LINEAR_DELTA_OUT);
    for (int i = first; i < l->n; i++)
        l->items[i].unmeasured = true;
    l->mixer_backward = bytes * 3 * tokens * m->heads * m->head_dim / tp;
}

/* Projections, convolution and four products with the state of every value head. */
static double delta_flops(const struct model_shape *m, double seq)
{
    (void)seq;
    double h = m->hidden, k = key(m), v = value(m);
    double projections = h * (2 * k + 2 * v + 2 * m->lin_v_heads) + h * v;
    return 2 * (projections + m->lin_conv * (2 * k + v) + 4 * v * m->lin_v_dim);
}

const struct mixer_kind mixer_delta = {"linear attention", SCOPE_ATTN,  delta_weights,
                                       delta_work,         delta_saved, delta_flops};
