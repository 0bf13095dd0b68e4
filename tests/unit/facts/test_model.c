/* SPDX-License-Identifier: Apache-2.0 */
/* Model inputs: names, our own mapping, and Hugging Face configs of every kind of family, in small.
 */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "facts/model.h"
#include "facts/platform.h"

struct reading {
    const struct model_input *model;
    struct diags diags;
};

static struct reading read_model(struct arena *a, const char *text)
{
    struct reading r = {0};
    diags_init(&r.diags, a);
    struct node_list docs = {0};
    uint32_t source = source_add(&r.diags.sources, STR("config.json"), str_of(text));
    assert_true(doc_load(a, &r.diags, source, &docs));
    r.model = model_read(a, &r.diags, docs.items[0]);
    return r;
}

static void assert_fields(struct arena *a, const struct model_input *m, const char *expected)
{
    struct str rest = str_of(expected), part;
    while (str_split(&rest, ';', &part)) {
        size_t colon = str_find(part, ':');
        struct str name = str_trim(str_slice(part, 0, colon)),
                   want = str_trim(str_slice(part, colon + 1, part.n));
        const struct model_field *f = model_field_get(m, param_find(name));
        struct str got = f ? value_text(a, f->value) : STR("absent");
        if (!str_eq(got, want)) print_message("%.*s is %.*s\n", STR_ARG(name), STR_ARG(got));
        assert_true(str_eq(got, want));
    }
}

/* Sizes that no family's meaning depends on. */
#define BASE                                                                                       \
    "\"hidden_size\":64,\"num_attention_heads\":8,\"num_key_value_heads\":2,\"vocab_size\":1000,"

