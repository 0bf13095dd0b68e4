/* SPDX-License-Identifier: Apache-2.0 */
/* The release files (rules/releases/FRAMEWORK/VERSION.yaml, written by tools/import): what each
   release of a framework knows, every file applied to the one that it starts from. */
#ifndef MOEPLAN_TOOLS_RELEASES_H
#define MOEPLAN_TOOLS_RELEASES_H

#include "base/vec.h"
#include "doc/node.h"
#include "facts/param.h"

struct release_setting {
    struct str key;           /* a flag with its dashes, or a dotted key */
    const struct node *value; /* type, default, choices, nargs, action, dest, deprecated */
};

struct release {
    enum framework framework;
    struct str version, base, commit, date;
    struct str transformer_engine, torch; /* what its lock file pins; empty: nothing */
    const struct node *own;               /* its settings as the file has them; NULL: none */
    VEC(struct release_setting) settings; /* all of them, in no order */
    struct map index;                     /* key -> number in `settings` */
};

struct releases {
    struct arena *arena;
    struct diags *diags;
    VEC(struct release *) items; /* those of a framework together, the newest first */
};

/* Takes a document of kind Release; a defect is an error at its line. */
void releases_add(struct releases *all, const struct node *doc);
/* Sorts the releases and completes their settings. */
void releases_finish(struct releases *all);
/* What a release says of a setting; NULL where it has none. */
const struct node *release_get(const struct release *r, struct str key);
/* The releases of a framework that have a setting, as bits: bit 0 is the newest. */
uint32_t releases_with(const struct releases *all, enum framework framework, struct str key);
/* The number of a release among those of its framework, the newest 0. */
unsigned release_number(const struct releases *all, const struct release *r);

#endif
