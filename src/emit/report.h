/* SPDX-License-Identifier: Apache-2.0 */
/* What `validate` says about one file, and its machine-readable forms. */
#ifndef MOEPLAN_EMIT_REPORT_H
#define MOEPLAN_EMIT_REPORT_H

#include "base/buf.h"
#include "diag/diag.h"

enum file_status { FILE_OK, FILE_INVALID, FILE_UNREADABLE, FILE_SKIPPED };

/* The world sizes at which nothing fails, when the file does not give one. */
struct world_sizes {
    bool known;          /* false: the world size is given, or nothing depends on it */
    int64_t multiple_of; /* every valid size is a multiple of this */
    int64_t up_to;       /* sizes were tried up to here */
    const int64_t *sizes;
    size_t n;
};

struct file_report {
    struct str path, format, framework, framework_version, model; /* empty: not known */
    int64_t gpus;                                                 /* 0: not known */
    enum file_status status;
    struct diags *diags; /* sorted */
    size_t rules_skipped;
    struct world_sizes world;
};

struct report_summary {
    size_t files, skipped, errors, warnings, infos, rules_skipped;
};

void report_count(struct report_summary *summary, const struct file_report *report);
/* One file object without line end. */
void report_json(const struct file_report *report, struct buf *out);
/* Its members alone, each with a comma before it. */
void report_json_members(const struct file_report *report, struct buf *out);
/* {"errors":…} and the other counts. */
void report_summary_json(const struct report_summary *summary, struct buf *out);
/* GitHub's workflow commands: one `::error file=…` line a diagnostic. */
void report_github(const struct file_report *report, struct buf *out);

#endif
