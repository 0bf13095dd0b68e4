#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh [test|all]: installs what building needs (a C compiler, CMake, libyaml, cJSON), with "test" also what the tests
# need (cmocka), with "all" also clang and its sanitizers, and cmark-gfm for the site. Through apt-get, with sudo when not
# root; does nothing when everything is there.
set -eu
packages="gcc libc6-dev cmake make pkg-config libyaml-dev libcjson-dev"
case ${1:-} in
'') ;;
test) packages="$packages libcmocka-dev" ;;
all) packages="$packages libcmocka-dev clang libclang-rt-dev libcmark-gfm-dev libcmark-gfm-extensions-dev" ;;
*)
    echo "usage: deps.sh [test|all]" >&2
    exit 2
    ;;
esac

have() { # PACKAGE: whether what it is for is there, however it came
    case $1 in
    gcc) command -v cc ;;
    cmake | make | pkg-config | clang) command -v "$1" ;;
    libc6-dev) echo '#include <stdlib.h>' | cc -E - ;;
    libyaml-dev) pkg-config --exists yaml-0.1 ;;
    libcjson-dev) pkg-config --exists libcjson ;;
    libcmocka-dev) pkg-config --exists cmocka ;;
    libcmark-gfm-dev) pkg-config --exists libcmark-gfm ;;
    libcmark-gfm-extensions-dev) echo '#include <cmark-gfm-core-extensions.h>' | cc -E - ;;
    libclang-rt-dev) echo 'int main(void) { return 0; }' | clang -fsanitize=address,undefined -x c - -o /dev/null ;;
    esac >/dev/null 2>&1
}

missing=
for package in $packages; do
    have "$package" || missing="$missing $package"
done
# What asks the language server, judges the schemas as editors do, and looks at the site; the tests that want them are skipped without.
if [ "${1:-}" = all ] && command -v npm >/dev/null; then
    for asker in lsp site; do
        folder=$(dirname "$0")/../tests/$asker
        [ -d "$folder/node_modules" ] || timeout 120 npm install --silent --fetch-retries=1 --fetch-timeout=30000 --no-audit --no-fund \
            --no-package-lock --prefix "$folder" >/dev/null 2>&1 ||
            echo "deps.sh: npm has no packages for tests/$asker here; the tests with them are skipped"
    done
fi
[ -n "$missing" ] || exit 0

cannot() { # WHY: what is missing, by the names that it has elsewhere
    cat >&2 <<EOF
deps.sh: $1. Missing here:$missing. Install them yourself, then build by hand (README.md):
  Fedora, RHEL  dnf install gcc cmake make pkgconf-pkg-config libyaml-devel cjson-devel
  conda         conda install -c conda-forge c-compiler cmake make pkg-config libyaml cjson   (no root needed)
  Homebrew      brew install cmake pkg-config libyaml cjson
EOF
    exit 1
}

command -v apt-get >/dev/null || cannot "there is no apt-get"
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || cannot "you are not root and there is no sudo"
    as_root=sudo
fi
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
