#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How a repository of recipes adopts the check: it is set up, what was wrong before is known, a commit that breaks recipes fails with
# an annotation at each line, the fix is taken, and all is well again.
. "$(dirname "$0")/../helpers.sh"
command -v git >/dev/null || { echo "no git"; exit 77; }
moeplan=$(realpath "$moeplan")
mkdir "$dir/repo"
cd "$dir/repo"
git init -q .
git config user.email a@b.c
git config user.name a
git remote add origin https://github.com/x/recipes
commit() { git add -A && git commit -qm "$1"; }
ci() { # STATUS: the step that runs on every commit
    run "$1" env GITHUB_STEP_SUMMARY="$dir/summary" "$moeplan" validate --format github .
}

# recipes of four formats and several sizes, two of them with old sins
mkdir -p automodel/16gpu bridge megatron plans old
cp "$source"/examples/recipes/automodel/*.yaml automodel/16gpu/
cp "$source"/examples/recipes/bridge/overrides.txt bridge/
cp "$source"/examples/recipes/megatron/* megatron/
cp "$source/examples/qwen3-235b-256-h800/plan.yaml" .
printf 'moeplan: 1\nframework: megatron\nmodel: qwen3-30b-a3b\nep: 8\nmbs: 1\ngbs: 512\nseq: 4096\n' >plans/a.yaml
sed 's/ep_size: .*/ep_size: 6/' automodel/16gpu/qwen3_30b_a3b_sft.yaml >automodel/16gpu/legacy.yaml
cp automodel/16gpu/legacy.yaml old/
printf 'scratch/\n' >.gitignore
mkdir scratch
cp old/legacy.yaml scratch/
commit "recipes"

# set up: settings and a workflow
expect 0 ".github/workflows/moeplan.yml written" "$moeplan" init
expect 1 "qwen3_30b_a3b_broken.yaml" "$moeplan" validate .

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
commit "moeplan"

# a broken commit: the annotations are at its lines
line_of() { grep -n -- "$1" "$2" | head -n 1 | cut -d: -f1; }
sed -i 's/local_batch_size:/local_batch_sise:/' automodel/16gpu/qwen3_30b_a3b_sft.yaml
sed -i 's/--expert-model-parallel-size/--expert-model-parallel-siz/; s/--seq-length/--seq-lenght/' megatron/launch.sh
sed -i 's/^use_distributed_optimizer:/use_distributed_optimzer:/' plan.yaml
sed -i '1i # a line more above the old sin' automodel/16gpu/legacy.yaml
commit "a slip of the keyboard"
rm -f "$dir/summary"
ci 1
has "::error file=automodel/16gpu/qwen3_30b_a3b_sft.yaml,line=$(line_of local_batch_sise automodel/16gpu/qwen3_30b_a3b_sft.yaml),"
has "::error file=megatron/launch.sh,line=$(line_of --expert-model-parallel-siz megatron/launch.sh),"
has "::error file=plan.yaml,line=$(line_of optimzer plan.yaml),"
lacks "legacy.yaml"
lacks "broken.yaml"
head -1 "$dir/out" | grep -q '^::error' || fail "an error does not come first"
grep -q '^| error | automodel/16gpu/qwen3' "$dir/summary" || fail "the summary lacks the error"

# fixed, byte for byte what was there, and what is known stays as it is: as git takes it, wherever the files are named from
for from in . "$PWD" plans/../; do
    "$moeplan" validate "$from" --diff >"$dir/fix.diff" 2>/dev/null || true
    git apply --check "$dir/fix.diff" || fail "git does not take the difference of $from"
done
run 0 git apply "$dir/fix.diff"
ci 0
run 0 git diff --exit-code HEAD~1 -- . ':!automodel/16gpu/legacy.yaml'
git checkout -q .
run 0 "$moeplan" validate --fix .
ci 0
run 0 git diff --exit-code HEAD~1 -- . ':!automodel/16gpu/legacy.yaml'
run 0 "$moeplan" validate --fix .
run 0 git diff --exit-code HEAD~1 -- . ':!automodel/16gpu/legacy.yaml'
run 0 git diff --exit-code -- automodel/16gpu/legacy.yaml

# another number of the same key is a new finding
sed -i 's/ep_size: 6/ep_size: 7/' automodel/16gpu/legacy.yaml
ci 1
has "file=automodel/16gpu/legacy.yaml"

# the same finding once more is one too many, and then all of them are fixed
cp "$source"/examples/recipes/megatron/launch.sh megatron/twice.sh
sed -i 's/--swiglu/--swigllu --swiglu/' megatron/twice.sh
run 0 "$moeplan" validate --write-baseline known.json .
ci 0
sed -i 's/--swiglu/--swigllu --swiglu/' megatron/twice.sh
ci 1
has "--swigllu"
run 0 "$moeplan" validate --fix .
! grep -q swigllu megatron/twice.sh || fail "a new finding like a known one is not fixed"
