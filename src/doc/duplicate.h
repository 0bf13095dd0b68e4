/* SPDX-License-Identifier: Apache-2.0 */
/* Duplicate keys, for both readers. */
#ifndef MOEPLAN_DOC_DUPLICATE_H
#define MOEPLAN_DOC_DUPLICATE_H

#include "doc/node.h"

/* Adds a diagnostic `duplicate-key` for every key of the map that an earlier entry has too: a
   warning, or info when both values are the same. A map of many entries gets its index. */
void map_report_duplicates(struct arena *a, struct diags *all, struct node *map);

#endif
