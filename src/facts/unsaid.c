/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/unsaid.h"

#include "facts/param_ids.h"

const int unsaid_params[] = {
    P_attention_head_gate,  P_qk_layernorm_full_width,    P_post_layernorms,
    P_attention_k_equals_v, P_window_num_attention_heads, P_window_num_query_groups,
    P_window_kv_channels,   P_window_v_head_dim,          P_o_lora_rank,
    P_o_lora_groups,        P_dsa_indexer_num_layers,     P_v_head_dim,
};
const size_t unsaid_param_count = sizeof unsaid_params / sizeof *unsaid_params;

/* Latent attention alone has a flag for the width of its values. */
static bool has_flag(const struct facts *f, int param)
{
    return param == P_v_head_dim && facts_bool(f, P_multi_latent_attention, false);
}

bool unsaid_is_known(const struct facts *f, int param)
{
    if (has_flag(f, param)) return false;
    struct value v = facts_get(f, param)->value;
    return v.kind == VALUE_INT || (v.kind == VALUE_BOOL && v.b);
}

void unsaid_apply(struct facts *f, const struct model_input *m)
{
    for (size_t i = 0; i < unsaid_param_count; i++) {
        const struct model_field *x = model_field_get(m, unsaid_params[i]);
        if (x && !has_flag(f, unsaid_params[i]) && !fact_is_set(facts_get(f, unsaid_params[i])))
            facts_set(f, x->param, x->value, ORIGIN_CATALOGUE, NULL, m->name);
    }
}
