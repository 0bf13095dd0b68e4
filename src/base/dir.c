/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEEPEST = 64 };

static bool suffix_matches(struct str name, const char *const *suffixes)
{
    for (; *suffixes; suffixes++)
        if (str_ends(name, str_of(*suffixes))) return true;
    return false;
}

static bool walk(struct arena *a, const char *folder, int depth, const char *const *suffixes,
                 struct path_list *out);

static void visit(struct arena *a, struct str path, int depth, const char *const *suffixes,
                  struct path_list *out)
{
    struct stat st;
    if (lstat(path.p, &st) != 0) return;
    if (S_ISDIR(st.st_mode))
        walk(a, path.p, depth + 1, suffixes, out);
    else if (suffix_matches(path, suffixes) && stat(path.p, &st) == 0 && S_ISREG(st.st_mode))
        *VEC_PUSH(a, out) = path;
}

static bool walk(struct arena *a, const char *folder, int depth, const char *const *suffixes,
                 struct path_list *out)
{
    DIR *dir = depth > DEEPEST ? NULL : opendir(folder);
    if (!dir) return false;
    const char *slash = str_ends(str_of(folder), STR("/")) ? "" : "/";
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            visit(a, arena_printf(a, "%s%s%s", folder, slash, entry->d_name), depth, suffixes, out);
    closedir(dir);
    return true;
}

static int cmp_paths(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

bool dir_list(struct arena *a, const char *folder, const char *const *suffixes,
              struct path_list *out, struct str *error)
{
    size_t before = out->n;
    if (!walk(a, folder, 0, suffixes, out)) {
        *error = str_dup(a, str_of(strerror(errno)));
        return false;
    }
    if (out->n > before) qsort(out->items + before, out->n - before, sizeof *out->items, cmp_paths);
    return true;
}
