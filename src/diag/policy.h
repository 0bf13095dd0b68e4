/* SPDX-License-Identifier: Apache-2.0 */
/* What a project makes of findings: their severities, and those that it does not want. */
#ifndef MOEPLAN_DIAG_POLICY_H
#define MOEPLAN_DIAG_POLICY_H

#include <stdatomic.h>

#include "diag/select.h"

/* The severity of the rules that match; OFF: they are left out. */
enum { SEVERITY_OFF = -1 };
struct rule_severity {
    struct str pattern;
    int severity;
    struct span at; /* in the settings */
};

/* Findings of the rules that match are left out: all, or those about one parameter. */
struct rule_ignore {
    struct str pattern;
    struct str parameter; /* canonical name; empty: any */
    struct str reason;    /* empty: none */
    struct str until;     /* the last day on which it holds, as 2026-12-31; empty: for ever */
    struct span at;       /* in the settings */
    atomic_bool used;     /* files are checked by several threads */
};

struct severity_list {
    struct rule_severity *items;
    size_t n, cap;
};
struct ignore_list {
    struct rule_ignore **items;
    size_t n, cap;
};

/* The later of several severities that match wins. */
struct diag_policy {
    struct severity_list severity;
    struct ignore_list ignore;
    struct diag_selection wanted;
    struct str today; /* as 2026-12-31; empty: nothing expires */
};

/* Whether the last day is over. */
bool day_is_over(struct str until, struct str today);
/* Whether a text is a day as 2026-12-31. */
bool day_is_valid(struct str day);
/* Gives findings their severities, hides those that are ignored (DIAG_IGNORED) and drops those that
   are not wanted; what is fatal stays as it is. */
void diags_apply_policy(struct diags *all, const struct diag_policy *policy);

#endif
