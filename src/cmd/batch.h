/* SPDX-License-Identifier: Apache-2.0 */
/* --batch: JSONL requests on stdin, one JSON answer a line in the same order. */
#ifndef MOEPLAN_CMD_BATCH_H
#define MOEPLAN_CMD_BATCH_H

#include "cmd/cmd.h"
#include "doc/node.h"

struct batch_request {
    struct arena *arena; /* emptied after the answer */
    struct diags *diags; /* fresh; the request's text is a source of it */
    const struct node *root;
    struct str id; /* as JSON text, "null" when there is none */
    void *state;   /* as given to batch_run */
};

/* Appends the members after the id to c->out, each with a comma before it (`,"value":…`). */
typedef void batch_answer(struct cmd_context *c, const struct batch_request *request);

/* Reads requests to the end of stdin and has each answered; a line that is no JSON object is
   answered with an error here. Answers go out as they come, or into -o FILE at the end. Gives
   STATUS_OK. */
int batch_run(struct cmd_context *c, batch_answer *answer, void *state);
/* The same by several workers at a time, each with a context (output, arenas) and one of the `n`
   states of its own. Answers keep the order of the requests. */
int batch_run_crew(struct cmd_context *c, batch_answer *answer, void *const *states, size_t n);
/* Appends `,"error":"message"`. */
void batch_error(struct cmd_context *c, struct str message);
/* The text of a string member; empty when there is none. */
struct str batch_str(const struct batch_request *request, const char *member);
/* An integer member of at least `least`; false when it is there and is none. *out is untouched when
   it is absent or null. */
bool batch_int(const struct batch_request *request, const char *member, int64_t least,
               int64_t *out);

#endif
