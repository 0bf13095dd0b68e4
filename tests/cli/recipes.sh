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

# a layout that the recipe cannot make anew stays: an error where it contradicts what is written, else a word
was="--framework-version 0.6"
options=$was told "error[layout-agrees-with-vpp]: vpp disagrees with the layout: the layout has 16 stages over pp 8, which is vpp 2" \
    "$launch deepseek_v3_pretrain_config -pp 8 -vp 1"
accept "$launch deepseek_v3_pretrain_config -pp 8 -vp 1"
options=$was told "warning[bridge-layout-of-another-pipeline]: the recipe's layout of 8 stages stays and makes pp 4" \
    "$launch glm_45v_sft_config -pp 4"
options=$was told "error[layout-stages-multiple-of-pp]" "$launch glm_45v_sft_config -pp 16"
accept "$launch glm_45v_sft_config -pp 4"
grep -q "0 warnings" out || fail "of a layout that is made anew"
options=$was told "error[bridge-layers-divide-into-stages]: 27 layers" "$launch moonlight_16b_sft_config -pp 2 -vp 1"

# where nobody says which release runs, what only some release's recipe says is a warning
eight="torchrun --nproc_per_node=8 scripts/training/run_recipe.py --recipe qwen3_30b_a3b_pretrain_config"
told "warning[bridge-expert-grid-divides]: 8 GPUs" "$eight"
options="--framework-version main" told "error[bridge-expert-grid-divides]: 8 GPUs" "$eight"
told "warning[bridge-virtual-stages-need-stages]" "python custom_setup_experiment.py -mr qwen3_235b_a22b -ng 64 -g gb300 -c fp8_mx -pp 1"

# what a recipe does not check, and what its provider takes care of
accept "$launch deepseek_v3_pretrain_64gpu_gb300_bf16_fsdp_config"
grep -q "bridge-sharded-checkpoint-format" out && fail "of a recipe that saves nothing"
told "bridge-sharded-checkpoint-format" "$launch deepseek_v3_pretrain_64gpu_gb300_bf16_fsdp_config checkpoint.save=/ckpt"
accept "$launch qwen35_vl_35b_a3b_pretrain_8gpu_h100_bf16_mock_config dataset.seed=3 ddp.fp8_param_gather=true +model.mine=1"
told "warning[bridge-recipe-unknown]" "$launch qwen3_30b_a3b_pretrain_4gpu_h100_bf16_config"

# the runner gives the model the length of its data
told "warning[bridge-runner-sequence-length]" "$launch qwen3_30b_a3b_pretrain_config model.seq_length=8192 dataset.seq_length=4096"
grep -q "error\[" out && fail "of two lengths, of which the runner takes one"
accept "$launch qwen3_30b_a3b_pretrain_config dataset.seq_length=8192"

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

# a recipe whose named set of precision settings was changed: its numbers count, in a conversion too, MXFP8's recipe with them
printf '#!/bin/bash\npython scripts/performance/run_script.py --model_family_name kimi --model_recipe_name kimi_k2 --num_gpus 256 --gpu gb300 --compute_dtype fp8_mx --max_steps 5\n' >perf.sh
expect 0 "mxfp8" "$moeplan" eval plan.precision --in perf.sh
expect 0 "--fp8-recipe mxfp8" "$moeplan" convert perf.sh --to megatron
sed -i 's/--gpu gb300 --compute_dtype fp8_mx/--gpu h100 --compute_dtype bf16/; s/256/1024/' perf.sh
run 0 "$moeplan" convert perf.sh --to megatron
lacks "fp8"