static void families_mean_what_they_do_not_say(void **state)
{
    static const struct {
        const char *config, *fields;
    } cases[] = {
        /* intermediate_size: the dense FFN here … */
        {"{\"model_type\":\"qwen3_moe\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"head_dim\":16,"
         "\"num_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32}",
         "ffn_hidden_size:256; moe_ffn_hidden_size:32; qk_layernorm:true; kv_channels:16; "
         "num_query_groups:2; "
         "first_k_dense_replace:absent; moe_layer_freq:absent; mtp_num_layers:0"},
        /* … and the experts' there */
        {"{\"model_type\":\"mixtral\"," BASE "\"num_hidden_layers\":4,\"intermediate_size\":256,"
         "\"num_local_experts\":8,\"num_experts_per_tok\":2}",
         "moe_ffn_hidden_size:256; ffn_hidden_size:absent; qk_layernorm:false; "
         "untie_embeddings_and_output_weights:true"},
        {"{\"model_type\":\"deepseek_v3\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,"
         "\"kv_lora_rank\":16,\"q_lora_rank\":null,\"qk_nope_head_dim\":8,\"qk_rope_head_dim\":4,"
         "\"v_head_dim\":8,"
         "\"n_routed_experts\":8,\"n_shared_experts\":2,\"num_experts_per_tok\":2,\"moe_"
         "intermediate_size\":32,"
         "\"first_k_dense_replace\":1,\"moe_layer_freq\":1,\"topk_method\":\"noaux_tc\",\"num_"
         "nextn_predict_layers\":1,\"n_group\":1,\"routed_scaling_factor\":2.5,"
         "\"rope_theta\":10000}",
         "multi_latent_attention:true; q_lora_rank:absent; qk_head_dim:8; qk_pos_emb_head_dim:4; "
         "v_head_dim:8; "
         "num_query_groups:8; moe_shared_expert_intermediate_size:64; first_k_dense_replace:1; "
         "mtp_num_layers:1; "
         "moe_router_enable_expert_bias:true; moe_router_score_function:sigmoid; "
         "qk_layernorm:true; "
         "moe_router_num_groups:absent; moe_router_topk_scaling_factor:2.5; rotary_base:10000"},
        {"{\"model_type\":\"gpt_oss\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":32,\"num_local_experts\":8,"
         "\"num_experts_per_tok\":2,\"sliding_window\":128,\"layer_types\":[\"sliding_attention\","
         "\"full_attention\","
         "\"sliding_attention\",\"full_attention\"]}",
         "add_bias_linear:true; softmax_type:learnable; window_size:128; window_attn_skip_freq:2; "
         "moe_ffn_hidden_size:32"},
        {"{\"model_type\":\"llama4\",\"text_config\":{" BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":32,"
         "\"intermediate_size_mlp\":256,\"num_local_experts\":8,\"num_experts_per_tok\":1,"
         "\"interleave_moe_layer_step\":2}}",
         "ffn_hidden_size:256; moe_ffn_hidden_size:32; moe_shared_expert_intermediate_size:32; "
         "moe_layer_freq:[0, 1, 0, 1]"},
        {"{\"model_type\":\"qwen3_5_moe\",\"tie_word_embeddings\":true,\"text_config\":{" BASE
         "\"num_hidden_layers\":4,\"num_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_"
         "size\":32,"
         "\"shared_expert_intermediate_size\":32,\"full_attention_interval\":4,\"linear_num_key_"
         "heads\":2,"
         "\"linear_num_value_heads\":4,\"linear_key_head_dim\":16,\"linear_value_head_dim\":16,"
         "\"linear_conv_kernel_dim\":4},\"vision_config\":{\"depth\":2,\"hidden_size\":32,"
         "\"intermediate_size\":64,"
         "\"num_heads\":4,\"patch_size\":16,\"deepstack_visual_indexes\":[0,1]}}",
         "linear_attention_freq:4; attention_output_gate:true; moe_shared_expert_gate:true; "
         "untie_embeddings_and_output_weights:false; vision_num_layers:2; "
         "vision_num_deepstack_layers:2"},
        {"{\"model_type\":\"kimi_linear\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":128,\"linear_attn_config\":{\"full_attn_"
         "layers\":[4],\"kda_layers\":["
         "1,2,3],\"head_dim\":16,\"num_heads\":4,\"short_conv_kernel_size\":4}}",
         "linear_attention_freq:4; linear_kimi_delta:true; linear_num_key_heads:4"},
        {"{\"model_type\":\"nemotron_h\"," BASE
         "\"hybrid_override_pattern\":\"MEM*-\",\"intermediate_size\":128,"
         "\"n_routed_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,\"mamba_"
         "num_heads\":4,"
         "\"mamba_head_dim\":16,\"ssm_state_size\":16,\"n_groups\":2,\"conv_kernel\":4,"
         "\"num_nextn_predict_layers\":1,\"moe_latent_size\":16}",
         "num_layers:5; hybrid_layer_pattern:MEM*-/*E; gated_linear_unit:false; "
         "position_embedding_type:none; "
         "mamba_num_groups:2; moe_latent_size:16"},
        {"{\"model_type\":\"nemotron_h\"," BASE
         "\"layers_block_type\":[\"mamba\",\"moe\",\"attention\"],"
         "\"n_routed_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,"
         "\"intermediate_size\":128}",
         "num_layers:3; hybrid_layer_pattern:ME*"},
        {"{\"model_type\":\"ernie4_5_moe\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,"
         "\"moe_num_experts\":8,\"moe_k\":2,\"moe_num_shared_experts\":2,\"moe_intermediate_size\":"
         "32,"
         "\"moe_layer_start_index\":1,\"moe_layer_end_index\":2,\"moe_layer_interval\":1}",
         "moe_layer_freq:[0, 1, 1, 0]; moe_shared_expert_intermediate_size:64; moe_router_topk:2"},
        {"{\"model_type\":\"hunyuan_v1_moe\"," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":32,"
         "\"num_experts\":8,\"moe_topk\":[2,2],\"num_shared_expert\":[1,1],\"moe_intermediate_"
         "size\":[32,32],"
         "\"use_qk_norm\":true}",
         "moe_router_topk:2; moe_ffn_hidden_size:32; moe_shared_expert_intermediate_size:32; "
         "qk_layernorm:true"},
        {"{\"model_type\":\"dbrx\",\"d_model\":64,\"n_heads\":8,\"n_layers\":2,\"vocab_size\":1000,"
         "\"attn_config\":{\"kv_n_heads\":2},\"ffn_config\":{\"ffn_hidden_size\":32,\"moe_num_"
         "experts\":8,"
         "\"moe_top_k\":2}}",
         "hidden_size:64; num_query_groups:2; num_moe_experts:8; moe_ffn_hidden_size:32; "
         "normalization:LayerNorm"},
        {"{\"model_type\":\"glm_moe_dsa\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,"
         "\"kv_lora_rank\":16,\"qk_nope_head_dim\":8,\"qk_rope_head_dim\":4,\"v_head_dim\":8,\"n_"
         "routed_experts\":8,"
         "\"num_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,\"index_n_"
         "heads\":4,"
         "\"index_head_dim\":8,\"indexer_types\":[\"full\",\"shared\",\"full\",\"shared\"],"
         "\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\",\"sparse\"]}",
         "first_k_dense_replace:1; dsa_indexer_n_heads:4; dsa_indexer_num_layers:2"},
        {"{\"model_type\":\"mimo_v2_flash\"," BASE
         "\"num_hidden_layers\":3,\"intermediate_size\":256,\"head_dim\":12,"
         "\"v_head_dim\":8,\"n_routed_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_"
         "size\":32,"
         "\"moe_layer_freq\":[0,1,1],\"hybrid_layer_pattern\":[0,1,1],\"sliding_window\":128,"
         "\"swa_num_key_value_heads\":4}",
         "first_k_dense_replace:1; window_attn_skip_freq:[0, 1, 1]; window_num_query_groups:4; "
         "v_head_dim:8"},
        {"{\"model_type\":\"step3p7\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"num_experts\":8,"
         "\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,\"share_expert_dim\":48,"
         "\"moe_layers_enum\":\"2,3\",\"use_head_wise_attn_gate\":true,\"sliding_window\":16,"
         "\"layer_types\":[\"full_attention\",\"sliding_attention\",\"sliding_attention\","
         "\"sliding_attention\"],\"attention_other_setting\":{\"num_attention_heads\":12,"
         "\"num_attention_groups\":4}}",
         "first_k_dense_replace:2; moe_shared_expert_intermediate_size:48; "
         "attention_head_gate:true; window_num_attention_heads:12; window_num_query_groups:4"},
        {"{\"model_type\":\"gemma2\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"sliding_window\":16}",
         "untie_embeddings_and_output_weights:false; post_layernorms:true; "
         "window_attn_skip_freq:2"},
        {"{\"model_type\":\"qwen2\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"sliding_window\":16,"
         "\"use_sliding_window\":false}",
         "add_qkv_bias:true; window_size:absent; num_moe_experts:absent"},
        {"{\"model_type\":\"mistral\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"sliding_window\":16}",
         "window_size:16; window_attn_skip_freq:absent"},
        {"{\"model_type\":\"jamba\"," BASE
         "\"num_hidden_layers\":4,\"intermediate_size\":256,\"num_experts\":8,"
         "\"num_experts_per_tok\":2,\"attn_layer_period\":4,\"attn_layer_offset\":2,\"expert_layer_"
         "period\":2,"
         "\"expert_layer_offset\":1}",
         "hybrid_layer_pattern:M-ME*-ME; moe_ffn_hidden_size:256; ffn_hidden_size:256"},
        {"{\"model_type\":\"granitemoehybrid\"," BASE
         "\"num_hidden_layers\":3,\"intermediate_size\":256,\"num_local_experts\":8,"
         "\"num_experts_per_tok\":2,\"shared_intermediate_size\":96,"
         "\"position_embedding_type\":\"nope\","
         "\"layer_types\":[\"mamba\",\"attention\",\"mamba\"]}",
         "hybrid_layer_pattern:ME*EME; moe_ffn_hidden_size:256; position_embedding_type:none; "
         "moe_shared_expert_intermediate_size:96"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_model(*state, cases[i].config);
        if (!r.model) print_message("case %zu: %.*s\n", i, STR_ARG(r.diags.items[0].message));
        assert_non_null(r.model);
        assert_fields(*state, r.model, cases[i].fields);
        assert_true(r.model->complete);
    }
}

/* Families that transformers has and no catalogue entry. */
static void families_mean_what_their_configs_leave_out(void **state)
{
#define MOE "\"num_hidden_layers\":3,\"num_experts\":8,\"num_experts_per_tok\":2,"
    static const struct {
        const char *config, *fields;
    } cases[] = {
        {"{\"model_type\":\"apertus\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256}",
         "gated_linear_unit:false; qk_layernorm:true"},
        {"{\"model_type\":\"gemma\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256}",
         "untie_embeddings_and_output_weights:false; gated_linear_unit:true"},
        {"{\"model_type\":\"cohere2\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256}",
         "untie_embeddings_and_output_weights:false; normalization:LayerNorm"},
        {"{\"model_type\":\"gpt_neox\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256}",
         "gated_linear_unit:false; add_bias_linear:true; normalization:LayerNorm"},
        {"{\"model_type\":\"exaone4\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256}",
         "qk_layernorm:true"},
        {"{\"model_type\":\"afmoe\"," BASE MOE
         "\"intermediate_size\":256,\"moe_intermediate_size\":32,\"num_dense_layers\":1,"
         "\"score_func\":\"sigmoid\",\"route_scale\":2.5}",
         "first_k_dense_replace:1; attention_output_gate:true; post_layernorms:true; "
         "moe_router_score_function:sigmoid; moe_router_topk_scaling_factor:2.5"},
        {"{\"model_type\":\"dots1\"," BASE MOE
         "\"intermediate_size\":256,\"moe_intermediate_size\":32,"
         "\"scoring_func\":\"noaux_tc\",\"topk_method\":\"noaux_tc\"}",
         "moe_router_score_function:sigmoid; moe_router_enable_expert_bias:true"},
        {"{\"model_type\":\"aria\",\"text_config\":{\"model_type\":\"aria_text\"," BASE
         "\"num_hidden_layers\":3,\"intermediate_size\":32,\"moe_num_experts\":8,"
         "\"moe_topk\":2,\"moe_num_shared_experts\":2}}",
         "moe_ffn_hidden_size:32; moe_shared_expert_intermediate_size:64"},
        {"{\"model_type\":\"git\"," BASE MOE
         "\"intermediate_size\":256,\"moe_intermediate_size\":32,\"residual_moe\":true}",
         "moe_shared_expert_intermediate_size:256; moe_ffn_hidden_size:32"},
        {"{\"model_type\":\"yuan\"," BASE "\"num_hidden_layers\":3,\"moe_config\":"
         "{\"moe_num_experts\":4,\"moe_top_k\":2,\"ffn_hidden_size\":96}}",
         "num_moe_experts:4; moe_router_topk:2; moe_ffn_hidden_size:96"},
        {"{\"model_type\":\"bamba\"," BASE
         "\"num_hidden_layers\":3,\"intermediate_size\":256,\"attn_layer_indices\":[1]}",
         "hybrid_layer_pattern:M-*-M-"},
        {"{\"model_type\":\"bamba\"," BASE
         "\"num_hidden_layers\":3,\"intermediate_size\":256,\"attn_layer_indices\":null}",
         "num_layers:3"},
        {"{\"model_type\":\"qwen3_vl_moe\",\"tie_word_embeddings\":false,"
         "\"text_config\":{" BASE MOE "\"intermediate_size\":256,\"moe_intermediate_size\":32,"
         "\"tie_word_embeddings\":true}}",
         "untie_embeddings_and_output_weights:true"},
        {"{\"model_type\":\"exaone_moe\"," BASE MOE
         "\"intermediate_size\":256,\"moe_intermediate_size\":32,"
         "\"is_moe_layer\":[false,false,true]}",
         "first_k_dense_replace:2"},
        {"{\"model_type\":\"llada\",\"d_model\":64,\"n_heads\":8,\"n_kv_heads\":2,\"n_layers\":2,"
         "\"mlp_hidden_size\":256,\"vocab_size\":100,\"weight_tying\":true}",
         "num_query_groups:2; ffn_hidden_size:256; untie_embeddings_and_output_weights:false"},
        {"{\"model_type\":\"glm4v\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256,"
         "\"vision_config\":{\"depth\":2,\"hidden_size\":32,\"intermediate_size\":256,"
         "\"out_hidden_size\":64,\"num_heads\":4,\"patch_size\":14}}",
         "vision_ffn_hidden_size:64"},
        {"{\"model_type\":\"qwen2_vl\"," BASE "\"num_hidden_layers\":3,\"intermediate_size\":256,"
         "\"vision_config\":{\"depth\":2,\"hidden_size\":64,\"embed_dim\":48,\"mlp_ratio\":3.734,"
         "\"num_heads\":4,\"patch_size\":14}}",
         "vision_hidden_size:48; vision_ffn_hidden_size:179"},
    };
#undef MOE
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_model(*state, cases[i].config);
        if (!r.model) print_message("case %zu: %.*s\n", i, STR_ARG(r.diags.items[0].message));
        assert_non_null(r.model);
        assert_fields(*state, r.model, cases[i].fields);
    }
}

