/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/paths.h"

#include <sys/stat.h>

/* Backtracking over one `*` at a time; `**` also eats slashes, and `**` followed by a slash may eat
 * nothing. */
static bool matches(const char *p, const char *pattern_end, const char *s, const char *end)
{
    while (p < pattern_end) {
        if (*p == '*') {
            bool deep = p + 1 < pattern_end && p[1] == '*';
            const char *rest = p + (deep ? 2 : 1);
            if (deep && rest < pattern_end && *rest == '/' &&
                matches(rest + 1, pattern_end, s, end))
                return true;
            for (;; s++) {
                if (matches(rest, pattern_end, s, end)) return true;
                if (s == end || (!deep && *s == '/')) return false;
            }
        }
        if (s == end || (*p == '?' ? *s == '/' : *p != *s)) return false;
        p++;
        s++;
    }
    return s == end;
}

bool path_matches(struct str pattern, struct str path)
{
    return matches(pattern.p, pattern.p + pattern.n, path.p, path.p + path.n);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

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

static bool expand_folder(struct arena *a, struct str folder, struct path_list *out,
                          struct str *error)
{
    static const char *const suffixes[] = {".yaml", ".yml",   ".json", ".sh",  ".sbatch",
                                           ".sub",  ".slurm", ".args", ".txt", NULL};
    size_t before = out->n;
    if (!dir_list(a, folder.p, suffixes, out, error)) return false;
    for (size_t i = before; i < out->n; i++)
        out->items[i] = without_dot(out->items[i]);
    *error = STR("holds no YAML, JSON or shell file");
    return out->n > before;
}

/* The files below the part of the pattern that has no wildcard. */
static bool expand_pattern(struct arena *a, struct str pattern, struct path_list *out,
                           struct str *error)
{
    static const char *const all[] = {"", NULL};
    size_t wild = 0, root = 0;
    for (; wild < pattern.n && pattern.p[wild] != '*' && pattern.p[wild] != '?'; wild++)
        if (pattern.p[wild] == '/') root = wild + 1;
    struct str folder =
        root ? str_dup(a, str_slice(pattern, 0, root > 1 ? root - 1 : 1)) : STR(".");
    struct path_list files = {0};
    if (!dir_list(a, folder.p, all, &files, error)) return false;
    size_t before = out->n;
    for (size_t i = 0; i < files.n; i++) {
        struct str path = root ? files.items[i] : without_dot(files.items[i]);
        if (path_matches(pattern, path)) *VEC_PUSH(a, out) = path;
    }
    *error = STR("matches no file");
    return out->n > before;
}

bool paths_expand(struct arena *a, struct str argument, struct path_list *out, struct str *error)
{
    argument = str_dup(a, argument);
    bool pattern = str_find(argument, '*') < argument.n || str_find(argument, '?') < argument.n;
    if (!str_is(argument, "-") && is_folder(argument.p))
        return expand_folder(a, argument, out, error);
    if (pattern && !exists(argument.p)) return expand_pattern(a, argument, out, error);
    *VEC_PUSH(a, out) = argument;
    return true;
}
