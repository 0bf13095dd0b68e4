#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# AutoModel recipes that suggest prints: only keys that their classes take, only parallelism that the model's class has, and
# read back they are the plan that was estimated.
. "$(dirname "$0")/../helpers.sh"

same() { # GPUS PLATFORM ARGUMENTS…: the printed recipe is the estimated plan, and validate finds nothing in it
    gpus=$1 platform=$2
    shift 2
    set -- suggest "$@" --gpus "$gpus" --platform "$platform" --framework automodel
    "$moeplan" "$@" --format json >"$dir/asked"
    "$moeplan" "$@" --format yaml >"$dir/recipe.yaml"
    run 0 "$moeplan" estimate "$dir/recipe.yaml" --gpus "$gpus" --platform "$platform" --format json
    for figure in peak_gib step_s; do
        [ "$(number $figure <"$dir/asked")" = "$(number $figure <"$dir/out")" ] || fail "$*: $figure is another"
    done
    run 0 "$moeplan" validate "$dir/recipe.yaml" --gpus "$gpus"
    has "0 errors, 0 warnings"
    cp "$dir/recipe.yaml" "$dir/out"
}

# a data set of images has no length: its batches get one
same 32 h100 qwen3-vl-30b-a3b --seq 8192
lacks "seq_length"
has "    max_length: 8192"
sed 's/^  path_or_dataset/  seq_length: 8192\n&/' "$dir/recipe.yaml" >"$dir/wrong.yaml"
expect 1 "dataset does not know the key seq_length" "$moeplan" validate "$dir/wrong.yaml" --gpus 32
same 8 h100 qwen3-30b-a3b
has "  seq_length: 4096"

# without a class the newest loader hands the words of a backend to BackendConfig, whatever the model; earlier ones may not
sed 's/^  backend:/&\n    atn: te/' "$dir/recipe.yaml" >"$dir/wrong.yaml"
expect 1 "error[unknown-key]: model.backend does not know the key atn" "$moeplan" validate "$dir/wrong.yaml" --gpus 8
"$moeplan" validate "$dir/wrong.yaml" --gpus 8 --framework-version 0.4 >"$dir/out" 2>&1 || true
lacks "atn"

# classes of Hugging Face's own have no expert parallelism, some no pipeline, and none knows a backend; the planner knows
for model in hunyuan-a13b granite-3.0-3b-a800m llama-4-scout mixtral-8x22b; do
    same 64 h100 $model
    has "  ep_size: 1"
    lacks "  backend:"
    sed 's/ep_size: 1/ep_size: 8/' "$dir/recipe.yaml" >"$dir/wrong.yaml"
    expect 1 "expert-parallel-class" "$moeplan" validate "$dir/wrong.yaml" --gpus 64
done
expect 1 "pipeline-plan" "$moeplan" suggest llama-4-scout --gpus 8 --platform h100 --framework automodel --pin pp=2,gbs=64

# the fewest GPUs are a number that somebody has, or there is no answer
run 0 "$moeplan" suggest deepseek-v2 --gpus min --platform h100 --framework automodel
has " 40 GPUs, "
# where nothing else divides a sequence, context parallelism does
has " cp2 "
run 1 "$moeplan" suggest deepseek-v3 --gpus min --platform h100 --framework megatron --pin tp=1,pp=1,ep=1
has "no plan fits on up to 16384 GPUs"
has "the smallest needs"
lacks "what would fit"
expect 1 '"plans":[]' "$moeplan" suggest deepseek-v3 --gpus min --platform h100 --framework megatron --pin tp=1,pp=1,ep=1 --format json

