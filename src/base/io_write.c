/* SPDX-License-Identifier: Apache-2.0 */
/* Writing: what the path leads to decides how. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/path.h"

enum { MOST_LINKS = 40, MOST_NAMES = 100 };

static bool failed(struct arena *a, struct str *error)
{
    *error = str_dup(a, str_of(strerror(errno)));
    return false;
}

static bool write_all(int fd, struct str text)
{
    while (text.n > 0) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text = str_slice(text, (size_t)n, text.n);
    }
    return true;
}

/* ---- what is no regular file ---- */

/* The descriptor that the path is another name of; -1: none. */
static int descriptor_of(struct str path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int64_t n = -1;
    if (str_is(path, "/dev/stdout")) return STDOUT_FILENO;
    if (str_is(path, "/dev/stderr")) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct str folder = str_of(folders[i]);
        struct str rest = str_slice(path, folder.n, path.n);
        if (str_starts(path, folder) && num_parse_int(rest, &n) && n >= 0 && n <= INT_MAX)
            return (int)n;
    }
    return -1;
}

/* A reader that has gone away has read what it wanted. */
static bool write_to(struct arena *a, int fd, struct str text, struct str *error)
{
    return write_all(fd, text) || errno == EPIPE || failed(a, error);
}

static bool write_device(struct arena *a, const char *path, struct str text, struct str *error)
{
    int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return failed(a, error);
    bool ok = write_to(a, fd, text, error);
    if (close(fd) != 0 && ok) ok = failed(a, error);
    return ok;
}

/* ---- regular files ---- */

/* Where a link leads, one step; false when the path is none. */
static bool next_of(struct arena *a, struct str *path)
{
    char to[PATH_MAX];
    ssize_t n = readlink(path->p, to, sizeof to);
    if (n <= 0 || (size_t)n == sizeof to) return false;
    *path = path_join(a, path_folder(*path), (struct str){to, (size_t)n});
    return true;
}

/* A new file with a name of its own beside the path, which *name gets; -1 with errno set. */
static int create_beside(const char *folder, char *name, size_t room, mode_t mode)
{
    int fd = -1;
    for (int i = 0; i < MOST_NAMES && fd < 0; i++) {
        snprintf(name, room, "%s.moeplan.%ld.%d", folder, (long)getpid(), i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

/* The rights of the file that is replaced; its owner as far as the system lets us. */
static bool dress(int fd, const struct stat *old)
{
    bool kept =
        fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    (void)kept; /* what is not ours to give away stays the user's */
    return fchmod(fd, old->st_mode & 0777) == 0;
}

/* The text in a new file, then the name for it. */
static bool put(const char *target, const char *folder, struct str text, const struct stat *old,
                char *name, size_t room)
{
    int fd = create_beside(folder, name, room, old ? 0600 : 0666);
    if (fd < 0) return false;
    bool ok = write_all(fd, text) && (!old || dress(fd, old));
    int why = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(name, target) == 0) return true;
    if (ok) why = errno;
    unlink(name);
    errno = why;
    return false;
}

static bool replace(struct arena *a, struct str target, struct str text, struct str *error)
{
    struct stat st;
    bool exists = stat(target.p, &st) == 0;
    if (exists && access(target.p, W_OK) != 0) return failed(a, error);
    struct str folder = str_dup(a, path_folder(target));
    size_t room = folder.n + 64;
    char *name = arena_room(a, room);
    sigset_t all, before; /* nothing may come between the new file and its name */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    bool ok = put(target.p, folder.p, text, exists ? &st : NULL, name, room);
    int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return ok || failed(a, error);
}

bool io_write(struct arena *a, const char *path, struct str text, struct str *error)
{
    struct str target = str_dup(a, str_of(path));
    struct stat st;
    int fd = descriptor_of(target), links = 0;
    if (fd < 0 && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_device(a, path, text, error);
    for (; fd < 0 && links < MOST_LINKS && next_of(a, &target); links++)
        fd = descriptor_of(target);
    if (fd >= 0) return write_to(a, fd, text, error);
    errno = ELOOP;
    return links < MOST_LINKS ? replace(a, target, text, error) : failed(a, error);
}
