#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guides.sh PROGRAM SOURCE_DIR: every row of the decision guides has a rule that some example fires and another leaves
# silent, and the rows are all there.
set -u
program=$1
rows=$("$program" rules --guides --format json | sed 's/{"id":/\n&/g' | grep '^{"id":')
want='S0 18 S1 16 S2 20 S3 16 S4 19'
set -- $want
failed=0
while [ $# -gt 0 ]; do
    n=$(printf '%s\n' "$rows" | grep -c "\"id\":\"$1\\.")
    if [ "$n" -ne "$2" ]; then
        echo "guide $1 has $n rows, not $2"
        failed=1
    fi
    shift 2
done
bare=$(printf '%s\n' "$rows" | grep -E '"rules":\[\]|"fires":0|"silent":0' | cut -c8-13)
if [ -n "$bare" ]; then
    echo "rows without a rule, or whose rules never fire or never stay silent:"
    echo "$bare"
    failed=1
fi
exit $failed
