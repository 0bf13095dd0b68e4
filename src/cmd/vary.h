/* SPDX-License-Identifier: Apache-2.0 */
/* estimate --sweep: a table of what if. */
#ifndef MOEPLAN_CMD_VARY_H
#define MOEPLAN_CMD_VARY_H

#include "cmd/batch.h"
#include "flow/vary.h"

/* Answers `estimate FILE --sweep …`; service->wish and service->options say the rest. Gives the
   exit status: STATUS_NO when no combination runs and may fit. */
int vary_run(struct cmd_context *c, const struct service *service, struct str path,
             struct str text);

#endif
