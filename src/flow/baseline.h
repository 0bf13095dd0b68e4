/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that are known and left for later: only new ones count. A finding is the same by its
   file, rule, parameter and values, wherever in the file it stands. */
#ifndef MOEPLAN_FLOW_BASELINE_H
#define MOEPLAN_FLOW_BASELINE_H

#include "base/buf.h"
#include "base/map.h"
#include "flow/validate.h"

struct known_finding {
    struct str path, rule, parameter, values;
    struct str until; /* the last day on which it is known; empty: for ever */
    size_t count, met;
};

/* Start zeroed with `arena` set; what is added is copied into it. */
struct baseline {
    struct arena *arena;
    struct known_finding *items;
    size_t n, cap;
    struct map index, looked_at; /* paths of files that were looked at */
    struct str until;            /* of all entries that have none */
};

/* False with errors of rule `baseline` added when the source is none. */
bool baseline_read(struct baseline *b, struct diags *diags, uint32_t source);
/* Hides the findings of a file's report that are known (DIAG_KNOWN); `path` is the file's from the
   folder of the baseline on. */
void baseline_hide(struct baseline *b, struct diags *diags, struct str path, struct str today);
/* Whether a finding of the file is known, and so are all that are the same; nothing is counted. */
bool baseline_knows(const struct baseline *b, struct diags *diags, const struct diag *d,
                    struct str path, struct str today);
/* Adds what is found in a file. */
void baseline_add(struct baseline *b, struct diags *diags, struct str path);
/* How many of the known findings are gone from the files that were looked at. */
size_t baseline_gone(const struct baseline *b);
/* As JSON, one finding a line, by path, rule and the rest. */
void baseline_write(struct baseline *b, struct buf *out);

#endif
