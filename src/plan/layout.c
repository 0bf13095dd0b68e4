/* SPDX-License-Identifier: Apache-2.0 */
/* Pipeline layouts: which decoder layers, MTP depths, embedding and loss stand on which chunk.
   Megatron: megatron/core/transformer/pipeline_parallel_layer_layout.py and
   transformer_block.get_num_layers_to_build. */
#include "plan/config.h"
#include "plan/framework.h"

static bool add_symbol(struct layout *out, char c)
{
    int k = out->n_chunks - 1;
    switch (c) {
    case 't':
        if (out->decoders[k] >= MODEL_MAX_LAYERS) return false;
        out->decoders[k]++;
        return true;
    case 'm':
        if (out->mtp[k] == UINT8_MAX) return false;
        out->mtp[k]++;
        return true;
    case 'E': out->embedding[k] = true; return true;
    case 'L': out->loss[k] = true; return true;
    default: return false;
    }
}

bool layout_from_stages(struct value stages, struct layout *out)
{
    *out = (struct layout){0};
    if (stages.kind != VALUE_LIST || stages.list->n == 0 || stages.list->n > LAYOUT_MAX_CHUNKS)
        return false;
    for (size_t i = 0; i < stages.list->n; i++) {
        struct value letters = stages.list->items[i];
        if (letters.kind != VALUE_STRING) return false;
        out->n_chunks++;
        for (size_t k = 0; k < letters.s.n; k++)
            if (!add_symbol(out, letters.s.p[k])) return false;
    }
    return true;
}

/* Only the chunks in use are cleared, for the search asks tens of thousands of times. */
void layout_start(const struct config *c, int n_chunks, struct layout *out)
{
    size_t n = (size_t)n_chunks;
    out->n_chunks = n_chunks;
    memset(out->decoders, 0, n * sizeof *out->decoders);
    memset(out->mtp, 0, n * sizeof *out->mtp);
    memset(out->embedding, 0, n * sizeof *out->embedding);
    memset(out->loss, 0, n * sizeof *out->loss);
    out->embedding[0] = out->loss[n - 1] = true;
    out->mtp[n - 1] = (uint8_t)c->model.mtp_layers;
}

void layout_copy(struct layout *to, const struct layout *from)
{
    size_t n = (size_t)from->n_chunks;
    to->n_chunks = from->n_chunks;
    memcpy(to->decoders, from->decoders, n * sizeof *to->decoders);
    memcpy(to->mtp, from->mtp, n * sizeof *to->mtp);
    memcpy(to->embedding, from->embedding, n * sizeof *to->embedding);
    memcpy(to->loss, from->loss, n * sizeof *to->loss);
}

/* Layers given for the first and the last stage; the stages between share the rest evenly. */
static bool first_last(const struct config *c, struct layout *out)
{
    const struct knobs *k = &c->knobs;
    int first = k->first_stage_layers, last = k->last_stage_layers;
    int between = k->pp - (first > 0) - (last > 0), rest = c->model.num_layers - first - last;
    if (rest < 0 || between < 0 || (between == 0 ? rest != 0 : rest % between != 0)) return false;
    for (int i = 0; i < out->n_chunks; i++) {
        int rank = i % k->pp;
        int layers = between > 0 ? rest / between : 0;
        if (rank == 0 && first > 0) layers = first;
        if (rank == k->pp - 1 && last > 0) layers = last;
        if (layers % k->vpp != 0) return false;
        out->decoders[i] = (uint16_t)(layers / k->vpp);
    }
    return true;
}

/* Embedding and loss count as a layer each. */
static bool accounted(const struct config *c, struct layout *out)
{
    int total = c->model.num_layers + c->knobs.account_embedding + c->knobs.account_loss;
    if (total % out->n_chunks != 0) return false;
    int each = total / out->n_chunks;
    for (int i = 0; i < out->n_chunks; i++)
        out->decoders[i] = (uint16_t)each;
    if (each < 1 ||
        (out->n_chunks == 1 && each < c->knobs.account_embedding + c->knobs.account_loss))
        return false;
    if (c->knobs.account_embedding) out->decoders[0]--;
    if (c->knobs.account_loss) out->decoders[out->n_chunks - 1]--;
    return true;
}

bool config_layout(const struct config *c, struct layout *out)
{
    const struct knobs *k = &c->knobs;
    int64_t chunks = (int64_t)k->pp * k->vpp;
    if (k->layout > 0 && k->layout <= c->n_layouts) {
        *out = c->layouts[k->layout - 1];
        return out->n_chunks == chunks;
    }
    if (chunks < 1 || chunks > LAYOUT_MAX_CHUNKS || chunks > c->model.num_layers + 2) return false;
    layout_start(c, (int)chunks, out);
    if (k->first_stage_layers > 0 || k->last_stage_layers > 0) return first_last(c, out);
    if (k->account_embedding || k->account_loss) return accounted(c, out);
    int each = c->model.num_layers / out->n_chunks, extra = c->model.num_layers % out->n_chunks;
    for (int i = 0; i < out->n_chunks; i++)
        out->decoders[i] = (uint16_t)(each + (i < extra));
    return true;
}

/* ---- stages that are cut by their length ---- */

int layout_stages_of_length(int layers, int length, int pp, struct str rounding)
{
    int stages = (layers + length - 1) / length, left = stages % pp;
    if (left == 0) return stages;
    if (str_eq(rounding, LAYOUT_ROUND_UP)) return stages + pp - left;
    return str_eq(rounding, STR("down")) ? stages - left : 0;
}

struct stage_cut layout_cut(int layers, int stages, int pp)
{
    int length = (layers + stages - 1) / stages;
    if (layout_stages_of_length(layers, length, pp, LAYOUT_ROUND_UP) != stages)
        return (struct stage_cut){0};
    return (struct stage_cut){length, !layout_stages_of_length(layers, length, pp, STR(""))};
}

bool layout_is_sayable(const struct config *c, int pp, int vpp)
{
    bool free = vpp == 1 || config_traits(c)->chooses_stages;
    return free || layout_cut(c->model.num_layers, pp * vpp, pp).length > 0;
}
