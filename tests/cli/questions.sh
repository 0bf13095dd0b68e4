#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The questions of performance engineers, each one command with the answer that decides. What a run's log says is
# tests/cli/diagnose.sh's.
. "$(dirname "$0")/../helpers.sh"

ask() { # STATUS TEXT ARGUMENTS…
    want=$1 text=$2
    shift 2
    expect "$want" "$text" "$moeplan" suggest "$@"
}

# LoRA of long sequences on one node: does it fit, how long, for how much
ask 0 "trained     LoRA adapters of rank 8" qwen3-30b-a3b --gpus 8 --platform h100 --seq 32768 --gbs 128 --task peft --framework automodel --epochs 2 --dataset-tokens 1B --price 2.5
has "fits"
has "cost        "

# 48 GPUs or 72
ask 0 "h100        72 " qwen3-235b-a22b --gpus 48,72 --platform h100 --framework automodel
lacks "no plan fits"

# thousands of GPUs: days, with what fails meanwhile
ask 0 "goodput     0.97 (0.93 to 0.99) from the size: 2.2 interruptions a day" deepseek-v3 --gpus 4096 --platform h100 --framework automodel --tokens 15T --price 2
has "  days        "

# the fewest GPUs for long documents; by when
ask 0 "GPUs without offload" qwen3-30b-a3b --gpus min --platform h200 --seq 65536 --gbs 64 --framework bridge
ask 0 "GPUs are the fewest that are done in 14 days" qwen3-30b-a3b --platform h200 --seq 32768 --gbs 64 --framework automodel --tokens 50B --deadline 14d

# the same run on another machine
ask 0 "gb300       64 " qwen3-30b-a3b --gpus 64 --platform h100,gb300 --framework automodel --tokens 1T --price h100=2/h,gb300=5/h
lacks "no plan fits"

# ten trillion tokens on 2,048 GPUs
ask 0 "to train 10.0 T tokens" qwen3-235b-a22b --gpus 2048 --platform h100 --framework automodel --tokens 10T --price 2.1/h
has " at 2.1 a GPU hour"
has "energy, kWh "

# two plans within 2 % are a tie
plan64 "pp: 2" "sequence_parallel: false" "overlap_grad_reduce: true" "overlap_param_gather: true" >"$dir/a.yaml"
sed 's/^overlap_param_gather: true/overlap_param_gather: false/' "$dir/a.yaml" >"$dir/b.yaml"
"$moeplan" compare "$dir/a.yaml" "$dir/b.yaml" --tokens 1T >"$dir/out" || [ $? = 1 ] || fail "no comparison"
has "a tie to the estimate: measure both"
has "to train 1.00 T tokens"

# what is frozen counts, in memory and in time
for freeze in freeze_language_model=false freeze_language_model=true; do
    run 0 "$moeplan" suggest qwen3-vl-30b-a3b --gpus 8 --platform h100 --task sft --framework automodel --pin "$freeze" --pin image_tokens=1024 --pin memory_limit_gib=77 --format json
    number trained_params <"$dir/out" >"$dir/$freeze.trained"
    number step_s <"$dir/out" >"$dir/$freeze.step"
done
awk -v all="$(cat "$dir/freeze_language_model=false.step")" -v some="$(cat "$dir/freeze_language_model=true.step")" 'BEGIN { exit !(some < all) }' ||
    fail "freezing costs time"

# a guide's wish for room may cost half of the step, no more; what a user wishes, whatever it costs
step_of() { # PIN…: of the first plan
    run 0 "$moeplan" suggest qwen3-vl-30b-a3b --gpus 8 --platform h100 --task sft --framework automodel --no-playbook "$@" --format json
    number step_s <"$dir/out"
}
awk -v wish="$(step_of)" -v whole="$(step_of --pin memory_limit_gib=77)" -v asked="$(step_of --pin memory_limit_gib=38.5)" \
    'BEGIN { exit !(wish <= 1.5 * whole && asked > 1.5 * whole) }' || fail "a wish for room costs too much, or what is asked for is not"

# a machine without NVLink
cat >"$dir/pcie.yaml" <<'EOF'
moeplan: 1
kind: Platform
id: a100-pcie
name: A100 40GB PCIe
base: a100
gpu_memory_gib: 39.4
gpu_capacity_gib: 37.4
nvlink_gb_per_s: 16
gpu_power_w: 250
EOF
ask 0 "GPUs alone at their rated 250 W" qwen3-30b-a3b --gpus 32 --platform "$dir/pcie.yaml" --framework automodel --tokens 100B

# long sequences packed of real documents are no single document: attention's part falls
run 0 "$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform h200 --seq 262144 --gbs 16 --task sft --framework automodel --format json
whole=$(number step_s <"$dir/out")
run 0 "$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform h200 --seq 262144 --gbs 16 --task sft --framework automodel --documents p50=2k,p90=20k,p99=120k --format json
awk -v a="$whole" -v b="$(number step_s <"$dir/out")" 'BEGIN { exit !(b < 0.6 * a) }' || fail "documents change nothing"

