/* SPDX-License-Identifier: Apache-2.0 */
/* What the user named -> files. */
#ifndef MOEPLAN_CMD_PATHS_H
#define MOEPLAN_CMD_PATHS_H

#include "base/dir.h"

/* Appends the files of one argument: itself, "-", the recipes below a folder (by their suffixes),
   or what a pattern matches (`*` and `?` within a name, `**` across folders). What of it cannot be
   looked into goes to out->unread. Of what is not named itself, what `leave_out` says is left out.
   False with *error set when there is nothing of either. */
struct path_filter {
    dir_leave_out *leave_out; /* NULL: nothing is */
    void *state;
};
bool paths_expand(struct arena *a, struct str argument, struct path_filter filter,
                  struct path_list *out, struct str *error);

#endif
