/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole, written whole or not at all. */
#ifndef MOEPLAN_BASE_IO_H
#define MOEPLAN_BASE_IO_H

#include <stdio.h>

#include "base/arena.h"

/* The file's bytes ("-" is standard input), at most 64 MiB; false with *error set, in words ready for a message. */
bool io_read(struct arena *a, const char *path, struct str *out, struct str *error);
/* Whether an ordinary file is there. */
bool io_is_file(const char *path);
/* Writes through a temporary file beside `path` and a rename; false with *error set and nothing left behind. */
bool io_write(struct arena *a, const char *path, struct str text, struct str *error);
/* One line without its newline, of any length up to 64 MiB; false at the end of the input. */
bool io_read_line(struct arena *a, FILE *in, struct str *out);

#endif
