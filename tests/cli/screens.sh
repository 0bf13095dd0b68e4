#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# screens.sh PROGRAM SOURCE_DIR [--bless]: every screens/*.cmd is a few shell lines, run in screens/inputs with moeplan on
# the PATH; what they print (stdout, then stderr, of each command) and the last exit status
# must be what screens/*.txt says. --bless writes the .txt files anew:
# look at the difference before you commit it.
set -u
program=$(realpath "$1") folder=$(realpath "$2")/tests/cli/screens bless=${3:-}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
ln -s "$program" "$bin/moeplan"
PATH=$bin:$PATH LC_ALL=C
unset NO_COLOR
export PATH LC_ALL
cd "$folder/inputs" || exit 1
failed=0
for case in "$folder"/*.cmd; do
    name=$(basename "$case" .cmd)
    {
        # how many rules there are is not the business of a screen
        { sh "$case" 2>&1; echo "[exit $?]"; } | sed "s/\"rules_skipped\":[0-9]*/\"rules_skipped\":N/; s/[0-9]* rules\{0,1\} skipped/N rules skipped/"
    } >"$bin/actual"
    if grep -qE '^(Segmentation fault|Aborted|1[2-9][0-9]$)' "$bin/actual"; then
        echo "screens/$name: a command ended by a signal, which is no screen"
        failed=1
    elif [ "$bless" = --bless ]; then
        cp "$bin/actual" "$folder/$name.txt"
    elif ! diff -u "$folder/$name.txt" "$bin/actual"; then
        echo "screens/$name differs"
        failed=1
    fi
done
exit $failed
