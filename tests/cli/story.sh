#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole story of a repository that takes moeplan in: set up, what was wrong before is known, a commit that breaks a recipe
# fails with an annotation at its line, the fix is taken, and all is well again.
. "$(dirname "$0")/../helpers.sh"
command -v git >/dev/null || {
    echo "skipped: no git"
    exit 77
}
moeplan=$(realpath "$moeplan")
cp -R "$source/examples/recipes" "$dir/repository"
cp "$source/examples/qwen3-235b-256-h800/plan.yaml" "$dir/repository/"
cd "$dir/repository"
rm -rf .github
git init -q .
git remote add origin https://github.com/x/recipes
commit() { git add -A && git -c user.name=x -c user.email=x@y commit -qm "$1"; }
commit "recipes"

# Set up: settings and a workflow; what is wrong already is known from now on.
expect 0 ".github/workflows/moeplan.yml written" "$moeplan" init
expect 1 "qwen3_30b_a3b_broken.yaml" "$moeplan" validate .
run 0 "$moeplan" validate . --write-baseline .moeplan-baseline.json
echo "baseline: .moeplan-baseline.json" >>.moeplan.yaml
run 0 "$moeplan" validate .
commit "moeplan"

# A commit that breaks two recipes.
script=$(grep -l -r -- --expert-model-parallel-size megatron | head -n 1)
sed -i 's/--expert-model-parallel-size/--expert-model-parallel-siz/' "$script"
sed -i 's/^use_distributed_optimizer:/use_distributed_optimzer:/' plan.yaml
commit "a slip of the keyboard"
line=$(grep -n -- --expert-model-parallel-siz "$script" | head -n 1 | cut -d: -f1)
expect 1 "::error file=$script,line=$line," "$moeplan" validate . --format github
has "::error file=plan.yaml,line=$(grep -n optimzer plan.yaml | cut -d: -f1),"
lacks "::error file=automodel"

# The fix, as git takes it, is what was there before.
"$moeplan" validate . --diff >"$dir/fix.diff" 2>/dev/null || true
run 0 git apply "$dir/fix.diff"
run 0 "$moeplan" validate .
run 0 git diff --exit-code HEAD~1 -- plan.yaml megatron bridge
git checkout -q .
run 0 "$moeplan" validate . --fix
run 0 git diff --exit-code HEAD~1 -- plan.yaml megatron bridge
run 0 "$moeplan" validate . --fix
