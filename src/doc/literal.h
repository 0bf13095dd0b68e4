/* SPDX-License-Identifier: Apache-2.0 */
/* Python literals, as AutoModel's loader evaluates strings with ast.literal_eval. */
#ifndef MOEPLAN_DOC_LITERAL_H
#define MOEPLAN_DOC_LITERAL_H

#include "base/value.h"

/* Numbers, strings, True, False, None, lists, tuples (as lists) and dictionaries; false, and *out
   untouched, when the text is none of them. */
bool literal_eval(struct arena *a, struct str text, struct value *out);

#endif
