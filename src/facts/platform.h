/* SPDX-License-Identifier: Apache-2.0 */
/* GPU platforms: hardware facts with their units and the coefficients of the cost models, from
   rules/platforms or the user's file. */
#ifndef MOEPLAN_FACTS_PLATFORM_H
#define MOEPLAN_FACTS_PLATFORM_H

#include "facts/entry.h"
#include "facts/facts.h"

struct platform {
    struct str asked, id, name; /* asked: the name or path it was loaded by */
    const struct entry *entry;  /* its facts by parameter name, and its coefficients */
};

/* Platforms already read, so that a batch reads each file once. Start zeroed with `arena` set;
   lives as long as its arena. */
struct platform_cache {
    struct arena *arena;
    const struct platform **items;
    size_t n, cap;
};

/* A built-in platform by id or alias (case is ignored), or the file at that path. NULL with an
   error of rule `unknown-platform` (close names listed) or of the file's own defects at `at`. */
const struct platform *platform_load(struct platform_cache *cache, struct diags *diags,
                                     struct str name_or_path, struct span at);
/* Sets the platform facts and f->platform. */
void platform_apply(struct facts *f, const struct platform *p, enum fact_origin origin);

#endif
