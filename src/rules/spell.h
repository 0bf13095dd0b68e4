/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule's text calls by Megatron-LM's flags, as the reader's framework writes it. */
#ifndef MOEPLAN_RULES_SPELL_H
#define MOEPLAN_RULES_SPELL_H

#include "facts/facts.h"

/* The text, for facts of Megatron-Bridge with its keys for flags: "write --sequence-parallel" is
   "write model.sequence_parallel=true". A text that speaks of Bridge itself, and a flag that Bridge
   has no key for, stay as they are. */
struct str spell_flags(const struct facts *f, struct str text);

#endif
