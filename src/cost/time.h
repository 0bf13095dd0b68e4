/* SPDX-License-Identifier: Apache-2.0 */
/* Step time in two parts, for a search: the layers' times, which depend on the model, the machine,
   tp, cp, ep, etp, mbs, seq, precision, dispatcher, recompute, CUDA graphs and gpus, and the step
   around them, which depends on everything else. */
#ifndef MOEPLAN_COST_TIME_H
#define MOEPLAN_COST_TIME_H

#include "cost/cost.h"
#include "cost/layer.h"
#include "cost/sharding.h"

struct time_layers {
    struct timing timing;                                /* its `config` must outlive it */
    struct layer_time embedding, vision, head, mtp_ends; /* mtp_ends: `mtp` without its layers */
    struct end_rates {
        double embedding, head;
        double heat;             /* seconds of both that throttling takes */
    } ends[2];                   /* as in struct time_rates; [1]: with TP exchange overlapped */
    int counts[MODEL_MAX_KINDS]; /* layers of each kind */
    struct layer_time mtp, kinds[MODEL_MAX_KINDS];
};

/* Layers that were worked out, for plans whose weights' products, and what stands around the
   layers, are the same. key.tp 0: none yet. */
enum { TIME_SHARED = 32 };
struct time_shared {
    struct knobs key;
    struct time_layers layers;
    struct layer_time products[MODEL_MAX_KINDS];
};

/* What stands around the layers of plans that were worked out: it is the same however experts are
   divided. key.tp 0: none yet. */
enum { TIME_ENDS = 256 };
struct time_ends {
    struct knobs key;
    struct layer_time embedding, vision, head, mtp_ends;
    struct end_rates ends[2];
};

void time_layers_init(const struct config *c, struct time_layers *out);
/* The same with what is known of other plans for the machine; NULL: nothing. */
void time_layers_init_known(const struct config *c, struct known_kernels *known,
                            struct time_layers *out);
/* Puts the MTP depth together from what stands around it and the kinds of layers. */
void time_mtp(const struct config *c, struct time_layers *out);
/* The same as time_layers_init from those of a plan that differs from `c` in what is recomputed
   alone (time_key_without_recompute). */
void time_layers_repeat(const struct time_layers *other, const struct config *c,
                        struct time_layers *out);
/* The knobs without what is around the layers, or hidden behind them: equal, byte by byte, for
   plans whose layers take the same times. */
struct knobs time_layers_key(const struct knobs *k);
/* The knobs of the same plan that recomputes nothing. */
struct knobs time_key_without_recompute(struct knobs key);
/* Layers of a plan that recomputes nothing, for those that follow and differ from it in that alone;
   key.tp 0: none yet. */
struct plain_layers {
    struct knobs key;
    struct time_layers layers;
};
/* What time_layers_init_known makes of the plan, from the plain ones, which are made where they are
   another plan's. *c is given back as it was. */
void time_layers_beside(struct plain_layers *plain, struct config *c, struct known_kernels *known,
                        struct time_layers *out);
/* The rest of time_estimate. The knobs that time_layers_init read must be those of `c`. */
bool time_estimate_layers(const struct time_layers *l, const struct config *c,
                          struct time_estimate *out, struct cost_trace *trace);
/* Widens the interval by what nobody states of a plan: its dispatcher, its virtual stages, the
   modules that it recomputes, and of one of sizes alone its switches. */
void time_allow_open(const struct time_layers *l, const struct config *c, struct time_estimate *t);
/* Seconds of the step alone; infinite when the pipeline split is impossible. */
double time_step(const struct time_layers *l, const struct config *c);
/* The passes of all microbatches, which what is exchanged around them does not change. */
struct time_pass {
    double seconds, window; /* of them; of a microbatch, beside which that hides */
};
/* False when the pipeline split is impossible. */
bool time_pass_of(const struct time_layers *l, const struct config *c, struct time_pass *out);
/* The step that has them. */
double time_step_of(const struct time_layers *l, const struct config *c,
                    const struct time_pass *pass);

/* Seconds that one item of a chunk takes on its rank, forward and backward with recomputation,
   communication hidden as the knobs of `c` allow. A rank needs at least microbatches times the sum
   of its items: the search's lower bound. Kinds that the model has not are 0. All of them doubles,
   of which each makes a step longer the larger it is. */
struct time_rates {
    double kinds[MODEL_MAX_KINDS], embedding, head, mtp;
    double slow;   /* factor of the slowest of many ranks */
    double alone;  /* seconds of the first and last microbatch with nothing to hide exchange in */
    double fixed;  /* seconds of a step beside its pipeline */
    double cooled; /* part of what a rank waits that the step shows at least */
};
/* Seconds of a pipeline whose ranks are busy for `busy` in the mean and which takes `whole` at
   least, both of them by rates: ranks that wait cool. */
double time_least_pipeline(const struct time_rates *rates, double busy, double whole);
/* struct time_rates' `cooled` of any plan: that of an item which is nothing but tensor cores' work,
   as none is hotter. */
double time_least_cooled(const struct timing *t);
void time_rates_of(const struct time_layers *l, const struct config *c, struct time_rates *out);
/* What stands at the ends of the model, of whose layers *l has all but `ends`. */
struct end_rates time_end_rates(const struct config *c, const struct time_layers *l,
                                bool tp_overlap);
/* Seconds that each item of a chunk takes at least, by passes, and one transfer: of what is
   repeated only where that does not depend on where it stands. */
struct time_lengths {
    struct time_length {
        double forward, backward;
    } kinds[MODEL_MAX_KINDS], embedding, head, mtp;
    double transfer;
};
void time_lengths_of(const struct time_layers *l, const struct config *c, struct time_lengths *out);
/* Rates that no plan with these sizes undercuts, whatever its switches: of the layers of one kind
   alone, and of these what every plan has. Nothing is recomputed. First what is the same however
   keys are exchanged, */
struct time_rough {
    int kind;
    struct timing timing;
    struct layer_time products;
};
void time_rough_start(const struct config *c, struct known_kernels *known, int kind,
                      struct time_rough *out);
/* then the rates with the exchange that the same configuration has now. */
void time_rough_rates(const struct time_rough *rough, struct time_rates *out);
/* Of the same layers the rates of plans with the same number are equal: how their communication is
   hidden. */
enum { TIME_WAYS_TO_HIDE = 16 };
unsigned time_way_to_hide(const struct knobs *k);

#endif
