/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files. */
#ifndef MOEPLAN_BASE_PATH_H
#define MOEPLAN_BASE_PATH_H

#include "base/arena.h"

/* The folder with its "/": "a/b/" of "a/b/c"; empty when none is named. */
struct str path_folder(struct str path);
/* The name from the folder on, whose "/" may be missing; a name that begins with "/" as it is. */
struct str path_join(struct arena *a, struct str folder, struct str name);
/* A path from "/" on without "." and "..", by its words alone. */
struct str path_plain(struct arena *a, struct str path);
/* The path from "/" on without links, "." and ".."; false with errno set when nothing is there. */
bool path_real(struct arena *a, const char *path, struct str *out);
/* The real path of the folder that a name lies in, and the name, which may be a link. */
bool path_place(struct arena *a, struct str path, struct str *out);
/* The folder that a real path lies in; empty of "/". */
struct str path_parent(struct str real);
/* Whether anything is there, a link to nothing too; the path ends in a NUL. */
bool path_exists(struct str path);
/* Whether a real path is that of the folder or of something below it. */
bool path_is_below(struct str real, struct str folder);
/* The way from a real path, which is a folder's, to another: "../c" from "/a/b" to "/a/c". */
struct str path_between(struct arena *a, struct str from, struct str to);
/* A path that is given from the current folder on, from another folder on: "../a" of "a" for "b".
   As it is when it begins with "/", the folder is empty or either is not there. */
struct str path_seen_from(struct arena *a, struct str folder, struct str path);

#endif
