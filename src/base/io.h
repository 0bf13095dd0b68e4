/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole, written whole or not at all. */
#ifndef MOEPLAN_BASE_IO_H
#define MOEPLAN_BASE_IO_H

#include "base/arena.h"

/* The file's bytes ("-" is standard input), at most 64 MiB; false with *error set, in words ready
   for a message. */
bool io_read(struct arena *a, const char *path, struct str *out, struct str *error);
/* The same of a regular file only, at most `most` bytes (whole MiB; 0: 64 MiB): no name means
   standard input, and nothing can hang. */
bool io_read_regular(struct arena *a, const char *path, size_t most, struct str *out,
                     struct str *error);
/* Gives a file's bytes ("-" is standard input) to `take` in pieces, in constant memory: it may have
   any size. False with *error set, in words ready for a message. */
typedef void io_take(void *context, struct str piece);
bool io_stream(struct arena *a, const char *path, io_take *take, void *context, struct str *error);
/* Whether an ordinary file, or a folder, is there. */
bool io_is_file(const char *path);
bool io_is_folder(const char *path);
/* Makes the folders on the way to a file that are not there; false with errno set. */
bool io_make_folders(struct arena *a, struct str path);
/* A regular file is written whole or not at all, in a new file that then gets its name: whatever
   happens, a signal too, the old one is there, or the new one, and nothing else. It keeps mode and
   owner, a new one heeds the umask, and a symbolic link stays and is followed. Another hard link
   to it keeps the old text, as only writing in place, which may stop half way, would change that.
   What is no regular file (a device, a pipe, /dev/stdout, /proc/self/fd/1) is written to as it
   stands. False with *error set, in words ready for a message. */
bool io_write(struct arena *a, const char *path, struct str text, struct str *error);

#endif
