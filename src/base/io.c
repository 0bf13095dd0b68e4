/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

enum { LARGEST_FILE = 64 * 1024 * 1024, CHUNK = 64 * 1024 }; /* bytes */

static bool read_all(struct arena *a, FILE *in, struct str *out, struct str *error)
{
    struct buf text = buf_new(a);
    char chunk[CHUNK];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0) {
        buf_add(&text, (struct str){chunk, n});
        if (text.n > LARGEST_FILE) {
            *error = STR("is larger than 64 MiB");
            return false;
        }
    }
    if (ferror(in)) {
        *error = str_dup(a, str_of(strerror(errno)));
        return false;
    }
    *out = buf_str(&text);
    return true;
}

bool io_read(struct arena *a, const char *path, struct str *out, struct str *error)
{
    if (strcmp(path, "-") == 0) return read_all(a, stdin, out, error);
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        *error = STR("is a directory");
        return false;
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        *error = str_dup(a, str_of(strerror(errno)));
        return false;
    }
    bool ok = read_all(a, in, out, error);
    fclose(in);
    return ok;
}

bool io_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool io_write(struct arena *a, const char *path, struct str text, struct str *error)
{
    struct str pattern = arena_printf(a, "%s.XXXXXX", path);
    char *name = arena_dup(a, pattern.p, pattern.n + 1); /* mkstemp writes into it */
    int fd = mkstemp(name);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!out) {
        *error = str_dup(a, str_of(strerror(errno)));
        if (fd >= 0) close(fd);
        return false;
    }
    fchmod(fd, 0644);
    bool ok = fwrite(text.p, 1, text.n, out) == text.n;
    if (fclose(out) != 0) ok = false;
    if (!ok || rename(name, path) != 0) {
        *error = str_dup(a, str_of(strerror(errno)));
        remove(name);
        return false;
    }
    return true;
}
