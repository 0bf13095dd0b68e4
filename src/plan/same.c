/* SPDX-License-Identifier: Apache-2.0 */
/* How many fields of two models differ: field by field, as what lies between the fields of a struct
   may be anything. The sizes of layers that neither model has make no difference. */
#include "plan/config.h"

enum part { PART_ALL, PART_MLA, PART_EXPERTS, PART_MAMBA, PART_LINEAR };

#define FIELD_OF(part, name)                                                                       \
    {                                                                                              \
        part, offsetof(struct model_shape, name), sizeof((struct model_shape *)0)->name            \
    }
#define FIELD(name) FIELD_OF(PART_ALL, name)

/* All but the name. None has room between its own parts. */
static const struct {
    enum part part;
    size_t offset, size;
} fields[] = {FIELD(num_layers),
              FIELD(hidden),
              FIELD(heads),
              FIELD(groups),
              FIELD(head_dim),
              FIELD(v_head_dim),
              FIELD(dense_ffn),
              FIELD(gated),
              FIELD(add_bias),
              FIELD(qkv_bias),
              FIELD(qk_layernorm),
              FIELD(layernorm),
              FIELD(attention_output_gate),
              FIELD(head_gate),
              FIELD(qk_norm_full),
              FIELD(sinks),
              FIELD(post_norms),
              FIELD(k_equals_v),
              FIELD(win_heads),
              FIELD(win_groups),
              FIELD(win_head_dim),
              FIELD(win_v_head_dim),
              FIELD(index_heads),
              FIELD(index_dim),
              FIELD(index_topk),
              FIELD(index_layers),
              FIELD(tied),
              FIELD(vocab),
              FIELD(vocab_divisible_by),
              FIELD(learned_positions),
              FIELD(window),
              FIELD(mla),
              FIELD(q_lora),
              FIELD_OF(PART_MLA, kv_lora),
              FIELD_OF(PART_MLA, qk_nope),
              FIELD_OF(PART_MLA, qk_rope),
              FIELD_OF(PART_MLA, mla_v),
              FIELD(o_lora),
              FIELD(o_groups),
              FIELD(experts),
              FIELD_OF(PART_EXPERTS, topk),
              FIELD_OF(PART_EXPERTS, expert_ffn),
              FIELD_OF(PART_EXPERTS, shared_ffn),
              FIELD_OF(PART_EXPERTS, latent),
              FIELD_OF(PART_EXPERTS, router_groups),
              FIELD_OF(PART_EXPERTS, router_group_topk),
              FIELD_OF(PART_EXPERTS, shared_gate),
              FIELD_OF(PART_EXPERTS, router_bias),
              FIELD_OF(PART_MAMBA, mamba_heads),
              FIELD_OF(PART_MAMBA, mamba_head_dim),
              FIELD_OF(PART_MAMBA, mamba_state),
              FIELD_OF(PART_MAMBA, mamba_groups),
              FIELD_OF(PART_MAMBA, mamba_conv),
              FIELD_OF(PART_LINEAR, lin_k_heads),
              FIELD_OF(PART_LINEAR, lin_v_heads),
              FIELD_OF(PART_LINEAR, lin_k_dim),
              FIELD_OF(PART_LINEAR, lin_v_dim),
              FIELD_OF(PART_LINEAR, lin_conv),
              FIELD(mtp_layers),
              FIELD(mtp_repeated),
              FIELD(mtp_kinds),
              FIELD(n_mtp_kinds),
              FIELD(vision_layers),
              FIELD(vision_hidden),
              FIELD(vision_ffn),
              FIELD(vision_heads),
              FIELD(vision_patch),
              FIELD(vision_merge),
              FIELD(vision_temporal),
              FIELD(vision_positions),
              FIELD(vision_deepstack),
              FIELD(vision_gated),
              FIELD(hidden_dropout),
              FIELD(attention_dropout),
              FIELD(n_kinds),
              FIELD(kinds),
              FIELD(layers)};

static bool has_mixer(const struct model_shape *m, enum mixer mixer)
{
    for (int i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].mixer == mixer) return true;
    for (int i = 0; i < m->n_mtp_kinds; i++)
        if (m->mtp_kinds[i].mixer == mixer) return true;
    return false;
}

static bool has_part(const struct model_shape *m, enum part part)
{
    switch (part) {
    case PART_ALL: return true;
    case PART_MLA: return m->mla;
    case PART_EXPERTS: return m->experts > 0;
    case PART_MAMBA: return has_mixer(m, MIXER_MAMBA);
    case PART_LINEAR: return has_mixer(m, MIXER_LINEAR);
    }
    return true;
}

int model_differences(const struct model_shape *a, const struct model_shape *b)
{
    int n = !str_eq(a->name, b->name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!has_part(a, fields[i].part) && !has_part(b, fields[i].part)) continue;
        n += memcmp((const char *)a + fields[i].offset, (const char *)b + fields[i].offset,
                    fields[i].size) != 0;
    }
    return n;
}
