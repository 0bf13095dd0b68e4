/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of a search, and bounds of what any plan with one takes. */
#ifndef MOEPLAN_CHOOSE_SPOTS_H
#define MOEPLAN_CHOOSE_SPOTS_H

#include "base/vec.h"
#include "choose/space.h"
#include "cost/time.h"

/* A layout and micro-batch that the arithmetic allows, with any number of virtual stages. */
struct spot {
    double bound;    /* of the step time, seconds; a rough one until it is measured */
    double wish;     /* prefer_sum of its sizes and sharding */
    uint32_t number; /* in the order of enumeration: ties keep it */
    uint32_t group;
    uint32_t family : 30,        /* of spots that share all but the micro-batch */
        measured : 1, early : 1; /* early: it has its turn before all others */
    uint16_t pp, schedules;
};

struct variant;
struct variants_least;
struct ladder;

/* Rates that no combination of switches undercuts, of those that hide the exchange between experts,
   which is seen in a step's first and last passes, and of those that do not. */
struct least_rates {
    int n; /* 0: there are none; 1: without an exchange to hide */
    struct time_rates ways[2];
};

/* Spots that share all but pp and its schedule, and with it their layers' times, beside what these
   wait for documents of data-parallel ranks (documents_wait_for_replicas): in no bound. */
struct group {
    struct knobs knobs;        /* as in the base, with the group's sizes; pp 1 */
    struct least_rates *least; /* [2]: nothing recomputed; [1]: with a captured iteration. NULL: not
                                  measured yet, as most never are */
    /* of the search: not worked out yet where there are none */
    struct least_rates **recomputing; /* with each state of recomputation, as `least` */
    struct variant *variants;
    size_t n_variants;
    uint64_t *slower; /* [n_variants][variants_words]: of each the others that are as slow at least
                         at every layer, and no better liked: bit i */
    struct variants_least *variants_least; /* [2]: without and with a risk */
    struct ladder *ladder;                 /* the last that was asked for; NULL: none yet */
};

/* How long pipelines take whose stages wait for one another. */
struct schedule {
    struct time_rates rates;
    double sent;    /* seconds of a chunk's transfers, to and fro */
    double seconds; /* of a pipeline at these, that no division undercuts; 0: not known */
    int pp, vpp;
    int64_t microbatches;
};

/* Schedules that were worked out: at other rates they bound too, if less. */
enum { SPOTS_KNOWN_SCHEDULES = 256 };

/* Plain layers that were worked out, of sizes that have their turn one after another. */
enum { SPOTS_KNOWN_PLAIN = 256 };

/* Of so many stages all numbers of virtual ones, whatever the microbatches. */
struct known_stages {
    int pp; /* 0: of none yet */
    struct axis all;
};

/* What a guide's preference costs that a spot has. */
struct known_cost {
    double number, cost; /* number: of the knob */
};

struct spots {
    const struct search_request *request;
    struct arena *arena;
    const struct preference *preferences; /* of a spot's wish */
    size_t n_preferences;
    struct config *c;            /* scratch: the base with changing knobs */
    const struct timing *timing; /* what of it does not depend on the layout */
    struct known_kernels *kernels;
    struct arena *growing;  /* what `items` is in while it is filled */
    VEC(struct spot) items; /* by rough bound */
    VEC(struct group *) groups;
    struct states dispatchers;
    struct plain_layers **plain;                /* [SPOTS_KNOWN_PLAIN]; NULL: none yet */
    uint32_t captured[SPACE_MAX_STATES];        /* of each, the parts that graphs may capture */
    struct knobs hidden;                        /* what hides most of every exchange */
    struct least_rates rough[2];                /* as a group's `least`, of time_rough_rates */
    struct states exchanges;                    /* of keys, at the present TP and CP */
    struct known_stages *stages;                /* [AXIS_MAX_PP + 1] by pp, the last of any more */
    struct known_cost *costs;                   /* [n_preferences] of the last spot */
    struct schedule schedule, *known_schedules; /* [SPOTS_KNOWN_SCHEDULES] */
    int kind_counts[MODEL_MAX_KINDS];           /* layers of each kind */
    int usual_kind;                             /* the most frequent */
    size_t layouts;                             /* with every number of virtual stages */
    uint32_t n_families;
    uint32_t families[AXIS_MAX_PP + 1]; /* by pp: 1 + the present sizes' family; 0: none yet */
    bool two_kinds;                     /* with and without sharded parameters */
};

/* Every layout of the request; fills what is after `kernels`. */
void spots_fill(struct spots *s);
/* Works out a spot's bound, and its group's rates, unless it is done. */
void spots_measure(struct spots *s, struct spot *spot);
/* Whether a knob is one of the sizes that make a spot. */
bool spots_decide(const struct knob *knob);
/* Takes of each rate the smaller one. */
void spots_take_least(struct time_rates *least, const struct time_rates *one);
/* With what *c recomputes, pp 1; `whole`: with a captured iteration. */
void spots_least_rates(const struct spots *s, bool whole, struct least_rates *least);
/* The numbers of virtual stages that the present layout may have. */
struct axis spots_stages(struct spots *s);
/* Seconds of a step of *c, with its virtual stages or any number from there to `most_vpp`, that no
   division of the layers over the chunks can undercut, with its layers' rates; beside optimizer and
   data parallelism. */
double spots_bound(const struct spots *s, const struct config *c, const struct time_rates *rates,
                   int most_vpp);
/* The same whatever the switches. */
double spots_least_bound(const struct spots *s, const struct config *c,
                         const struct least_rates *least, int most_vpp);
/* The same of one division. */
double spots_bound_of_split(const struct spots *s, const struct config *c,
                            const struct time_rates *rates, const struct layout *layout);
/* From here on spots_bound is of the present knobs' stages alone and knows their schedule, not the
   sums alone: worked out at these rates, it holds for all; */
void spots_take_schedule(struct spots *s, const struct time_rates *rates);
/* as it was worked out the last time for as many stages and microbatches, if it was. */
void spots_recall_schedule(struct spots *s);
/* Of any stages again; */
void spots_leave_schedule(struct spots *s);
/* for a while: what spots_resume_schedule has to be given. */
double spots_suspend_schedule(struct spots *s);
void spots_resume_schedule(struct spots *s, double seconds);

#endif
