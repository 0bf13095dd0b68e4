/* SPDX-License-Identifier: Apache-2.0 */
/* The search: branch and bound over every layout that the hard arithmetic allows, ranked by step
   time and by what the guides prefer. Deterministic: fixed order, total tie-breaks, no clock and no
   randomness. */
#ifndef MOEPLAN_CHOOSE_SEARCH_H
#define MOEPLAN_CHOOSE_SEARCH_H

#include "choose/prefer.h"
#include "cost/cost.h"

enum { SEARCH_MAX_PLANS = 16 };

/* What to search. `base` holds the model, the machine, gpus, seq, gbs and every knob that is not
 * searched. */
struct search_request {
    const struct config *base;
    const struct knob *const *pinned; /* knobs whose value in `base` is not to be changed */
    size_t n_pinned;
    const struct preference *preferences; /* from the guides (prefer.h) */
    size_t n_preferences;
    bool allow_tight; /* also rank plans whose memory interval reaches above the capacity */
    bool exhaustive;  /* no bound is used: the test of the bounds */
    uint32_t barred_batches; /* bit i: a micro-batch of 2^i breaks a rule on every layout */
    size_t top;       /* plans wanted, at most SEARCH_MAX_PLANS */
    /* Says why a finished plan is not allowed (a rule id, a forbidden expression), or NULL. May be
     * NULL. */
    const char *(*reject)(void *context, const struct config *plan);
    void *context;
};

/* One plan with its costs. */
struct contender {
    struct knobs knobs;
    double step_s, low_s, high_s;
    double peak, peak_low, peak_high; /* bytes */
    int fits;                         /* of struct memory_estimate */
    double score; /* step time with the guides' margins: what the ranking compares, seconds */
};

struct search_result {
    struct contender
        plans[SEARCH_MAX_PLANS]; /* best first, no two of one tp, pp, cp, ep, etp and sharding */
    size_t n;
    struct contender least; /* the plan with the smallest memory peak that was looked at */
    bool has_least;
    size_t layouts, searched, feasible,
        rejected; /* nodes; memory estimates; plans that fit; plans that break a rule */
    const char *last_rejection;
};

/* Searches. `scratch` is used and given back. */
void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out);

/* Costs of one configuration as a contender; false when its pipeline split is impossible. */
bool contender_estimate(const struct config *c, struct contender *out);

#endif
