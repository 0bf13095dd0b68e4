#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# requests: what a request says beside its text counts, and says more than the command line.
. "$(dirname "$0")/../helpers.sh"

text='--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 64 --bf16 --vocab-size 32000 --train-iters 10 --lr 0.001'
answer() { # REQUEST-MEMBERS [options]: the estimate in $dir/out
    echo '{"id":1,"text":"'"$text"'","as":"megatron"'"$1"'}' >"$dir/request"
    shift
    "$moeplan" estimate --batch "$@" <"$dir/request" >"$dir/out" || fail "the batch fails"
}

# one microbatch a data-parallel rank of 64 sequences: 64 / 8, 64 / 16
answer ',"gpus":8,"platform":"h100"'
has '"dp":8,'
has '"num_microbatches":8,'
answer ',"gpus":16,"platform":"h100"'
has '"dp":16,'
answer ',"gpus":16' --gpus 8 --platform h100
has '"dp":16,'
answer '' --gpus 8 --platform h100
has '"dp":8,'
has '"platform":"h100"'
answer ',"platform":"b200"' --gpus 8 --platform h100
has '"platform":"b200"'
answer ',"gpus":8'
has '"error":"the platform is not given"'

# the last of an option counts
expect 0 "16 GPUs" "$moeplan" estimate "$source/examples/qwen3-30b-a3b-8-h100/recipe.yaml" --platform h100 --gpus 8 --gpus 16
