/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of an estimate with their numbers put in, for --explain. */
#ifndef MOEPLAN_COST_TRACE_H
#define MOEPLAN_COST_TRACE_H

#include "cost/time.h"

/* Adds a term, its formula's text by the format, when there is a trace; gives `value` back. A macro,
   as estimates without a trace are what a search asks for. */
#define trace_term(trace, name, value, ...)                                                        \
    ((trace) ? trace_add((trace), (name), (value), __VA_ARGS__) : (value))
__attribute__((format(printf, 4, 5))) double trace_add(struct cost_trace *trace, const char *name,
                                                       double value, const char *format, ...);
/* "MLA + MoE layer". */
const char *trace_kind_name(struct arena *a, struct layer_kind kind);
/* What each kind of layer, the embedding, the head and an MTP depth take of one microbatch on a
 * rank. */
void trace_layers(struct cost_trace *trace, const struct time_layers *l);
/* The step around them. */
void trace_step(struct cost_trace *trace, const struct config *c, const struct time_estimate *t,
                struct rank_params params);

#endif
