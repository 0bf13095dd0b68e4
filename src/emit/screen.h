/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration is and costs, for people: the blocks that the screens of `estimate` and
 * `suggest` are made of. */
#ifndef MOEPLAN_EMIT_SCREEN_H
#define MOEPLAN_EMIT_SCREEN_H

#include "base/buf.h"
#include "cost/cost.h"
#include "cost/evidence.h"
#include "cost/whatif.h"
#include "facts/model.h"
#include "facts/platform.h"

/* Name, parameters, layers and experts; one line. */
void screen_model(const struct model_shape *m, struct buf *out);
/* What was assumed about the model and what is left out; nothing when there is no input or no note.
 */
void screen_notes(const struct model_input *m, struct buf *out);
/* What follows on a user's platform from what its file writes; nothing for a built-in one. */
void screen_platform_notes(struct arena *a, const struct platform *p, struct buf *out);
/* Platform, GPUs, sequence and batch; one line. */
void screen_machine(struct arena *a, const struct config *c, struct buf *out);
/* Flags of a fork's own that the figures know nothing of, and that they are of a training step
   where what is launched does something else. */
void screen_program(const struct facts *f, struct buf *out);
/* What nobody stated; nothing when all is stated. */
void screen_assumed(const struct facts *f, struct buf *out);
/* Its precision and switches in one line, and below it images and what is trained. */
void screen_plan_line(struct arena *a, const struct config *c, struct buf *out);
/* Parallelism, batch, stages, precision, sharding, dispatcher, recompute, graphs; one line each. */
void screen_plan(struct arena *a, const struct config *c, struct buf *out);
/* A bar of the first, the fullest and the last stage: what is above the GPU's memory stands behind
   its mark. */
void screen_stages_that_matter(const struct memory_estimate *m, struct buf *out);
/* A bar a stage and the verdict. */
void screen_memory(const struct memory_estimate *m, struct buf *out);
/* The fullest stage's peak by module. */
void screen_modules(const struct config *c, const struct memory_estimate *m, struct buf *out);
/* "recompute_granularity = full, micro_batch_size = 1": the knobs that are other in `to`. */
void screen_difference(struct arena *a, const struct knobs *from, const struct knobs *to,
                       struct buf *out);
/* The cheapest changes that would make it fit, with GiB freed and time lost; nothing when `n` is 0.
 */
void screen_changes(struct arena *a, const struct config *c, const struct memory_change *changes,
                    int n, struct buf *out);
/* Step time, throughput and where the time goes. */
void screen_time(const struct time_estimate *t, struct buf *out);
/* How well the public measurements cover it, in a word. */
const char *screen_grade(const struct evidence *e);
/* The same with what it means, and the nearest of them. */
void screen_evidence(const struct evidence *e, struct buf *out);
/* Every term of a trace with its numbers put in, fitted to `width` columns (0: any). */
void screen_terms(const struct cost_trace *trace, const char *title, bool bytes, int width,
                  struct buf *out);

#endif
