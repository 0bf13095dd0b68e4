#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# try.sh: from a fresh checkout to a plan: installs what building needs, builds build/moeplan, and plans DeepSeek-V3 on
# 256 GB200.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh
echo "building build/moeplan"
mkdir -p build
{
    cmake --preset release -DMOEPLAN_TESTS=OFF && cmake --build build --target moeplan -j "$(nproc)"
} >build/try.log 2>&1 || {
    tail -n 30 build/try.log >&2
    exit 1
}
set -- suggest examples/deepseek-v3-256-gb200/model.yaml --gpus 256 --platform gb200
echo "build/moeplan $*"
exec build/moeplan "$@"
