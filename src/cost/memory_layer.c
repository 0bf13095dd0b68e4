/* SPDX-License-Identifier: Apache-2.0 */
/* One layer kind on one rank: parameters, GEMM weights, and the activations of one microbatch.
   Measured once for every kind; stages only count. */
#include "cost/memory.h"

#include <assert.h>

/* A GEMM weight of rows x columns, both as one rank holds them. */
static struct gemm *add(struct layer_memory *l, double rows, double columns)
{
    assert(l->n_gemms < LAYER_MAX_GEMMS);
    struct gemm *g = &l->gemms[l->n_gemms++];
    *g = (struct gemm){.rows = rows, .columns = columns, .count = 1};
    return g;
}

static void add_ffn(struct layer_memory *l, double up, double width, double inner)
{
    add(l, up * inner, width);
    add(l, width, inner);
}

static void add_attention(struct layer_memory *l, const struct config *c, bool window)
{
    const struct model_shape *m = &c->model;
    double heads = window ? m->win_heads : m->heads, groups = window ? m->win_groups : m->groups;
    double d = window ? m->win_head_dim : m->head_dim;
    double dv = window ? m->win_v_head_dim : m->v_head_dim, tp = c->knobs.tp;
    double q = heads * d * (m->attention_output_gate ? 2 : 1);
    double kv = groups * d + (m->k_equals_v && !window ? 0 : groups * dv);
    if (m->q_lora > 0) {
        add(l, m->q_lora, m->hidden);
        add(l, q / tp, m->q_lora);
        add(l, kv / tp, m->hidden);
    } else {
        add(l, (q + kv) / tp, m->hidden);
    }
    if (m->o_lora > 0) add(l, m->o_lora, heads * dv / tp);
    add(l, m->hidden, (m->o_lora > 0 ? (double)m->o_groups * m->o_lora : heads * dv) / tp);
}

/* Multi-head latent attention: the down projections stand whole on every TP rank. */
static void add_latent_attention(struct layer_memory *l, const struct config *c)
{
    const struct model_shape *m = &c->model;
    double qk = (double)m->heads * (m->qk_nope + m->qk_rope), tp = c->knobs.tp;
    if (m->q_lora > 0) add(l, m->q_lora, m->hidden);
    add(l, qk / tp, m->q_lora > 0 ? m->q_lora : m->hidden);
    add(l, m->kv_lora + m->qk_rope, m->hidden);
    add(l, (double)m->heads * (m->qk_nope + m->mla_v) / tp, m->kv_lora);
    add(l, m->hidden, (double)m->heads * m->mla_v / tp);
}

static void add_mixer(struct layer_memory *l, const struct config *c, enum mixer mixer)
{
    const struct model_shape *m = &c->model;
    double tp = c->knobs.tp, inner = (double)m->mamba_heads * m->mamba_head_dim;
    double key = (double)m->lin_k_heads * m->lin_k_dim,
           value = (double)m->lin_v_heads * m->lin_v_dim;
    switch (mixer) {
    case MIXER_NONE: break;
    case MIXER_ATTENTION: add_attention(l, c, false); break;
    case MIXER_WINDOW: add_attention(l, c, true); break;
    case MIXER_MLA: add_latent_attention(l, c); break;
    case MIXER_MAMBA:
        add(l, (2 * inner + 2.0 * m->mamba_groups * m->mamba_state + m->mamba_heads) / tp,
            m->hidden);
        add(l, m->hidden, inner / tp);
        break;
    case MIXER_LINEAR:
        add(l, (2 * key + 2 * value + 2 * m->lin_v_heads) / tp, m->hidden);
        add(l, m->hidden, value / tp);
        break;
    }
}

static void add_moe(struct layer_memory *l, const struct config *c)
{
    const struct model_shape *m = &c->model;
    const struct knobs *k = &c->knobs;
    double up = m->gated ? 2 : 1, width = m->hidden;
    if (m->shared_ffn > 0) add_ffn(l, up, m->hidden, (double)m->shared_ffn / k->tp);
    if (m->latent > 0) {
        add_ffn(l, 1, m->hidden, m->latent);
        width = m->latent;
    }
    int first = l->n_gemms;
    add_ffn(l, up, width, (double)m->expert_ffn / k->etp);
    for (int i = first; i < l->n_gemms; i++) {
        l->gemms[i].count = (double)m->experts / k->ep;
        l->gemms[i].grouped = true;
    }
}

