/* SPDX-License-Identifier: Apache-2.0 */
/* What a repository is like, for the files that make moeplan a step of its checks. */
#ifndef MOEPLAN_FLOW_INIT_H
#define MOEPLAN_FLOW_INIT_H

#include "facts/recipe.h"

struct init_survey {
    size_t recipes[FRAMEWORK_COUNT]; /* files with configurations of each framework */
    size_t all;                      /* files with any */
    size_t without_gpus;             /* of them, those that do not say how many GPUs they are for */
    size_t without_platform;
    bool github, gitlab, pre_commit; /* what the repository is checked by, or lies with */
};

/* Counts a file when it is a recipe; `a` is given back. */
void init_count(struct init_survey *s, struct arena *a, struct str path, struct str text);
/* Looks at what else lies in the folder: the files of services, and git's own settings. */
void init_look(struct init_survey *s, struct arena *a, struct str folder);

#endif
