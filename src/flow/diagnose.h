/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose: a run's plan, if it is known, and its metrics -> the wall it stands at, and fixes.
   First diagnose_begin, then diagnose_read for every text of metrics, then diagnose. */
#ifndef MOEPLAN_FLOW_DIAGNOSE_H
#define MOEPLAN_FLOW_DIAGNOSE_H

#include "choose/diagnose.h"
#include "choose/refusal.h"
#include "facts/reader.h"

struct diagnosed {
    struct facts *facts;    /* of the plan or else of a framework's defaults, and the metrics */
    bool planned;           /* there is a plan */
    struct refusal refusal; /* of the plan */
    struct diagnosis found;
    int fits; /* of the plan, as far as it can be estimated; else FITS_YES */
};

/* `plan` may be NULL: then the options say what is known of the run. False with errors in `diags`.
 */
bool diagnose_begin(struct arena *a, struct arena *scratch, struct diags *diags,
                    const struct rule_set *rules, const struct reading *plan,
                    const struct read_options *options, struct diagnosed *out);
/* A mapping of metrics, or a training log. False with errors in the facts' diagnostics, or *why set
   when it is neither. */
bool diagnose_read(struct diagnosed *d, struct str path, struct str text, struct str *why);
/* Fills `found` and `fits`. */
void diagnose(struct arena *a, struct arena *scratch, const struct rule_set *rules,
              struct diagnosed *d);

#endif
