/* SPDX-License-Identifier: Apache-2.0 */
/* Pipeline schedules: how long 1F1B, plain or interleaved, takes for chunks of unequal length. */
#ifndef MOEPLAN_COST_PIPELINE_H
#define MOEPLAN_COST_PIPELINE_H

#include "plan/config.h"

struct pipeline {
    int stages, chunks_per_stage; /* pp, vpp */
    int64_t microbatches;
    int group; /* microbatches a rank takes of one chunk before the next; 0: stages */
    const double *forward,
        *backward; /* [stages * chunks_per_stage], seconds; chunk c is on rank c % stages */
};

/* One pass of the knobs' schedule over so many chunks, whose seconds these are. */
struct pipeline pipeline_of_knobs(const struct knobs *k, int n_chunks, const double *forward,
                                  const double *backward);
/* Seconds from the first forward to the last backward. Exact for equal chunks and for short
   schedules; long ones are simulated until they repeat and continued at that rate. */
double pipeline_time(const struct pipeline *p);
/* A way through a schedule, on which each pass waits for the one before: how often it takes each
   chunk. Chunks of other lengths take at least as long as theirs add up to. */
struct pipeline_way {
    int forward[LAYOUT_MAX_CHUNKS], backward[LAYOUT_MAX_CHUNKS];
};
/* The longest; false: no schedule is simulated. */
bool pipeline_find_way(const struct pipeline *p, struct pipeline_way *way);
/* Seconds that one microbatch takes of the busiest rank. */
double pipeline_busiest(const struct pipeline *p);
/* Seconds that pipeline_time does not undercut, by the longest way of as many chunks of other
   lengths, and the busiest rank. */
double pipeline_least(const struct pipeline *p, const struct pipeline_way *way, double busiest);
/* Every microbatch simulated, up to an internal bound on stages * chunks * microbatches; -1 above
 * it. */
double pipeline_simulate(const struct pipeline *p, int64_t microbatches);

#endif
