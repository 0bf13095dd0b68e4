/* SPDX-License-Identifier: Apache-2.0 */
/* How far a text reaches: which files it may name. A text is somebody else's: what it names must
   lie in the repository that it lies in itself. */
#ifndef MOEPLAN_BASE_REACH_H
#define MOEPLAN_BASE_REACH_H

#include "base/arena.h"

struct reach {
    struct str folder; /* that names start from, as seen from the current one; empty: that one */
    struct str root;   /* real path of the folder that everything must lie below; empty: nothing
                          may be named */
};

/* The reach of a text in the folder: up to the nearest folder upward that holds .git or
   .moeplan.yaml, else to the folder itself. */
struct reach reach_of_folder(struct arena *a, struct str folder);
/* The reach of the file at the path; of what is no regular file (standard input, a pipe, a mere
   label) that of the current folder. */
struct reach reach_of_file(struct arena *a, struct str path);

enum reach_verdict {
    REACH_FOUND,
    REACH_NOTHING, /* nothing is there */
    REACH_OUTSIDE, /* it lies outside of the root, or would: that nothing is there is not said then
                    */
};
/* What is meant by a name: what lies there from the text's folder on, else from the root on. *path
   leads to it from the current folder; *real is its real path, empty when nothing is there. */
enum reach_verdict reach_find(struct arena *a, const struct reach *r, struct str name,
                              struct str *path, struct str *real);
/* Whether the real path lies below the root, and is none of the system's own. */
bool reach_covers(const struct reach *r, struct str real);
/* Whether the path leads into what the system makes up (/proc, /sys, /dev), or says so. */
bool reach_is_system(struct arena *a, struct str name);

#endif
