/* SPDX-License-Identifier: Apache-2.0 */
/* The lists that describe a layer, and what several kinds put into them. */
#include <assert.h>

#include "plan/ops.h"

/* ---- weights ---- */

struct matrix *weights_add(struct weights *w, enum linear_role role, enum linear_cut cut, double in,
                           double out)
{
    assert(w->n < LAYER_MAX_MATRICES);
    struct matrix *x = &w->items[w->n++];
    *x = (struct matrix){.role = role, .cut = cut, .in = in, .out = out};
    return x;
}

void weights_add_mlp(struct weights *w, enum linear_role fc1, double width, double inner,
                     uint32_t freed_by)
{
    int first = w->n;
    double up = w->m->gated ? 2 : 1;
    if (w->apart) {
        if (w->m->gated) weights_add(w, fc1 + 1, CUT_OUTPUT, width, inner);
        weights_add(w, fc1 + 2, CUT_OUTPUT, width, inner);
    } else {
        weights_add(w, fc1, CUT_OUTPUT, width, up * inner);
    }
    weights_add(w, fc1 + 3, CUT_INPUT, inner, width);
    if (w->m->add_bias) {
        w->small[OWNER_SHARDED] += up * inner;
        w->small[OWNER_REPLICATED] += width;
    }
    for (int i = first; i < w->n; i++)
        w->items[i].freed_by = freed_by;
}

double norm_weights(const struct model_shape *m, double width)
{
    return m->layernorm ? 2 * width : width;
}

void weights_add_norms(struct weights *w)
{
    w->small[OWNER_REPLICATED] += (w->m->post_norms ? 2 : 1) * norm_weights(w->m, w->m->hidden);
}

struct part_params weights_params(const struct weights *w)
{
    double sum[OWNERS] = {w->small[0], w->small[1], w->small[2]};
    for (int i = 0; i < w->n; i++) {
        const struct matrix *x = &w->items[i];
        if (matrix_is_routed(x))
            sum[OWNER_EXPERTS] += x->in * x->out * w->m->experts;
        else
            sum[x->cut == CUT_NOT ? OWNER_REPLICATED : OWNER_SHARDED] += x->in * x->out;
    }
    return (struct part_params){(int64_t)sum[OWNER_SHARDED], (int64_t)sum[OWNER_REPLICATED],
                                (int64_t)sum[OWNER_EXPERTS]};
}

/* ---- work ---- */

struct stream *work_stream(struct work *w, double forward, double backward)
{
    assert(w->n_streams < WORK_MAX);
    struct stream *x = &w->streams[w->n_streams++];
    *x = (struct stream){.forward = forward, .backward = backward};
    return x;
}

struct core *work_core(struct work *w, double heads, double qk_dim, double v_dim, double window)
{
    assert(w->n_cores < WORK_MAX_CORES);
    struct core *x = &w->cores[w->n_cores++];
    *x = (struct core){.heads = heads, .qk_dim = qk_dim, .v_dim = v_dim, .window = window};
    return x;
}

void work_scan(struct work *w, struct scan scan)
{
    assert(w->n_scans < WORK_MAX_CORES);
    w->scans[w->n_scans++] = scan;
}

struct host *work_host(struct work *w, double ops, uint32_t scope, double left)
{
    assert(w->n_hosts < WORK_MAX);
    struct host *x = &w->hosts[w->n_hosts++];
    *x = (struct host){.ops = ops, .left = left, .scope = scope};
    return x;
}

void work_repeat(struct work *w, uint32_t module, double bytes, double ops)
{
    assert(w->n_repeats < WORK_MAX);
    w->repeats[w->n_repeats++] = (struct repeat){module, bytes, ops};
}

struct exchange *work_exchange(struct work *w, struct exchange x)
{
    assert(w->n_exchanges < WORK_MAX);
    w->exchanges[w->n_exchanges] = x;
    return &w->exchanges[w->n_exchanges++];
}

struct exchange *work_tp(struct work *w)
{
    return work_exchange(w, (struct exchange){.kind = EXCHANGE_TP,
                                              .bytes = 2 * w->t.tokens * w->m->hidden,
                                              .forward = 2});
}

/* Either way each tensor is laid out by ranks and its chunks of the sequence put in order, in a
   kernel each that reads and writes (transformer_engine context_parallel.py,
   flash_attn_a2a_communicate; megatron/core/ssm/mamba_context_parallel.py). Backward the gradients
   of as much come and go. */
static void deal(struct work *w, int ranks, double in, double out, uint32_t freed_by)
{
    if (ranks <= 1) return;
    struct exchange x = {
        .kind = EXCHANGE_HEADS, .in = in, .out = out, .ranks = ranks, .freed_by = freed_by};
    work_exchange(w, x);
    work_stream(w, 4 * (in + out), 4 * (in + out))->freed_by = freed_by;
}

void work_heads(struct work *w, double in, double out, uint32_t freed_by)
{
    deal(w, w->c->knobs.cp, in, out, freed_by);
}

/* Ring attention computes block by block: every step after the first corrects the output so far,
   and in backward adds to the gradients (transformer_engine context_parallel.py,
   flash_attn_fwd_out_correction). Where heads are dealt out first, a rank has as many bytes of
   fewer heads, and the ring has fewer ranks. */
void work_context(struct work *w, double kv, double q, double out)
{
    int dealt = config_cp_dealt(w->c), ring = w->c->knobs.cp / dealt;
    deal(w, dealt, q + kv, out, MOD_CORE_ATTN);
    if (ring == 1) return;
    work_exchange(w, (struct exchange){.kind = EXCHANGE_CP, .kv = kv, .ranks = ring});
    if (config_cp_comm(w->c) != CP_GATHER) work_stream(w, 4 * (ring - 1) * q, 4 * (ring - 1) * q);
}

