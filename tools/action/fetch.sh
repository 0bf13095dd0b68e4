#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fetch.sh: a step of action.yml. The program of version $MOEPLAN_VERSION from the address $MOEPLAN_RELEASE, its checksum compared,
# on the path of the steps that follow.
set -eu
name=moeplan-$MOEPLAN_VERSION-linux-$(uname -m)
cd "$RUNNER_TEMP"
for file in "$name.tar.gz" SHA256SUMS; do
    curl -fsSL --retry 3 -o "$file" "$MOEPLAN_RELEASE/$file"
done
sha256sum --check --ignore-missing SHA256SUMS
tar -xzf "$name.tar.gz"
echo "$RUNNER_TEMP/$name/bin" >>"$GITHUB_PATH"
