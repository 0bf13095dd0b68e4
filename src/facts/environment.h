/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that the libraries of a run read (generated from rules/environment): a name
   that is set and is nearly one of them sets nothing. */
#ifndef MOEPLAN_FACTS_ENVIRONMENT_H
#define MOEPLAN_FACTS_ENVIRONMENT_H

#include "doc/node.h"

/* Below that many letters a name that is one letter away is as likely somebody's own. */
enum { ENVIRONMENT_SHORTEST = 8 };

/* By name. */
extern const struct str environment_variables[];
extern const uint32_t environment_variable_count;

/* A warning at each name that a source sets, in whatever notation (NAME=value, "NAME": value,
   - name: NAME), that is a slip of a variable of the list, and that nothing in the source reads. */
void environment_check(struct diags *diags, uint32_t source);

#endif
