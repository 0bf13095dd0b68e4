#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# models and platforms: the catalogue, one model's fields with their origin, and what a miss says.
. "$(dirname "$0")/../helpers.sh"

expect 0 "671.03     37.55" "$moeplan" models
expect 0 '"total_params":671026419200,"active_params":37552297472' "$moeplan" models --format json
expect 0 "671.026 B parameters, 37.552 B active; MTP 11.610 B" "$moeplan" models deepseek-ai/DeepSeek-V3
expect 2 "did you mean deepseek-v3" "$moeplan" models deepseek-v33
expect 2 "did you mean kimi-k2" "$moeplan" models kim # a part of three letters, though far from the whole
expect 2 "moeplan models" "$moeplan" models nothing-like-any-of-them

mkdir "$dir/model"
cat >"$dir/model/config.json" <<'JSON'
{
  "model_type": "mixtral",
  "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2,
  "num_hidden_layers": 2, "vocab_size": 1000,
  "intermediate_size": 256, "num_local_experts": 4, "num_experts_per_tok": 2
}
JSON
# Per layer: attention 64*(64+2*16)+64*64, two norms, router 64*4, experts 4*3*64*256; embeddings 2*1000*64, final norm.
total=$((2 * (64 * 96 + 64 * 64 + 2 * 64 + 64 * 4 + 4 * 3 * 64 * 256) + 2 * 1000 * 64 + 64))
expect 0 "<- intermediate_size, line 5" "$moeplan" models "$dir/model"
expect 0 "\"total_params\":$total," "$moeplan" models "$dir/model/config.json" --format json
sed -i 's/"hidden_size": 64/"hidden_size": NaN/' "$dir/model/config.json"
expect 2 "config.json:3:18: error[model-field]: hidden_size must be a whole number, not NaN" "$moeplan" models "$dir/model"
lacks "does not give hidden_size"
sed -i 's/"hidden_size": NaN/"hidden_size": 64/; s/"num_experts_per_tok": 2/"experts": 2/' "$dir/model/config.json"
expect 2 "the config does not give moe_router_topk" "$moeplan" models "$dir/model"

# as transformers 5 saves them: DeepSeek V4's layers in words, LongCat's attentions as num_hidden_layers, of which a layer has two
words='"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16, "vocab_size": 100, "moe_intermediate_size": 32'
cat >"$dir/model/config.json" <<JSON
{"model_type": "deepseek_v4", $words, "num_hidden_layers": 2, "n_routed_experts": 8, "num_experts_per_tok": 2, "sliding_window": 8,
 "mlp_layer_types": ["hash_moe", "moe"], "layer_types": ["heavily_compressed_attention", "compressed_sparse_attention"],
 "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 128}}
JSON
expect 0 "compressed sparse attention is counted as attention over the whole sequence" "$moeplan" models "$dir/model"
lacks "is not known"
lacks "window_size"
lacks "first_k_dense_replace"
cat >"$dir/model/config.json" <<JSON
{"model_type": "longcat_flash", $words, "num_hidden_layers": 4, "num_layers": 2, "n_routed_experts": 8, "moe_topk": 2,
 "ffn_hidden_size": 128}
JSON
expect 0 "the second attention and dense FFN of each layer are left out" "$moeplan" models "$dir/model"
grep -q "^num_layers  *2 " "$dir/out" || fail "attentions are counted as layers"
echo '{"model_type": "speech", "sample_rate": 16000}' >"$dir/model/config.json"
expect 2 "describes no model" "$moeplan" models "$dir/model"
printf 'base: deepseek-v3\nnum_layers: 14\nnum_layer: 3\n' >"$dir/own.yaml"
expect 2 "did you mean num_layers?" "$moeplan" models "$dir/own.yaml"

# what a file says twice is told beside its answer; quotes are named; a model file needs no mark
printf 'base: deepseek-v3\nnum_layers: 14\nnum_layers: 12\n' >"$dir/own.yaml"
expect 0 'line 3: key "num_layers" is given twice; only the last one counts' "$moeplan" models "$dir/own.yaml"
expect 0 '1 model file' "$moeplan" validate "$dir/own.yaml"
printf 'base: deepseek-v3\nnum_layers: "14"\n' >"$dir/own.yaml"
expect 2 "write the number without them" "$moeplan" models "$dir/own.yaml"

expect 0 "GB200 NVL72" "$moeplan" platforms
expect 0 '"id":"gb300"' "$moeplan" platforms --format json
expect 0 "what the allocator" "$moeplan" platforms
expect 0 "gemm_bf16" "$moeplan" platforms h100-sxm
expect 2 "did you mean h100" "$moeplan" platforms h1000
printf 'kind: Platform\nid: ours\nbase: h100\nnic_gb_per_s: 25\ncoefficients: {nic: 0.5}\n' >"$dir/ours.yaml"
expect 0 "25" "$moeplan" platforms "$dir/ours.yaml"
"$moeplan" suggest qwen3-30b-a3b --gpus 8 --platform "$dir/ours.yaml" --format plan >"$dir/plan.yaml" || fail "no plan"
expect 0 "NVLink domain 8" "$moeplan" estimate "$dir/plan.yaml"
printf 'kind: Platform\nid: ours\nbase: h100\nnic_gb: 25\n' >"$dir/ours.yaml"
expect 2 "is no fact of a platform" "$moeplan" platforms "$dir/ours.yaml"
printf 'kind: Platform\nid: ours\n' >"$dir/ours.yaml"
expect 2 "the platform has no gpu_memory_gib" "$moeplan" platforms "$dir/ours.yaml"

# later weights of a model's shape are known by their own names
cat >"$dir/later.sh" <<'EOF'
NPROC_PER_NODE=8 megatron sft \
    --model Qwen/Qwen3-235B-A22B-Thinking-2507 --load_safetensors true \
    --tensor_model_parallel_size 7 --micro_batch_size 1 --global_batch_size 16
EOF
expect 1 "64 attention heads are not a multiple of tp 7" "$moeplan" validate "$dir/later.sh"
# but not their rotary base
rotary() { # MODEL BASE
    expect 0 "--rotary-base $2" "$moeplan" suggest "$1" --gpus 64 --platform h200 --framework megatron --format flags
}
rotary Qwen/Qwen3-30B-A3B-Base 1000000
rotary Qwen/Qwen3-30B-A3B-Thinking-2507 10000000
rotary Qwen/Qwen3-235B-A22B-Instruct-2507 5000000
