/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

enum { LARGEST_FILE = 64 * 1024 * 1024, CHUNK = 64 * 1024 }; /* bytes */

static bool failed(struct arena *a, struct str *error)
{
    *error = str_dup(a, str_of(strerror(errno)));
    return false;
}

static bool read_all(struct arena *a, int fd, size_t most, struct str *out, struct str *error)
{
    struct buf text = buf_new(a);
    char chunk[CHUNK];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(a, error);
        buf_add(&text, (struct str){chunk, (size_t)n});
        if (text.n > most) {
            *error = arena_printf(a, "is larger than %zu MiB", most >> 20);
            return false;
        }
    }
    *out = buf_str(&text);
    return true;
}

/* Whether a file of that kind may be read. */
static bool check_kind(mode_t mode, bool only_regular, struct str *error)
{
    if (S_ISDIR(mode)) *error = STR("is a directory");
    if (S_ISDIR(mode)) return false;
    if (only_regular && !S_ISREG(mode)) *error = STR("is no regular file");
    return S_ISREG(mode) || !only_regular;
}

static bool read_open(struct arena *a, int fd, bool only_regular, size_t most, struct str *out,
                      struct str *error)
{
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (!ok) failed(a, error);
    ok = ok && check_kind(st.st_mode, only_regular, error) && read_all(a, fd, most, out, error);
    close(fd);
    return ok;
}

bool io_read(struct arena *a, const char *path, struct str *out, struct str *error)
{
    if (strcmp(path, "-") == 0) return read_all(a, STDIN_FILENO, LARGEST_FILE, out, error);
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? failed(a, error) : read_open(a, fd, false, LARGEST_FILE, out, error);
}

bool io_read_regular(struct arena *a, const char *path, size_t most, struct str *out,
                     struct str *error)
{
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK); /* a pipe may have no end */
    if (most == 0) most = LARGEST_FILE;
    return fd < 0 ? failed(a, error) : read_open(a, fd, true, most, out, error);
}

static bool stream_open(struct arena *a, int fd, io_take *take, void *context, struct str *error)
{
    char chunk[CHUNK];
    ssize_t n;
    struct stat st;
    if (fstat(fd, &st) != 0) return failed(a, error);
    if (!check_kind(st.st_mode, false, error)) return false;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(a, error);
        take(context, (struct str){chunk, (size_t)n});
    }
    return true;
}

bool io_stream(struct arena *a, const char *path, io_take *take, void *context, struct str *error)
{
    bool input = strcmp(path, "-") == 0;
    int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return failed(a, error);
    bool ok = stream_open(a, fd, take, context, error);
    if (!input) close(fd);
    return ok;
}

static bool is_of_kind(const char *path, mode_t kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

bool io_is_file(const char *path)
{
    return is_of_kind(path, S_IFREG);
}

bool io_is_folder(const char *path)
{
    return is_of_kind(path, S_IFDIR);
}

bool io_make_folders(struct arena *a, struct str path)
{
    for (size_t i = 1; i < path.n; i++) {
        if (path.p[i] != '/') continue;
        if (mkdir(str_dup(a, str_slice(path, 0, i)).p, 0777) != 0 && errno != EEXIST) return false;
    }
    return true;
}
