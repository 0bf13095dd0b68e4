/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a few kinds that stand in files of every program, and mean nothing else: formats of
   numbers, truths, kinds of attention. */
#ifndef MOEPLAN_FACTS_WORDS_H
#define MOEPLAN_FACTS_WORDS_H

#include "facts/flags.h"

/* Whether a word is true or false with two letters swapped or one doubled: no other word is. */
bool word_is_truth_slip(struct arena *a, struct str text);
/* Values in a document that are a slip of a word of such a kind: "bfloat61" where the key says that
   it is a format, "ture" anywhere, "eagre" of an attention. Warnings of the rules `value-choice` and
   `value-type`, where there is no finding yet. */
void words_check(struct facts *f, const struct node *document);
/* The same of "a.b=ture" in a launch. */
void words_check_override(struct facts *f, const struct flag_word *w);

#endif
