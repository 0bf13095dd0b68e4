#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare: equal and different plans, what touches convergence, useful tokens, and the advice.
. "$(dirname "$0")/../helpers.sh"

compare() { # STATUS A B [options]
    want=$1
    shift
    run "$want" "$moeplan" compare "$@"
}
part() { awk -v title="$1" '/^[^ ]/ { on = index($0, title) == 1 } on' "$dir/out"; }

plan256 >"$dir/a.yaml"
compare 0 "$dir/a.yaml" "$dir/a.yaml"
has "the two are the same configuration"
lacks "note:"

# that does not run: the rule, and the command that shows all; one that does not fit
sed 's/^gbs: .*/gbs: 2001/' "$dir/a.yaml" >"$dir/b.yaml"
compare 1 "$dir/b.yaml" "$dir/b.yaml"
has "b.yaml is refused: global batch size 2001 is not a multiple of micro batch 1 x dp 16 = 16 [batch-divides-into-microbatches]"
has "moeplan validate $dir/b.yaml"
has "the two are the same configuration"
"$moeplan" compare "$dir/a.yaml" "$dir/b.yaml" --format json >"$dir/out" || [ $? = 1 ] || fail "no answer"
has '"refused":null}'
has '"refused":{"errors":1,"rule":"batch-divides-into-microbatches","message":"global batch size 2001'
sed 's/^mbs: .*/mbs: 16\nrecompute_granularity: null/' "$dir/a.yaml" >"$dir/b.yaml"
compare 1 "$dir/b.yaml" "$dir/b.yaml"
has "does not fit"
lacks "is refused"

# one file writes what is the other's default
echo "context_parallel_size: 1" | cat "$dir/a.yaml" - >"$dir/b.yaml"
compare 0 "$dir/a.yaml" "$dir/b.yaml"

# the batch and the number format change the numbers, tensor parallelism only how they are computed
sed 's/^tp: 2/tp: 4/; s/^gbs: .*/gbs: 4096/' "$dir/a.yaml" >"$dir/b.yaml"
compare 1 "$dir/a.yaml" "$dir/b.yaml"
part "what changes convergence" | grep -q "global_batch_size .*2048 .*4096" || fail "gbs is no convergence"
part "what changes execution only" | grep -q "tensor_model_parallel_size .*2 .*4" || fail "tp is no execution"
has "scale the learning rate 2x with it, with a longer warmup"
has "the second takes 2x the tokens per step"
has "smaller GEMMs"
lacks "MFU misleads"
has "tokens/s/GPU"
compare 1 "$dir/b.yaml" "$dir/a.yaml"
has "scale the learning rate 0.5x with it, with a shorter warmup"
lacks "smaller GEMMs"

# another number format has another peak
sed 's/^platform: .*/platform: gb200/' "$dir/a.yaml" >"$dir/bf16.yaml"
echo "precision: mxfp8" | cat "$dir/bf16.yaml" - >"$dir/mxfp8.yaml"
compare 1 "$dir/bf16.yaml" "$dir/mxfp8.yaml"
has "MFU misleads between number formats"
part "what changes convergence" | grep -q "precision .*bf16 .*mxfp8" || fail "precision is no convergence"

compare 0 "$dir/a.yaml" "$dir/a.yaml" --format json
has '"equal":true'
compare 1 "$dir/a.yaml" "$dir/b.yaml" --format json
has '"parameter":"global_batch_size","symbol":"gbs","affects":"convergence","a":2048,"b":4096'
has '"by_useful_tokens":{"tokens_per_step_a":8388608,"tokens_per_step_b":16777216'

# without a platform there is no estimate, and that is said
grep -v "^platform" "$dir/a.yaml" >"$dir/nowhere.yaml"
grep -v "^platform" "$dir/b.yaml" >"$dir/nowhere2.yaml"
compare 1 "$dir/nowhere.yaml" "$dir/nowhere2.yaml"
has "has no estimate: the platform is not given"
compare 2 "$dir/a.yaml" "$dir/absent"

# a plan and the files that are written from it are the same configuration
for question in "gpt-oss-20b megatron launch.sh" "deepseek-v3 megatron launch.sh" "nemotron-3-nano-30b-a3b bridge overrides.txt" \
    "qwen3-30b-a3b automodel recipe.yaml"; do
    set -- $question
    rm -rf "$dir/saved"
    "$moeplan" suggest "$1" --framework "$2" --gpus 256 --platform h100 --save-dir "$dir/saved" >/dev/null || fail "no plan: $question"
    compare 0 "$dir/saved/$3" "$dir/saved/plan.yaml" --gpus 256 --platform h100 --model "$1"
    has "the two are the same configuration"
done
