#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# frameworks.sh PROGRAM SOURCE: what the program emits starts in the frameworks' own configuration code, nothing of it changed
# (tools/frameworks/judge.py), and what is broken in a known way does not. Skipped without their checkouts and PyTorch.
. "$(dirname "$0")/helpers.sh"
python=${MOEPLAN_PYTHON:-python3}
judge=$source/tools/frameworks/judge.py
[ -n "${MOEPLAN_MEGATRON_LM:-}${MOEPLAN_MEGATRON_BRIDGE:-}${MOEPLAN_AUTOMODEL:-}" ] || exit 77
"$python" -c 'import torch, transformers, yaml' 2>/dev/null || exit 77
mkdir "$dir/good" "$dir/bad"

emit() { # FRAMEWORK FORMAT MODEL TASK GPUS
    "$moeplan" suggest "$3" --framework "$1" --format "$2" --task "$4" --gpus "$5" --platform h100 >"$dir/good/$2-$3-$4" ||
        fail "$2 of $3 for $4: not emitted"
}

break_ten() { # each: the file, a number, and what breaks it
    while read -r name number edit; do
        file=$dir/good/$name
        [ -f "$file" ] || continue
        sed "$edit" "$file" >"$dir/bad/$number-$name"
        ! cmp -s "$file" "$dir/bad/$number-$name" || fail "$edit breaks nothing of $name"
    done <<'BREAKS'
flags-qwen3-30b-a3b-pretrain 1 s/^--expert-model-parallel-size .*/--expert-model-parallel-size 7/
flags-qwen3-30b-a3b-pretrain 2 s/^--global-batch-size .*/--global-batch-size 1001/
flags-qwen3-30b-a3b-pretrain 3 $a--no-such-flag 1
script-deepseek-v3-pretrain 4 s/--moe-token-dispatcher-type [a-z]*/--moe-token-dispatcher-type pigeon/
bridge-qwen3-30b-a3b-sft 5 $amodel.no_such_key=1
bridge-deepseek-v3-pretrain 6 s/^train.global_batch_size=.*/train.global_batch_size=1001/
bridge-mixtral-8x22b-peft 7 s/^model.context_parallel_size=.*/model.context_parallel_size=3/
yaml-qwen3-30b-a3b-sft 8 s/ep_size: .*/ep_size: 7/
yaml-qwen3-30b-a3b-sft 9 s/^  backend:/  backend:\n    no_such_key: 1/
yaml-mixtral-8x7b-peft 10 s/^recipe: .*/recipe: NoSuchRecipe/
BREAKS
}

if [ -n "${MOEPLAN_MEGATRON_LM:-}" ]; then
    emit megatron flags qwen3-30b-a3b pretrain 256
    emit megatron flags mixtral-8x7b sft 64
    emit megatron script deepseek-v3 pretrain 1024
fi
if [ -n "${MOEPLAN_MEGATRON_BRIDGE:-}" ]; then
    emit bridge bridge qwen3-30b-a3b sft 256
    emit bridge bridge deepseek-v3 pretrain 1024
    emit bridge bridge mixtral-8x22b peft 256
fi
if [ -n "${MOEPLAN_AUTOMODEL:-}" ]; then
    emit automodel yaml qwen3-30b-a3b sft 256
    emit automodel yaml deepseek-v3 pretrain 1024
    emit automodel yaml mixtral-8x7b peft 64
fi
run 0 "$python" "$judge" "$dir/good/"*
break_ten
status=0
"$python" "$judge" "$dir/bad/"* >"$dir/out" 2>&1 || status=$?
[ "$status" = 1 ] && [ "$(grep -c ': refused at' "$dir/out")" = "$(find "$dir/bad" -type f | wc -l)" ] ||
    fail "a broken file is not refused"
cat "$dir/out"
