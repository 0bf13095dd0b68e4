# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the whole program, which are given the program and the source folder: $moeplan, $source, and a
# folder $dir that is gone at the end. What the last command said is in $dir/out.
set -eu
moeplan=$1
source=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() { # WHY
    [ ! -f "$dir/out" ] || cat "$dir/out"
    echo "$1"
    exit 1
}

run() { # STATUS COMMAND…: the command and its exit status
    want=$1 status=0
    shift
    "$@" >"$dir/out" 2>&1 </dev/null || status=$?
    [ "$status" = "$want" ] || fail "$*: exit $status, not $want"
}

expect() { # STATUS TEXT COMMAND…: the status, and the text somewhere in stdout or stderr
    want=$1 text=$2
    shift 2
    run "$want" "$@"
    grep -qF -- "$text" "$dir/out" || fail "$*: no \"$text\""
}

has() { grep -qF -- "$1" "$dir/out" || fail "no \"$1\""; }
lacks() { ! grep -qF -- "$1" "$dir/out" || fail "there is \"$1\""; }

# What is told of files, a line each, in ./out: that a line of it is there, and that a pattern is nowhere.
concise() { "$moeplan" validate --format concise --min-severity warning "$@" >out 2>/dev/null || :; }
found() { # LINE RULE TEXT
    grep -q ":$1:[0-9]*: [a-z]*\[$2\]: .*$3" out || fail "no $2 at line $1: $3"
}
none() { ! grep -q "$1" out || fail "there is $1"; }

# A plan of 64 H100, with further lines of its own.
plan64() { # LINE…
    printf '%s\n' "moeplan: 1" "framework: megatron" "model: qwen3-30b-a3b" "platform: h100" "gpus: 64" "seq: 4096" "mbs: 1" \
        "gbs: 512" "ep: 8" "use_distributed_optimizer: true" "$@"
}

# A plan of 256 H100 in three dimensions.
plan256() {
    printf '%s\n' "moeplan: 1" "framework: megatron" "model: qwen3-235b-a22b" "platform: h100" "gpus: 256" "seq: 4096" "mbs: 1" \
        "gbs: 2048" "tp: 2" "pp: 8" "vpp: 4" "ep: 32" "etp: 1" "sequence_parallel: true" "use_distributed_optimizer: true" \
        "account_for_embedding_in_pipeline_split: true" "account_for_loss_in_pipeline_split: true"
}

# r.sh, a launch of a program on one node: what every small model states is in $sizes, what makes it train in $data.
sizes="--num-layers 4 --hidden-size 64 --num-attention-heads 8 --seq-length 128 --max-position-embeddings 128 --micro-batch-size 1"
data="--train-iters 10 --mock-data --tokenizer-type NullTokenizer --vocab-size 128 --lr 1e-4 --bf16"
script() { printf '#!/bin/bash\ntorchrun --nproc-per-node 8 %s \\\n  %s\n' "$1" "$sizes $2" >r.sh; }

# A log of Megatron-LM: steady steps after a slow first one.
megatron_log() { # SECONDS
    for i in 1 2 3 4 5 6; do
        awk "BEGIN { printf \" [2026-01-01 10:00:00] iteration %8d/     100 | consumed samples: 512 | elapsed time per iteration (ms): %.1f | learning rate: 1.0E-06 | global batch size:   512 |\n\", $i, 1000 * ($i == 1 ? 60 : $1) }"
    done
}

# The first number of that name in the JSON on stdin.
number() { grep -o "\"$1\":[0-9.e+-]*" | head -1 | cut -d: -f2; }
