#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adapters: what they are is stated or assumed, counted, written in the framework's words, and read back as the same plan.
. "$(dirname "$0")/../helpers.sh"

model="qwen3-30b-a3b --gpus 8 --platform h100"

same() { # FORMAT ARGUMENTS…: what suggest prints for AutoModel, estimated again, is the plan; the text stays in $dir/out
    format=$1
    shift
    "$moeplan" suggest $model --framework automodel --task peft "$@" --format json >"$dir/asked"
    "$moeplan" suggest $model --framework automodel --task peft "$@" --format "$format" >"$dir/printed.yaml"
    run 0 "$moeplan" estimate "$dir/printed.yaml" --gpus 8 --platform h100 --format json
    for figure in peak_gib step_s trained_params; do
        [ "$(number $figure <"$dir/asked")" = "$(number $figure <"$dir/out")" ] || fail "$format $*: $figure is another"
    done
    run 0 "$moeplan" validate "$dir/printed.yaml" --gpus 8
    cp "$dir/printed.yaml" "$dir/out"
}

# the framework's own defaults are assumed, and said
run 0 "$moeplan" suggest $model --task peft --framework automodel
has "assumed: global_batch_size 128, peft_alpha 32, peft_dim 8, peft_scheme lora"
has "[*_proj]"
has "trained     LoRA adapters of rank 8: 6.7 M of 30.53 B parameters"
run 0 "$moeplan" suggest $model --task peft --framework bridge --pin mbs=1
lacks "peft_dim" # they are the recipe's own
has "LoRA adapters of rank 8"
same yaml
has "peft:"
has "  _target_: nemo_automodel.components._peft.lora.PeftConfig"
has "  dim: 8"
has '  target_modules: ["*_proj"]'
same plan

# what is asked for is kept, in every form
same yaml --lora-rank 16 --lora-targets '*.q_proj, *.experts'
has "  dim: 16"
has '  target_modules: ["*.q_proj", "*.experts"]'
same plan --lora-rank 16 --lora-targets '*.q_proj,*.experts'
has "peft_dim: 16"
same yaml --pin peft_scheme=dora --pin peft_alpha=64
has "  use_dora: true"
has "  alpha: 64"
same yaml --pin peft_match_all_linear=true
has "  match_all_linear: true"
lacks "target_modules"
"$moeplan" suggest $model --task peft --framework bridge --pin mbs=1 --lora-rank 16 --lora-targets linear_qkv --format bridge >"$dir/out"
# an object of the recipe's code: the head names what no override can
has "# moeplan: peft_dim=16"
has "set cfg.peft.dim to 16"
has "# moeplan: peft_target_modules=[linear_qkv]"
if grep -q '^peft' "$dir/out"; then fail "an override names the adapters"; fi
"$moeplan" estimate "$dir/out" --framework bridge --gpus 8 --platform h100 >"$dir/read" || fail "the printed overrides are refused"
grep -q "rank 16" "$dir/read" || fail "the rank is not read back"
echo '{"model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":{"task":"peft","framework":"automodel","lora_rank":4}}' >"$dir/line"
"$moeplan" suggest --batch <"$dir/line" >"$dir/out"
has '"peft_dim":4'

# adapters take less than all weights, and a wider one more than a narrow one
sized() { "$moeplan" suggest $model --framework automodel --pin mbs=1,ep=8 "$@" --format json | number peak_gib; }
holds() { [ "$(awk "BEGIN { print ($1) }")" = 1 ] || fail "$1"; }
all=$(sized --task sft) narrow=$(sized --task peft) wide=$(sized --task peft --lora-rank 256 --lora-targets '*')
holds "$narrow < $all - 15"
holds "$wide > $narrow + 5"

# weights in 4 bits: the same plan read back, in Hugging Face's class without a backend
same yaml --pin load_in_4bit=true
has "quantization:"
has "  load_in_4bit: true"
lacks "backend:"
expect 0 "four-bit-leaves-experts" "$moeplan" validate "$dir/printed.yaml" --gpus 8
same plan --pin load_in_4bit=true
expect 1 "four-bit-tensor-parallel" "$moeplan" validate "$dir/printed.yaml" --set tp=2
run 1 "$moeplan" suggest llama-3-70b --gpus 1 --platform h100 --task peft
has "  --task qlora: automodel tp 1 pp 1 ep 1, peak 62 GiB"
run 0 "$moeplan" suggest llama-3-70b --gpus 1 --platform h100 --task sft,peft,qlora --format csv
holds "$(grep -c '^qlora,h100,1,.*automodel' "$dir/out") == 1"
run 0 "$moeplan" suggest llama-3-70b --gpus 1 --platform h100 --task qlora
has "trained     QLoRA adapters of rank 8: 103.5 M of 70.55 B parameters"
expect 2 "no framework that is searched can train qlora" "$moeplan" suggest llama-3-70b --gpus 1 --platform h100 --task qlora --framework bridge

