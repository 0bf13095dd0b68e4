/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSeek sparse attention's indexer: queries from the q latent, one key head with a LayerNorm,
   and a weight for each head; every TP rank has it whole and scores every token
   (megatron/core/transformer/experimental_attention_variant/dsa.py, DSAIndexer). Without a loss of
   its own, Megatron's default, it runs outside of autograd. */
#include "plan/ops.h"

bool mixer_has_indexer(enum mixer mixer)
{
    return mixer == MIXER_SPARSE_ATTENTION || mixer == MIXER_SPARSE_MLA;
}

enum mixer mixer_with_indexer(enum mixer mixer)
{
    return mixer == MIXER_MLA ? MIXER_SPARSE_MLA : MIXER_SPARSE_ATTENTION;
}

static double latent(const struct model_shape *m)
{
    return m->q_lora > 0 ? m->q_lora : m->hidden;
}

void indexer_weights(struct weights *w)
{
    const struct model_shape *m = w->m;
    int first = w->n;
    weights_add(w, LINEAR_OTHER, CUT_NOT, latent(m), (double)m->index_heads * m->index_dim);
    weights_add(w, LINEAR_OTHER, CUT_NOT, m->hidden, m->index_dim);
    weights_add(w, LINEAR_OTHER, CUT_NOT, m->hidden, m->index_heads);
    for (int i = first; i < w->n; i++)
        w->items[i].forward_only = true;
    w->small[OWNER_REPLICATED] += 2 * m->index_dim;
}

/* The gather of its inputs; rotary embedding and Hadamard transform of queries and keys (4 passes);
   scores of every head over the causal half, in fp32 written once and read once by the top-k. */
void indexer_work(struct work *w)
{
    const struct model_shape *m = w->m;
    const struct knobs *k = &w->c->knobs;
    double tokens = w->t.tokens, width = (double)(m->index_heads + 1) * m->index_dim;
    if (k->sequence_parallel)
        work_exchange(w, (struct exchange){.kind = EXCHANGE_TP,
                                           .bytes = 2 * tokens * (m->hidden + latent(m)),
                                           .forward = 1});
    work_stream(w, 4 * 2 * tokens * width + 2 * 4 * tokens * k->seq / 2, 0);
    work_core(w, m->index_heads, m->index_dim, 0, 0)->forward_only = true;
    work_host(w, 20, SCOPE_ATTN | SCOPE_FULL, 0);
}

/* The picked keys' places, 4 bytes each, for the backward of attention. */
void indexer_saved(struct saved_list *l)
{
    double seq = l->c->knobs.seq, topk = l->m->index_topk;
    saved_add(l, "picked keys", l->t.tokens, topk > 0 && topk < seq ? topk : seq, 4)->freed_by =
        MOD_CORE_ATTN;
}
