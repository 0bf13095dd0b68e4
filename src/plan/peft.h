/* SPDX-License-Identifier: Apache-2.0 */
/* What is trained: the adapters of LoRA and its kin, counted from the linears that get one, or what
   is not frozen. */
#ifndef MOEPLAN_PLAN_PEFT_H
#define MOEPLAN_PLAN_PEFT_H

#include "plan/ops.h"

/* The head's. */
struct matrix head_linear(const struct config *c);

/* Whether it is one of the routed experts'. */
static inline bool linear_is_routed(enum linear_role role)
{
    return role == LINEAR_EXPERTS_UP || role == LINEAR_EXPERTS_DOWN;
}
static inline bool linear_has_adapter(const struct knobs *k, enum linear_role role)
{
    return k->task == TASK_PEFT && (k->lora_targets >> role & 1);
}
/* Elements of a linear's adapter: in all ranks together, and on one; 0 where it has none. */
double adapter_params(const struct config *c, const struct matrix *l);
double adapter_on_rank(const struct config *c, const struct matrix *l);

/* Those of a layer on one rank: of its routed experts, and of everything else. */
void layer_adapters(const struct config *c, struct layer_kind kind, double *dense, double *experts);

/* Elements of a layer on one rank that are held in 4 or 8 bits: its linears. Routed experts are
   none, as they are fused parameters of Hugging Face's classes, and the router is a class of its
   own. */
double layer_packed(const struct config *c, struct layer_kind kind);
/* Weights that share a scale, and scales that share a second one. */
enum { FOUR_BIT_BLOCK = 64, FOUR_BIT_SCALES = 256 };
/* Bytes of an element held so: what is sharded, and its scales, which every rank has. */
double packed_bytes(const struct knobs *k);
double packed_scale_bytes(const struct knobs *k);

/* The bits of the linears that are targets: of the plan's patterns as the framework matches them.
 */
uint32_t peft_targets(const struct facts *f, const struct model_shape *m);
/* The first pattern of the plan's targets that is no linear's of the model; empty: none. */
struct str peft_idle_target(const struct facts *f, const struct model_shape *m);

/* Those of the vision tower and of its mergers that are trained. */
int64_t vision_trained_params(const struct config *c);
/* Parameters that the run trains, of all ranks together, MTP's and the vision tower's with them.
   Adapters of MTP layers and of the vision tower are not counted. */
int64_t config_trained_params(const struct config *c);

#endif
