#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cjson.sh FOLDER: Debian's source of cJSON, unpacked there, for -DMOEPLAN_CJSON_SOURCE: Debian has no archive of it to link a
# static program with. What apt trusts is checked by apt; its own lists and settings stay as they are.
set -eu
folder=$1
mkdir -p "$folder"
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/parts"
cp /etc/apt/sources.list.d/*.sources "$state/parts/" 2>/dev/null || :
sed -i 's/^Types:.*/Types: deb-src/' "$state"/parts/*.sources 2>/dev/null || :
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$state/sources.list"
set -- -qq -o "Dir::Etc::sourcelist=$state/sources.list" -o "Dir::Etc::sourceparts=$state/parts" -o "Dir::State::lists=$state/lists"
apt-get "$@" -o APT::Sandbox::User=root update
cd "$state"
apt-get "$@" -o APT::Sandbox::User=root source --download-only cjson
tar -xf cjson_*.orig.tar.* --strip-components=1 -C "$folder"
sha256sum cjson_*.orig.tar.* | cut -d' ' -f1 >"$folder/source.sha256"
