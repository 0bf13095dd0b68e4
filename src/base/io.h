/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole, written whole or not at all. */
#ifndef MOEPLAN_BASE_IO_H
#define MOEPLAN_BASE_IO_H

#include "base/arena.h"

/* The file's bytes ("-" is standard input), at most 64 MiB; false with *error set, in words ready
   for a message. */
bool io_read(struct arena *a, const char *path, struct str *out, struct str *error);
/* Whether an ordinary file is there. */
bool io_is_file(const char *path);
/* Writes through a temporary file beside `path` and a rename; false with *error set and nothing
   left behind. */
bool io_write(struct arena *a, const char *path, struct str text, struct str *error);

#endif
