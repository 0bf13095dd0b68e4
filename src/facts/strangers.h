/* SPDX-License-Identifier: Apache-2.0 */
/* Flags and keys of a launch that Megatron-LM does not take: slips of its own, those of a fork or
   another program, or what nobody knows. `near` has the nearest name of each stranger of the
   program, zeroed at first and looked for when it is first asked for. */
#ifndef MOEPLAN_FACTS_STRANGERS_H
#define MOEPLAN_FACTS_STRANGERS_H

#include "facts/facts.h"

/* Whether Megatron-LM had the flag once: then it is no slip. */
bool stranger_was_there(struct str name);
/* Whether each may be a slip of a name that is near, as in a launch of Megatron-LM's own. */
bool strangers_are_near(const struct facts *f, struct str *near);
/* Each as an error, of Megatron-LM's own program. */
void strangers_refuse(struct facts *f, struct str *near);
/* As warnings and remarks, of a fork or of another program; decides which one by its flags where
   nobody says. */
void strangers_report(struct facts *f, struct str *near);

#endif
