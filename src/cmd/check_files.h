/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the command line, checked by as many threads as the machine has processors (at most
   eight), and handed out in the order in which they are named: what is printed is the same for any
   number of them. */
#ifndef MOEPLAN_CMD_CHECK_FILES_H
#define MOEPLAN_CMD_CHECK_FILES_H

#include "cmd/project.h"
#include "flow/fix.h"

/* How all of them are checked. */
struct file_checker {
    struct cmd_context *c;
    struct projects *projects;
    struct str as;
    bool fixes, unsafe; /* fix_text instead of validate_text */
};

/* One of them. */
struct named_file {
    struct str path;
    bool explicit;  /* the user named it, not a folder that it is in */
    struct str why; /* it cannot be looked at; empty: it can */
};
struct named_files {
    struct named_file *items;
    size_t n, cap;
};

/* What came of it. */
struct file_check {
    const struct named_file *file;
    const struct place *place;
    struct file_view view;
    bool settled; /* the settings for it can be used; else there is no report */
    struct str text;
    struct fixed_text fixed; /* with `fixes`: also the report */
    struct file_report report;
};

/* Takes what came of one, on the caller's own thread; what it holds ends with the call. A file that
   takes more memory or time than a request may (cmd.h) has a report of its own. */
typedef void file_taker(void *state, struct file_check *check);
void check_files(const struct file_checker *checker, const struct named_files *files,
                 file_taker *take, void *state);

#endif
