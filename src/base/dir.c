/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dir.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/reach.h"
#include "base/sort.h"

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
    struct reach reach;
    size_t entries;
    dir_leave_out *skip; /* NULL: nothing is */
    void *state;
};

static void leave_out(struct walk *w, struct str path, struct str why, bool folder)
{
    *VEC_PUSH(w->arena, &w->out->unread) = (struct path_problem){path, why, folder};
}

static void leave_out_failed(struct walk *w, struct str path, bool folder)
{
    leave_out(w, path, str_dup(w->arena, str_of(strerror(errno))), folder);
}

/* A link that leads out of the reach is somebody's way to have another file read. */
static bool may_follow(struct walk *w, struct str path)
{
    struct str real;
    if (!path_real(w->arena, path.p, &real))
        leave_out(w, path, arena_printf(w->arena, "the link leads nowhere (%s)", strerror(errno)),
                  false);
    else if (!reach_covers(&w->reach, real))
        leave_out(w, path,
                  arena_printf(w->arena, "the link leads out of %.*s; name it, or what it leads to",
                               STR_ARG(w->reach.root)),
                  false);
    else
        return true;
    return false;
}

static void add_file(struct walk *w, struct str path, const struct stat *own)
{
    struct stat st = *own;
    if (S_ISLNK(own->st_mode) && !may_follow(w, path)) return;
    if (S_ISLNK(own->st_mode) && stat(path.p, &st) != 0)
        leave_out_failed(w, path, false);
    else if (S_ISREG(st.st_mode))
        *VEC_PUSH(w->arena, w->out) = path;
    else if (!S_ISDIR(st.st_mode))
        leave_out(w, path, STR("is no regular file"), false);
}

static void walk(struct walk *w, DIR *dir, struct str folder, int depth);

static void walk_below(struct walk *w, struct str folder, int depth)
{
    DIR *dir = depth > DEEPEST ? NULL : opendir(folder.p);
    if (depth > DEEPEST)
        leave_out(w, folder, arena_printf(w->arena, "lies more than %d folders deep", DEEPEST),
                  true);
    else if (!dir)
        leave_out_failed(w, folder, true);
    else
        walk(w, dir, folder, depth);
}

static bool is_left_out(struct walk *w, struct str path, bool folder)
{
    return w->skip && w->skip(w->state, path, folder);
}

static void visit(struct walk *w, struct str path, int depth)
{
    struct stat st;
    bool there = lstat(path.p, &st) == 0;
    if (!there && errno == ENOENT) return; /* gone since its folder was read */
    if (!there)
        leave_out_failed(w, path, false);
    else if (is_left_out(w, path, S_ISDIR(st.st_mode)))
        w->entries--;
    else if (S_ISDIR(st.st_mode))
        walk_below(w, path, depth + 1);
    else if (suffix_matches(path, w->suffixes))
        add_file(w, path, &st);
}

/* Closes `dir`. */
static void walk(struct walk *w, DIR *dir, struct str folder, int depth)
{
    struct dirent *entry;
    for (errno = 0; w->entries <= MOST_ENTRIES && (entry = readdir(dir)); errno = 0) {
        w->entries++;
        if (entry->d_name[0] != '.')
            visit(w, path_join(w->arena, folder, str_of(entry->d_name)), depth);
    }
    if (w->entries <= MOST_ENTRIES && errno) leave_out_failed(w, folder, true);
    closedir(dir);
}

static int cmp_paths(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

static int cmp_problems(const void *left, const void *right)
{
    const struct path_problem *a = left, *b = right;
    return str_cmp(a->path, b->path);
}

bool dir_list(struct arena *a, const char *folder, const char *const *suffixes,
              struct path_list *out, struct str *error)
{
    return dir_list_where(a, folder, suffixes, NULL, NULL, out, error);
}

bool dir_list_where(struct arena *a, const char *folder, const char *const *suffixes,
                    dir_leave_out *skip, void *state, struct path_list *out, struct str *error)
{
    size_t files = out->n, problems = out->unread.n;
    DIR *dir = opendir(folder);
    if (!dir) {
        *error = str_dup(a, str_of(strerror(errno)));
        return false;
    }
    struct walk w = {a, suffixes, out, reach_of_folder(a, str_of(folder)), 0, skip, state};
    walk(&w, dir, str_of(folder), 0);
    if (w.entries > MOST_ENTRIES) {
        *error = STR("holds more than 50,000 entries; name a folder below it");
        return false;
    }
    if (out->n > files)
        sort_items(out->items + files, out->n - files, sizeof *out->items, cmp_paths);
    struct path_problem *unread = out->unread.items;
    if (out->unread.n > problems)
        sort_items(unread + problems, out->unread.n - problems, sizeof *unread, cmp_problems);
    return true;
}
