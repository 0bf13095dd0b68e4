/* SPDX-License-Identifier: Apache-2.0 */
/* Comments that silence findings:
       # moeplan: ignore[rule-id] reason          on the line, or alone on the line above it
       # moeplan: ignore-file[rule-id] reason     anywhere, for the whole file
   Several ids are separated by commas. */
#ifndef MOEPLAN_DIAG_SUPPRESS_H
#define MOEPLAN_DIAG_SUPPRESS_H

#include "diag/diag.h"

/* Says whether a comment that silenced nothing is to be reported: not when its rule could not be
 * decided. May set *help. */
typedef bool suppress_judge(void *state, struct str rule, struct str *help);

/* Drops the findings of a source that its comments silence, adds a warning `unused-suppression` for
   every comment that silences nothing (and that `judge`, when not NULL, wants reported), and gives
   the number dropped. Syntax errors cannot be silenced. */
size_t diags_suppress(struct diags *all, uint32_t source, suppress_judge *judge, void *state);

#endif
