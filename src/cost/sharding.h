/* SPDX-License-Identifier: Apache-2.0 */
/* What happens once a step, or once a microbatch under FSDP, over the data-parallel ranks:
 * collectives and optimizer. */
#ifndef MOEPLAN_COST_SHARDING_H
#define MOEPLAN_COST_SHARDING_H

#include "cost/timing.h"

/* Parameters on one rank: those over data parallel ranks, and the experts' over expert data
   parallel ranks; and those that are trained. */
struct rank_params {
    double dense, experts;
    double packed; /* of `dense`: held in 4 or 8 bits */
    double low;    /* of both: those of linears that low precision reaches */
    double trained_dense, trained_experts;
};
struct rank_params sharding_params(const struct config *c);

/* The knobs are those of the whole plan; `t` may have been made for other pipelines and batches.
   Seconds of a step's collectives that stay exposed. stage_s: time of one microbatch on a stage in
   which nothing else is on the network.
 */
double sharding_exposed(const struct timing *t, const struct knobs *k, struct rank_params p,
                        double stage_s);
/* The same of stages that take so long at most. */
double sharding_exposed_least(const struct timing *t, const struct knobs *k, struct rank_params p,
                              double most_s);
/* Seconds of the optimizer step: update, casts, gradient norm, and what runs on or comes from the
 * CPU. */
double sharding_optimizer(const struct timing *t, const struct knobs *k, struct rank_params p);

#endif
