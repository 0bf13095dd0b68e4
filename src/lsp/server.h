/* SPDX-License-Identifier: Apache-2.0 */
/* The Language Server Protocol 3.17, for whatever moeplan reads: findings as one types, what a key
   means and what it is in this file, keys and values to complete with, comments that silence a
   finding, and the sizes that follow from what is written.
   A message goes in, frames with the answer and what else is to be said come out. Whatever it
   holds, the answer is one of the protocol; one that takes more than a request may is an error. */
#ifndef MOEPLAN_LSP_SERVER_H
#define MOEPLAN_LSP_SERVER_H

#include "base/buf.h"
#include "flow/validate.h"

struct lsp_server;

/* What a file is checked by, and what is said beside it; the arenas of `validation` are the
   server's to set. */
struct lsp_view {
    struct validation validation;
    struct read_options options;
};
/* Finds it for a path, anew for each message, as settings may have changed: in `a`, which holds
   until the message is answered. */
typedef void lsp_look(void *state, struct arena *a, struct arena *scratch, struct str path,
                      struct lsp_view *out);

/* Lives in `keep`, which has a guard. */
struct lsp_server *lsp_new(struct arena *keep, lsp_look *look, void *state);
/* Gives back what the open files take. */
void lsp_free(struct lsp_server *s);

/* The longest message, and what answering one may take, in bytes. */
enum { LSP_LONGEST = 64 << 20, LSP_MEMORY = 256 << 20 };
enum lsp_frame { LSP_FRAME, LSP_MORE, LSP_BROKEN };
/* Takes the first message off the text; LSP_MORE while it is not all there, LSP_BROKEN when no
   message can follow, because nobody knows where it would begin. */
enum lsp_frame lsp_frame_next(struct str *text, struct str *message);

/* Appends frames to `out`; `seconds` of CPU at most. */
void lsp_answer(struct lsp_server *s, double seconds, struct str message, struct buf *out);
/* The text of a file as the client has it open, which is not saved, perhaps; false: it is not open.
   `real`: its real path. */
bool lsp_open_text(const struct lsp_server *s, struct arena *a, struct str real, struct str *text);
/* Whether the client has said that this is the end, and whether it had asked for it before. */
bool lsp_ended(const struct lsp_server *s, bool *asked);

#endif
