/* SPDX-License-Identifier: Apache-2.0 */
/* Public measurements near a configuration: shown beside the estimate, never part of it. */
#ifndef MOEPLAN_COST_EVIDENCE_H
#define MOEPLAN_COST_EVIDENCE_H

#include "plan/config.h"

enum evidence_class { EVIDENCE_MODELLED, EVIDENCE_INTERPOLATED, EVIDENCE_MEASURED };
enum { EVIDENCE_NEAREST = 3 };

struct evidence_run {
    struct str id, source;
    double distance; /* 0: the same configuration */
};

struct evidence {
    enum evidence_class grade;
    struct evidence_run nearest[EVIDENCE_NEAREST]; /* nearest first */
    size_t n;
};

/* The nearest measured runs and what they make of the estimate: measured (the same configuration is
   among them), interpolated (a near one), or modelled. */
void evidence_find(const struct config *c, struct evidence *out);

#endif
