/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-head latent attention. The down projections and their norms, and the latents, stand on
   every TP rank; mla_up_proj recomputes what the up projections make of them. Over the keys that
   an indexer picks, queries are turned into the latent's space and attend to it, one head that all
   of them share (megatron/core/transformer/experimental_attention_variant/absorbed_mla.py). */
#include "plan/ops.h"

static bool is_absorbed(const struct model_shape *m)
{
    return m->index_heads > 0;
}

/* Widths of one head, as the attention kernel sees them. */
static double qk_width(const struct model_shape *m)
{
    return is_absorbed(m) ? m->kv_lora + m->qk_rope : m->qk_nope + m->qk_rope;
}

static double v_width(const struct model_shape *m)
{
    return is_absorbed(m) ? m->kv_lora : m->mla_v;
}

static void mla_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    double h = m->hidden, n = m->heads, rank = m->q_lora, q = n * (m->qk_nope + m->qk_rope);
    if (rank > 0) weights_add(w, LINEAR_Q_DOWN, CUT_NOT, h, rank);
    weights_add(w, LINEAR_KV_DOWN, CUT_NOT, h, m->kv_lora + m->qk_rope);
    weights_add(w, rank > 0 ? LINEAR_Q_UP : LINEAR_Q, CUT_OUTPUT, rank > 0 ? rank : h, q)
        ->freed_by = MOD_MLA_UP_PROJ;
    weights_add(w, LINEAR_KV_UP, CUT_OUTPUT, m->kv_lora, n * (m->qk_nope + m->mla_v))->freed_by =
        MOD_MLA_UP_PROJ;
    if (m->attention_output_gate) weights_add(w, LINEAR_OTHER, CUT_OUTPUT, h, n * m->mla_v);
    weights_add(w, LINEAR_O, CUT_INPUT, n * m->mla_v, h);
    if (mixer_has_indexer(w->mixer)) indexer_weights(w);
    if (rank > 0) w->small[OWNER_REPLICATED] += norm_weights(m, rank);
    w->small[OWNER_REPLICATED] += norm_weights(m, m->kv_lora);
}

/* Each rank gets the latent keys of all, and the indexer's: no ring, and nothing to correct. */
static void sparse_context(struct work *w)
{
    const struct model_shape *m = w->m;
    double width = qk_width(m) + (mixer_has_indexer(w->mixer) ? m->index_dim : 0);
    int ranks = w->c->knobs.cp;
    struct exchange keys = {EXCHANGE_CP, .kv = 2 * w->t.tokens * width, .ranks = ranks};
    if (ranks > 1) work_exchange(w, keys);
}

/* Rotary embedding and layout of q, k, v: 4 passes, backward 6; the sigmoid gate reads the output
   and itself and writes (3), backward 5. */
static void mla_work(struct work *w)
{
    const struct model_shape *m = w->m;
    double tokens = w->t.tokens, n = (double)m->heads / w->tp, v = m->mla_v;
    double qk = m->qk_nope + m->qk_rope, moved = 2 * tokens * n * (2 * qk + v);
    double q_bytes = 2 * tokens * n * qk_width(m), kv_bytes = 2 * tokens * n * (qk + v);
    work_stream(w, 4 * moved, 6 * moved)->freed_by = MOD_MLA_UP_PROJ;
    work_repeat(w, MOD_MLA_UP_PROJ, 0, 10);
    if (mixer_has_indexer(w->mixer)) indexer_work(w);
    work_attention(w, n, qk_width(m), v_width(m), m->index_topk, n * (qk + v));
    if (m->attention_output_gate) work_stream(w, 3 * 2 * tokens * n * v, 5 * 2 * tokens * n * v);
    if (is_absorbed(m))
        sparse_context(w);
    else
        work_context(w, kv_bytes, q_bytes, 2 * tokens * n * v);
    work_host(w, w->low ? 46 : 38, SCOPE_ATTN | SCOPE_FULL, 2);
}

/* What the kernel takes and makes. No measured run has sparse attention. */
static void saved_kernel(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    double bytes = l->core, tp = l->tp, tokens = l->t.tokens;
    double n = m->heads, qk = n * qk_width(m) / tp, v = n * m->mla_v / tp;
    bool absorbed = is_absorbed(m);
    int first = l->n;
    saved_add(l, absorbed ? "q, absorbed" : "q and k", tokens, (absorbed ? 1 : 2) * qk, bytes);
    if (absorbed)
        saved_add(l, "latent keys", tokens * l->c->knobs.cp, qk_width(m), bytes);
    else
        saved_add(l, "v", tokens, v, bytes);
    for (int i = first; i < l->n; i++)
        l->items[i].freed_by = MOD_MLA_UP_PROJ, l->items[i].offloaded_by = MOD_CORE_ATTN;
    if (m->attention_output_gate) saved_add(l, "attention gate", tokens, v, l->wide);
    if (mixer_has_indexer(l->mixer)) indexer_saved(l);
    saved_attention(l, n, n * v_width(m), n * m->mla_v);
    for (int i = first; i < l->n && absorbed; i++)
        l->items[i].unmeasured = true;
}

/* A normed latent, which only the projection behind it keeps. */
static void saved_latent(struct saved_list *l, const char *name, double width,
                         enum linear_role role)
{
    struct saved *s = saved_add(l, name, l->t.sp_tokens, width, l->gemm);
    s->freed_by = MOD_MLA_UP_PROJ, s->input_of = LINEAR_BIT(role);
}

static void mla_saved(struct saved_list *l)
{
    const struct model_shape *m = l->m;
    double bytes = l->wide, sp = l->t.sp_tokens;
    saved_residual(l, true, false,
                   LINEAR_BIT(LINEAR_Q_DOWN) | LINEAR_BIT(LINEAR_Q) | LINEAR_BIT(LINEAR_KV_DOWN));
    if (m->q_lora > 0) {
        saved_add(l, "q latent", sp, m->q_lora, bytes);
        saved_latent(l, "q latent, normed", m->q_lora, LINEAR_Q_UP);
    }
    saved_add(l, "kv latent", sp, m->kv_lora + m->qk_rope, bytes);
    saved_latent(l, "kv latent, normed", m->kv_lora, LINEAR_KV_UP);
    saved_kernel(l);
    saved_dropout(l);
}

/* Low-rank projections with their norms (the + 1); neither a gate nor an indexer. */
static double mla_flops(const struct model_shape *m, double seq)
{
    double h = m->hidden, n = m->heads, qk = m->qk_nope + m->qk_rope;
    double q = m->q_lora > 0 ? m->q_lora * (h + n * qk + 1) : h * n * qk;
    double kv = m->kv_lora * (h + n * (m->qk_nope + m->mla_v) + 1) + h * m->qk_rope;
    return 2 * (q + kv + n * m->mla_v * h) + seq * n * (qk + m->mla_v);
}

const struct mixer_kind mixer_mla = {"MLA",    SCOPE_ATTN, mla_weights,
                                     mla_work, mla_saved,  mla_flops};
const struct mixer_kind mixer_sparse_mla = {"sparse MLA", SCOPE_ATTN, mla_weights,
                                            mla_work,     mla_saved,  mla_flops};
