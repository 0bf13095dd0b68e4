#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The forms for CI systems: SARIF by the rules of its schema, checkstyle, GitLab, and our JSON by its own schema.
. "$(dirname "$0")/../helpers.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
moeplan=$(realpath "$moeplan")
cd "$dir"
mkdir "a b"
sed 's/ep_size: 6/& # moeplan: ignore[experts-divide-by-ep] known/' \
    "$source/examples/recipes/automodel/qwen3_30b_a3b_broken.yaml" >"a b/ü.yaml"
echo '"<&>": {}' >>"a b/ü.yaml"
cp "$source/examples/recipes/automodel/qwen3_30b_a3b_broken.yaml" c.yaml
printf 'x: [\n' >torn.yaml
"$moeplan" validate --write-baseline known.json c.yaml >/dev/null 2>&1
for format in sarif checkstyle gitlab json; do
    "$moeplan" validate --baseline known.json --format $format . >out.$format 2>/dev/null || true
done
"$moeplan" schema report >report.schema
python3 -W ignore "$source/tests/cli/formats.py" . >"$dir/out" 2>&1 || fail "a form is not as it should be"
