/* SPDX-License-Identifier: Apache-2.0 */
/* What an inference engine that makes rollouts for reinforcement learning needs of each GPU. */
#ifndef MOEPLAN_CHOOSE_ENGINE_H
#define MOEPLAN_CHOOSE_ENGINE_H

#include "plan/config.h"

/* How it is run. Numbers that are not said are 0. */
struct engine_wish {
    int tp;                     /* GPUs over which one engine spreads its weights */
    int64_t sequences, context; /* of one engine at a time; tokens of each, prompt and answer */
    double ratio; /* on GPUs of its own: its GPU time over the trainer's; 0: on the same GPUs */
};

/* Bytes of one GPU. */
struct engine_need {
    double weights;    /* in 16 bit, without MTP */
    double a_sequence; /* keys and values, and states, of one sequence of the context's length */
    double buffers;    /* CUDA graphs, activations, workspaces: ENGINE_BUFFERS_GIB, a guess from
                          what vLLM's documentation says of graphs alone (1 to 3 GiB) */
    double total;      /* with all sequences */
};
#define ENGINE_BUFFERS_GIB 3.0

/* Needs tp, sequences and context of at least 1. Keys and values are 16 bit: heads are spread over
   tp, one at least on each GPU; the latent of MLA is on all; windows hold no more than they see. */
struct engine_need engine_need_of(const struct model_shape *m, const struct engine_wish *w);
/* How many sequences `bytes` of a GPU hold; 0 where not even the weights are held. */
int64_t engine_sequences(const struct engine_need *n, double bytes);

#endif
