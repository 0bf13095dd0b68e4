/* SPDX-License-Identifier: Apache-2.0 */
/* What is trained: the adapters of LoRA and its kin, counted from the linears that get one, or what
   is not frozen. */
#ifndef MOEPLAN_PLAN_PEFT_H
#define MOEPLAN_PLAN_PEFT_H

#include "plan/config.h"

/* The linears that can get an adapter; knobs.lora_targets has a bit for each. Megatron-core fuses
   some that Hugging Face's classes, and AutoModel's, keep apart. */
enum linear_role {
    LINEAR_QKV,
    LINEAR_Q,
    LINEAR_K,
    LINEAR_V,
    LINEAR_O,
    LINEAR_Q_DOWN,
    LINEAR_Q_UP,
    LINEAR_KV_DOWN,
    LINEAR_KV_UP,
    LINEAR_MAMBA_IN,
    LINEAR_MAMBA_OUT,
    LINEAR_DELTA_IN,
    LINEAR_DELTA_OUT,
    LINEAR_FC1,
    LINEAR_GATE,
    LINEAR_UP,
    LINEAR_DOWN,
    LINEAR_SHARED_FC1,
    LINEAR_SHARED_GATE,
    LINEAR_SHARED_UP,
    LINEAR_SHARED_DOWN,
    LINEAR_LATENT_IN,
    LINEAR_LATENT_OUT,
    LINEAR_EXPERTS_UP,
    LINEAR_EXPERTS_DOWN,
    LINEAR_HEAD,
    LINEAR_ROLES
};

/* How tensor parallelism cuts a linear. */
enum linear_cut { CUT_OUTPUT, CUT_INPUT, CUT_NOT };

/* A linear of in -> out, whole; of routed experts: one expert's. */
struct linear_shape {
    enum linear_role role;
    enum linear_cut cut;
    double in, out;
};

enum { LAYER_MAX_LINEARS = 16 };

/* The linears of a layer as the framework has them; returns their number. */
int layer_linears(const struct config *c, struct layer_kind kind,
                  struct linear_shape out[LAYER_MAX_LINEARS]);
/* The head's. */
struct linear_shape head_linear(const struct config *c);

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
double adapter_params(const struct config *c, const struct linear_shape *l);
double adapter_on_rank(const struct config *c, const struct linear_shape *l);

/* The bits of the linears that are targets: of the plan's patterns as the framework matches them.
 */
uint32_t peft_targets(const struct facts *f, const struct model_shape *m);
/* The first pattern of the plan's targets that is no linear's of the model; empty: none. */
struct str peft_idle_target(const struct facts *f, const struct model_shape *m);

/* Parameters that the run trains, of all ranks together, MTP's and the vision tower's with them.
   Adapters of MTP layers and of the vision tower are not counted. */
int64_t config_trained_params(const struct config *c);

#endif
