#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs.sh GENERATE_DOCS SOURCE_DIR: the generated pages in docs/ are those that the program's data give.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/rules"
"$1" "$dir" || exit 1
for page in guides.md parameters.md moeplan.1; do
    diff -u "$2/docs/$page" "$dir/$page" || failed=1
done
diff -ru "$2/docs/rules" "$dir/rules" || failed=1
[ -z "${failed:-}" ] && exit 0
echo "docs/ is out of date: cmake --build build --target docs"
exit 1
