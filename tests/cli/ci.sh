#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The CI step on the shipped repository of recipes: what is found, in which form, and the exit status.
set -eu
moeplan=$1
source=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R "$source/examples/recipes" "$dir/recipes"
cd "$dir/recipes"
fail() { echo "$1"; cat "$dir/out" "$dir/err"; exit 1; }

run() { # STATUS COMMAND…: runs it and checks the status
    want=$1 status=0
    shift
    "$moeplan" validate "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    [ "$status" = "$want" ] || fail "validate $*: exit $status, not $want"
}
has() { grep -qF -- "$1" "$dir/out" || fail "no \"$1\""; }
has_not() { if grep -qF -- "$1" "$dir/out"; then fail "\"$1\" is there"; fi; }

# the whole repository: one broken file, nothing else of its severity
run 1 .
has "automodel/qwen3_30b_a3b_broken.yaml:16:12: error[experts-divide-by-ep]"
has "automodel/qwen3_30b_a3b_broken.yaml:17:3: error[unknown-key]"
has_not "pipeline-block-inert"
if grep -q 'sft.yaml:[0-9]' "$dir/out"; then fail "a finding in a good recipe"; fi
[ "$(grep -c ' error\[' "$dir/out")" = 2 ] || fail "not two errors"

# files, folders and globs; the good ones pass
run 0 automodel/qwen3_30b_a3b_sft.yaml automodel/qwen3_30b_a3b_suppressed.yaml bridge megatron
run 0 'megatron/*'
run 1 'automodel/*_broken.yaml'

# thresholds are inclusive: this one has a warning and an info
sed 's/pp_size: 1/pp_size: 2/; s/local_batch_size: 1/local_batch_size: 2/' automodel/qwen3_30b_a3b_suppressed.yaml >kept.yaml
run 0 --gpus 16 kept.yaml
has "warning[unused-suppression]"
run 1 --gpus 16 --fail-on warning kept.yaml
sed '/moeplan: ignore/d' kept.yaml >bubble.yaml
run 0 --gpus 16 --fail-on warning bubble.yaml
has "info["
run 1 --gpus 16 --fail-on info bubble.yaml
run 2 --fail-on never megatron
rm kept.yaml bubble.yaml

# annotations: one line a finding, at its place, nothing else on standard output
run 1 --format github automodel
has "::error file=automodel/qwen3_30b_a3b_broken.yaml,line=17,"
has "title=unknown-key::"
if grep -v '^::' "$dir/out"; then fail "a line that is no annotation"; fi

# jsonl: one object a file
run 1 --format jsonl .
[ "$(wc -l <"$dir/out")" -ge 6 ] || fail "fewer than one line a file"
has '"path":"automodel/qwen3_30b_a3b_broken.yaml"'
has '"status":"invalid"'
if grep -v '^{.*}$' "$dir/out"; then fail "a line that is no object"; fi
run 1 --format json .
has '"summary":'

# what cannot be read is never a pass
run 2 nowhere.yaml
run 2 README.md
printf 'a: [\n' >torn.yaml
run 2 torn.yaml
has "yaml-syntax"

# a suppression for the whole file
{ echo '# moeplan: ignore-file[experts-divide-by-ep, unknown-key] shown to newcomers'; cat automodel/qwen3_30b_a3b_broken.yaml; } >shown.yaml
run 0 shown.yaml
has_not "experts-divide-by-ep"
