/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a layer's time share (layer.c), and the parts: the token mixer (layer_mixer.c)
   and the feed-forward part (layer_ffn.c). Every function adds its terms to the layer. */
#ifndef MOEPLAN_COST_LAYER_PARTS_H
#define MOEPLAN_COST_LAYER_PARTS_H

#include "cost/layer.h"

static inline const struct model_shape *layer_model(const struct timing *t)
{
    return &t->config->model;
}

static inline const struct knobs *layer_knobs(const struct timing *t)
{
    return &t->config->knobs;
}

/* Whether selective recomputation repeats a module (MOD_*). */
bool layer_recomputes(const struct timing *t, uint32_t module);
/* Streaming kernels over so many bytes. */
void layer_add_stream(const struct timing *t, struct layer_time *x, double forward_bytes,
                      double backward_bytes);
/* A linear of rows x in -> rows x out. */
void layer_add_linear(const struct timing *t, struct layer_time *x, double rows, double out,
                      double in);
/* Operations; in a captured part (SCOPE_*) they run without the host but for `left` of them. */
void layer_add_ops(const struct timing *t, struct layer_time *x, double ops, uint32_t scope,
                   double left);
/* Norm, residual and dropout around a sub-block. */
void layer_add_block(const struct timing *t, struct layer_time *x);
/* All-gather before and reduce-scatter after a tensor-parallel sub-block. */
void layer_add_tp(const struct timing *t, struct layer_time *x);
/* Bytes of one pass over the hidden states. */
double layer_hidden_bytes(const struct timing *t);

void layer_add_mixer(const struct timing *t, struct layer_time *x, enum mixer mixer);
void layer_add_ffn(const struct timing *t, struct layer_time *x, enum ffn ffn);
/* The part of a forward pass that a checkpoint which stops early does not repeat; nothing for
 * Megatron's own. */
struct pass layer_early_stop(const struct timing *t, const struct layer_time *x, enum ffn ffn);

#endif
