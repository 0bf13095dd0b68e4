/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of many files as people read them: errors first, then warnings and infos by rule. */
#ifndef MOEPLAN_CMD_FINDINGS_H
#define MOEPLAN_CMD_FINDINGS_H

#include "base/map.h"
#include "cmd/cmd.h"
#include "flow/validate.h"

/* What findings of a rule there are. */
struct finding_group {
    struct str rule;
    enum severity severity; /* the worst */
    size_t n, files;
    struct str last_file;
};

/* One finding as text, with marks. */
struct finding {
    struct str head, full;
    enum severity severity;
    uint32_t group;
};

struct findings {
    struct cmd_context *c;
    struct map group_of; /* rule -> index */
    VEC(struct finding_group) groups;
    VEC(struct finding) items;
    struct map kind_of; /* format -> index */
    VEC(struct file_kind {
        struct str format;
        size_t n;
    })
    kinds;
    bool heads_only; /* the first line of each is enough */
};

/* Takes what a report says, which need not outlive the call. */
void findings_add(struct findings *f, const struct file_report *report);
/* Prints all: errors in the order of the files; warnings, then infos, by rule, of many of a rule
   only the first with its lines below, unless `full`. */
void findings_print(struct findings *f, bool full, struct buf *out);
/* Each rule once, with how many findings and files it has; the worst and most frequent first. */
void findings_statistics(struct findings *f, int width, struct buf *out);
/* " (3 AutoModel recipes, 1 plan file)"; nothing where there is none. */
void findings_kinds(const struct findings *f, struct buf *out);

#endif
