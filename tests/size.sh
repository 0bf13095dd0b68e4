#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# size.sh PROGRAM BYTES: the program as it is shipped, its rules and tables in it, is no larger.
set -u
size=$(wc -c < "$1")
[ "$size" -le "$2" ] || {
    echo "$1: $size bytes, at most $2 are wanted"
    exit 1
}
