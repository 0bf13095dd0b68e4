/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reach.h"

#include "base/io.h"
#include "base/path.h"

static bool is_root(struct arena *a, struct str folder)
{
    static const char *const marks[] = {".git", ".moeplan.yaml"};
    bool found = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        found = found || path_exists(path_join(a, folder, str_of(marks[i])));
    return found;
}

struct reach reach_of_folder(struct arena *a, struct str folder)
{
    struct str own;
    struct reach r = {.folder = folder, .root = STR("")};
    if (!path_real(a, folder.n ? str_dup(a, folder).p : ".", &own)) return r;
    struct str root = own;
    while (root.n > 0 && !is_root(a, root))
        root = path_parent(root);
    r.root = root.n > 0 ? root : own;
    return r;
}

struct reach reach_of_file(struct arena *a, struct str path)
{
    return reach_of_folder(a, io_is_file(str_dup(a, path).p) ? path_folder(path) : STR(""));
}

static bool is_system(struct str path)
{
    static const char *const systems[] = {"/proc", "/sys", "/dev"};
    bool is = false;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        is = is || path_is_below(path, str_of(systems[i]));
    return is;
}

bool reach_covers(const struct reach *r, struct str real)
{
    return path_is_below(real, r->root) && !is_system(real);
}

/* The path that the words alone make of a name in the folder; empty when that is not there. */
static struct str words_of(struct arena *a, struct str folder, struct str name)
{
    struct str own;
    if (!path_real(a, folder.n ? str_dup(a, folder).p : ".", &own)) return STR("");
    return path_plain(a, path_join(a, own, name));
}

bool reach_is_system(struct arena *a, struct str name)
{
    struct str real;
    bool there = path_real(a, str_dup(a, name).p, &real);
    return is_system(words_of(a, STR(""), name)) || (there && is_system(real));
}

/* The way to a real path from the current folder on. */
static struct str way_to(struct arena *a, struct str real)
{
    struct str here;
    return path_real(a, ".", &here) ? path_between(a, here, real) : real;
}

enum reach_verdict reach_find(struct arena *a, const struct reach *r, struct str name,
                              struct str *path, struct str *real)
{
    *path = path_join(a, r->folder, name);
    *real = STR("");
    bool beside = path_real(a, path->p, real);
    bool there = beside || (r->root.n > 0 && path_real(a, path_join(a, r->root, name).p, real));
    struct str words = words_of(a, r->folder, name);
    if (is_system(words) || (there && !reach_covers(r, *real))) return REACH_OUTSIDE;
    if (!there) return path_is_below(words, r->root) ? REACH_NOTHING : REACH_OUTSIDE;
    bool winding = str_find_str(*path, STR("../")) < path->n;
    if (!beside || winding) *path = way_to(a, *real);
    return REACH_FOUND;
}
