/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in the forms that CI systems and code hosts read. Each begins with a head, has a part
   for each file, and ends with a foot. */
#ifndef MOEPLAN_EMIT_REPORT_CI_H
#define MOEPLAN_EMIT_REPORT_CI_H

#include "base/map.h"
#include "emit/report.h"

/* SARIF 2.1.0: one run. */
struct sarif {
    struct arena *arena; /* for what is kept from file to file */
    const struct rule_set *rules;
    bool baseline; /* one is in use: each result says whether it is new */
    struct map index;
    struct str *items; /* ids of rules that were found */
    size_t n, cap, results;
};
void sarif_head(struct buf *out);
void sarif_file(struct sarif *s, const struct file_report *report, struct buf *out);
void sarif_foot(const struct sarif *s, struct buf *out);

/* Checkstyle's XML. */
void checkstyle_head(struct buf *out);
void checkstyle_file(const struct file_report *report, struct buf *out);
void checkstyle_foot(struct buf *out);

/* GitLab's Code Quality: a JSON list, each with a fingerprint of its own. */
struct gitlab {
    struct arena *arena;
    struct map seen; /* fingerprint -> how many there were */
    size_t n;
};
void gitlab_head(struct buf *out);
void gitlab_file(struct gitlab *g, const struct file_report *report, struct buf *out);
void gitlab_foot(struct buf *out);

/* GitHub: annotations, of which it shows few: those of one severity of a file. */
void github_file(const struct file_report *report, enum severity severity, struct buf *out);
/* A step's summary in Markdown: the counts, then a table of the findings of a severity. */
void summary_head(const struct report_summary *summary, struct buf *out);
void summary_file(const struct file_report *report, enum severity severity, struct buf *out);

/* A number that stays when the file changes elsewhere: of the rule, parameter and values. */
uint64_t finding_fingerprint(struct diags *diags, const struct diag *d);

#endif
