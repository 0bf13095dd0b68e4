#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suggest: questions with awkward numbers and pins get a plan that keeps them, or the reason why there is none.
set -eu
moeplan=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1"; exit 1; }

expect() { # STATUS TEXT ARGUMENTS…: the status, and the text somewhere in stdout or stderr
    want=$1 text=$2 status=0
    shift 2
    "$moeplan" suggest "$@" >"$dir/out" 2>&1 </dev/null || status=$?
    [ "$status" = "$want" ] || { cat "$dir/out"; fail "suggest $*: exit $status, not $want"; }
    grep -qF -- "$text" "$dir/out" || { cat "$dir/out"; fail "suggest $*: no \"$text\""; }
}

kept() { # TEXT ARGUMENTS…: a plan file with the text in it, which validate accepts
    text=$1
    shift
    expect 0 "$text" "$@" --format plan
    cp "$dir/out" "$dir/plan.yaml"
    "$moeplan" validate "$dir/plan.yaml" >"$dir/out" 2>&1 || { cat "$dir/out"; fail "suggest $*: not valid"; }
}

large="deepseek-v3 --gpus 256 --platform h100 --framework megatron"

# what no layout can mend is said at once, with what would help
expect 1 "take fp8_blockwise on Hopper" $large --precision mxfp8
expect 1 "fp8-needs-hopper" deepseek-v3 --gpus 256 --platform a100 --framework bridge --precision fp8_delayed
expect 0 "mxfp8" deepseek-v3 --gpus 256 --platform gb200 --framework bridge --precision mxfp8

# a pin keeps its value, and what goes with it follows
expect 0 "x vpp 3" $large --pin vpp=3
kept "overlap_grad_reduce: false" $large --pin overlap_grad_reduce=false
kept "optimizer_cpu_offload: true" $large --pin optimizer_cpu_offload=true
kept "tp: 8" $large --pin tp=8,etp=8
kept "pipeline_model_parallel_layout: Et*30|t*31mL" $large --pin 'pipeline_model_parallel_layout=Et*30|t*31mL'
kept "exp_avg_dtype: bf16" $large --pin exp_avg_dtype=bf16
expect 0 "flex / deepep" $large --pin dispatcher=deepep
expect 0 "dp 4, " $large --pin dp=4
expect 0 "recipe: mxfp8" deepseek-v3 --gpus 256 --platform gb200 --precision mxfp8 --format yaml
expect 1 "AutoModel has no word for nvfp4" deepseek-v3 --gpus 256 --platform gb200 --framework automodel --precision nvfp4

# a pin that no plan can have is a mistake, not a plan
expect 2 "tensor_model_parallel_size takes an integer, not x" $large --pin tp=x
expect 2 "does not take 'foo'" $large --pin moe_token_dispatcher_type=foo
expect 2 "must be at least 1" $large --pin gbs=-4
expect 2 "virtual_pipeline_model_parallel_size is 0" $large --pin vpp=0
expect 2 "has the parameter strategy" $large --pin strategy=ddp
expect 2 "given with --gpus" $large --pin gpus=128
expect 2 "cannot be pinned" $large --pin fits=true
expect 1 "forbidden or pinned" $large --pin dp=3

# sizes that are no powers of two, and the ends of the range
kept "gpus: 48" qwen3-30b-a3b --gpus 48 --platform h100
kept "gpus: 1000" deepseek-v3 --gpus 1000 --platform h100
kept "gpus: 13" qwen3-30b-a3b --gpus 13 --platform h200
kept "gbs: 97" qwen3-30b-a3b --gpus 64 --platform h100 --gbs 97
expect 0 "gbs 100" qwen3-30b-a3b --gpus min --platform h100 --gbs 100
expect 2 "beyond what moeplan can reckon with" deepseek-v3 --gpus 256 --platform h100 --seq 9223372036854775807
