/* SPDX-License-Identifier: Apache-2.0 */
/* What `validate` says about one file in its machine-readable forms. */
#ifndef MOEPLAN_EMIT_REPORT_H
#define MOEPLAN_EMIT_REPORT_H

#include "base/buf.h"
#include "flow/validate.h"

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
