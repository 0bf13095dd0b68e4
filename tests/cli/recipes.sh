#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recipes.sh MOEPLAN: Megatron-Bridge's launch commands. A recipe's values are facts, options are overrides of them, and what
# cannot start is found: the recipe's own contradictions as warnings, those with an override as errors.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# told WORDS COMMAND...: the output of validate has the words
told() {
    words=$1
    shift
    echo "$*" >launch.sh
    "$moeplan" validate launch.sh ${options-} >out 2>&1 || true
    grep -qF "$words" out || fail "of: $*; missing: $words"
}
accept() {
    echo "$*" >launch.sh
    "$moeplan" validate launch.sh ${options-} >out 2>&1 || fail "of: $*"
}
launch="python scripts/training/run_recipe.py --recipe"
benchmark="python scripts/performance/setup_experiment.py"

# an override against the recipe's experts, layers and GPUs
told "32 experts are not a multiple of ep 7" "$launch gpt_oss_20b_pretrain_config model.expert_model_parallel_size=7"
told "error[bridge-layers-divide-into-chunks]: 20 layers per stage" \
    "$launch qwen35_vl_35b_a3b_pretrain_8gpu_h100_bf16_mock_config -pp 2 -vp 12"
accept "$launch qwen35_vl_35b_a3b_pretrain_8gpu_h100_bf16_mock_config -pp 2 -vp 10"
told "error[bridge-expert-grid-divides]: 128 GPUs" "$benchmark -m deepseek -mr deepseek_v3 -ng 128 -g vr200 -c fp8_mx"
accept "$benchmark -m deepseek -mr deepseek_v3 -ng 256 -g gb300 -c fp8_mx"

# shipped recipes as they are: 60 layers on eight stages, 128 GPUs for a grid of 256
told "warning[bridge-layers-divide-into-stages]: 60 layers" "$launch qwen35_vl_397b_a17b_pretrain_64gpu_b200_bf16_config"
told "warning[bridge-expert-grid-divides]: 128 GPUs" "$launch deepseek_v3_pretrain_128gpu_vr200_bf16_config"

# without the recipe only it could tell
printf 'model.pipeline_model_parallel_size=2\nmodel.virtual_pipeline_model_parallel_size=12\n' >over.txt
"$moeplan" validate over.txt --as bridge --model qwen3.5-35b-a3b >out
grep -qF "unless the recipe says how" out

# names: recipes, other releases' recipes, sections, Megatron-LM's spelling, the data's length
told "did you mean gpt_oss_20b_pretrain_config?" "$launch gpt_oss_20b_pretrian_config"
options="--framework-version 0.5" told "warning[bridge-recipe-unknown]" "$launch gpt_oss_20b_pretrain_16gpu_h100_bf16_config"
told "did you mean train.global_batch_size?" "$launch qwen3_30b_a3b_pretrain_config model.global_batch_size=64"
told "did you mean model.num_moe_experts?" "$launch qwen3_30b_a3b_pretrain_config model.num_experts=8"
told "override dataset.seq_length" "$launch qwen3_30b_a3b_pretrain_config model.seq_length=2048"
accept "$launch qwen3_30b_a3b_pretrain_config -sl 2048"
