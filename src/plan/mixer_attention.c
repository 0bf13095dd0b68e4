/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-head and grouped-query attention, over everything, in a sliding window, or over the keys
   that an indexer picks. */
#include "plan/ops.h"

struct heads {
    double n, groups, qk, v; /* query heads, KV heads, their widths */
    double window;
    bool value; /* a projection of its own; else keys serve as values */
};

static struct heads heads_of(const struct model_shape *m, enum mixer mixer)
{
    if (mixer == MIXER_WINDOW)
        return (struct heads){m->win_heads,      m->win_groups, m->win_head_dim,
                              m->win_v_head_dim, m->window,     true};
    return (struct heads){m->heads,      m->groups,     m->head_dim,
                          m->v_head_dim, m->index_topk, !m->k_equals_v};
}

/* An output gate is computed with the queries. */
static void projections(struct weights *w, struct heads x)
{
    const struct model_shape *m = w->m;
    double h = m->hidden, q = x.n * x.qk * (m->attention_output_gate ? 2 : 1);
    double k = x.groups * x.qk, v = x.value ? x.groups * x.v : 0;
    bool low_rank = m->q_lora > 0, fused = !w->apart && !low_rank;
    if (low_rank) weights_add(w, LINEAR_Q_DOWN, CUT_NOT, h, m->q_lora);
    if (low_rank) weights_add(w, LINEAR_Q_UP, CUT_OUTPUT, m->q_lora, q);
    if (w->apart && !low_rank) weights_add(w, LINEAR_Q, CUT_OUTPUT, h, q);
    double out = (fused ? q : 0) + k + (w->apart ? 0 : v);
    struct matrix *kv = weights_add(w, fused ? LINEAR_QKV : LINEAR_K, CUT_OUTPUT, h, out);
    kv->groups = x.groups, kv->group_width = x.qk + (x.value ? x.v : 0);
    if (w->apart && v > 0) weights_add(w, LINEAR_V, CUT_OUTPUT, h, v);
}

/* The output projection; of low rank, one for each group of heads and one over all of them. */
static void output_projection(struct weights *w, double width)
{
    const struct model_shape *m = w->m;
    if (m->o_lora > 0) weights_add(w, LINEAR_OTHER, CUT_INPUT, width, m->o_lora);
    weights_add(w, LINEAR_O, CUT_INPUT, m->o_lora > 0 ? (double)m->o_groups * m->o_lora : width,
                m->hidden);
}

static void attention_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    struct heads x = heads_of(m, w->mixer);
    double q = x.n * x.qk, k = x.groups * x.qk, v = x.value ? x.groups * x.v : 0;
    projections(w, x);
    output_projection(w, x.n * x.v);
    if (mixer_has_indexer(w->mixer)) indexer_weights(w);
    if (m->q_lora > 0) w->small[OWNER_REPLICATED] += norm_weights(m, m->q_lora);
    if (m->qkv_bias || m->add_bias)
        w->small[OWNER_SHARDED] += q * (m->attention_output_gate ? 2 : 1) + k + v;
    if (m->add_bias) w->small[OWNER_REPLICATED] += m->hidden;
    if (m->qk_layernorm)
        w->small[OWNER_REPLICATED] +=
            m->qk_norm_full ? norm_weights(m, q) + norm_weights(m, k) : 2 * norm_weights(m, x.qk);
    if (m->sinks) w->small[OWNER_SHARDED] += x.n;
    if (m->head_gate) w->small[OWNER_SHARDED] += m->hidden * x.n;
}

/* What PyTorch's own operations pass over q and k more often than the fused kernel, 12 times for 2
   and in backward 14: both products, half of the values negated and joined again, their sum, and
   the join with the part that is not turned, of which there is none; in backward the gradients of
   both halves and of that part are added up (megatron/core/models/common/embeddings/rope_utils.py,
   _apply_rotary_pos_emb_bshd). */
static void rope_apart_work(struct work *w, double turned)
{
    work_stream(w, 10 * turned, 12 * turned);
    work_host(w, 22, SCOPE_ATTN | SCOPE_FULL, 0)->backward = 12.0 / 22;
}

/* Rotary embedding and layout of q, k, v: 3 passes, backward 5. */
static void attention_work(struct work *w)
{
    struct heads x = heads_of(w->m, w->mixer);
    double tp = w->tp, q = x.n * x.qk;
    double kv = (x.groups > tp ? x.groups : tp) * (x.qk + x.v);
    double moved = 2 * w->t.tokens * (q + kv) / tp;
    work_stream(w, 3 * moved, 5 * moved);
    double keys = (x.groups > tp ? x.groups : tp) * x.qk;
    if (w->c->knobs.rope_apart) rope_apart_work(w, 2 * w->t.tokens * (q + keys) / tp);
    if (w->m->qk_layernorm) work_norm_apart(w, w->t.tokens * (q + keys) / tp);
    if (mixer_has_indexer(w->mixer)) indexer_work(w);
    work_attention(w, x.n / tp, x.qk, x.v, x.window, kv / tp);
    work_context(w, 2 * w->t.tokens * kv / tp, 2 * w->t.tokens * q / tp,
                 2 * w->t.tokens * x.n * x.v / tp);
    work_host(w, w->low ? 30 : 22, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* Those behind the input norm. */
static const uint32_t first_linears = LINEAR_BIT(LINEAR_QKV) | LINEAR_BIT(LINEAR_Q) |
                                      LINEAR_BIT(LINEAR_K) | LINEAR_BIT(LINEAR_V) |
                                      LINEAR_BIT(LINEAR_Q_DOWN);

static void attention_saved(struct saved_list *l)
{
    struct heads x = heads_of(l->m, l->mixer);
    double q = x.n * x.qk, kv = x.groups * (x.qk + x.v), tokens = l->t.tokens;
    saved_residual(l, true, true, first_linears);
    if (l->m->qk_layernorm) {
        double width = (q + x.groups * x.qk) / l->tp;
        saved_add(l, "q and k before their norm", tokens, width, l->wide)->freed_by =
            MOD_OPERATIONS;
        saved_norm_apart(l, "q and k norms in fp32", tokens, width);
    }
    saved_add(l, "q, k, v", tokens, (q + kv) / l->tp, l->core)->offloaded_by = MOD_CORE_ATTN;
    if (l->m->attention_output_gate)
        saved_add(l, "attention gate", tokens, x.n * x.v / l->tp, l->wide);
    if (mixer_has_indexer(l->mixer)) indexer_saved(l);
    saved_attention(l, x.n, x.n * x.v, x.n * x.v);
    saved_dropout(l);
}

/* QK^T and PV over half of the square; windows and the values' own width are not deducted. */
static double attention_flops(const struct model_shape *m, double seq)
{
    double h = m->hidden, q = (double)m->heads * m->head_dim, kv = (double)m->groups * m->head_dim;
    double gate = m->attention_output_gate ? q : 0;
    double query = m->q_lora > 0 ? m->q_lora * (h + q + gate) : h * (q + gate);
    double output = m->o_lora > 0 ? m->o_lora * (q + m->o_groups * h) : q * h;
    return 2 * (query + 2 * h * kv + output) + 2 * seq * q;
}

#define ATTENTION(text)                                                                            \
    {                                                                                              \
        text, SCOPE_ATTN, attention_weights, attention_work, attention_saved, attention_flops      \
    }
const struct mixer_kind mixer_attention = ATTENTION("attention");
const struct mixer_kind mixer_window = ATTENTION("window attention");
const struct mixer_kind mixer_sparse_attention = ATTENTION("sparse attention");
