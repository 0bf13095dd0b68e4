/* SPDX-License-Identifier: Apache-2.0 */
/* suggest for several sizes and platforms: one table. */
#ifndef MOEPLAN_CMD_SIZING_H
#define MOEPLAN_CMD_SIZING_H

#include "cmd/batch.h"
#include "cmd/suggest_show.h"
#include "flow/sizing.h"

/* What a number of GPUs may be: how many there may be of them, and what was said instead. */
#define SIZES_WANTED                                                                               \
    "gpus must be a number from 1 on, min, or up to %d numbers as 64,96 or 64..4096, not \"%.*s\""

/* Whether the command line asks for a table: several sizes, platforms or tasks, a range of batches,
   or CSV. */
bool sizing_wanted(const struct cmd_context *c);
/* Answers it; the questions, one a task, are settled, with a model. Gives the exit status. */
int sizing_run(struct cmd_context *c, const struct rule_set *rules, const struct ask *asks,
               size_t n);
/* Whether a request asks for a table. */
bool sizing_requested(const struct node *root, const struct node *options);
/* Answers it as suggest_answer does. */
void sizing_answer_request(const struct batch_request *request, const struct ask *ask);

/* ---- how it is shown (sizing_show.c) ---- */

/* The table fits a terminal of `width` columns (0: none). */
void sizing_text(const struct sizing_ask *ask, const struct sizing *s, int width, struct buf *out);
void sizing_csv(const struct sizing *s, struct buf *out);
/* Adds the members sizes, knees and notes. */
void sizing_json(struct tree *t, const struct rule_set *rules, const struct sizing *s);

#endif
