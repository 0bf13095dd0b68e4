#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# spdx.sh SOURCE_DIR: every source and data file says its licence in its first lines. Inputs of tests are read as they
# are and need not.
set -u
cd "$1" || exit 1
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find CMakeLists.txt .ci cmake src include tools rules tests examples .github \
    \( -path '*/inputs/*' -o -path '*/seeds/*' -o -name node_modules \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' -o -name 'CMakeLists.txt' -o -name '*.yaml' -o -name '*.yml' -o -name '*.py' -o -path '.ci/*' \) \
    -print 2>/dev/null >"$list"
n=0 missing=0
while IFS= read -r file; do
    n=$((n + 1))
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' && continue
    echo "$file: no SPDX line"
    missing=$((missing + 1))
done <"$list"
echo "$n files, $missing without"
[ "$n" -gt 0 ] && [ "$missing" -eq 0 ]
