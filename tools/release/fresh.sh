#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fresh.sh OUT SUITE…: what release.sh made, in new minimal roots of Debian (bookworm, trixie): the static program by a user who
# is not root and before anything is installed, then the packages by apt. Needs root and debootstrap.
set -eu
out=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || :; rm -rf "$work"' EXIT
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)

for suite in "$@"; do
    root=$work/$suite
    debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1 || {
        tail "$work/log"
        exit 1
    }
    cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir "$root/out"
    cp "$out"/*.deb "$out"/*-linux-*.tar.gz "$root/out/"
    mount --bind /proc "$root/proc"
    cat >"$root/out/try.sh" <<'END'
set -eu
question="suggest qwen3-30b-a3b --gpus 8 --platform h100"
mkdir /tmp/own && tar -xzf /out/*-linux-*.tar.gz -C /tmp/own && chown -R nobody /tmp/own
su -s /bin/sh nobody -c "/tmp/own/*/bin/moeplan $question" >/tmp/static
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends /out/*.deb python3 >/dev/null 2>&1
moeplan $question >/tmp/packaged
cmp /tmp/static /tmp/packaged
python3 -c 'import ctypes; ctypes.CDLL("libmoeplan.so.0").moeplan_version'
apt-get -qq -y remove moeplan libmoeplan-dev libmoeplan0 >/dev/null 2>&1
[ ! -e /usr/bin/moeplan ]
END
    chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C sh /out/try.sh
    umount "$root/proc"
    echo "$suite: the static program and the packages answer alike"
done
