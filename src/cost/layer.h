/* SPDX-License-Identifier: Apache-2.0 */
/* Times of one layer on one rank for one microbatch, in terms; what pipeline, data parallelism and
 * batch do not change. */
#ifndef MOEPLAN_COST_LAYER_H
#define MOEPLAN_COST_LAYER_H

#include "cost/kernel.h"
#include "plan/ops.h"

struct layer_time {
    struct pass forward, backward,
        again;        /* again: what recomputation repeats before the backward pass */
    bool repeats;     /* whether it repeats anything */
    double syncs;     /* device-to-host waits of a forward pass */
    bool sync_again;  /* recomputation repeats them */
    double offloaded; /* bytes a microbatch sends to the CPU and fetches back for its backward */
};

struct layer_time layer_time(const struct timing *t, struct layer_kind kind);
/* The same in two parts: the products of its weights, which are the same however keys are
   exchanged, and to them the rest. */
struct layer_time layer_products(const struct timing *t, struct layer_kind kind);
void layer_add_rest(const struct timing *t, struct layer_kind kind, struct layer_time *x);
/* Makes *x, whose plan differs from `t` in what is recomputed alone, that of `t`: all but its
   forward and backward. */
void layer_repeat(const struct timing *t, struct layer_kind kind, struct layer_time *x);
struct layer_time layer_embedding(const struct timing *t);
/* The vision tower on the images of a microbatch; nothing when the plan states none. */
struct layer_time layer_vision(const struct timing *t);
/* Final norm, logits and loss. */
struct layer_time layer_head(const struct timing *t);
/* One MTP depth: its projection and its own logits, which take what the head does, */
struct layer_time layer_mtp_ends(const struct timing *t, const struct layer_time *head);
/* and to them its layers. `kinds`: what the model's kinds of layers take. */
void layer_add_mtp(const struct timing *t, const struct layer_time kinds[MODEL_MAX_KINDS],
                   struct layer_time *x);

/* A linear of a layer on this rank. */
struct linear layer_linear(const struct timing *t, const struct matrix *x, bool fused_experts);
/* What a layer does on this rank; of layer_none nothing, for lists of other parts. */
extern const struct layer_kind layer_none;
void layer_work(const struct timing *t, struct layer_kind kind, struct work *w);
/* Collectives of a TP exchange that backward shows, for one of forward's bytes. */
double layer_tp_backward(const struct timing *t, const struct exchange *e);
/* Adds its time. */
void layer_add_work(const struct timing *t, const struct work *w, struct layer_time *x);

#endif
