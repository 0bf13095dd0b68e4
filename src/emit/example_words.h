/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a rule as a user writes it: flags, overrides or YAML keys, by the parameter table.
 */
#ifndef MOEPLAN_EMIT_EXAMPLE_WORDS_H
#define MOEPLAN_EMIT_EXAMPLE_WORDS_H

#include "base/buf.h"
#include "rules/rule.h"

/* The example in the words of its framework, then a comment with what no word of it says (GPUs, the
   platform, what stands in a model's own configuration). A plan file where the example is about one
   or about metrics. Empty when it is no valid example. */
struct str example_words(struct arena *a, const struct rule *r, const struct rule_example *example);

#endif
