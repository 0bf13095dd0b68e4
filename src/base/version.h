/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of the frameworks: "0.14.1", "0.16.0rc2", "main@2026-08-22". */
#ifndef MOEPLAN_BASE_VERSION_H
#define MOEPLAN_BASE_VERSION_H

#include "base/str.h"

/* <0, 0 or >0. Numbers are compared part by part, a missing part is 0; a release candidate is
   before its release; "main" is after every release, "main@DATE" are in the order of their dates
   and plain "main" is after all of them. */
int version_cmp(struct str a, struct str b);
/* version >= from (inclusive) and < to (exclusive); an empty bound is open. */
bool version_between(struct str version, struct str from, struct str to);

#endif
