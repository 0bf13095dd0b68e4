/* SPDX-License-Identifier: Apache-2.0 */
/* Times of communication, before any hiding. All results are seconds. */
#ifndef MOEPLAN_COST_COMM_H
#define MOEPLAN_COST_COMM_H

#include "cost/timing.h"

/* One all-gather or reduce-scatter of a tensor of so many bytes over n ranks that lie within `span`
 * consecutive ones. */
double comm_collective(const struct timing *t, double bytes, double n, double span);
/* Tokens of one rank that go to the ranks of their experts. */
struct exchanged {
    double tokens, width, element_bytes;
    double experts, topk;      /* chosen experts are distinct */
    double groups, group_topk; /* of so many groups alone; 0: of all */
    bool side_by_side;         /* a token's experts, and those of the next token after them */
    double ranks, domains;
    bool combine; /* the way back */
};
/* One dispatch or combine. */
double comm_exchange(const struct timing *t, const struct dispatch_law *law,
                     const struct exchanged *x);
/* NVLink domains that the ranks of an expert group stand in. They are neighbours: a group that is
   no part of a domain and not whole nodes lies across the edge of one. */
double comm_expert_domains(const struct timing *t);
/* Dispatch and combine of one pass, for routed tokens of `width` elements. */
double comm_dispatch(const struct timing *t, double width);
/* Context parallelism of one attention forward: a ring of so many ranks under a kernel of core_s;
   where all keys are gathered first, nothing hides that. */
double comm_context(const struct timing *t, double ranks, double kv_bytes, double core_s);
/* Tokens for heads among so many context-parallel ranks, of so many bytes a rank. Nothing hides it.
 */
double comm_heads(const struct timing *t, double ranks, double bytes);
/* One transfer between pipeline stages. */
double comm_stage(const struct timing *t, const struct knobs *k);
/* What of it a chunk shows in one direction; of `t` what does not depend on the layout is used. */
double comm_stage_exposed(const struct timing *t, const struct knobs *k);

#endif
