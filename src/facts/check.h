/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value is one that a parameter can have. */
#ifndef MOEPLAN_FACTS_CHECK_H
#define MOEPLAN_FACTS_CHECK_H

#include "facts/facts.h"

/* The value in the parameter's own form (fact_coerce), null and unknown allowed. False with an
   error of rule `value-type` or `value-choice` at `at` when it is of another type or none of the
   parameter's choices. */
bool value_check(struct facts *f, int param, struct value *value, struct span at,
                 struct str written);
/* "an integer", "true or false", ... */
const char *param_type_words(enum param_type type);

#endif
