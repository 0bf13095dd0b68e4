/* SPDX-License-Identifier: Apache-2.0 */
/* --batch: JSONL requests on stdin, one JSON answer a line in the same order. A request that takes
   more memory or time than a request may (cmd.h) is answered with an error, and nothing of a
   request stays behind it. */
#ifndef MOEPLAN_CMD_BATCH_H
#define MOEPLAN_CMD_BATCH_H

#include "cmd/cmd.h"
#include "doc/node.h"

struct platform_cache;

struct batch_request {
    struct arena *arena; /* the context's `keep`; emptied after the answer */
    struct diags *diags; /* fresh; the request's text is a source of it */
    const struct node *root;
    struct platform_cache *platforms; /* of the worker */
    void *state;                      /* as given to batch_run */
};

/* Appends the members after the id to c->out, each with a comma before it (`,"value":…`). The
   context is the worker's own. */
typedef void batch_answer(struct cmd_context *c, const struct batch_request *request);

/* Reads requests to the end of stdin and has each answered; a line that is no JSON object, or
   longer than 64 MiB, is answered with an error here, and an empty one not at all. Answers go out
   as they come, or into -o FILE at the end. Gives STATUS_OK, or STATUS_CANNOT with a usage error.
 */
int batch_run(struct cmd_context *c, batch_answer *answer, void *state);
/* The same by several workers at a time, each with one of the `n` states. Answers keep the order of
   the requests. */
int batch_run_crew(struct cmd_context *c, batch_answer *answer, void *const *states, size_t n);
/* Appends `,"error":"message"`. */
void batch_error(struct cmd_context *c, struct str message);
/* The text of a string member; empty when there is none. */
struct str batch_str(const struct batch_request *request, const char *member);

#endif
