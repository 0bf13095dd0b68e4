/* SPDX-License-Identifier: Apache-2.0 */
/* One word for the number format of the training, and the framework's own switches for it. */
#ifndef MOEPLAN_FACTS_PRECISION_H
#define MOEPLAN_FACTS_PRECISION_H

#include "facts/facts.h"

/* Where `precision` (or Bridge's mixed_precision) is written, sets the switches it stands for; else
   sets `precision` from the switches. Switches that are written stay. A plan or a Bridge recipe
   that says nothing trains in bf16. */
void precision_derive(struct facts *f);

#endif
