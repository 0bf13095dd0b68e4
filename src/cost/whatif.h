/* SPDX-License-Identifier: Apache-2.0 */
/* What a person would ask when a plan does not fit: which single change makes it fit, and what it
 * costs. */
#ifndef MOEPLAN_COST_WHATIF_H
#define MOEPLAN_COST_WHATIF_H

#include "cost/cost.h"

enum { WHATIF_CHANGES = 3 };

/* A plan that differs from the one asked about in one decision. */
struct memory_change {
    struct knobs knobs;
    double peak;   /* bytes */
    double freed;  /* bytes of the peak, at least 0 */
    double slower; /* step time over the plan's; below 1: faster */
    int fits;      /* FITS_YES or FITS_TIGHT */
};

/* Whether the caller would allow a changed plan (rules, pins). */
typedef bool memory_change_filter(const struct config *c, void *context);

/* The cheapest changes that make the plan fit, at most WHATIF_CHANGES: those that fit for certain
   first, then by step time, then by bytes freed. `allow` may be NULL. Returns how many were found;
   none when the plan fits already. */
int memory_cheapest_changes(const struct config *c, memory_change_filter *allow, void *context,
                            struct memory_change out[WHATIF_CHANGES]);

#endif