/* What is not counted is said, whether the family is known or not. */
static void what_is_not_counted_is_noted(void **state)
{
    static const struct {
        const char *config, *note;
    } cases[] = {
        {"{\"model_type\":\"brand_new\",\"tie_word_embeddings\":false," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":256,\"lru_width\":64,"
         "\"sliding_heads\":[1],\"attention_dropout\":1,\"layer_scale\":0.5}",
         "not read, and so not counted: lru_width, sliding_heads"},
        {"{\"model_type\":\"brand_new\"," BASE "\"num_hidden_layers\":2,\"intermediate_size\":256}",
         "tie_word_embeddings is not given"},
        {"{\"model_type\":\"minimax_text_01\"," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":256,\"num_local_experts\":8,"
         "\"num_experts_per_tok\":2,\"attn_type_list\":[0,1]}",
         "the layers with lightning attention"},
        {"{\"model_type\":\"falcon_h1\",\"tie_word_embeddings\":false," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":256,\"mamba_n_heads\":8}",
         "Mamba's sizes are given, but not which layers have it"},
        {"{\"model_type\":\"ernie4_5_moe\"," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":256,\"moe_num_experts\":8,"
         "\"moe_k\":2,\"moe_intermediate_size\":[96,32]}",
         "moe_ffn_hidden_size is a list of 2 values that differ"},
        {"{\"model_type\":\"ouro\"," BASE
         "\"num_hidden_layers\":2,\"intermediate_size\":256,\"total_ut_steps\":4}",
         "the layers are counted as if they ran once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_model(*state, cases[i].config);
        assert_non_null(r.model);
        bool said = false;
        for (size_t k = 0; k < r.model->notes.n; k++)
            said = said || str_starts(r.model->notes.items[k], str_of(cases[i].note));
        if (!said) print_message("case %zu lacks: %s\n", i, cases[i].note);
        assert_true(said);
    }
}

static void what_is_read_is_not_noted(void **state)
{
    struct reading r =
        read_model(*state, "{\"model_type\":\"brand_new\",\"tie_word_embeddings\":false," BASE
                           "\"num_hidden_layers\":2,\"intermediate_size\":256,"
                           "\"sliding_window\":16,\"layer_types\":[\"sliding_attention\","
                           "\"full_attention\"],\"lru_width\":64}");
    assert_non_null(r.model);
    assert_str(r.model->notes.items[r.model->notes.n - 1],
               "not read, and so not counted: lru_width");
}

static void half_a_tower_is_left_out_whole(void **state)
{
    struct reading r = read_model(*state, "{\"model_type\":\"qwen2_vl\"," BASE
                                          "\"num_hidden_layers\":3,\"intermediate_size\":256,"
                                          "\"vision_config\":{\"depth\":2,\"hidden_size\":64}}");
    assert_non_null(r.model);
    assert_null(model_field_get(r.model, P_vision_num_layers));
    assert_int_equal(r.model->notes.n, 1);
}

static void an_unknown_family_is_taken_with_a_note(void **state)
{
    struct reading r =
        read_model(*state, "{\"model_type\":\"brand_new\"," BASE "\"tie_word_embeddings\":false,"
                           "\"num_hidden_layers\":2,\"intermediate_size\":256}");
    assert_non_null(r.model);
    assert_int_equal(r.model->notes.n, 1);
    assert_fields(*state, r.model, "ffn_hidden_size:256; normalization:RMSNorm");
}

static void a_kind_of_layer_that_nothing_counts_is_noted(void **state)
{
    struct reading r =
        read_model(*state, "{\"model_type\":\"llama\"," BASE
                           "\"num_hidden_layers\":3,\"intermediate_size\":256,"
                           "\"layer_types\":[\"full_attention\",\"conv\",\"conv\"]}");
    assert_non_null(r.model);
    assert_int_equal(r.model->notes.n, 1);
    assert_true(str_starts(r.model->notes.items[0], STR("layer_types: conv is not known")));
}

static void assert_error(struct reading r, const char *rule, const char *in_message,
                         const char *in_help)
{
    assert_null(r.model);
    assert_true(r.diags.n > 0);
    struct diag *d = &r.diags.items[0];
    assert_true(str_is(d->rule, rule));
    assert_true(str_find_str(d->message, str_of(in_message)) < d->message.n);
    assert_true(in_help[0] == '\0' || str_find_str(d->help, str_of(in_help)) < d->help.n);
}

static void a_missing_field_is_named_with_its_aliases(void **state)
{
    assert_error(read_model(*state,
                            "{\"model_type\":\"qwen3_moe\"," BASE
                            "\"num_hidden_layers\":2,\"intermediate_size\":256,\"num_experts\":8,"
                            "\"moe_intermediate_size\":32}"),
                 "model-field", "moe_router_topk", "num_experts_per_tok");
    assert_error(
        read_model(*state, "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":8,"
                           "\"num_hidden_layers\":2,\"intermediate_size\":256}"),
        "model-field", "vocab_size", "vocab_size");
    assert_error(read_model(*state, "{\"model_type\":\"llama\"," BASE "\"intermediate_size\":256}"),
                 "model-field", "num_layers", "num_hidden_layers");
}

static void what_is_no_model_is_an_error(void **state)
{
    assert_error(read_model(*state, "{\"model_type\":\"whatever\",\"sample_rate\":16000}"),
                 "model-config", "describes no model", "hidden_size");
    assert_error(read_model(*state, "{\"model_type\":\"switch\",\"is_encoder_decoder\":true,"
                                    "\"d_model\":64,\"num_experts\":8}"),
                 "model-config", "an encoder with a decoder", "");
    assert_error(read_model(*state, "{\"model_type\":\"llama\"," BASE
                                    "\"num_hidden_layers\":\"many\",\"intermediate_size\":256}"),
                 "model-field", "whole number", "");
    assert_error(
        read_model(
            *state,
            "{\"model_type\":\"glm_moe_dsa\"," BASE
            "\"num_hidden_layers\":2,\"intermediate_size\":256,\"num_experts\":8,"
            "\"n_routed_experts\":16,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32}"),
        "model-field", "differ", "");
    assert_error(read_model(*state,
                            "{\"model_type\":\"qwen3_moe\"," BASE
                            "\"num_hidden_layers\":4,\"intermediate_size\":256,\"num_experts\":8,"
                            "\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,"
                            "\"mlp_layer_types\":[\"dense\"]}"),
                 "model-field", "not as long", "");
}

static void own_mappings_start_from_the_catalogue(void **state)
{
    struct reading r = read_model(
        *state, "base: deepseek-v3\nnum_layers: 14\nmulti_latent_attention: {q_lora_rank: 768}\n"
                "linear_attention: {freq: 4}\nmoe_layer_freq: ([0]*3+[1]*11)\n");
    assert_non_null(r.model);
    assert_fields(*state, r.model,
                  "num_layers:14; q_lora_rank:768; kv_lora_rank:512; linear_attention_freq:4; "
                  "num_moe_experts:256; moe_layer_freq:[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]");
    assert_true(r.model->complete);
    assert_false(read_model(*state, "num_layers: 14\n").model->complete);
}

/* A list of a known model's sizes seldom says its routing; with other sizes it is another model. */
static void a_named_mapping_routes_as_its_model(void **state)
{
    static const char sizes[] =
        "hidden_size: 7168\nmoe_router_topk: 8\nmoe_ffn_hidden_size: 2048\n";
    const struct {
        const char *text;
        int groups;
    } cases[] = {{"name: DeepSeek-V3\nnum_moe_experts: 256\n", 8},
                 {"name: DeepSeek-V3\nnum_moe_experts: 64\n", 0},
                 {"name: Ours\nnum_moe_experts: 256\n", 0},
                 {"name: DeepSeek-V3\n", 0},
                 {"name: DeepSeek-V3\nnum_moe_experts: 256\nmoe_router_num_groups: 4\n", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_model(*state, arena_printf(*state, "%s%s", sizes, cases[i].text).p);
        const struct model_field *x = model_field_get(r.model, P_moe_router_num_groups);
        assert_int_equal(x ? x->value.i : 0, cases[i].groups);
    }
}

static void own_mappings_are_checked(void **state)
{
    assert_error(read_model(*state, "num_layer: 14\n"), "unknown-key", "num_layer", "num_layers");
    assert_error(read_model(*state, "base: deepseek-v33\n"), "unknown-model", "deepseek-v33",
                 "deepseek-v3");
    assert_error(read_model(*state, "qwen3-30b\n"), "unknown-model", "qwen3-30b", "qwen3-30b-a3b");
}

static void catalogue_names_ignore_case_and_take_hub_ids(void **state)
{
    assert_str(model_find(*state, STR("deepseek-ai/deepseek-v3"))->id, "deepseek-v3");
    assert_str(model_find(*state, STR("DSV3"))->id, "deepseek-v3");
    assert_null(model_find(*state, STR("deepseek")));
}

static void catalogue_fields_are_parameters(void **state)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_input *m = model_catalogue(*state, i);
        for (size_t k = 0; k < m->fields.n; k++)
            assert_int_equal(param_table[m->fields.items[k].param].scope, SCOPE_MODEL);
        assert_true(m->source.n > 0);
    }
    for (size_t i = 0; i < catalogue_platform_count; i++) {
        const struct entry *e = &catalogue_platforms[i];
        for (size_t k = 0; k < e->n_fields; k++) {
            int param = param_find(e->fields[k].name);
            assert_true(param >= 0 && param_table[param].scope == SCOPE_PLATFORM);
        }
    }
}

