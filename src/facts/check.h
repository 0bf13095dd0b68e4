/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value is one that a parameter can have. */
#ifndef MOEPLAN_FACTS_CHECK_H
#define MOEPLAN_FACTS_CHECK_H

#include "facts/facts.h"

/* A recipe's value in the parameter's own form (fact_coerce), null and unknown allowed. False with
   an error of rule `value-type` or `value-choice` at `at` when it is of another type or none of the
   parameter's choices. */
bool value_check(struct facts *f, int param, struct value *value, struct span at,
                 struct str written);
/* The same for a value of moeplan's own files and options, which the parameter's range holds for
   too (`value-range`). */
bool value_check_own(struct arena *a, struct diags *diags, const struct param *p,
                     struct value *value, struct span at, struct str written);
/* Whether a number, in the parameter's own form, lies in its range; other values and parameters
   without one do. */
bool value_in_range(const struct param *p, struct value value);
/* value_in_range; false with an error of rule `value-range`. */
bool value_check_range(struct arena *a, struct diags *diags, const struct param *p,
                       struct value value, struct span at, struct str written);
/* "hidden_size is -4: no size is below zero", of a size of the model or a length; empty: nothing is
   wrong. -1 may stand for one that something else says. Widths, the length and the layers are not
   zero either. */
struct str value_size_error(struct arena *a, int param, struct str written, struct value v);
/* "an integer", "true or false", ... */
const char *param_type_words(enum param_type type);
/* The words of a bool, as choices: true, false. */
enum { N_TRUTHS = 2 };
extern const struct str truths[N_TRUTHS];
/* "between 1 and 1,024", "at least 0", "above 0", "at most 1,000"; empty without a range. */
struct str param_range_words(struct arena *a, const struct param *p);

#endif
