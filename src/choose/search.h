/* SPDX-License-Identifier: Apache-2.0 */
/* The search: branch and bound over every plan that the hard arithmetic allows: layout, micro-batch
   and all switches of the table of moves together. Ranked by step time and by what the guides
   prefer. Exact: no plan of the space, of which rules and memory allow it, comes before one that is
   given. Deterministic: fixed order, total tie-breaks, no clock and no randomness. */
#ifndef MOEPLAN_CHOOSE_SEARCH_H
#define MOEPLAN_CHOOSE_SEARCH_H

#include "choose/prefer.h"
#include "cost/cost.h"

enum { SEARCH_MAX_PLANS = 64, SEARCH_HELD_PLANS = SEARCH_MAX_PLANS + 4 };

/* What to search. `base` holds the model, the machine, gpus, seq, gbs and every knob that is not
   searched. All that it points at must outlive the search. */
struct search_request {
    const struct config *base;
    const struct knob *const *pinned; /* knobs whose value in `base` is not to be changed */
    size_t n_pinned;
    const struct preference *preferences; /* from the guides (prefer.h) */
    size_t n_preferences;
    bool exhaustive;           /* no bound is used: everything is looked at */
    uint32_t barred_batches;   /* bit i: a micro-batch of i breaks a rule on every layout */
    unsigned barred_needs;     /* of moves: what no plan can meet by the rules */
    size_t top;                /* plans wanted, at most SEARCH_MAX_PLANS */
    const struct knobs *known; /* further candidates, whole plans for this question */
    size_t n_known;
    /* Says why a finished plan is not allowed (a rule id, a forbidden expression), or NULL. May be
     * NULL. */
    const char *(*reject)(void *context, const struct config *plan);
    /* What `reject` said of another plan where that holds for these knobs too: quick, and NULL
       where it is not known. May be NULL. */
    const char *(*refused)(void *context, const struct knobs *k);
    /* The same as `reject` of a layout that is forbidden whatever the switches. May be NULL. */
    const char *(*barred)(void *context, const struct config *plan);
    void *context;
};

/* One plan with its costs. */
struct contender {
    struct knobs knobs;
    double step_s, low_s, high_s;
    double peak, peak_low, peak_high; /* bytes */
    int fits;                         /* of struct memory_estimate */
    bool risky;   /* takes a risk that tuned recipes of the chip do not, or offloads where others do
                     without: never first */
    double score; /* step time with the guides' preference: what the ranking compares, seconds */
    int slot;     /* of a plan that is given: its split in search_result.splits */
};

struct search_result {
    /* Best first (finalists_sort), one of each tp, pp, ep and etp; where they are not among these,
       the last places have the best of the other kind of sharding, if it is hardly slower,
       and the fastest plan of all. */
    struct contender plans[SEARCH_HELD_PLANS];
    struct layout splits[SEARCH_HELD_PLANS]; /* knobs.layout of a plan, where it has one */
    size_t n;
    struct contender least; /* the plan with the smallest memory peak that was looked at */
    bool has_least;
    /* Layouts with their batches and virtual stages; of these, looked at in full, the others were
       bounded away; memory estimates; plans that fit; plans that break a rule. */
    size_t layouts, visited, searched, feasible, rejected;
    /* The most that moving single layers gained, which is done to `plans` alone, as a part of the
       step time: how far any other plan of the space can be ahead by the estimate. */
    double polished;
    const char *last_rejection;
    struct knobs refused; /* the first plan that was refused, where there is a last rejection */
};

/* All layouts with their bounds, for any number of runs. Lives in `a`. */
struct search *search_new(struct arena *a, const struct search_request *request);
/* The best plans for GPUs of so many bytes. `tight`: also those whose memory interval reaches above
   it. */
void search_within(struct search *s, double capacity_bytes, bool tight, struct search_result *out);
/* Whether any plan fits GPUs of so many bytes and is let by the rules. */
bool search_finds_any(struct search *s, double capacity_bytes);
/* The plan that needs the least memory of those that the rules let, where none fits so many bytes:
   to a few percent. False: they let none at all. */
bool search_smallest(struct search *s, double above_bytes, struct contender *out);
/* A new search and its best plans, for the machine's memory; `scratch` is used and given back. */
void search_run(const struct search_request *request, struct arena *scratch,
                struct search_result *out);

/* Divides the layers of a plan that is given by a search for the same memory as the search has it.
 *slot must live as long as `c` uses it. False when that is impossible. */
bool search_divide(struct config *c, struct layout *slot);
/* Costs of one configuration as a contender; false when its pipeline split is impossible. */
bool contender_estimate(const struct config *c, struct contender *out);

#endif
