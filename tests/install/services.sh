#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# services.sh PROGRAM SOURCE_DIR: what is shipped for GitHub, GitLab and pre-commit, as far as a machine without them can run it:
# the steps of the action and those that `init` writes are run as they stand, with a release that is a folder.
. "$(dirname "$0")/../helpers.sh"
for tool in curl python3 bash git; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
python3 -c 'import yaml' 2>/dev/null || {
    echo "skipped: no PyYAML"
    exit 77
}
moeplan=$(realpath "$moeplan") source=$(realpath "$source")

# A release as tools/release/release.sh lays it down.
version=$("$moeplan" version | sed -n 's/^moeplan //p')
name=moeplan-$version-linux-$(uname -m)
mkdir -p "$dir/release/$name/bin" "$dir/temp"
cp "$moeplan" "$dir/release/$name/bin/"
(cd "$dir/release" && tar -czf "$name.tar.gz" "$name" && rm -r "$name" && sha256sum -- *.tar.gz >SHA256SUMS)
MOEPLAN_RELEASE=file://$dir/release
export MOEPLAN_RELEASE RUNNER_TEMP="$dir/temp" GITHUB_PATH="$dir/path" GITHUB_ACTION_PATH="$source"

step() { # FILE PATH-TO-STEPS NUMBER: the shell of a step
    python3 -c 'import sys, yaml
node = yaml.safe_load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    node = node[int(key) if isinstance(node, list) else key]
print(node)' "$1" "$2"
}

# The action: its version is the program's, its steps run, and what was not published is not run.
[ "$(step "$source/action.yml" inputs.version.default)" = "$version" ] || fail "action.yml is of another version"
cp -R "$source/examples/recipes" "$dir/recipes"
cd "$dir/recipes"
step "$source/action.yml" runs.steps.0.run >"$dir/fetch"
step "$source/action.yml" runs.steps.1.run >"$dir/check"
MOEPLAN_VERSION=$version run 0 bash -e "$dir/fetch"
PATH=$(cat "$dir/path"):$PATH
[ "$(command -v moeplan)" = "$dir/temp/$name/bin/moeplan" ] || fail "the program is not on the path"
export MOEPLAN_PATHS=. MOEPLAN_OPTIONS=
expect 1 "::error file=automodel/qwen3_30b_a3b_broken.yaml,line=16" bash -e "$dir/check"
MOEPLAN_PATHS="bridge megatron" MOEPLAN_OPTIONS="--fail-on error" run 0 bash -e "$dir/check"
cp "$dir/release/SHA256SUMS" "$dir/sums"
sed -i 's/^..../0000/' "$dir/release/SHA256SUMS"
MOEPLAN_VERSION=$version run 1 bash -e "$dir/fetch"
cp "$dir/sums" "$dir/release/SHA256SUMS"

# The problem matcher finds each headline of a screen.
moeplan validate . >"$dir/screen" 2>/dev/null || true
python3 - "$source/tools/action/problem-matcher.json" "$dir/screen" <<'END' || fail "the problem matcher"
import json, re, sys
pattern = json.load(open(sys.argv[1]))["problemMatcher"][0]["pattern"][0]
lines = open(sys.argv[2]).read().splitlines()
found = [m for m in (re.match(pattern["regexp"], line) for line in lines) if m]
assert len(found) == sum("]: " in line and not line.startswith(" ") for line in lines) > 2
assert any(m.group(pattern["code"]) == "experts-divide-by-ep" and m.group(pattern["line"]) == "16" for m in found)
END

# init: what the repository has decides what is written, and nothing is written over.
rm -rf .github
git init -q .
expect 0 "6 recipes: 2 Megatron-LM, 1 Megatron-Bridge, 3 NeMo AutoModel" moeplan init --dry-run
[ ! -e .moeplan.yaml ] || fail "--dry-run wrote"
run 0 moeplan init
has ".pre-commit-config.yaml written"
[ "$(step .pre-commit-config.yaml repos.0.hooks.0.entry)" = "$(step "$source/.pre-commit-hooks.yaml" 0.entry)" ] || fail "two hooks"
git remote add origin https://github.com/x/y
run 0 moeplan init
has ".moeplan.yaml is there already and stays as it is"
has ".github/workflows/moeplan.yml written"
has "add to the repos of .pre-commit-config.yaml"
tail -n +3 "$source/examples/recipes/.github/workflows/moeplan.yml" | cmp - .github/workflows/moeplan.yml || fail "the example is another"
step .github/workflows/moeplan.yml jobs.recipes.steps.1.run >"$dir/check"
expect 1 "::error file=automodel/qwen3_30b_a3b_broken.yaml,line=16" bash -e "$dir/check"
echo "stages: [x]" >.gitlab-ci.yml
run 0 moeplan init --release "$MOEPLAN_RELEASE"
has ".gitlab/moeplan.yml written"
[ "$(cat .gitlab-ci.yml)" = "stages: [x]" ] || fail ".gitlab-ci.yml was changed"
step .gitlab/moeplan.yml moeplan.script.0 >"$dir/check"
expect 1 "experts-divide-by-ep" bash -e "$dir/check"
grep -q '"check_name":"experts-divide-by-ep"' gl-code-quality-report.json || fail "no code quality report"
expect 0 "moeplan.yml written over" moeplan init --overwrite
expect 2 "is no folder" moeplan init nowhere
expect 2 "is no address" moeplan init --release 'a b'
mkdir "$dir/empty"
echo "x: 1" >"$dir/empty/x.yaml"
expect 2 "there is no recipe" moeplan init "$dir/empty"

# The hook, where pre-commit is at hand.
if command -v pre-commit >/dev/null; then
    git add -A
    expect 1 "experts-divide-by-ep" pre-commit run --all-files
fi
