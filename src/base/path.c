/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/path.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"

struct str path_folder(struct str path)
{
    size_t end = path.n;
    while (end > 0 && path.p[end - 1] != '/')
        end--;
    return str_slice(path, 0, end);
}

struct str path_join(struct arena *a, struct str folder, struct str name)
{
    if (folder.n == 0 || str_starts(name, STR("/"))) return str_dup(a, name);
    bool parted = str_ends(folder, STR("/"));
    char *p = arena_alloc(a, folder.n + 1 + name.n + 1), *rest = p + folder.n + !parted;
    memcpy(p, folder.p, folder.n);
    if (!parted) p[folder.n] = '/';
    if (name.n) memcpy(rest, name.p, name.n);
    rest[name.n] = '\0';
    return (struct str){p, (size_t)(rest - p) + name.n};
}

struct str path_plain(struct arena *a, struct str path)
{
    assert(str_starts(path, STR("/")));
    struct buf out = buf_new(a);
    struct str part;
    while (str_split(&path, '/', &part)) {
        struct str parent = path_folder((struct str){out.p, out.n});
        if (str_is(part, ".."))
            out.n = parent.n ? parent.n - 1 : 0;
        else if (part.n && !str_is(part, "."))
            buf_printf(&out, "/%.*s", STR_ARG(part));
    }
    if (out.n == 0) buf_add_char(&out, '/');
    return buf_str(&out);
}

struct str path_parent(struct str real)
{
    struct str folder = real.n > 1 ? path_folder(real) : STR("");
    return folder.n > 1 ? str_slice(folder, 0, folder.n - 1) : folder;
}

bool path_exists(struct str path)
{
    struct stat st;
    return lstat(path.p, &st) == 0;
}

bool path_real(struct arena *a, const char *path, struct str *out)
{
    char *real = realpath(path, NULL);
    if (!real) return false;
    *out = str_dup(a, str_of(real));
    free(real);
    return true;
}

bool path_is_below(struct str real, struct str folder)
{
    if (!str_starts(real, folder) || folder.n == 0) return false;
    return real.n == folder.n || folder.p[folder.n - 1] == '/' || real.p[folder.n] == '/';
}

bool path_place(struct arena *a, struct str path, struct str *out)
{
    struct str folder = path_folder(path), real;
    if (!path_real(a, folder.n ? str_dup(a, folder).p : ".", &real)) return false;
    *out = path_join(a, real, str_slice(path, folder.n, path.n));
    return true;
}

struct str path_between(struct arena *a, struct str from, struct str to)
{
    assert(str_starts(from, STR("/")) && str_starts(to, STR("/")));
    size_t common = 0; /* behind the last "/" up to which both are the same */
    if (!str_ends(from, STR("/"))) from = arena_printf(a, "%.*s/", STR_ARG(from));
    for (size_t i = 0; i < from.n && i < to.n && from.p[i] == to.p[i]; i++)
        if (from.p[i] == '/') common = i + 1;
    struct buf out = buf_new(a);
    for (size_t i = common; i < from.n; i++)
        if (from.p[i] == '/') buf_add(&out, STR("../"));
    buf_add(&out, str_slice(to, common, to.n));
    return buf_str(&out);
}

struct str path_seen_from(struct arena *a, struct str folder, struct str path)
{
    struct str from, to;
    if (folder.n == 0 || str_starts(path, STR("/"))) return path;
    if (!path_real(a, str_dup(a, folder).p, &from) || !path_place(a, path, &to)) return path;
    return path_between(a, from, to);
}
