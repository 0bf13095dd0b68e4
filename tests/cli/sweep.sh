#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sweep: single changes before pairs, each trial a valid plan whose own estimate is the one listed.
. "$(dirname "$0")/../helpers.sh"

plan64 "etp: 1" "moe_token_dispatcher_type: alltoall" "train_iters: 50" "lr: 0.0001" "mock_data: true" \
    "tokenizer_type: NullTokenizer" >"$dir/megatron.yaml"
sed 's/^framework: .*/framework: bridge/' "$dir/megatron.yaml" | grep -v "^tokenizer\|^mock" >"$dir/bridge.yaml"
cat >"$dir/automodel.yaml" <<'YAML'
moeplan: 1
framework: automodel
model: qwen3-30b-a3b
platform: h100
gpus: 64
seq: 4096
mbs: 1
gbs: 512
ep: 8
activation_checkpointing: true
backend_dispatcher: torch
YAML

# Where the schedule takes the local batch, more ranks of one kind change it; and stages are cut by their length.
sed -e 's/^ep: 8/ep: 4/' -e 's/^mbs: 1/mbs: 8/' "$dir/automodel.yaml" >"$dir/pipelined.yaml"
printf '%s\n' "pp: 2" "pp_microbatch_size: 1" "pp_schedule: interleaved1f1b" "pp_layers_per_stage: 4" >>"$dir/pipelined.yaml"

check() { # FRAMEWORK: every trial validates, and its own estimate is what the list says
    "$moeplan" sweep "$dir/$1.yaml" --format json >"$dir/json" || fail "sweep $1 fails"
    "$moeplan" sweep "$dir/$1.yaml" --format plan >"$dir/plans"
    rm -f "$dir"/trial.*
    awk -v to="$dir/trial." 'BEGIN { n = 1 } /^---$/ { n++; next } { print > (to n ".yaml") }' "$dir/plans"
    trials=$(grep -o '"trial":' "$dir/json" | wc -l)
    [ "$trials" -ge 3 ] || fail "$1: $trials trials"
    sed 's/{"trial":/\n&/g' "$dir/json" | grep '^{"trial":' >"$dir/lines"
    n=0
    while read -r line; do
        n=$((n + 1))
        "$moeplan" validate "$dir/trial.$n.yaml" >"$dir/out" 2>&1 || { cat "$dir/trial.$n.yaml" "$dir/out"; fail "$1: trial $n is not valid"; }
        listed=$(echo "$line" | number step_s)
        own=$("$moeplan" estimate "$dir/trial.$n.yaml" --format json | number step_s)
        awk "BEGIN { d = $listed / $own - 1; exit !(d > -1e-4 && d < 1e-4) }" ||
            { cat "$dir/trial.$n.yaml"; fail "$1: trial $n is listed with $listed s, its plan has $own s"; }
    done <"$dir/lines"
    # one change at a time first
    grep -o '"changed":[0-9]' "$dir/json" | sort -c || fail "$1: pairs before single changes"
}
check megatron
check bridge
check automodel
check pipelined

"$moeplan" sweep "$dir/megatron.yaml" >"$dir/out"
grep -q "dispatcher alltoall -> deepep" "$dir/out" || fail "no dispatcher trial"
grep -q "graphs none -> \[moe_router, moe_preprocess\]" "$dir/out" || fail "no graph trial"
grep -q "then several together" "$dir/out" || fail "no pairs"
"$moeplan" sweep "$dir/megatron.yaml" --format flags --top 3 >"$dir/flags"
[ "$(grep -c '^# trial' "$dir/flags")" = 3 ] || fail "not three trials as flags"
grep -q -- "--cuda-graph-impl transformer_engine" "$dir/flags" || fail "the flags do not say the change"
# A plan, and a launch that leaves its model out, become files of the model that they name: what convert writes of them.
words() { grep -v "^#" "$1" | sort -u; } # FILE
whole_model() { # FRAMEWORK FILE OPTION…: a trial says all that convert says of what does not change
    framework=$1 file=$2
    shift 2
    "$moeplan" convert "$dir/$file" --to "$framework" "$@" >"$dir/converted"
    "$moeplan" sweep "$dir/$file" --format flags --top 1 "$@" >"$dir/flags"
    words "$dir/converted" >"$dir/all" && words "$dir/flags" >"$dir/of_trial"
    [ "$(comm -23 "$dir/all" "$dir/of_trial" | wc -l)" -le 3 ] ||
        { comm -23 "$dir/all" "$dir/of_trial"; fail "$file: a trial leaves out what convert writes"; }
    grep -qE -- "^--swiglu$|^comm_overlap=null$" "$dir/flags" || fail "$file: the trial is of another model or of a recipe's overlaps"
}
whole_model megatron megatron.yaml
whole_model bridge bridge.yaml
printf '%s\n' "--expert-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 512 --seq-length 4096 --bf16" \
    "--use-distributed-optimizer --train-iters 50 --lr 1e-4 --mock-data --tokenizer-type NullTokenizer" >"$dir/launch.txt"