# reinforcement learning: who gets what, and who binds
ask 0 "trainer and inference engine on the same GPUs" qwen3-30b-a3b --gpus 16 --platform h100 --framework automodel --rollout tp=8,sequences=64,context=8192
has "  binds       "
ask 0 "engines): 0.0 % of the GPU time is waiting" qwen3-30b-a3b --gpus 64 --platform h100 --framework automodel --rollout tp=8,ratio=0.6

# like what is known to run
ask 0 "like qwen3_moe_30b_te_deepep (NVIDIA-NeMo/Automodel" qwen3-30b-a3b --gpus 16 --platform h200 --like qwen3_moe_30b_te_deepep

# which way of fine-tuning fits: all weights, or adapters
ask 0 "fits" qwen3-30b-a3b --gpus 4 --platform h200 --task peft --framework automodel
ask 1 "no plan fits" qwen3-235b-a22b --gpus 8 --platform h100 --task sft --framework automodel

# which of all weights, adapters and adapters beside 4 bits a machine and a budget allow; two stages in one answer
run 0 "$moeplan" suggest llama-3-70b --gpus 1,8,16 --platform h100 --framework automodel --task sft,peft,qlora --tokens 0.5B --price 2.1/h --budget 250
for task in sft peft; do
    grep -q "^$task .* 1  128  no plan fits" "$dir/out" || fail "$task on one GPU"
done
lacks "qlora  h100         1  128  no plan fits"
grep -q '^sft .* 16 .* over budget' "$dir/out" || fail "the dearest is within the budget"
ask 0 "all stages on 32 GPUs of h100: " qwen3-vl-30b-a3b --gpus 32 --platform h100 --framework bridge --task projector:0.5B,sft:3B --price 2/h --pin image_tokens=1024

# money by hand: whole steps x step time / goodput, in hours, times GPUs and price
by_hand() { # GPUS TOKENS_A_STEP TOKENS PRICE ARGUMENTS…
    gpus=$1 each=$2 tokens=$3 price=$4
    shift 4
    run 0 "$moeplan" suggest "$@" --gpus "$gpus" --tokens "$tokens" --price "$price" --format json
    sed 's/.*"decision"//' "$dir/out" >"$dir/decision"
    awk -v step="$(number step_s <"$dir/out")" -v cost="$(number cost <"$dir/decision")" -v goodput="$(number goodput <"$dir/decision")" \
        -v gpus="$gpus" -v each="$each" -v tokens="$tokens" -v price="$price" 'BEGIN {
            steps = int(tokens / each); if (steps * each < tokens) steps++
            hand = steps * step / goodput / 3600 * gpus * price
            exit !(cost > 0 && cost / hand > 0.9999 && cost / hand < 1.0001) }' || fail "$*: the cost is another"
}
by_hand 2048 8388608 10000000000000 2.1 qwen3-235b-a22b --platform h100 --framework automodel --gbs 2048
by_hand 4096 16777216 15000000000000 2 deepseek-v3 --platform h100 --framework automodel --gbs 4096
by_hand 8 4194304 2000000000 2.5 qwen3-30b-a3b --platform h100 --framework automodel --task peft --seq 32768 --gbs 128

# what the precision bars is known before any layout is looked at
ask 1 "whatever the layout: fp8_param_gather needs fp8" qwen3-30b-a3b --gpus 16 --platform h100 --framework bridge --pin fp8_param_gather=true
# and where an override beside torch's FSDP2, which no search chooses, would change what is pinned
ask 1 "whatever the layout: fp8_param_gather needs fp8" qwen3-30b-a3b --gpus 16 --platform h100 --framework megatron --pin fp8_param_gather=true
# a pack is one row: a micro-batch that no plan can have is told of, whatever it is
ask 1 "whatever the layout: micro batch size 2 with offline packing" deepseek-v3.2 --gpus 256 --platform h20 --framework bridge --task peft --seq 8192 --mbs 2
ask 1 "whatever the layout: micro batch size 3 with offline packing" deepseek-v3.2 --gpus 256 --platform h20 --framework bridge --task peft --seq 8192 --mbs 3
# a micro-batch that divides no batch is named, and a pin of nothing says what was expected
ask 1 "a batch of 8 in micro-batches of 7" qwen3-30b-a3b --gpus 16 --platform h100 --framework megatron --gbs 8 --mbs 7
ask 2 "tp takes an integer, and there is nothing behind the =" qwen3-30b-a3b --gpus 16 --platform h100 --pin tp=
ask 2 "there is no parameter tpp" qwen3-30b-a3b --gpus 16 --platform h100 --pin tpp=
# offload of activations that is asked for without saying of which: the search chooses
ask 0 "activations on the CPU" qwen3-30b-a3b --gpus 24 --platform h100 --framework megatron --pin fine_grained_activation_offloading=true
