#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How a repository of recipes adopts the check: settings, a baseline, a broken commit that fails with an annotation at its line,
# --fix, green.
. "$(dirname "$0")/../helpers.sh"
command -v git >/dev/null || { echo "no git"; exit 77; }
moeplan=$(realpath "$moeplan")
mkdir "$dir/repo"
cd "$dir/repo"
git init -q .
git config user.email a@b.c
git config user.name a
ci() { # STATUS: the step that runs on every commit
    run "$1" env GITHUB_STEP_SUMMARY="$dir/summary" "$moeplan" validate --format github .
}

# recipes of four formats and several sizes, one of them with an old sin
mkdir -p automodel/16gpu bridge megatron plans old
cp "$source"/examples/recipes/automodel/qwen3_30b_a3b_sft.yaml automodel/16gpu/
cp "$source"/examples/recipes/bridge/overrides.txt bridge/
cp "$source"/examples/recipes/megatron/* megatron/
printf 'moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nep: 8\nmbs: 1\ngbs: 512\nseq: 4096\n' >plans/a.yaml
sed 's/ep_size: .*/ep_size: 6/' automodel/16gpu/qwen3_30b_a3b_sft.yaml >automodel/16gpu/legacy.yaml
cp automodel/16gpu/legacy.yaml old/
printf 'scratch/\n' >.gitignore
mkdir scratch
cp old/legacy.yaml scratch/

# without settings nobody knows the sizes; with them the old sin shows, in one file
cat >.moeplan.yaml <<'EOF'
rules: "0.1"
defaults: {platform: h100}
exclude: [old]
baseline: known.json
paths:
  - match: "automodel/{gpus}gpu"
  - match: [bridge, plans]
    facts: {gpus: 64}
EOF
ci 1
has "::error file=automodel/16gpu/legacy.yaml,"
lacks "file=old/"
lacks "file=scratch/"
run 0 "$moeplan" validate --show-config automodel/16gpu/legacy.yaml
has "gpus                 16                   .moeplan.yaml:6, from the path"

# the known is known
run 0 "$moeplan" validate --write-baseline known.json .
ci 0
lacks "::error"
git add -A
git commit -qm "Checked"

# a broken commit: the annotation is at its line
sed -i 's/local_batch_size:/local_batch_sise:/' automodel/16gpu/qwen3_30b_a3b_sft.yaml
line=$(grep -n local_batch_sise automodel/16gpu/qwen3_30b_a3b_sft.yaml | cut -d: -f1)
sed -i 's/--seq-length/--seq-lenght/' megatron/launch.sh
sed -i '1i # a line more above the old sin' automodel/16gpu/legacy.yaml
rm -f "$dir/summary"
ci 1
has "::error file=automodel/16gpu/qwen3_30b_a3b_sft.yaml,line=$line,"
lacks "legacy.yaml"
head -1 "$dir/out" | grep -q '^::error' || fail "an error does not come first"
grep -q '^| error | automodel/16gpu/qwen3' "$dir/summary" || fail "the summary lacks the error"

# fixed, byte for byte what was there
run 0 "$moeplan" validate --fix .
ci 0
git checkout -q automodel/16gpu/legacy.yaml
git diff --exit-code >"$dir/out" || fail "the fix left something else"

# another number of the same key is a new finding
sed -i 's/ep_size: 6/ep_size: 7/' automodel/16gpu/legacy.yaml
ci 1
has "file=automodel/16gpu/legacy.yaml"

# the same finding once more is one too many
cp "$source"/examples/recipes/megatron/launch.sh megatron/twice.sh
sed -i 's/--seq-length/--seq-lenght 1 --seq-length/' megatron/twice.sh
run 0 "$moeplan" validate --write-baseline known.json .
ci 0
sed -i 's/--seq-length/--seq-lenght 1 --seq-length/' megatron/twice.sh
ci 1
has "--seq-lenght"
