#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh [test]: installs what building needs on Debian or Ubuntu (a compiler, CMake, libyaml, cJSON; with "test" also
# cmocka and clang), through apt-get, with sudo when not root. Does nothing when everything is there.
set -eu
packages="gcc libc6-dev cmake make pkg-config libyaml-dev libcjson-dev"
if [ "${1:-}" = test ]; then packages="$packages libcmocka-dev clang"; fi

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || {
    echo "deps.sh: no apt-get here; install these yourself:$missing" >&2
    exit 1
}
as_root=
if [ "$(id -u)" != 0 ]; then as_root=sudo; fi
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends $missing >/dev/null
