/* SPDX-License-Identifier: Apache-2.0 */
/* A plan file as a command's output. */
#ifndef MOEPLAN_CMD_PLAN_OUT_H
#define MOEPLAN_CMD_PLAN_OUT_H

#include "cmd/cmd.h"
#include "emit/emit.h"

/* Writes the plan, which names a platform file as seen from the folder of -o FILE, so that it finds
   the file again; says on stderr when a plan that lies there may not name it. */
void plan_out(struct cmd_context *c, const struct emit_input *in);
/* The same into a text that will lie in a folder. */
void plan_out_in(struct cmd_context *c, const struct emit_input *in, struct str folder,
                 struct buf *out);

#endif