# who has none is not offered
expect 1 "no-adapters-in-megatron" "$moeplan" suggest $model --task peft --framework megatron
run 0 "$moeplan" suggest $model --task peft
lacks "Megatron-LM"
printf 'moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\ntask: peft\n' >"$dir/plan.yaml"
expect 1 "no-adapters-in-megatron" "$moeplan" validate "$dir/plan.yaml"

# what cannot be meant is a mistake
expect 2 "go with task peft" "$moeplan" suggest $model --lora-rank 8
expect 2 "an integer of at least 1" "$moeplan" suggest $model --task peft --lora-rank 0
expect 2 "no linear of the model is called q_proj" "$moeplan" suggest $model --task peft --framework automodel --lora-targets q_proj
same yaml --lora-rank 16
sed 's/^  dim: 16/  rank: 16/' "$dir/printed.yaml" >"$dir/wrong.yaml"
expect 1 "peft does not know the key rank" "$moeplan" validate "$dir/wrong.yaml" --gpus 8

# a frozen language model: less memory, a shorter step, and it is seen
"$moeplan" suggest qwen3-vl-30b-a3b --gpus 32 --platform h100 --framework bridge --format plan >"$dir/whole.yaml"
"$moeplan" estimate "$dir/whole.yaml" --format json >"$dir/whole"
echo 'freeze_language_model: true' | cat "$dir/whole.yaml" - | sed '/^freeze_language_model: false/d' >"$dir/frozen.yaml"
run 0 "$moeplan" estimate "$dir/frozen.yaml" --format json
holds "$(number peak_gib <"$dir/out") < $(number peak_gib <"$dir/whole")"
holds "$(number step_s <"$dir/out") < 0.9 * $(number step_s <"$dir/whole")"
expect 0 "language model frozen" "$moeplan" estimate "$dir/frozen.yaml"

# stages freeze differently: the mergers alone, then everything, each with its tokens; the whole is their sum
vl="qwen3-vl-30b-a3b --gpus 32 --platform h100 --framework bridge --pin image_tokens=1024"
run 0 "$moeplan" suggest $vl --task projector:0.5B,sft:3B --price 2/h
lacks "images: none counted"
has "all stages on 32 GPUs of h100: "
expect 0 "images: none counted" "$moeplan" suggest qwen3-vl-30b-a3b --gpus 32 --platform h100 --task projector:1B,sft:1B
run 0 "$moeplan" suggest $vl --task projector:0.5B,sft:3B --price 2/h --format csv
cp "$dir/out" "$dir/stages"
run 0 "$moeplan" suggest $vl --task projector:0.5B,sft:3B --price 2/h --format json
holds "($(awk -F, 'NR > 1 { cost += $27 } END { print cost }' "$dir/stages") - $(sed 's/.*"stages"//' "$dir/out" | number cost)) ^ 2 < 1e-4"
run 0 "$moeplan" suggest $vl --task projector
has "vision tower frozen but for its mergers"
has "trained     language model frozen: 122.7 M of 31.07 B parameters"
"$moeplan" suggest $vl --task projector --format bridge >"$dir/out"
has "model.freeze_vision_projection=false"
has "model.freeze_language_model=true"
expect 2 "can train projector" "$moeplan" suggest qwen3-vl-30b-a3b --gpus 32 --platform h100 --framework automodel --task projector
expect 2 "projector:1B has its own" "$moeplan" suggest $vl --task projector:1B,sft:1B --tokens 1B

# a recipe's name says that it trains adapters; a plan file of it says so in words
printf '%s\n' '--recipe nemotron_3_super_peft_config' '--mode lora' train.global_batch_size=16 >"$dir/adapters.txt"
run 0 "$moeplan" convert "$dir/adapters.txt" --to plan --gpus 64
has "task: peft"

# Bridge's recipes make their adapters in code: no override names the dropout either, and it is read back from the head
printf '%s\n' 'recipe: TrainFinetuneRecipeForNextTokenPrediction' 'model: {pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B}' \
    'step_scheduler: {local_batch_size: 1, global_batch_size: 8}' 'distributed: {strategy: fsdp2, ep_size: 8}' \
    'peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, dim: 16, alpha: 32, dropout: 0.1}' >"$dir/lora.yaml"
run 0 "$moeplan" convert "$dir/lora.yaml" --to bridge --gpus 8 -o "$dir/lora.bridge"
cp "$dir/lora.bridge" "$dir/out"
has "set cfg.peft.dropout to 0.1 in the recipe's code"
lacks "^peft.dropout"
run 0 "$moeplan" convert "$dir/lora.bridge" --to plan --gpus 8
has "peft_dropout: 0.1"
