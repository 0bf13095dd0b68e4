/* SPDX-License-Identifier: Apache-2.0 */
/* --batch: JSONL requests on stdin, one JSON answer a line in the same order. */
#ifndef MOEPLAN_CMD_BATCH_H
#define MOEPLAN_CMD_BATCH_H

#include "cmd/cmd.h"
#include "doc/node.h"

struct batch_request {
    struct arena *arena; /* c->scratch, emptied after the answer */
    struct diags *diags; /* fresh; the request's text is a source of it */
    const struct node *root;
    struct str id; /* as JSON text, "null" when there is none */
};

/* Reads requests to the end of stdin and has each answered: `answer` appends the members after the
   id to c->out, each with a comma before it (`,"value":…`). A line that is no JSON object is
   answered with an error here. Gives STATUS_OK when stdin could be read. */
int batch_run(struct cmd_context *c,
              void (*answer)(struct cmd_context *c, const struct batch_request *request));
/* Appends `,"error":"message"`. */
void batch_error(struct cmd_context *c, struct str message);
/* The text of a string member; empty when there is none. */
struct str batch_str(const struct batch_request *request, const char *member);

#endif
