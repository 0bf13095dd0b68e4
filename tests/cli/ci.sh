#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The CI step on the shipped repository of recipes: what is found, in which form, and the exit status.
. "$(dirname "$0")/../helpers.sh"
cp -R "$source/examples/recipes" "$dir/recipes"
cd "$dir/recipes"

check() { # STATUS ARGUMENTS…: validate and its status; stderr is in $dir/err
    want=$1 status=0
    shift
    "$moeplan" validate "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    [ "$status" = "$want" ] || { cat "$dir/err"; fail "validate $*: exit $status, not $want"; }
}

# the whole repository: one broken file, nothing else of its severity
check 1 .
has "automodel/qwen3_30b_a3b_broken.yaml:16:12: error[experts-divide-by-ep]"
has "automodel/qwen3_30b_a3b_broken.yaml:17:3: error[unknown-key]"
lacks "pipeline-block-inert"
if grep -q 'sft.yaml:[0-9]' "$dir/out"; then fail "a finding in a good recipe"; fi
[ "$(grep -c ' error\[' "$dir/out")" = 2 ] || fail "not two errors"

# files, folders and globs; the good ones pass
check 0 automodel/qwen3_30b_a3b_sft.yaml automodel/qwen3_30b_a3b_suppressed.yaml bridge megatron
check 0 'megatron/*'
check 1 'automodel/*_broken.yaml'

# thresholds are inclusive: this one has a warning and an info
sed 's/pp_size: 1/pp_size: 2/; s/local_batch_size: 1/local_batch_size: 2/' automodel/qwen3_30b_a3b_suppressed.yaml >kept.yaml
check 0 --gpus 16 kept.yaml
has "warning[unused-suppression]"
check 1 --gpus 16 --fail-on warning kept.yaml
sed '/moeplan: ignore/d' kept.yaml >bubble.yaml
check 0 --gpus 16 --fail-on warning bubble.yaml
has "info["
check 1 --gpus 16 --fail-on info bubble.yaml
check 2 --fail-on never megatron
rm kept.yaml bubble.yaml

# annotations: one line a finding, at its place, nothing else on standard output
check 1 --format github automodel
has "::error file=automodel/qwen3_30b_a3b_broken.yaml,line=17,"
has "title=unknown-key::"
if grep -v '^::' "$dir/out"; then fail "a line that is no annotation"; fi

# jsonl: one object a file
check 1 --format jsonl .
[ "$(wc -l <"$dir/out")" -ge 6 ] || fail "fewer than one line a file"
has '"path":"automodel/qwen3_30b_a3b_broken.yaml"'
has '"status":"invalid"'
if grep -v '^{.*}$' "$dir/out"; then fail "a line that is no object"; fi
check 1 --format json .
has '"summary":'

# what cannot be read is never a pass
check 2 nowhere.yaml
check 2 README.md
printf 'a: [\n' >torn.yaml
check 2 torn.yaml
has "yaml-syntax"

# a suppression for the whole file
{ echo '# moeplan: ignore-file[experts-divide-by-ep, unknown-key] shown to newcomers'; cat automodel/qwen3_30b_a3b_broken.yaml; } >shown.yaml
check 0 shown.yaml
lacks "experts-divide-by-ep"

# of a page of text nothing is checked, so that no comment in it is one too many
echo 'Write `# moeplan: ignore[rule-id] why` behind a line.' >page.md
check 2 page.md
grep -q "page.md: skipped" "$dir/err" || fail "page.md is not skipped"
lacks "unused-suppression"
