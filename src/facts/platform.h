/* SPDX-License-Identifier: Apache-2.0 */
/* GPU platforms: hardware facts with their units and the coefficients of the cost models, from rules/platforms or the user's file. */
#ifndef MOEPLAN_FACTS_PLATFORM_H
#define MOEPLAN_FACTS_PLATFORM_H

#include "facts/facts.h"

/* A coefficient of a cost model, as the file states it. */
struct platform_coefficient {
    struct str name, unit, meaning, source;
    double value, low, high; /* 80 % interval */
    int64_t n;               /* measurements behind it */
};

struct platform_fact {
    int param;
    struct value value;
    const struct node *node;
};

struct platform {
    struct str id, name, source;
    struct platform_fact *facts; /* parameters of scope platform */
    size_t n_facts, cap_facts;
    struct platform_coefficient *coefficients;
    size_t n_coefficients, cap_coefficients;
};

/* Platforms already read, so that a batch reads each file once. Start zeroed with `arena` set; lives as long as its arena. */
struct platform_cache {
    struct arena *arena;
    struct platform *items;
    size_t n, cap;
};

size_t platform_catalogue_count(void);
struct str platform_catalogue_id(size_t i); /* in alphabetical order */
/* A built-in platform by id or alias (case is ignored), or the file at that path. NULL with an error of rule `unknown-platform`
   (close names listed) or of the file's own defects at `at`. */
const struct platform *platform_load(struct platform_cache *cache, struct diags *diags, struct str name_or_path, struct span at);
/* Sets the platform facts and f->platform. */
void platform_apply(struct facts *f, const struct platform *p, enum fact_origin origin);

#endif