whole_model megatron launch.txt --model qwen3-30b-a3b --gpus 64 --platform h100
# A launch that is silent of overlaps, of its batch and of its stages: each form of a trial is the one that is listed.
printf '%s\n' "--num-layers 32 --hidden-size 2048 --num-attention-heads 16 --ffn-hidden-size 6144 --max-position-embeddings 4096" \
    "--num-experts 16 --moe-router-topk 2 --swiglu --disable-bias-linear --tensor-model-parallel-size 2 --sequence-parallel" \
    "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4 --expert-model-parallel-size 2 --bf16" \
    "--micro-batch-size 1 --seq-length 4096 --train-iters 50 --lr 1e-4 --mock-data --tokenizer-type NullTokenizer" \
    "--vocab-size 32000 --moe-token-dispatcher-type alltoall" >"$dir/own.txt"
on="--gpus 64 --platform h100"
expect 1 "1 microbatches: each must not be above the next" "$moeplan" sweep "$dir/own.txt" $on
# a stage of another length is no way around a rule about virtual stages
grep -q "pp 4 -> 8  " "$dir/out" && fail "a trial breaks the rule that refuses the launch"
sed -i 's/--num-layers-per-virtual-pipeline-stage 4/--num-layers-per-virtual-pipeline-stage 8/' "$dir/own.txt"
"$moeplan" sweep "$dir/own.txt" $on --format json >"$dir/json" || fail "a launch is refused"
for form in plan flags; do
    "$moeplan" sweep "$dir/own.txt" $on --format $form >"$dir/forms"
    rm -f "$dir"/form.*
    awk -v to="$dir/form." 'BEGIN { n = 1 } /^(---)?$/ { n++; next } { print > (to n) }' "$dir/forms"
    n=0
    for listed in $(sed 's/{"trial":/\n&/g' "$dir/json" | grep '^{"trial":' | while read -r line; do echo "$line" | number step_s; done); do
        n=$((n + 1))
        own=$("$moeplan" estimate "$dir/form.$n" $on --format json | number step_s)
        awk "BEGIN { d = $listed / $own - 1; exit !(d > -1e-4 && d < 1e-4) }" ||
            { cat "$dir/form.$n"; fail "trial $n as $form is listed with $listed s, and has $own s"; }
    done
    [ $n -ge 6 ] || fail "$n trials of a launch"
done
# what no flag can say of a model is in the catalogue: a plan that changes another size of it says so too
printf '%s\n' "moeplan: 1" "framework: megatron" "model: {base: gemma-4-31b, window_size: [1024, 0]}" "platform: h100" "gpus: 32" \
    "tp: 8" "pp: 2" "gbs: 128" "mbs: 1" "seq: 4096" "sequence_parallel: true" "use_distributed_optimizer: true" >"$dir/gemma.yaml"
"$moeplan" convert "$dir/gemma.yaml" --to megatron | grep -qxF "# moeplan: model=gemma-4-31b" || fail "the model is not named"
sed 's/window_size: .1024, 0./window_kv_channels: 128/' "$dir/gemma.yaml" >"$dir/other.yaml"
"$moeplan" convert "$dir/other.yaml" --to megatron | grep -q "moeplan: model=" && fail "another model is named"
"$moeplan" sweep "$dir/megatron.yaml" --format shell --top 1 | grep -qxF -- --swiglu || fail "a job trains another model"
"$moeplan" sweep "$dir/megatron.yaml" --format json >"$dir/one"
"$moeplan" sweep "$dir/megatron.yaml" --format json >"$dir/two"
cmp "$dir/one" "$dir/two" || fail "two runs differ"

status=0
sed 's/^ep: 8/ep: 7/' "$dir/megatron.yaml" | "$moeplan" sweep - >"$dir/out" 2>&1 || status=$?
[ "$status" = 1 ] || fail "a plan that breaks a rule: exit $status"
has "refused: 128 experts are not a multiple of ep 7"
has "baseline: estimated step"
sed 's/^gbs: .*/gbs: 513/' "$dir/megatron.yaml" >"$dir/odd.yaml"
expect 1 "refused: global batch size 513" "$moeplan" sweep "$dir/odd.yaml" --format plan
"$moeplan" sweep "$dir/odd.yaml" --format json >"$dir/out" || [ $? = 1 ] || fail "no answer"
has '"fits":"yes","refused":{"errors":1,"rule":"batch-divides-into-microbatches","message":"global batch size 513'
# a trial that mends what is refused is one
sed 's/^mbs: .*/mbs: 16/; s/^gbs: .*/gbs: 512/' "$dir/megatron.yaml" >"$dir/odd.yaml"
expect 1 "mbs 16 -> 8" "$moeplan" sweep "$dir/odd.yaml"
status=0
grep -v "^platform" "$dir/megatron.yaml" | "$moeplan" sweep - >"$dir/out" 2>&1 || status=$?
[ "$status" = 2 ] || fail "a plan without a platform: exit $status"

# nothing to try is an answer too
sed 's/^model: .*/model: qwen3-235b-a22b/; s/^gpus: .*/gpus: 16/' "$dir/megatron.yaml" >"$dir/big.yaml"
expect 1 "do not fit, 0 break a rule" "$moeplan" sweep "$dir/big.yaml" --top 2
