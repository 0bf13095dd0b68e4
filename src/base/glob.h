/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns: of any text, of paths as on the command line, and those of .gitignore and settings. */
#ifndef MOEPLAN_BASE_GLOB_H
#define MOEPLAN_BASE_GLOB_H

#include "base/arena.h"

/* Whether the whole text matches the pattern as in a shell's `case`: `*` is any letters, `?` one,
   `[a-z]` one of some, `[!a-z]` and `[^a-z]` one of the others; a [ that nothing closes is itself.
   Takes a time of the product of both at the most. */
bool text_matches(struct str pattern, struct str text);
/* Whether the whole path matches the pattern (`*` and `?` within a name, `**` across folders), in a
   time of their product; `a` is given back. */
bool path_matches(struct arena *a, struct str pattern, struct str path);

/* A line of .gitignore: one without a "/" but at its end is about a name at any depth, any other
   about the path from the folder on; what matches a folder matches all below it. */
struct glob {
    struct str pattern; /* without what the members below say */
    bool anchored, folder, negated;
};

struct glob_list {
    struct glob *items;
    size_t n, cap;
};

struct glob glob_parse(struct str text);
/* Whether it matches a path from the folder of the pattern on, or a folder on its way; `folder`:
   the path is one itself. */
bool glob_covers(struct arena *a, const struct glob *g, struct str path, bool folder);

/* The pattern with a `*` for every {name}. */
struct str glob_plain(struct arena *a, struct str pattern);
/* The i-th name in braces of a pattern; false when there are fewer. */
bool glob_name(struct str pattern, size_t i, struct str *name);
/* What stands for the i-th name where the path, or a folder on its way, matches: within one name of
   a file or folder, digits alone where `digits` are wanted. False when nothing can. */
bool glob_capture(struct arena *a, struct str pattern, struct str path, size_t i, bool digits,
                  struct str *out);

#endif
