/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/unsaid.h"

#include <string.h>

const char *const unsaid_params[] = {
    "attention_head_gate",  "qk_layernorm_full_width",    "post_layernorms",
    "attention_k_equals_v", "window_num_attention_heads", "window_num_query_groups",
    "window_kv_channels",   "window_v_head_dim",          "o_lora_rank",
    "o_lora_groups",        "dsa_indexer_num_layers",     "v_head_dim",
};
const size_t unsaid_param_count = sizeof unsaid_params / sizeof *unsaid_params;

/* Latent attention alone has a flag for the width of its values. */
static bool has_flag(const struct facts *f, const char *param)
{
    return strcmp(param, "v_head_dim") == 0 && facts_bool(f, "multi_latent_attention", false);
}

bool unsaid_is_known(const struct facts *f, const char *param)
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
