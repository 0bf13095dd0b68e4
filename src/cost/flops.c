/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's num_floating_point_operations (megatron/training/training.py:802 at d98e8a64):
   matrix products only, causal attention halved, sliding windows not deducted, no router, no
   recompute, backward twice the forward. Theirs takes an FFN for gated with --swiglu alone and
   leaves out the gate of --quick-geglu; here, as in Bridge's count, a gate is a gate. */
#include "cost/cost.h"
#include "plan/documents.h"
#include "plan/ops.h"

/* Layers of one sub-block only are written as a hybrid pattern, for which Megatron counts no MTP
 * projection. */
static bool is_hybrid(const struct model_shape *m)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].mixer == MIXER_NONE || m->kinds[i].ffn == FFN_NONE) return true;
    return false;
}

/* The length of a sequence whose causal half has as many keys for a query as a window or an
   indexer's choice leaves of one of `seq`. */
static double bounded(const struct model_shape *m, struct layer_kind kind, double seq)
{
    double keys = kind.mixer == MIXER_WINDOW ? m->window : m->index_topk;
    return keys > 0 && keys < seq ? 2 * keys - keys * keys / seq : seq;
}

static double flops_per_token(const struct config *c, bool of_keys_seen)
{
    const struct model_shape *m = &c->model;
    double h = m->hidden, seq = documents_attended(&c->knobs), forward = 0, depth = 0,
           kinds[MODEL_MAX_KINDS];
    for (int i = 0; i < m->n_kinds; i++)
        kinds[i] = op_flops(m->kinds[i], m, of_keys_seen ? bounded(m, m->kinds[i], seq) : seq);
    for (int i = 0; i < m->num_layers; i++)
        forward += kinds[m->layers[i]];
    for (int i = 0; i < m->n_mtp_kinds; i++)
        depth +=
            op_flops(m->mtp_kinds[i], m, of_keys_seen ? bounded(m, m->mtp_kinds[i], seq) : seq);
    if (!is_hybrid(m)) depth += 2 * (3 * h + 2 * h * h);
    forward += m->mtp_layers * depth + 2 * h * padded_vocab(c) * (1 + m->mtp_layers);
    /* Of frozen weights no gradient is computed. */
    return (knobs_trains_language(&c->knobs) ? 3 : 2) * forward;
}

double model_flops_per_token(const struct config *c)
{
    return flops_per_token(c, false);
}

double model_flops_done_per_token(const struct config *c)
{
    return flops_per_token(c, true);
}
