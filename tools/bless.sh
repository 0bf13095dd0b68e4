#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bless.sh [BUILD]: builds, and writes everything anew that follows from what the program says: the generated pages, the
# outputs in README.md and in the examples, the screens and recorded sessions of the tests and the accuracy page. Look at
# the difference before you commit it.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target moeplan docs
sh tests/cli/screens.sh "$build/moeplan" . --bless
python3 tests/cli/terminal.py "$build/moeplan" . --bless
sh tests/cli/readme.sh "$build/moeplan" . --bless
python3 -B tests/lsp/replay.py "$build/moeplan" tests/lsp/recorded --bless
sh tools/accuracy.sh "$build/moeplan"
