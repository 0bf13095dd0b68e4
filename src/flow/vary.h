/* SPDX-License-Identifier: Apache-2.0 */
/* What if: one recipe estimated with some of its parameters at several values, each combination as
   if it were stated alone. */
#ifndef MOEPLAN_FLOW_VARY_H
#define MOEPLAN_FLOW_VARY_H

#include "flow/estimate.h"
#include "flow/wish.h"

enum { VARY_MOST = 512, VARY_MOST_AXES = 8 }; /* combinations; parameters */

/* One parameter, by any name that --set takes, and its values as texts. */
struct vary_axis {
    struct str name;
    VEC(struct str) values;
};

struct vary_row {
    struct str values[VARY_MOST_AXES];
    bool complete; /* else `why` says what is missing, and there are no figures */
    struct time_estimate time;
    double peak, peak_low, peak_high; /* bytes */
    int fits;                         /* as struct memory_estimate */
    struct str refused, why; /* rule and text of the first error; empty: it is not refused */
    struct bill bill;        /* where the wish says how much is trained */
    bool best;               /* the fastest by useful tokens of those that run and surely fit */
};

struct vary {
    const struct vary_axis *axes;
    size_t n_axes;
    struct vary_row *rows; /* the last parameter changes fastest */
    size_t n;
};

/* What is varied, and how. */
struct vary_ask {
    struct str path, text, as;
    const struct read_options *options;
    const struct vary_axis *axes;
    size_t n_axes;
    const struct bill_wish *wish;
};

/* NAME=VALUES: values with commas between, or A..B in doublings. False with *why set. */
bool vary_axis_read(struct arena *a, struct str text, struct vary_axis *out, struct str *why);
/* Estimates all combinations of the recipe's first configuration. False with *why set when there
   are too many, or a name is nobody's. */
bool vary_answer(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 const struct vary_ask *ask, struct vary *out, struct str *why);

#endif
