/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as JSON, and their answers: --batch, which reads one a line from stdin and writes one a
   line in the same order, and the library. A request that takes more memory or time than a request
   may (cmd.h) is answered with an error, and nothing of a request stays behind it. */
#ifndef MOEPLAN_CMD_BATCH_H
#define MOEPLAN_CMD_BATCH_H

#include "cmd/cmd.h"
#include "doc/node.h"
#include "facts/reader.h"
#include "flow/validate.h"
#include "flow/wish.h"

enum { LONGEST_REQUEST = 64 << 20 }; /* bytes */

/* What all requests are answered by. */
struct service {
    const struct rule_set *rules;
    const struct validation *validation; /* for validate_answer */
    const struct read_options *options;  /* of the command line, under those of a request */
    const struct bill_wish *wish;        /* the same; NULL: none */
};

struct batch_request {
    struct arena *arena, *scratch; /* emptied after the answer; one evaluation */
    struct diags *diags;           /* fresh; the request's text is a source of it */
    const struct node *root;       /* a mapping */
    struct platform_cache *platforms;
    const struct service *service;
    struct buf *out;
};

/* Appends the members after the id to request->out, each with a comma before it (`,"value":…`). */
typedef void batch_answer(const struct batch_request *request);

/* {"id","path","text","as"?,"gpus"?,"platform"?,"framework"?,"set"?,"env"?}
   -> the members of the file object */
batch_answer validate_answer;
/* {"id","plan"} or {"id","text","as","gpus","platform"} -> those of an estimate, or "error" and
   "diagnostics" */
batch_answer estimate_answer;
/* {"id","model","gpus","platform","options"?} -> plans */
batch_answer suggest_answer;
/* {"id","expr","bindings"?} -> "value" */
batch_answer eval_answer;

/* Appends `,"error":"message"`. */
void batch_error(const struct batch_request *request, struct str message);
/* The options of the command line, for the request to put its own over. */
struct read_options batch_options(const struct batch_request *request);

/* ---- who answers ---- */

/* A guard, arenas and an output of its own; every request is a run of that guard. */
struct worker {
    struct guard guard;
    struct arena *keep, *scratch, *output;
    struct platform_cache platforms;
    struct service service;
    struct rule_set rules; /* those of the service, with a memo of its own */
    struct rule_memo memo;
    struct buf out; /* the answers, one a line */
};

/* Children of the arena; to be closed before the run ends in which it was opened. `service` may be
   NULL where no request is answered. */
void worker_open(struct arena *parent, const struct service *service, struct worker *w);
void worker_close(struct worker *w);
/* For one that is to outlive that run. */
void worker_keep(struct worker *w);
/* Appends {"id":…} with what `answer` adds, and a line end; `seconds` of CPU at most. Gives NULL,
   or why there is none: then nothing is appended. *id is the request's own words for it, or null.
 */
const char *worker_answer(struct worker *w, batch_answer *answer, double seconds, struct str line,
                          struct str *id);
/* Forgets what the last request made, beside answers and platforms. */
void worker_reset(struct worker *w);
/* Forgets the answers, which have been handed out. */
void worker_empty(struct worker *w);

/* ---- batches ---- */

/* Reads requests to the end of stdin and has each answered by one of `n` workers; a line that is no
   JSON object, or longer than LONGEST_REQUEST, is answered with an error here, and an empty one not
   at all. Answers go out as they come, or into -o FILE at the end. Gives STATUS_OK, or
   STATUS_CANNOT with a usage error. */
int batch_run(struct cmd_context *c, batch_answer *answer, const struct service *service, size_t n);

#endif