static void applying_a_model_keeps_what_the_user_wrote(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    struct facts *f = facts_new(*state, &diags, FRAMEWORK_MEGATRON, STR("main@2026-08-22"));
    facts_set(f, P_num_layers, value_int(14), ORIGIN_FILE, NULL, STR("num_layers"));
    model_apply(f, model_find(*state, STR("deepseek-v3")), ORIGIN_FILE);
    assert_int_equal(facts_int(f, P_num_layers, 0), 14);
    assert_int_equal(facts_int(f, P_num_moe_experts, 0), 256);
    assert_int_equal(facts_get(f, P_window_size)->value.kind, VALUE_NULL);
    assert_true(facts_bool(f, P_model_is_moe, false));
}

static void platforms_are_found_and_missed_with_names(void **state)
{
    struct diags diags;
    diags_init(&diags, *state);
    struct platform_cache cache = {.arena = *state};
    const struct platform *p = platform_load(&cache, &diags, STR("H100-SXM"), (struct span){0});
    assert_non_null(p);
    assert_str(p->id, "h100");
    assert_ptr_equal(platform_load(&cache, &diags, STR("H100-SXM"), (struct span){0}), p);
    assert_null(platform_load(&cache, &diags, STR("h1000"), (struct span){0}));
    assert_true(str_is(diags.items[0].rule, "unknown-platform"));
    assert_true(str_find_str(diags.items[0].help, STR("h100")) < diags.items[0].help.n);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(families_mean_what_they_do_not_say),
    cmocka_unit_test(families_mean_what_their_configs_leave_out),
    cmocka_unit_test(what_is_not_counted_is_noted),
    cmocka_unit_test(what_is_read_is_not_noted),
    cmocka_unit_test(half_a_tower_is_left_out_whole),
    cmocka_unit_test(an_unknown_family_is_taken_with_a_note),
    cmocka_unit_test(a_kind_of_layer_that_nothing_counts_is_noted),
    cmocka_unit_test(a_missing_field_is_named_with_its_aliases),
    cmocka_unit_test(what_is_no_model_is_an_error),
    cmocka_unit_test(own_mappings_start_from_the_catalogue),
    cmocka_unit_test(a_named_mapping_routes_as_its_model),
    cmocka_unit_test(own_mappings_are_checked),
    cmocka_unit_test(catalogue_names_ignore_case_and_take_hub_ids),
    cmocka_unit_test(catalogue_fields_are_parameters),
    cmocka_unit_test(applying_a_model_keeps_what_the_user_wrote),
    cmocka_unit_test(platforms_are_found_and_missed_with_names),
};
UNIT_MAIN(tests)
