/* SPDX-License-Identifier: Apache-2.0 */
/* Flags beside the launch that is read: what a branch that is not taken would add, and launches in
   whose place another one is read. Each is looked at by itself: a name, a type or a choice is wrong
   whatever stands around it. */
#ifndef MOEPLAN_FACTS_ASIDE_H
#define MOEPLAN_FACTS_ASIDE_H

#include "facts/flags.h"

/* With the launch settled: what no program takes of f->aside, as warnings. */
void aside_check(struct facts *f);
/* The same of what `apply` makes of them, on facts of their own. */
void aside_check_words(struct facts *f,
                       void (*apply)(struct facts *side, const struct flag_words *words));

#endif
