/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats by their names, wherever a file names one. */
#ifndef MOEPLAN_FACTS_DTYPES_H
#define MOEPLAN_FACTS_DTYPES_H

#include "facts/facts.h"

/* Values in a document whose key says that they are number formats ("torch_dtype", "precision") and
   that are a slip of one's name: "bfloat61". Warnings of rule `value-choice`. */
void dtypes_check(struct facts *f, const struct node *document);

#endif