static void measure_parameters(const struct config *c, struct layer_memory *l, struct part_params p)
{
    const struct knobs *k = &c->knobs;
    l->dense += (double)p.sharded / k->tp + (double)p.replicated;
    l->experts += (double)p.experts / ((double)k->ep * k->etp);
}

/* The sparse-attention indexers, spread evenly over the layers: every TP rank has them whole. */
static void measure_indexer(const struct model_shape *m, struct layer_memory *l)
{
    if (m->index_layers == 0 || l->kind.mixer == MIXER_NONE) return;
    l->dense += (double)(m->index_layers * indexer_params(m)) / m->num_layers;
}

static void measure_gemms(const struct config *c, struct layer_memory *l)
{
    const struct model_shape *m = &c->model;
    add_mixer(l, c, l->kind.mixer);
    if (l->kind.ffn == FFN_DENSE)
        add_ffn(l, m->gated ? 2 : 1, m->hidden, (double)m->dense_ffn / c->knobs.tp);
    if (l->kind.ffn == FFN_MOE) add_moe(l, c);
    for (int i = 0; i < l->n_gemms; i++) {
        const struct gemm *g = &l->gemms[i];
        *(g->grouped ? &l->expert_matrices : &l->dense_matrices) += g->rows * g->columns * g->count;
    }
}

/* Whole-layer recomputation keeps the layer's input alone. */
static void measure_activations(const struct config *c, const struct token_counts *t,
                                struct layer_memory *l)
{
    struct saved_list list;
    saved_of_layer(c, t, l->kind, &list);
    for (int i = 0; i < list.n; i++) {
        double bytes = saved_bytes(&list.items[i]);
        l->all += bytes;
        if (!saved_is_kept(&list.items[i], &c->knobs)) {
            if (list.items[i].offloaded_by & c->knobs.offload_modules) l->offloaded += bytes;
            continue;
        }
        l->kept += bytes;
        if (saved_is_captured(&list.items[i], &c->knobs)) l->captured += bytes;
        if (list.items[i].routed) l->routed += bytes;
        if (list.items[i].dispatched) l->dispatched += bytes;
        if (list.items[i].linear) l->linear += bytes;
    }
    l->input = list.n > 0 ? saved_bytes(&list.items[0]) : 0;
    l->backward = saved_backward_transient(c, t, l->kind, &list);
}

void layer_measure(const struct config *c, const struct token_counts *t, struct layer_kind kind,
                   struct layer_memory *out)
{
    *out = (struct layer_memory){.kind = kind};
    measure_parameters(c, out, mixer_params(&c->model, kind.mixer));
    measure_parameters(c, out, ffn_params(&c->model, kind.ffn));
    measure_indexer(&c->model, out);
    measure_gemms(c, out);
    measure_activations(c, t, out);
}

/* Values of h a token that an MTP depth keeps around its layers: the embedded next token, both
   norms' outputs, their concatenation and the projection's output. */
#define MTP_KEPT_WIDTHS 6

void layer_measure_mtp(const struct config *c, const struct token_counts *t,
                       struct layer_memory *out)
{
    const struct model_shape *m = &c->model;
    *out = (struct layer_memory){0};
    for (int i = 0; i < m->n_mtp_kinds; i++) {
        struct layer_memory one;
        layer_measure(c, t, m->mtp_kinds[i], &one);
        out->dense_matrices += one.dense_matrices;
        out->expert_matrices += one.expert_matrices;
        out->kept += c->knobs.recompute == RECOMPUTE_FULL ? one.input : one.kept;
        out->captured += c->knobs.recompute == RECOMPUTE_FULL ? 0 : one.captured;
        out->routed += one.routed;
        out->dispatched += one.dispatched;
        out->linear += one.linear;
    }
    measure_parameters(c, out, mtp_params(m));
    add(out, m->hidden / (double)c->knobs.tp, 2.0 * m->hidden);
    out->dense_matrices += out->gemms[0].rows * out->gemms[0].columns;
    out->kept += MTP_KEPT_WIDTHS * 2 * t->sp_tokens * m->hidden;
}
