/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two models are the same: field by field, as what lies between the fields of a struct may
   be anything. */
#include "plan/config.h"

#define FIELD(name)                                                                                \
    {                                                                                              \
        offsetof(struct model_shape, name), sizeof((struct model_shape *)0)->name                  \
    }

/* All but the name. None has room between its own parts. */
static const struct {
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
              FIELD(kv_lora),
              FIELD(qk_nope),
              FIELD(qk_rope),
              FIELD(mla_v),
              FIELD(o_lora),
              FIELD(o_groups),
              FIELD(experts),
              FIELD(topk),
              FIELD(expert_ffn),
              FIELD(shared_ffn),
              FIELD(latent),
              FIELD(router_groups),
              FIELD(router_group_topk),
              FIELD(shared_gate),
              FIELD(router_bias),
              FIELD(mamba_heads),
              FIELD(mamba_head_dim),
              FIELD(mamba_state),
              FIELD(mamba_groups),
              FIELD(mamba_conv),
              FIELD(lin_k_heads),
              FIELD(lin_v_heads),
              FIELD(lin_k_dim),
              FIELD(lin_v_dim),
              FIELD(lin_conv),
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

bool model_same(const struct model_shape *a, const struct model_shape *b)
{
    bool same = str_eq(a->name, b->name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields && same; i++)
        same = memcmp((const char *)a + fields[i].offset, (const char *)b + fields[i].offset,
                      fields[i].size) == 0;
    return same;
}
