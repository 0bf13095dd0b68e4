/* SPDX-License-Identifier: Apache-2.0 */
/* One layer kind on one rank: parameters, GEMM weights, and the activations of one microbatch.
   Measured once for every kind; stages only count. */
#include "base/larger.h"
#include "cost/memory.h"

struct token_counts token_counts(const struct config *c, const struct memory_coefficients *x)
{
    const struct knobs *k = &c->knobs;
    double tokens = (double)k->mbs * k->seq / k->cp;
    double sp_tokens = k->sequence_parallel ? tokens / k->tp : tokens;
    double rows = sp_tokens * c->model.topk * k->etp;
    if (k->pad_to_capacity && k->capacity_factor > 0) rows *= k->capacity_factor;
    /* buffers of a fixed size hold what fills experts up too */
    if (knobs_rank_capacity(k) <= 0) rows = experts_filled_up(c, knobs_quantised(k), rows);
    double copies = k->dispatcher != DISPATCH_HYBRIDEP || knobs_stash(k) ? 0
                    : knobs_quantised(k) ? x->hybridep_quantised_copies.value
                                         : x->hybridep_copies.value;
    return (struct token_counts){tokens, sp_tokens, rows, copies};
}

bool saved_is_kept(const struct saved *s, const struct knobs *k)
{
    if (k->recompute == RECOMPUTE_SELECTIVE && (s->freed_by & k->recompute_modules)) return false;
    return !(s->offloaded_by & k->offload_modules);
}

bool saved_is_captured(const struct saved *s, uint32_t captured)
{
    return captured & (s->captured_by | SCOPE_FULL);
}

/* An FP32 matrix, the router's, has a gradient function of its own and no dummy. */
static void measure_matrix(const struct config *c, const struct matrix *x, struct layer_memory *l)
{
    const struct knobs *k = &c->knobs;
    bool grouped = matrix_is_routed(x);
    struct gemm g = {matrix_out(x, k), matrix_in(x, k), grouped};
    double elements = g.rows * g.columns;
    if (grouped)
        l->expert_matrices += elements * ((double)c->model.experts / k->ep);
    else
        l->dense_matrices += elements;
    if (x->numeric == NUMERIC_32) return;
    if (!grouped) l->quantised += elements;
    l->gemms[l->n_gemms++] = g;
}

static void measure_weights(const struct config *c, const struct weights *w, struct layer_memory *l)
{
    const struct knobs *k = &c->knobs;
    struct part_params p = weights_params(w);
    l->dense = (double)p.sharded / k->tp + (double)p.replicated;
    l->experts = (double)p.experts / ((double)k->ep * k->etp);
    for (int i = 0; i < w->n; i++)
        measure_matrix(c, &w->items[i], l);
}

/* What one layer's backward needs beside the saved tensors, without rematerialisation. Unfused
   attention has the fp32 gradient of its scores, less what the layer's later half has given back.
 */
static double backward_transient(const struct saved_list *list)
{
    double scores = list->scores_backward;
    for (int i = 0; scores > 0 && i < list->n; i++)
        if (list->items[i].late) scores -= saved_bytes(&list->items[i]);
    if (list->ffn_backward > 0) return larger(scores, list->ffn_backward) + list->residual_backward;
    return larger(scores, list->mixer_backward);
}

bool saved_enters(const struct saved_list *list, int i)
{
    return i == 0 || (list->c->knobs.repeats_parts && list->items[i].enters_part);
}

/* Recomputation keeps the layer's input alone, or that of each of its parts. */
static double input_bytes(const struct saved_list *list)
{
    double bytes = 0;
    for (int i = 0; i < list->n; i++)
        if (saved_enters(list, i)) bytes += saved_bytes(&list->items[i]);
    return bytes;
}

static void measure_activations(const struct knobs *k, const struct saved_list *list,
                                struct layer_memory *l)
{
    uint32_t captured = knobs_captured(k);
    for (int i = 0; i < list->n; i++) {
        const struct saved *s = &list->items[i];
        double bytes = saved_bytes(s);
        l->all += bytes;
        if (!saved_is_kept(s, k)) {
            if (s->offloaded_by & k->offload_modules) l->offloaded += bytes;
            continue;
        }
        l->kept += bytes;
        if (saved_is_captured(s, captured)) l->captured += bytes;
        if (s->routed) l->routed += bytes;
        if (s->dispatched) l->dispatched += bytes;
        if (s->unmeasured) l->unmeasured += bytes;
    }
    l->input = input_bytes(list);
    l->backward = backward_transient(list);
}

void layer_measure_saved(const struct config *c, const struct token_counts *t,
                         struct layer_kind kind, struct saved_list *list, struct layer_memory *out)
{
    struct weights w;
    *out = (struct layer_memory){.kind = kind};
    op_weights(&c->model, kind, false, &w);
    measure_weights(c, &w, out);
    op_saved(c, t, kind, list);
    measure_activations(&c->knobs, list, out);
}

void layer_measure(const struct config *c, const struct token_counts *t, struct layer_kind kind,
                   struct layer_memory *out)
{
    struct saved_list list;
    layer_measure_saved(c, t, kind, &list, out);
}

void layer_measure_again(const struct knobs *k, const struct layer_memory *other,
                         const struct saved_list *list, struct layer_memory *out)
{
    memcpy(out, other,
           offsetof(struct layer_memory, gemms) + (size_t)other->n_gemms * sizeof *other->gemms);
    out->kept = out->routed = out->offloaded = out->captured = 0;
    out->dispatched = out->unmeasured = out->all = 0;
    measure_activations(k, list, out);
}

double layer_kept(const struct knobs *k, const struct saved_list *list, double *routed)
{
    double kept = 0;
    *routed = 0;
    if (k->recompute == RECOMPUTE_FULL) return input_bytes(list);
    for (int i = 0; i < list->n; i++) {
        const struct saved *s = &list->items[i];
        if (!saved_is_kept(s, k)) continue;
        kept += saved_bytes(s);
        if (s->routed) *routed += saved_bytes(s);
    }
    return kept;
}

static void add_layer(const struct knobs *k, const struct layer_memory *one,
                      struct layer_memory *sum)
{
    bool full = k->recompute == RECOMPUTE_FULL;
    sum->dense += one->dense;
    sum->experts += one->experts;
    sum->dense_matrices += one->dense_matrices;
    sum->expert_matrices += one->expert_matrices;
    sum->quantised += one->quantised;
    sum->kept += full ? one->input : one->kept;
    sum->captured += full ? 0 : one->captured;
    sum->routed += one->routed;
    sum->dispatched += one->dispatched;
    sum->unmeasured += one->unmeasured;
}

/* A depth's own tensors are never recomputed, and stand in no graph. */
void layer_measure_mtp(const struct config *c, const struct token_counts *t,
                       const struct layer_memory kinds[MODEL_MAX_KINDS], struct layer_memory *out)
{
    const struct model_shape *m = &c->model;
    struct weights w;
    struct saved_list own;
    *out = (struct layer_memory){0};
    if (m->mtp_layers == 0) return;
    mtp_weights(m, &w);
    measure_weights(c, &w, out);
    op_saved(c, t, (struct layer_kind){MIXER_NONE, FFN_NONE}, &own);
    mtp_saved(&own);
    for (int i = 0; i < m->n_mtp_kinds; i++) {
        struct layer_memory one;
        int known = model_kind(m, m->mtp_kinds[i]);
        if (known < 0) layer_measure(c, t, m->mtp_kinds[i], &one);
        add_layer(&c->knobs, known < 0 ? &one : &kinds[known], out);
    }
    out->kept += saved_bytes(&own.items[0]);
}
