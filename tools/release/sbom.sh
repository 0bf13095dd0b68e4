#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sbom.sh VERSION CJSON: what the static program consists of, as SPDX 2.3.
set -eu
version=$1
cjson=$(sed -n 's/^#define CJSON_VERSION_[A-Z]* //p' "$2/cJSON.h" | paste -sd.)
yaml=$(pkg-config --modversion yaml-0.1)
libc=$(dpkg-query -W -f '${source:Upstream-Version}' libc6-dev 2>/dev/null || getconf GNU_LIBC_VERSION | cut -d' ' -f2)
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)

package() { # NAME VERSION LICENCE [SHA256 of its source]
    printf '    {"SPDXID":"SPDXRef-%s","name":"%s","versionInfo":"%s","downloadLocation":"NOASSERTION","filesAnalyzed":false,' "$1" "$1" "$2"
    [ -z "${4:-}" ] || printf '"checksums":[{"algorithm":"SHA256","checksumValue":"%s"}],' "$4"
    printf '"licenseConcluded":"%s","licenseDeclared":"%s","copyrightText":"NOASSERTION"}' "$3" "$3"
}
cat <<END
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "moeplan-$version",
  "documentNamespace": "urn:moeplan:sbom:$version:${SOURCE_DATE_EPOCH:-0}",
  "creationInfo": {"created": "$created", "creators": ["Tool: moeplan-sbom"]},
  "packages": [
$(package moeplan "$version" Apache-2.0),
$(package cJSON "$cjson" MIT "$(cat "$2/source.sha256")"),
$(package libyaml "$yaml" MIT),
$(package glibc "$libc" LGPL-2.1-or-later)
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-moeplan"},
    {"spdxElementId": "SPDXRef-moeplan", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-cJSON"},
    {"spdxElementId": "SPDXRef-moeplan", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-libyaml"},
    {"spdxElementId": "SPDXRef-moeplan", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-glibc"}
  ]
}
END
