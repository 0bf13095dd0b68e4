/* SPDX-License-Identifier: Apache-2.0 */
/* GPU platforms: hardware facts with their units and the coefficients of the cost models, from
   rules/platforms or the user's file. */
#ifndef MOEPLAN_FACTS_PLATFORM_H
#define MOEPLAN_FACTS_PLATFORM_H

#include "facts/entry.h"
#include "facts/facts.h"

struct platform {
    struct str asked, id, name; /* asked: the catalogue's id, or the real path of its file */
    bool own;                   /* a user's file; `id` leads there from the current folder */
    const struct entry *entry;  /* its facts by parameter name, and its coefficients */
};

enum { PLATFORMS_KEPT = 64 };

/* Platforms already read, so that a batch reads each file once. Start zeroed with `arena` set;
   lives as long as its arena, and what it gives lives until it is trimmed. */
struct platform_cache {
    struct arena *arena;
    const struct platform *items[PLATFORMS_KEPT];
    size_t n;
    struct arena_mark kept; /* behind the last of them */
};

/* A built-in platform by id or alias (case is ignored), or the file at that path; `at` is where the
   name stands, source 0: the user gave it (facts/named.h). NULL with an error of rule
   `unknown-platform` (close names listed), or of the file's own defects: of a file that the user
   gave in it, else `platform-config` at `at`. */
const struct platform *platform_load(struct platform_cache *cache, struct diags *diags,
                                     struct str name_or_path, struct span at);
/* The built-in entries that a platform file may start from: the platforms, and the bases that are
   none. */
struct entry_list platform_bases(void);
/* The platform of a document: checked, with what it takes from its base, one of `bases`, and what
   follows from its own figures (entry_field.derived). NULL with errors of the rules
   `platform-config`, `unknown-key`, `value-type`, `value-choice`, `value-range`,
   `unknown-platform`. */
const struct entry *platform_read(struct arena *a, struct diags *diags, const struct node *root,
                                  struct entry_list bases);
/* Platforms that may start from one another, whatever their order; a circle is an error of rule
   `platform-config` at one of its bases. Those without errors, bases before what starts from them;
   false when one has errors. */
bool platform_read_set(struct arena *a, struct diags *diags, const struct node *const *roots,
                       size_t n, struct entry_list *out);
/* The parameter of a platform's fact by name, symbol or alias; -1 when there is none. */
int platform_param(struct str name);
/* Between two files or requests of many, for a cache with an arena of its own: gives back what did
   not become a platform, and forgets them all when there are too many. */
void platform_cache_trim(struct platform_cache *cache);
void platform_cache_empty(struct platform_cache *cache);
/* Sets the platform facts and f->platform. */
void platform_apply(struct facts *f, const struct platform *p, enum fact_origin origin);

#endif
