/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration needs and reaches: memory per pipeline stage and step time, in named terms.
 * SI units. */
#ifndef MOEPLAN_COST_COST_H
#define MOEPLAN_COST_COST_H

#include "plan/config.h"

enum { COST_MAX_STAGES = 256, COST_MAX_TERMS = 48 };

/* One named part of an estimate, for --explain. */
struct cost_term {
    const char *name;    /* "optimizer states, experts" */
    const char *formula; /* "12 B x 1,234,567 / 8" with the numbers put in; NULL while searching */
    double value;        /* bytes or seconds */
};

struct stage_memory {
    double params, grads, optimizer, activations, logits, buffers,
        graphs;              /* bytes, as they stand at the peak phase */
    double total, low, high; /* bytes; low..high meant to hold 9 runs of 10 */
    char phase; /* 'A' head backward, 'B' last layer's backward, 'M' outputs put together, 'C'
                   optimizer step, 'L' loading */
};

struct memory_estimate {
    int n_stages, fullest; /* fullest: stage with the largest total */
    struct stage_memory stages[COST_MAX_STAGES];
    double peak, peak_low, peak_high, reserved, capacity; /* bytes */
    enum { FITS_YES, FITS_TIGHT, FITS_NO } fits;
    uint32_t open; /* UNSTATED_* bits: what nobody states, without which it does not fit */
};

/* A FITS_* as the answer to whether it fits (yes, tight, no), and as a word of its own (fits,
   tight, does not fit). */
const char *memory_fits(int fits);
const char *memory_verdict(int fits);

struct time_estimate {
    double step, low, high; /* seconds of one optimizer step */
    double tokens_per_s_per_gpu, model_flops_per_gpu /* FLOP/s */, mfu;
    double peak; /* FLOP/s that mfu is a part of: the dense peak of the plan's precision */
    const char *peak_name; /* BF16, FP8, FP4 */
    double bubble_fraction;
    double compute, recompute, ep_exposed, tp_exposed, cp_exposed, pp_exposed, dp_exposed, bubble,
        host, optimizer; /* seconds */
};

/* Collects the terms when not NULL (arena-backed, for --explain); the search passes NULL. */
struct cost_trace {
    struct arena *arena;
    VEC(struct cost_term) terms;
};

/* Peak allocated memory of every stage. False when the pipeline split is impossible. */
bool memory_estimate(const struct config *c, struct memory_estimate *out, struct cost_trace *trace);
/* A plan that does not fit as it stands may with what nobody states of it: then it is tight, and
   its low end is that of the most likely such plan. */
void memory_allow_open(const struct config *c, struct memory_estimate *m);
/* "does not fit unless it has what it does not state: bf16 gradients, recomputation". */
struct str memory_open_text(struct arena *a, const struct memory_estimate *m);
/* Step time. False when the pipeline split is impossible. */
bool time_estimate(const struct config *c, struct time_estimate *out, struct cost_trace *trace);
/* Seconds of the step that go to waiting for the rank and the microbatch with most of documents'
   attention. */
double time_uneven_documents(const struct config *c);
/* Model FLOPs of one token, forward and backward, in Megatron's convention (causal attention
 * halved, no recompute). */
double model_flops_per_token(const struct config *c);
/* The same with the keys alone that windows and sparse attention's indexers leave, which no step
   does at more than the chip's peak. */
double model_flops_done_per_token(const struct config *c);

#endif
