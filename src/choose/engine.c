/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/engine.h"

#include <math.h>

#include "base/larger.h"
#include "base/units.h"
#include "plan/ops.h"

enum { BYTES_16 = 2, BYTES_32 = 4 };

/* Heads of one GPU: those that are fewer than the GPUs are on several. */
static double heads_of(int heads, int tp)
{
    return larger(1, ceil((double)heads / tp));
}

/* Bytes of one GPU that a layer of the kind keeps of a sequence. */
static double layer_bytes(const struct model_shape *m, enum mixer mixer,
                          const struct engine_wish *w)
{
    double tokens = (double)w->context;
    switch (mixer) {
    case MIXER_ATTENTION:
    case MIXER_SPARSE_ATTENTION:
        return BYTES_16 * tokens *
               (heads_of(m->groups, w->tp) * (m->head_dim + m->v_head_dim) + m->index_dim);
    case MIXER_WINDOW:
        return BYTES_16 * smaller(tokens, m->window) * heads_of(m->win_groups, w->tp) *
               (m->win_head_dim + m->win_v_head_dim);
    case MIXER_MLA:
    case MIXER_SPARSE_MLA: return BYTES_16 * tokens * (m->kv_lora + m->qk_rope + m->index_dim);
    case MIXER_MAMBA:
        return BYTES_32 * heads_of(m->mamba_heads, w->tp) * m->mamba_head_dim * m->mamba_state;
    case MIXER_LINEAR:
        return BYTES_32 * heads_of(m->lin_v_heads, w->tp) * m->lin_k_dim * m->lin_v_dim;
    default: return 0;
    }
}

struct engine_need engine_need_of(const struct model_shape *m, const struct engine_wish *w)
{
    struct param_counts n = model_params(m);
    struct engine_need need = {.weights = BYTES_16 * (double)(n.total + n.vision) / w->tp,
                               .buffers = ENGINE_BUFFERS_GIB * GIB};
    for (int i = 0; i < m->num_layers; i++)
        need.a_sequence += layer_bytes(m, m->kinds[m->layers[i]].mixer, w);
    need.total = need.weights + need.buffers + (double)w->sequences * need.a_sequence;
    return need;
}

int64_t engine_sequences(const struct engine_need *n, double bytes)
{
    double rest = bytes - n->weights - n->buffers;
    return rest > 0 && n->a_sequence > 0 ? (int64_t)(rest / n->a_sequence) : 0;
}
