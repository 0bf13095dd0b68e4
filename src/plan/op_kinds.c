/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of token mixers and FFNs, and a layer made of one of each. */
#include <string.h>

#include "plan/ops.h"

const struct mixer_kind *const mixer_kinds[MIXERS] = {
    [MIXER_ATTENTION] = &mixer_attention,
    [MIXER_WINDOW] = &mixer_window,
    [MIXER_MLA] = &mixer_mla,
    [MIXER_MAMBA] = &mixer_mamba,
    [MIXER_LINEAR] = &mixer_delta,
    [MIXER_SPARSE_ATTENTION] = &mixer_sparse_attention,
    [MIXER_SPARSE_MLA] = &mixer_sparse_mla,
};
const struct ffn_kind *const ffn_kinds[FFNS] = {
    [FFN_DENSE] = &ffn_dense,
    [FFN_MOE] = &ffn_moe,
};

void op_weights(const struct model_shape *m, struct layer_kind kind, bool apart, struct weights *w)
{
    const struct mixer_kind *mixer = mixer_kinds[kind.mixer];
    const struct ffn_kind *ffn = ffn_kinds[kind.ffn];
    w->m = m, w->mixer = kind.mixer, w->apart = apart, w->n = 0;
    memset(w->small, 0, sizeof w->small);
    if (mixer) {
        weights_add_norms(w);
        mixer->weights(w);
    }
    if (ffn) {
        weights_add_norms(w);
        ffn->weights(w);
    }
}

void op_work(const struct config *c, const struct token_counts *t, bool low, struct layer_kind kind,
             struct work *w)
{
    const struct mixer_kind *mixer = mixer_kinds[kind.mixer];
    const struct ffn_kind *ffn = ffn_kinds[kind.ffn];
    w->c = c, w->m = &c->model, w->mixer = kind.mixer, w->t = *t, w->tp = c->knobs.tp;
    w->low = low, w->fused_experts = false;
    w->n_streams = w->n_cores = w->n_scans = w->n_hosts = w->n_exchanges = w->n_repeats = 0;
    if (mixer) {
        work_block(w);
        work_tp(w);
        mixer->work(w);
    }
    if (ffn) {
        work_block(w);
        ffn->work(w);
    }
}

static void capture_from(struct saved_list *l, int first, uint32_t scope)
{
    for (int i = first; i < l->n; i++)
        l->items[i].captured_by |= scope;
}

/* Bytes of an element of a GEMM's input as it is kept: low-precision recipes keep the column-wise
   quantised copy and its scales (transformer_engine/pytorch/tensor: one scale for 32, 128 or 16
   elements). */
static double gemm_input_bytes(const struct knobs *k)
{
    static const double bytes[] = {[PREC_FP32] = 4,
                                   [PREC_BF16] = 2,
                                   [PREC_FP16] = 2,
                                   [PREC_FP8_DELAYED] = 1,
                                   [PREC_FP8_TENSORWISE] = 1,
                                   [PREC_FP8_BLOCKWISE] = 1 + 4.0 / 128,
                                   [PREC_MXFP8] = 1 + 1.0 / 32,
                                   [PREC_NVFP4] = 0.5 + 1.0 / 16};
    return bytes[k->precision];
}

void op_saved(const struct config *c, const struct token_counts *t, struct layer_kind kind,
              struct saved_list *l)
{
    const struct mixer_kind *mixer = mixer_kinds[kind.mixer];
    const struct ffn_kind *ffn = ffn_kinds[kind.ffn];
    l->c = c, l->m = &c->model, l->mixer = kind.mixer, l->t = *t, l->tp = c->knobs.tp;
    l->wide = c->knobs.precision == PREC_FP32 ? 4 : 2, l->gemm = gemm_input_bytes(&c->knobs),
    l->core = c->knobs.fp8_attention && knobs_quantised(&c->knobs) ? 1 : l->wide;
    l->inner = c->knobs.fp8_activation_store && c->model.gated ? 1 : l->wide;
    l->n = 0;
    l->mixer_backward = l->ffn_backward = l->residual_backward = l->scores_backward = 0;
    if (mixer) {
        mixer->saved(l);
        capture_from(l, 0, mixer->scope);
    }
    int first = l->n;
    if (ffn) {
        ffn->saved(l);
        capture_from(l, first, ffn->scope);
    }
    saved_freeze(l);
}

/* No router, as Megatron-LM counts; a token passes through topk of the routed experts. */
static double ffn_flops(enum ffn ffn, const struct model_shape *m)
{
    struct weights w;
    double sum = 0;
    op_weights(m, (struct layer_kind){MIXER_NONE, ffn}, false, &w);
    for (int i = 0; i < w.n; i++) {
        const struct matrix *x = &w.items[i];
        if (x->numeric == NUMERIC_32) continue;
        sum += x->in * x->out * (matrix_is_routed(x) ? m->topk : 1);
    }
    return 2 * sum;
}

double op_flops(struct layer_kind kind, const struct model_shape *m, double seq)
{
    const struct mixer_kind *mixer = mixer_kinds[kind.mixer];
    return (mixer ? mixer->flops(m, seq) : 0) + ffn_flops(kind.ffn, m);
}
