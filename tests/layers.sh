#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh SOURCE_DIR: fails when a file in src/ includes a folder that src/LAYERS does not allow it, or a folder is allowed
# what none of its files includes.
set -eu
cd "$1/src"
status=0
for folder in */; do
    folder=${folder%/}
    allowed=$(sed -n "s/^$folder: *//p" LAYERS)
    grep -q "^$folder:" LAYERS || { echo "src/$folder is not in src/LAYERS"; status=1; }
    for file in "$folder"/*.[ch]; do
        [ -e "$file" ] || continue
        for used in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file" | sort -u); do
            case " $folder $allowed " in
            *" $used "*) ;;
            *) echo "src/$file includes \"$used/...\", which $folder may not use"; status=1 ;;
            esac
        done
    done
    for used in $allowed; do
        grep -q "^#include \"$used/" "$folder"/*.[ch] || { echo "src/$folder uses no $used"; status=1; }
    done
done
exit $status
