#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# try.sh: from a fresh checkout to a plan: installs what building needs, builds build/moeplan, and plans DeepSeek-V3 on 256 GB200.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh
cmake --preset release -DMOEPLAN_TESTS=OFF >/dev/null
cmake --build build --target moeplan -j "$(nproc)" | grep -E 'error|warning|Built target moeplan$' || true
exec build/moeplan suggest examples/deepseek-v3-256-gb200/model.yaml --gpus 256 --platform gb200
