#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fit.sh PROGRAM SOURCE_DIR: the coefficients of runs in rules/platforms, and the accuracy that the program states, are what the
# committed fit makes of the committed runs. Whoever changes a law of the step time runs tools/fit/runs.py MOEPLAN --write.
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
python3 "$2/tools/fit/runs.py" "$1" --check
