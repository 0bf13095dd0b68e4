/* SPDX-License-Identifier: Apache-2.0 */
/* How the commands that estimate say that a plan would be refused. */
#ifndef MOEPLAN_CMD_REFUSED_H
#define MOEPLAN_CMD_REFUSED_H

#include "choose/refusal.h"
#include "cmd/cmd.h"

/* Appends the first error, and the command that shows all of the file at `path`, the given options
   repeated; nothing when the plan is not refused. */
void refused_text(struct cmd_context *c, struct str path, const struct refusal *r, struct buf *out);
/* The exit status of an answer about one plan: STATUS_NO when it is refused or does not fit (of
   struct memory_estimate). */
int refused_status(bool refused, int fits);

#endif
