/* SPDX-License-Identifier: Apache-2.0 */
/* Comments that silence findings:
       # moeplan: ignore[rule-id] reason          on the line, or alone on the line above it
       # moeplan: ignore-file[rule-id] reason     anywhere, for the whole file
   Several ids are separated by commas; `until 2026-12-31` behind the brackets is the last day on
   which the comment holds. In a script a comment above a command, or above a text in quotes, that
   goes on over several lines is for all of them, as none can stand between them. */
#ifndef MOEPLAN_DIAG_SUPPRESS_H
#define MOEPLAN_DIAG_SUPPRESS_H

#include "diag/diag.h"

/* Says whether a comment that silenced nothing is to be reported: not when its rule could not be
 * decided. May set *help. */
typedef bool suppress_judge(void *state, struct str rule, struct str *help);

/* Hides the findings of a source that its comments silence (DIAG_SILENCED), adds a warning
   `unused-suppression` for every comment that silences nothing (and that `judge`, when not NULL,
   wants reported) and `expired-suppression` for one whose day is over, and gives the number hidden.
   What is fatal cannot be silenced. `today` is as 2026-12-31; empty: nothing expires. */
size_t diags_suppress(struct diags *all, uint32_t source, struct str today, suppress_judge *judge,
                      void *state);

#endif
