/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEEPEST = 64, MOST_ENTRIES = 50000 };

static bool suffix_matches(struct str name, const char *const *suffixes)
{
    for (; *suffixes; suffixes++)
        if (str_ends(name, str_of(*suffixes))) return true;
    return false;
}

struct walk {
    struct arena *arena;
    const char *const *suffixes;
    struct path_list *out;
    size_t entries;
};

static bool walk(struct walk *w, const char *folder, int depth);

static void visit(struct walk *w, struct str path, int depth)
{
    struct stat st;
    if (lstat(path.p, &st) != 0) return;
    if (S_ISDIR(st.st_mode))
        walk(w, path.p, depth + 1);
    else if (suffix_matches(path, w->suffixes) && stat(path.p, &st) == 0 && S_ISREG(st.st_mode))
        *VEC_PUSH(w->arena, w->out) = path;
}

static bool walk(struct walk *w, const char *folder, int depth)
{
    DIR *dir = depth > DEEPEST ? NULL : opendir(folder);
    if (!dir) return false;
    const char *slash = str_ends(str_of(folder), STR("/")) ? "" : "/";
    for (struct dirent *entry; w->entries <= MOST_ENTRIES && (entry = readdir(dir)); w->entries++)
        if (entry->d_name[0] != '.')
            visit(w, arena_printf(w->arena, "%s%s%s", folder, slash, entry->d_name), depth);
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
    struct walk w = {a, suffixes, out, 0};
    if (!walk(&w, folder, 0)) {
        *error = str_dup(a, str_of(strerror(errno)));
        return false;
    }
    if (w.entries > MOST_ENTRIES) {
        *error = STR("holds more than 50,000 entries; name a folder below it");
        return false;
    }
    if (out->n > before) qsort(out->items + before, out->n - before, sizeof *out->items, cmp_paths);
    return true;
}
