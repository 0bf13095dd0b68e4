/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: the files below one. */
#ifndef MOEPLAN_BASE_DIR_H
#define MOEPLAN_BASE_DIR_H

#include "base/vec.h"

/* A path that was not looked into, and why, in words that follow "cannot be read: ". */
struct path_problem {
    struct str path, why;
    bool folder;
};

struct path_list {
    struct str *items;
    size_t n, cap;
    VEC(struct path_problem) unread;
};

/* Appends the paths of all files below `folder` whose name ends in one of the suffixes (a list that
   ends with NULL), sorted by bytes; names that begin with a dot are left out, links to folders are
   not followed. To `unread`, sorted too, goes what should be there and is not: folders that cannot
   be read or lie too deep, and under such names links to nothing, links that lead out of the
   reach of the folder (base/reach.h), and what is no regular file. False with *error set, in words
   ready for a message, when the folder itself cannot be read or holds more than 50,000 entries. */
bool dir_list(struct arena *a, const char *folder, const char *const *suffixes,
              struct path_list *out, struct str *error);

/* Whether something found is to be left out, a folder with all below it. */
typedef bool dir_leave_out(void *state, struct str path, bool folder);
/* The same without what `skip`, when not NULL, says. */
bool dir_list_where(struct arena *a, const char *folder, const char *const *suffixes,
                    dir_leave_out *skip, void *state, struct path_list *out, struct str *error);

#endif
