/* SPDX-License-Identifier: Apache-2.0 */
/* What the moves of the table (plan/move.c) do to a configuration: each a move_change. */
#ifndef MOEPLAN_PLAN_CHANGE_H
#define MOEPLAN_PLAN_CHANGE_H

#include "plan/move.h"

/* A size times `factor`, or over it where that is negative. */
bool change_size(int *size, int factor);
/* Groups of the same shards: as few as let each stand in one NVLink domain; fewer, where a step has
   few microbatches, behind which little of the exchange hides; as many as can be, where the
   parameters are frozen. */
enum { GROUPS_IN_DOMAIN, GROUPS_FEWER, GROUPS_OF_TWO };

/* How many of them there can be, 0: none. */
int64_t change_groups(const struct config *c, int how);

move_change change_tp, change_tp_and_etp, change_pp, change_vpp, change_mbs, change_etp,
    change_recompute_layers, change_recompute_cheapest, change_recompute_modules,
    change_recompute_also, change_recompute_not, change_capture, change_capture_iteration,
    change_dispatch, change_cp_exchange, change_overlap_ep, change_overlap_shared_experts,
    change_overlap_tp, change_fuse_loss, change_shard_optimizer, change_shard_in_groups,
    change_reduce_gradients, change_gather_parameters, change_keep_moments, change_small_optimizer,
    change_offload_optimizer, change_offload_modules, change_keep_on_gpu, change_reshard,
    change_gather_anew;

#endif
