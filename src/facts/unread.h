/* SPDX-License-Identifier: Apache-2.0 */
/* Flags in the parts of a script that are not followed: branches that are not taken, values that
   depend on what nobody knows, the launches behind the first. */
#ifndef MOEPLAN_FACTS_UNREAD_H
#define MOEPLAN_FACTS_UNREAD_H

#include "facts/flags.h"

/* Tells of those that are slips of Megatron-LM's flags, rule `unknown-key`; `words` are those of
   the launch that was read, and the program is settled. */
void unread_note(struct facts *f, struct str text, const struct flag_words *words);

#endif
