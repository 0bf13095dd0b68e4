/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in a sequence: attention ends at a document's edge, so that a sequence packed of many
   costs less than one long document, and unevenly so. */
#ifndef MOEPLAN_PLAN_DOCUMENTS_H
#define MOEPLAN_PLAN_DOCUMENTS_H

#include "plan/config.h"

/* Tokens over which attention ranges: the length of the document in which a token stands, mean over
   tokens; the sequence where documents are not stated. */
double documents_attended(const struct knobs *k);
/* Attention's work on the rank that has most, over the mean: ranks that exchange tokens with one
   another every layer (EP) wait for the slowest of each microbatch, else data-parallel ones for the
   slowest of a step. The sum of n documents' squared lengths scatters by `spread` / sqrt(n), and
   the largest of r normal values lies sqrt(2 ln r) deviations above the mean; never above what a
   sequence of one document has. 1 where documents are not stated. */
double documents_imbalance(const struct knobs *k);
/* Part of the tokens of a step that are padding: what the data has, and what context parallelism
   adds (megatron/core/packed_seq_params.py: each document is padded to a multiple of 2 x cp). */
double documents_padding(const struct knobs *k);

#endif
