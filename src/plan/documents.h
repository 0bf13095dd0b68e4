/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in a sequence: attention ends at a document's edge, so that a sequence packed of many
   costs less than one long document, and unevenly so. */
#ifndef MOEPLAN_PLAN_DOCUMENTS_H
#define MOEPLAN_PLAN_DOCUMENTS_H

#include "plan/config.h"

/* Tokens over which attention ranges: the length of the document in which a token stands, mean over
   tokens; the sequence where documents are not stated. */
double documents_attended(const struct knobs *k);
/* Ranks that wait for one another, and how far above the mean the fullest of them lies: the sum of
   n documents' squared lengths scatters by `spread` / sqrt(n), and the largest of r normal values
   lies num_normal_largest(r) deviations above the mean; never above what a sequence of one document
   has. */
struct documents_wait {
    double ranks, documents; /* r, n */
    double excess;           /* of attention's work over the mean; 0: none, or not stated */
};
/* Ranks that exchange tokens with one another every layer (EP) wait for the slowest of each
   microbatch, else data-parallel ones for the slowest of a step. Context-parallel ranks do not:
   each document is cut into 2 x cp parts, of which a rank has the one from the front and its match
   from the rear. */
struct documents_wait documents_across_ranks(const struct knobs *k);
/* Whether layers wait for data-parallel ranks, which are fewer the more stages there are. */
bool documents_wait_for_replicas(const struct knobs *k);
/* Makes that wait none: that of as many stages as there are ranks. */
void documents_leave_replicas(struct knobs *k);
/* A pipeline's ramps, pp - 1 microbatches long, are as long as its largest microbatch; excess over
   what documents_across_ranks gives each. */
struct documents_wait documents_across_microbatches(const struct knobs *k);
/* Part of the tokens of a step that are padding: what the data has, and what context parallelism
   adds (megatron/core/packed_seq_params.py: each document is padded to a multiple of 2 x cp). */
double documents_padding(const struct knobs *k);

#endif
