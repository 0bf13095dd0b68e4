/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of laws against measured times, by kind of row. */
#ifndef MOEPLAN_CMD_KERNEL_CHECK_H
#define MOEPLAN_CMD_KERNEL_CHECK_H

#include "base/arena.h"

enum { CHECK_KINDS = 256, CHECK_BINS = 2400 };

/* Errors of one kind of row: how many logarithms of law over measured fall into each bin of 0.25 %,
   from -3 to 3. */
struct check_kind {
    struct str name; /* op, kernel, dtype, chip */
    uint32_t n, bins[CHECK_BINS];
};

struct check_tally {
    struct check_kind *kinds[CHECK_KINDS];
    size_t n;
    size_t rows, unlawful; /* rows read; those without a law or a kind */
};

/* Counts a row; names and bins come from `a`. */
void kernel_check_add(struct arena *a, struct check_tally *tally, struct str name, double law_s,
                      double measured_s);
/* The part-quantile of the logarithm of law over measured, or of its size. */
double kernel_check_quantile(const struct check_kind *kind, double part, bool size);

#endif
