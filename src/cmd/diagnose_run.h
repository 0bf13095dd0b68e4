/* SPDX-License-Identifier: Apache-2.0 */
/* What a run told, and how it stands against the estimate of its plan: the first part of diagnose's
   answer. */
#ifndef MOEPLAN_CMD_DIAGNOSE_RUN_H
#define MOEPLAN_CMD_DIAGNOSE_RUN_H

#include "cmd/cmd.h"
#include "emit/json_writer.h"
#include "flow/diagnose.h"

void diagnose_show_run(struct cmd_context *c, const struct diagnosed *x);
/* The members "run", "errors", "profile" and "against". */
void diagnose_json_run(struct json_writer *w, const struct diagnosed *x);

#endif
