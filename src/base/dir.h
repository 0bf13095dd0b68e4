/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: the files below one. */
#ifndef MOEPLAN_BASE_DIR_H
#define MOEPLAN_BASE_DIR_H

#include "base/vec.h"

struct path_list {
    struct str *items;
    size_t n, cap;
};

/* Appends the paths of all files below `folder` whose name ends in one of the suffixes (a list that
   ends with NULL), sorted by bytes; names that begin with a dot are left out, links to folders are
   not followed. False with *error set, in words ready for a message, when the folder itself cannot
   be read or holds more than 50,000 entries. */
bool dir_list(struct arena *a, const char *folder, const char *const *suffixes,
              struct path_list *out, struct str *error);

#endif
