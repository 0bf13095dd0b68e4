/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings are wanted: what --select, --ignore and --min-severity mean, and their like in
   settings. */
#ifndef MOEPLAN_DIAG_SELECT_H
#define MOEPLAN_DIAG_SELECT_H

#include "diag/diag.h"

/* Patterns of rule ids, in which * stands for any letters and ? for one (text_matches). */
struct rule_patterns {
    struct str *items;
    size_t n, cap;
};

/* A finding is wanted when its rule matches one of `select` (or there is none), none of `ignore`,
   and it is at least as severe as `least`. All zero: every finding is wanted. */
struct diag_selection {
    struct rule_patterns select, ignore;
    enum severity least;
};

/* Appends those of a list such as "ep-*, unknown-key"; the text outlives them. */
void rule_patterns_add(struct arena *a, struct rule_patterns *patterns, struct str list);
/* Whether the finding says that its text could not be read or checked: such a one is always
   wanted, as without it a broken file would be a good one. */
bool diag_is_fatal(const struct diag *d);
/* Drops the findings that are not wanted, in place, and gives their number. */
size_t diags_select(struct diags *all, const struct diag_selection *wanted);

#endif
