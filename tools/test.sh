#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh [--all]: installs what building and testing need, builds with every warning an error, and runs the quick tests
# on the release build. --all runs everything again with AddressSanitizer and UndefinedBehaviorSanitizer under gcc, and
# the quick ones so under clang.
set -eu
cd "$(dirname "$0")/.."
all=${1:-}
case $all in
'') sh tools/deps.sh test ;;
--all) sh tools/deps.sh all ;;
*)
    echo "usage: test.sh [--all]" >&2
    exit 2
    ;;
esac

run() { # PRESET, further options of ctest
    preset=$1
    shift
    echo "== $preset"
    cmake --preset "$preset" -DMOEPLAN_WERROR=ON -DMOEPLAN_TESTS=ON >/dev/null
    cmake --build --preset "$preset" -j "$(nproc)"
    ctest --preset "$preset" -j "$(nproc)" "$@"
}

if [ -z "$all" ]; then
    run release -LE long
    exit
fi
run release
run dev
run clang -LE 'long|pages'
