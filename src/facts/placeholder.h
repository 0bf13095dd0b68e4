/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are still to be filled in: <path>, "your data path", /path/to/data, xxx. They are one
   remark for a file, and nothing is concluded from them. */
#ifndef MOEPLAN_FACTS_PLACEHOLDER_H
#define MOEPLAN_FACTS_PLACEHOLDER_H

#include "facts/facts.h"

/* Whether whoever wrote the text meant it to be replaced; ASCII case ignored. */
bool placeholder_is(struct str text);
/* Whether it cannot stand for a value at all: it has blanks or angle brackets. */
bool placeholder_is_words(struct str text);
/* Remembers one of the file's, and where it stands. */
void placeholder_note(struct facts *f, struct span at, struct str text);
/* The remark at the first of those that were noted; none where there are none. */
void placeholder_tell(struct facts *f);

#endif
