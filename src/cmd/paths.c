/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/paths.h"

#include <sys/stat.h>

#include "base/glob.h"
#include "base/io.h"

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* "./a" as "a": annotations are matched to the files of a repository by name. */
static struct str without_dot(struct str path)
{
    return str_starts(path, STR("./")) ? str_slice(path, 2, path.n) : path;
}

/* What is behind the first `files` and `problems` of the list is called as the user would. */
static void drop_dots(struct path_list *list, size_t files, size_t problems)
{
    for (size_t i = files; i < list->n; i++)
        list->items[i] = without_dot(list->items[i]);
    for (size_t i = problems; i < list->unread.n; i++)
        list->unread.items[i].path = without_dot(list->unread.items[i].path);
}

static bool expand_folder(struct arena *a, struct str folder, struct path_filter filter,
                          struct path_list *out, struct str *error)
{
    static const char *const suffixes[] = {".yaml",   ".yml",   ".json", ".sh",  ".bash",
                                           ".sbatch", ".slurm", ".job",  ".sub", ".pbs",
                                           ".lsf",    ".qsub",  ".args", ".txt", NULL};
    size_t files = out->n, problems = out->unread.n;
    if (!dir_list_where(a, folder.p, suffixes, filter.leave_out, filter.state, out, error))
        return false;
    drop_dots(out, files, problems);
    *error = STR("holds no YAML, JSON or shell file");
    return out->n > files || out->unread.n > problems;
}

/* Whether the pattern may match something below the folder: what stands before one of its slashes,
   or up to a `**`, matches the folder. */
static bool may_match_below(struct arena *a, struct str pattern, struct str folder)
{
    for (size_t i = 1; i <= pattern.n; i++) {
        bool deep = i > 1 && pattern.p[i - 1] == '*' && pattern.p[i - 2] == '*';
        bool slash = i < pattern.n && pattern.p[i] == '/';
        if ((deep || slash) && path_matches(a, str_slice(pattern, 0, i), folder)) return true;
    }
    return false;
}

/* The files below the part of the pattern that has no wildcard. */
static bool expand_pattern(struct arena *a, struct str pattern, struct path_filter filter,
                           struct path_list *out, struct str *error)
{
    static const char *const all[] = {"", NULL};
    size_t wild = 0, root = 0;
    for (; wild < pattern.n && pattern.p[wild] != '*' && pattern.p[wild] != '?'; wild++)
        if (pattern.p[wild] == '/') root = wild + 1;
    struct str folder =
        root ? str_dup(a, str_slice(pattern, 0, root > 1 ? root - 1 : 1)) : STR(".");
    struct path_list found = {0};
    if (!dir_list_where(a, folder.p, all, filter.leave_out, filter.state, &found, error))
        return false;
    if (!root) drop_dots(&found, 0, 0);
    size_t files = out->n, problems = out->unread.n;
    for (size_t i = 0; i < found.n; i++)
        if (path_matches(a, pattern, found.items[i])) *VEC_PUSH(a, out) = found.items[i];
    for (size_t i = 0; i < found.unread.n; i++) {
        const struct path_problem *p = &found.unread.items[i];
        if (p->folder ? may_match_below(a, pattern, p->path) : path_matches(a, pattern, p->path))
            *VEC_PUSH(a, &out->unread) = *p;
    }
    *error = STR("matches no file");
    return out->n > files || out->unread.n > problems;
}

bool paths_expand(struct arena *a, struct str argument, struct path_filter filter,
                  struct path_list *out, struct str *error)
{
    argument = str_dup(a, argument);
    bool pattern = str_find(argument, '*') < argument.n || str_find(argument, '?') < argument.n;
    if (!str_is(argument, "-") && io_is_folder(argument.p))
        return expand_folder(a, argument, filter, out, error);
    if (pattern && !exists(argument.p)) return expand_pattern(a, argument, filter, out, error);
    *VEC_PUSH(a, out) = argument;
    return true;
}
