/* SPDX-License-Identifier: Apache-2.0 */
/* compare of more than two, and against a baseline: one table. */
#ifndef MOEPLAN_CMD_COMPARE_MANY_H
#define MOEPLAN_CMD_COMPARE_MANY_H

#include "cmd/cmd.h"
#include "flow/compare.h"
#include "flow/wish.h"

/* One file; the first of them is the baseline. */
struct candidate {
    struct str path;
    struct estimate estimate;
    struct comparison against; /* the baseline; of the baseline empty */
};

/* Shows them and gives the exit status: as for two,
   STATUS_OK when all are the baseline's configuration, which runs and may fit. */
enum compare_format { COMPARE_TEXT, COMPARE_JSON };
int compare_many(struct cmd_context *c, const struct rule_set *rules, const struct candidate *items,
                 size_t n, const struct bill_wish *wish, enum compare_format format);
/* "a tie to the estimate": speeds this near are not told apart by it, in parts of the slower one.
 */
bool compare_is_tie(double tokens_per_s_a, double tokens_per_s_b);

#endif