# a number that slipped out of its section, and a method with a letter wrong
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: hop\ndistributed:\n  strategy: fsdp2\nstep_scheduler: {global_batch_size: 8, local_batch_size: 1}\nep_size: 8\n' >"$dir/slip.yaml"
expect 0 "slip.yaml:8:1: warning[unknown-key]: nobody reads the key ep_size" "$moeplan" validate "$dir/slip.yaml"
has "it belongs into distributed"
sed -i '/^ep_size/d; s/from_pretrained/from_pretained/' "$dir/slip.yaml"
expect 1 "did you mean from_pretrained?" "$moeplan" validate "$dir/slip.yaml"
sed -i 's/from_pretained/from_pretrained/; $adp_size: none' "$dir/slip.yaml"
expect 0 "slip.yaml:8:1: warning[unknown-key]: nobody reads the key dp_size" "$moeplan" validate "$dir/slip.yaml"

# a checkout of before the known releases: its classes take sizes as those do, a section of its own says the schedule, its command
# names the kind, and a key that has gone since is none
old=$dir/old
mkdir -p "$old/nemo_automodel/components" "$old/.git"
printf 'MAJOR = 0\nMINOR = 2\nPATCH = 0\nPRE_RELEASE = ""\n' >"$old/nemo_automodel/package_info.py"
old() { # SIZES
    printf 'model:\n  _target_: nemo_automodel.components.models.deepseek_v3.model.DeepseekV3ForCausalLM.from_config\nstep_scheduler: {global_batch_size: 8, local_batch_size: 1}\ncheckpoint: {enabled: false, load_base_model: false}\nautopipeline: {pp_schedule: 1f1b}\ndistributed:\n  _target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager\n  %s\n' "$1" >"$old/old.yaml"
}
old 'pp_size: 4'
run 0 "$moeplan" validate "$old/old.yaml"
lacks "pipeline-block-missing"
lacks "load_base_model"
old 'tp_size: x1'
expect 0 "warning[tp-size-read-as-one]" "$moeplan" validate "$old/old.yaml"
old 'activation_checkpoitning: true'
expect 0 "warning[unknown-key]: distributed does not know the key activation_checkpoitning" "$moeplan" validate "$old/old.yaml"
sed -i 's/global_batch_size: 8/global_bacth_size: 8/' "$old/old.yaml"
expect 0 "warning[unknown-key]: step_scheduler does not know the key global_bacth_size" "$moeplan" validate "$old/old.yaml"
sed -i 's/global_bacth_size: 8/Global_Batch_Size: 8/' "$old/old.yaml"
expect 0 "did you mean global_batch_size?" "$moeplan" validate "$old/old.yaml"
old 'tp_size: 1'
printf 'parallelizer:\n  _target_: nemo_automodel.components.moe.parallelizer.parallelize_model\n  reshard_after_foward: true\n' >>"$old/old.yaml"
expect 0 "nobody reads the key reshard_after_foward" "$moeplan" validate "$old/old.yaml"

# what only releases before the newest read, and in recipes of one kind
printf 'recipe: TrainDiffusionRecipe\nstep_scheduler: {log_every: 2}\n' >"$dir/flow.yaml"
for release in 0.4 0.5; do
    "$moeplan" validate "$dir/flow.yaml" --framework-version $release >"$dir/out" 2>&1 || true
    lacks "log_every"
done
expect 1 "error[unknown-key]: step_scheduler does not know the key log_every" "$moeplan" validate "$dir/flow.yaml"
printf 'model: {pretrained_model_name_or_path: Qwen/Qwen-Image, mode: finetune}\nfsdp: {dp_size: 8}\nstep_scheduler: {log_every: 2}\n' >"$dir/flow.yaml"
expect 0 "former releases read it" "$moeplan" validate "$dir/flow.yaml"
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler: {log_every: 2}\n' >"$dir/flow.yaml"
expect 1 "warning[unknown-key]: step_scheduler does not know the key log_every" "$moeplan" validate "$dir/flow.yaml" --framework-version 0.5

# a dense class that shares a sequence names the attention which AutoModel demands of it
same 8 h100 llama-3.1-8b --seq 65536 --gbs 8 --pin cp=4
has "    attn: te"
same 8 h100 llama-3.1-8b
lacks "attn: te"
