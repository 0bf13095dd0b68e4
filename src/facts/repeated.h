/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a program's own that are written twice: the last one wins, and the first is most
   likely forgotten. Megatron-LM's own flags, whose values are read, see to it in flags.c. */
#ifndef MOEPLAN_FACTS_REPEATED_H
#define MOEPLAN_FACTS_REPEATED_H

#include "base/map.h"
#include "base/vec.h"
#include "facts/facts.h"

/* What has been written so far. */
struct repeated {
    struct facts *f;
    struct map last; /* name -> number of the written value */
    VEC(struct str) values;
    VEC(uint32_t) lines;
};

/* Notes that `value` is written for `name` at `at`; NULL where it is not known. A warning of
   rule `flag-repeated` where the name had another known value before; of thousands of settings only
   the first thousand are looked at. The texts must outlive *r. */
void repeated_note(struct repeated *r, struct str name, struct str value, struct span at);

#endif
