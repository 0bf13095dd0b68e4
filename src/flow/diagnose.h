/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose: a run's plan, if it is known, and what it reported -> the wall it stands at, how it
   stands against the estimate, and fixes. First diagnose_begin, then a reading for every text of
   metrics, then diagnose. */
#ifndef MOEPLAN_FLOW_DIAGNOSE_H
#define MOEPLAN_FLOW_DIAGNOSE_H

#include "choose/diagnose.h"
#include "choose/refusal.h"
#include "facts/gpu_trace.h"
#include "facts/reader.h"
#include "facts/run_log.h"
#include "rules/known.h"

/* An error that a log tells of and a rule knows. */
struct told_error {
    const struct rule *rule;
    int64_t lines;
    struct str text; /* the first of them, cut */
};
enum { DIAGNOSED_ERRORS = 8 };

struct diagnosed {
    struct facts *facts;    /* of the plan or else of a framework's defaults, and the metrics */
    bool planned;           /* there is a plan */
    struct refusal refusal; /* of the plan */
    struct diagnosis found;
    int fits; /* of the plan, as far as it can be estimated; else FITS_YES */
    struct told_error errors[DIAGNOSED_ERRORS]; /* in the order in which they came */
    size_t n_errors;
    const struct run_log *log;     /* the last one; NULL: there was none */
    const struct gpu_trace *trace; /* likewise */
};

/* `plan` may be NULL: then the options say what is known of the run. False with errors in `diags`.
 */
bool diagnose_begin(struct arena *a, struct arena *scratch, struct diags *diags,
                    const struct rule_set *rules, const struct reading *plan,
                    const struct read_options *options, struct diagnosed *out);
/* A text of metrics under way: a mapping, a training log, or a profile. It comes in pieces and may
   have any size; only of a mapping the whole text is kept. */
struct diagnose_text;
struct diagnose_text *diagnose_text_new(struct arena *scratch, struct diagnosed *d,
                                        const struct rule_set *rules);
/* Takes a piece (base/io.h). */
void diagnose_text_piece(void *text, struct str piece);
/* False with errors in the facts' diagnostics, or *why set when it is none of these. */
bool diagnose_text_end(struct diagnose_text *x, struct str path, struct str *why);
/* Fills `found` and `fits`. */
void diagnose(struct arena *a, struct arena *scratch, const struct rule_set *rules,
              struct diagnosed *d);

#endif