/* Bytes an element. Forward: cast to fp32 (6), squared (8), averaged (4), divided by the root (8),
   cast back (6), weighted (4); a fused one has 4. Backward: the weight's gradient (8) and the
   input's (4), cast (6); both products' gradients (8 and 16), the mean's (4), the square's in three
   operations (28), the sum of the two (12), cast back (6); a fused one has 6. (transformers
   models/qwen3/modeling_qwen3.py Qwen3RMSNorm; torch tools/autograd/derivatives.yaml
   pow.Tensor_Scalar.) */
void work_norm_apart(struct work *w, double elements)
{
    enum { OPS = 7, BACKWARD_OPS = 14 };
    if (w->c->knobs.norms != NORM_EAGER) return;
    work_stream(w, (36 - 4) * elements, (92 - 6) * elements)->eager = true;
    work_host(w, OPS, SCOPE_FULL, 0)->backward = (double)BACKWARD_OPS / OPS;
}

/* Forward the norm reads and writes, and the sum with the residual reads two and writes one
   (megatron/core/fusions/fused_bias_dropout.py, without a bias or dropout); backward the norm reads
   its input and the gradient and writes one, and both branches' gradients are added up. */
void work_block(struct work *w)
{
    double hidden = 2 * w->t.sp_tokens * w->m->hidden;
    work_stream(w, 5 * hidden, 6 * hidden);
    work_repeat(w, MOD_LAYERNORM, 2 * hidden, 1);
    work_norm_apart(w, w->t.sp_tokens * w->m->hidden);
}

/* The first linear has gate and up parts when gated. The activation reads them and writes one;
   backward reads the gradient as well. */
struct stream *work_activation(struct work *w, double rows, double inner)
{
    double up = w->m->gated ? 2 : 1, bytes = 2 * rows * inner;
    return work_stream(w, (up + 1) * bytes, (2 * up + 1) * bytes);
}

/* ---- saved tensors ---- */

struct saved *saved_add(struct saved_list *l, const char *name, double rows, double width,
                        double bytes)
{
    assert(l->n < LAYER_MAX_SAVED);
    struct saved *s = &l->items[l->n++];
    *s = (struct saved){.name = name, .rows = rows, .width = width, .bytes = bytes};
    return s;
}

/* A norm's statistics are mean and reciprocal deviation, or the latter alone. No tag frees the
   output of a norm that is part of a GEMM (TELayerNormColumnParallelLinear) alone;
   LoRA's adapter of such a GEMM takes the norm's output gathered over TP, and keeps that
   (Megatron-Bridge's runs with and without a second gather differ by it). */
struct saved *saved_residual(struct saved_list *l, bool first, bool fused, uint32_t linears)
{
    const struct knobs *k = &l->c->knobs;
    double h = l->m->hidden, tokens = l->t.sp_tokens;
    bool alone = !fused || !k->transformer_engine;
    bool gathers = k->task == TASK_PEFT && (k->lora_targets & linears) && fused;
    struct saved *in = saved_add(l, first ? "layer input" : "FFN input", tokens, h, l->wide);
    in->offloaded_by = first ? MOD_ATTN_NORM : MOD_MLP_NORM;
    in->freed_by = first ? 0 : MOD_OPERATIONS;
    in->enters_part = true;
    saved_norm_apart(l, first ? "input norm in fp32" : "FFN norm in fp32", tokens, h);
    saved_add(l, first ? "input norm statistics" : "FFN norm statistics", tokens, 1,
              l->m->layernorm ? 8 : 4)
        ->freed_by = MOD_OPERATIONS;
    struct saved *out = saved_add(l, first ? "input norm output" : "FFN norm output",
                                  gathers ? l->t.tokens : tokens, h, alone ? l->wide : l->gemm);
    out->freed_by = MOD_OPERATIONS | (alone ? MOD_LAYERNORM : 0);
    out->offloaded_by = first ? MOD_QKV_LINEAR : 0;
    out->input_of = linears;
    out->enters_part = true;
    return out;
}

void saved_norm_apart(struct saved_list *l, const char *name, double tokens, double width)
{
    const struct knobs *k = &l->c->knobs;
    if (k->norms != NORM_EAGER) return;
    double weighted = knobs_trains_language(k) ? l->wide : 0;
    saved_add(l, name, tokens, width, 4 - l->wide + weighted)->freed_by = MOD_OPERATIONS;
}

/* Transformer Engine and PyTorch keep a linear's input only where its weight asks for a gradient
   (transformer_engine/pytorch/module/linear.py backward_needs_input, layernorm_linear.py). An
   adapter's dropout keeps a mask beside what it lets through. */
void saved_freeze(struct saved_list *l)
{
    const struct knobs *k = &l->c->knobs;
    if (knobs_trains_language(k)) return;
    uint32_t adapted = k->task == TASK_PEFT ? k->lora_targets : 0;
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        struct saved s = l->items[i];
        bool part = k->repeats_parts && k->recompute == RECOMPUTE_FULL && s.enters_part;
        if (s.input_of && !(s.input_of & adapted) && !part) continue;
        if (s.input_of & adapted) s.bytes = l->wide + (k->lora_dropout > 0);
        l->items[n++] = s;
    }
    l->n = n;
}

void saved_dropout(struct saved_list *l)
{
    if (l->m->hidden_dropout > 0) saved_add(l, "dropout mask", l->t.sp_tokens, l->m->hidden, 1);
}
