/* SPDX-License-Identifier: Apache-2.0 */
/* What `validate` says about one file in its machine-readable forms. */
#ifndef MOEPLAN_EMIT_REPORT_H
#define MOEPLAN_EMIT_REPORT_H

#include "base/buf.h"
#include "flow/validate.h"

/* Of the form of a file's object and of the whole answer; `schema report` describes it. */
enum { REPORT_SCHEMA = 1 };

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

#endif
