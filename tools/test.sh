#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh: installs what building and testing need, builds with every warning an error, and runs the quick tests on the
# release build; `test.sh --all` also builds with AddressSanitizer and UndefinedBehaviorSanitizer under gcc and clang and
# runs everything there too.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh test

run() { # preset, further cmake options
    preset=$1
    shift
    echo "== $preset"
    cmake --preset "$preset" "$@" >/dev/null
    cmake --build --preset "$preset" -j "$(nproc)"
    ctest --preset "$preset" -j "$(nproc)"
}

run release -DMOEPLAN_WERROR=ON -DMOEPLAN_TESTS=ON
if [ "${1:-}" = --all ]; then
    run dev
    run clang
fi
