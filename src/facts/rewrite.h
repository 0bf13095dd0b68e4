/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a recipe's text after which it says something else of a parameter: in YAML, in flags
   and scripts, in overrides. All else stays as it stands. */
#ifndef MOEPLAN_FACTS_REWRITE_H
#define MOEPLAN_FACTS_REWRITE_H

#include "facts/facts.h"

/* The edits after which the text says the value; beside the parameter `near`, or where it best
   fits, when it says nothing yet. False, with nothing added, where there is no plain way: the value
   depends on something unknown, is no single word, or the release has no key for it. */
bool rewrite_set(const struct facts *f, int param, struct value v, int near,
                 struct text_edits *out);
/* The edits after which it says nothing of the parameter; none where it does not. */
bool rewrite_unset(const struct facts *f, int param, struct text_edits *out);
/* The same of the flag or override whose node it is, of a text that is no document. */
bool rewrite_drop_words(const struct facts *f, const struct node *node, struct text_edits *out);

#endif
