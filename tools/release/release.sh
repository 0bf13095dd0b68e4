#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh OUT: makes in OUT all that is shipped of the last commit: the source, the static program, Debian's packages, the
# list of what is inside (SPDX) and the checksums. Everything is built twice, in two places, and must come out alike.
# OPTIONS=… are further words for cmake. MOEPLAN_SITE_URI=… is where the site of the documentation can be read,
# MOEPLAN_CONTACT=… who answers for the packages (Name <mail@host>).
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^project(moeplan VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
machine=$(uname -m)
grep -q "^## $version" CHANGELOG.md || {
    echo "release.sh: CHANGELOG.md says nothing about $version" >&2
    exit 1
}
[ "${MOEPLAN_SITE_URI:-}" ] || echo "release.sh: without MOEPLAN_SITE_URI findings have no links" >&2
[ "${MOEPLAN_CONTACT:-}" ] || echo "release.sh: without MOEPLAN_CONTACT the packages name nobody" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { # FOLDER NAME: FOLDER/NAME as NAME.tar.gz
    tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$2" | gzip -9n
}

build() { # FOLDER BUILD OPTION…: of the source that lies in FOLDER
    source=$1 build=$2
    shift 2
    # shellcheck disable=SC2086 # words
    CFLAGS="-ffile-prefix-map=$source=." cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DMOEPLAN_TESTS=OFF \
        -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON "-DMOEPLAN_SITE_URI=${MOEPLAN_SITE_URI:-}" \
        "-DMOEPLAN_CONTACT=${MOEPLAN_CONTACT:-}" "$@" ${OPTIONS:-} >"$work/log" 2>&1 &&
        cmake --build "$build" -j "$(nproc)" >>"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        exit 1
    }
}

# CPack has the library's scripts call ldconfig, which the trigger beside them does, and counts what a link leads to again.
tidy() { # PACKAGE FOLDER
    rm -rf "$work/open"
    dpkg-deb -R "$1" "$work/open"
    rm -f "$work/open/DEBIAN/postinst" "$work/open/DEBIAN/postrm"
    kib=$(find "$work/open" -path "$work/open/DEBIAN" -prune -o -type f -printf '%s\n' -o -printf '1\n' |
        awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
    sed -i "s/^Installed-Size: .*/Installed-Size: $kib/" "$work/open/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -b "$work/open" "$2" >/dev/null
}

make_all() { # PLACE
    place=$1
    mkdir -p "$place/out"
    git archive --prefix="moeplan-$version/" "$commit" | tar -x -C "$place"
    build "$place/moeplan-$version" "$place/deb" -DCMAKE_INSTALL_PREFIX=/usr -DMOEPLAN_ZSH_DIR=share/zsh/vendor-completions
    (cd "$place/deb" && cpack -B "$place/packages") >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    for package in "$place"/packages/*.deb; do
        tidy "$package" "$place/out"
    done
    build "$place/moeplan-$version" "$place/static" -DMOEPLAN_STATIC=ON "-DMOEPLAN_CJSON_SOURCE=$work/cjson"
    name=moeplan-$version-linux-$machine
    DESTDIR="$place/tree" cmake --install "$place/static" --prefix "/$name" >/dev/null
    cp LICENSE README.md CHANGELOG.md "$place/tree/$name/"
    cp "$work/cjson/LICENSE" "$place/tree/$name/LICENSE.cJSON"
    pack "$place/tree" "$name" >"$place/out/$name.tar.gz"
    pack "$place" "moeplan-$version" >"$place/out/moeplan-$version.tar.gz"
}

sh tools/release/cjson.sh "$work/cjson"
make_all "$work/one"
make_all "$work/another/place"
for file in "$work"/one/out/*; do
    cmp "$file" "$work/another/place/out/${file##*/}"
done
cp "$work"/one/out/* "$out/"
sh tools/release/sbom.sh "$version" "$work/cjson" >"$out/moeplan-$version.spdx.json"
(cd "$out" && sha256sum -- *.deb *.tar.gz *.json >SHA256SUMS && cat SHA256SUMS)
command -v lintian >/dev/null || {
    echo "no lintian here: the packages are as they are"
    exit 0
}
lintian --fail-on warning,error --allow-root "$out"/*.deb
