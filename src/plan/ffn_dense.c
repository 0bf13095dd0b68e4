/* SPDX-License-Identifier: Apache-2.0 */
/* A dense feed-forward part. */
#include "plan/ops.h"

static void dense_weights(struct weights *w)
{
    weights_add_mlp(w, LINEAR_FC1, w->m->hidden, w->m->dense_ffn, MOD_MLP);
}

/* The gate's function and the product as operations of their own write and read the function's
   values, and in backward their gradient and those values again: bytes beyond one kernel's. */
static void gate_apart_work(struct work *w, double inner)
{
    if (w->c->knobs.norms != NORM_EAGER || !w->m->gated) return;
    struct stream *s = work_stream(w, 4 * inner, 8 * inner);
    s->eager = true, s->freed_by = MOD_MLP;
}

static void dense_work(struct work *w)
{
    double inner = w->t.tokens * w->m->dense_ffn / w->tp;
    work_activation(w, w->t.tokens, w->m->dense_ffn / w->tp)->freed_by = MOD_MLP;
    gate_apart_work(w, inner);
    work_repeat(w, MOD_MLP, 0, 6);
    work_tp(w);
    work_host(w, w->low ? 16 : 10, SCOPE_MLP | SCOPE_FULL, 1);
}

/* The first GEMM's output is the activation's input, and that the second's. The backward has the
   gradients of the activation and of FC1's output, the gathered FC2 output gradient under TP, and
   the weight gradient itself where it is not accumulated in the GEMM. */
static void dense_saved(struct saved_list *l)
{
    const struct knobs *k = &l->c->knobs;
    double f = l->m->dense_ffn / l->tp, up = l->m->gated ? 2 : 1, h = l->m->hidden;
    double tokens = l->t.tokens;
    int first = l->n;
    struct saved *norm = saved_residual(
        l, false, true, LINEAR_BIT(LINEAR_FC1) | LINEAR_BIT(LINEAR_GATE) | LINEAR_BIT(LINEAR_UP));
    if (k->transformer_engine) norm->freed_by = MOD_MLP | MOD_OPERATIONS;
    saved_add(l, "FC1 output", tokens, up * f, l->inner)->freed_by = MOD_MLP;
    struct saved *activation = saved_add(l, "activation", tokens, f, l->gemm);
    activation->freed_by = MOD_MLP | MOD_OPERATIONS, activation->input_of = LINEAR_BIT(LINEAR_DOWN);
    if (k->norms == NORM_EAGER && l->m->gated)
        saved_add(l, "gate", tokens, f, l->wide)->freed_by = MOD_MLP | MOD_OPERATIONS;
    for (int i = first; i < l->n; i++)
        l->items[i].late = true;
    saved_dropout(l);
    double gathered = k->tp > 1 ? tokens * h : 0,
           wgrad = k->grad_accumulation_fusion || !knobs_trains_language(k) ? 0 : up * f * h;
    l->ffn_backward = l->wide * (tokens * (1 + up) * f + gathered + wgrad);
    l->residual_backward = l->wide * l->t.sp_tokens * h;
}

const struct ffn_kind ffn_dense = {"MLP", SCOPE_MLP, dense_weights, dense_work, dense_saved};
