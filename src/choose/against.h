/* SPDX-License-Identifier: Apache-2.0 */
/* A run held against the estimate of its plan: is it as fast as it should be, which part of the
   step is longer than estimated, and which lever would shorten it on the machine as it was
   measured. */
#ifndef MOEPLAN_CHOOSE_AGAINST_H
#define MOEPLAN_CHOOSE_AGAINST_H

#include "cost/cost.h"
#include "cost/evidence.h"
#include "rules/rule.h"

enum pace { PACE_AS_ESTIMATED, PACE_SLOWER, PACE_FASTER };

/* A part of the step, as a profile or the log's timers show it. Seconds. */
struct pace_term {
    const char *name;
    double measured, estimated;
    const char *meaning; /* of one that is longer than estimated, and what to look at first */
};
enum { PACE_TERMS = 6, PACE_MOVES = 3 };

/* A lever tried on the plan, each part of its step scaled by what was measured of that part. */
struct pace_move {
    struct str what;
    double step, peak; /* s, bytes */
    int fits;
};

struct against {
    bool known;       /* the plan has a cost and the metrics say how long a step takes */
    const char *from; /* which metric says so */
    bool timed;       /* by a time, not by FLOPs */
    double measured, estimated, low, high; /* s of a step */
    enum pace pace;
    double beyond; /* how far outside of the interval, as a part of its nearer end; 0: inside */
    double tokens_per_s_per_gpu, estimated_tokens_per_s_per_gpu;
    double measured_peak, estimated_peak, peak_low, peak_high; /* bytes; 0: not measured */
    struct pace_term terms[PACE_TERMS];
    int n_terms, worst; /* worst: the term that differs most; -1: none is measured */
    struct pace_move moves[PACE_MOVES];
    int n_moves;
    /* How FLOPs are counted: those of a token by the run's own figure over Megatron-LM's; 0: it
       states no rate, or none beside a time. */
    double counted;
    double peak_used; /* FLOP/s that the run's MFU divides by, where that follows; else 0 */
    struct evidence_run nearest;
    double nearest_tokens_per_s, nearest_tflops, nearest_counted; /* of that run; 0: not said */
    bool nearest_same; /* it is of the same model and sequence length: its rates compare */
};

/* `f`: the run's plan and metrics; `c`, `memory` and `time` are the plan's. The moves that break a
   rule are left out. */
void against_estimate(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      const struct config *c, const struct memory_estimate *memory,
                      const struct time_estimate *time, struct arena *scratch, struct against *out);

#endif
