/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of one pipeline stage. Each returns bytes and adds itself to `trace` unless that is
 * NULL. */
#ifndef MOEPLAN_COST_MEMORY_STAGE_H
#define MOEPLAN_COST_MEMORY_STAGE_H

#include "cost/memory.h"
#include "cost/trace.h"

/* ---- what a stage holds (memory_holding.c) ---- */

/* Parameters of one rank of the stage, in elements, and what else the terms need to know of it. */
struct holding {
    int stage;
    double dense, experts;            /* all of them, trained or not */
    double matrices, expert_matrices; /* of those: GEMM weights of layers */
    double quantised;                 /* of `matrices`: that recipes quantise */
    double copies;                    /* of `dense`: weights that stand on another stage too */
    double vision;                    /* of `dense` */
    double adapters, expert_adapters; /* LoRA's, beside `dense` and `experts` */
    double trained, trained_experts;  /* of all of these */
    double packed, unit_packed;       /* of `dense` and `unit_dense`: in 4 or 8 bits */
    double unit_dense, unit_experts;  /* the largest layer */
    double root;                      /* embedding and head: FSDP's root unit */
    double dummies;                   /* bytes of Transformer Engine's dummy weight gradients */
    bool first, last;
    int n_mtp;
    const struct layer_memory *last_layer; /* the layer whose backward comes first; NULL: none */
};

struct holding holding_of_stage(const struct memory_work *w, int stage);
/* Of one layer of a kind alone, and of what stands at the ends of the model beside its layers. */
struct holding holding_of_layer(const struct memory_work *w, int kind);
struct holding holding_of_ends(const struct memory_work *w, bool first, bool last);
/* The stage's first chunk; its next ones stand pp further each. */
static inline const struct chunk *stage_chunks(const struct memory_work *w, int stage)
{
    return &w->chunks[stage];
}

/* ---- static state and buffers (memory_state.c) ---- */

/* Over how many ranks states are spread, as *w is placed. */
void state_place(struct memory_work *w);
double state_parameters(const struct memory_work *w, const struct holding *s,
                        struct cost_trace *trace);
/* Bytes of the transposes of frozen FP8 weights, kept or not. */
/* Bytes of one set of the experts' quantised weights where there may be several. */
double state_quantised_set(const struct memory_work *w, const struct holding *s);
double state_frozen_transposes(const struct memory_work *w, const struct holding *s);
double state_gradients(const struct memory_work *w, const struct holding *s,
                       struct cost_trace *trace);
double state_optimizer(const struct memory_work *w, const struct holding *s,
                       struct cost_trace *trace);
/* What the optimizer step needs for a moment. */
double state_step_transient(const struct memory_work *w, const struct holding *s,
                            struct cost_trace *trace);
/* Workspaces, dummies and communication buffers that are there in every phase. */
double state_buffers(const struct memory_work *w, const struct holding *s,
                     struct cost_trace *trace);
/* What is there beside its parameters while a model with 4-bit weights is loaded; else 0. */
double state_loading(const struct memory_work *w, const struct holding *s,
                     struct cost_trace *trace);
/* What FSDP gathers beyond its shards. */
double state_gathered(const struct memory_work *w, const struct holding *s,
                      struct cost_trace *trace);

/* ---- activations (memory_activation.c) ---- */

/* Microbatches in flight times layers, for each kind of layer. */
struct layers_in_flight {
    double whole[MODEL_MAX_KINDS];  /* layers that keep what the plan does not recompute */
    double inputs[MODEL_MAX_KINDS]; /* layers that keep their input alone */
    double mtp, embeddings;         /* MTP depths; embeddings */
};

/* Of the kinds that the model has. */
void activation_layers(const struct memory_work *w, int stage, struct layers_in_flight *out);

/* Bytes that they keep. */
struct in_flight {
    double kept;
    double routed;     /* of `kept`: grows with routing imbalance */
    double dispatched; /* of `kept`: dispatch outputs */
    double unmeasured; /* of `kept`: linear and sparse attention's */
    double captured;   /* of `kept`: in CUDA graphs' pools */
    double offloaded;  /* moved to the host by module, not in `kept` */
};

struct in_flight activation_in_flight(const struct memory_work *w, const struct holding *s);
/* Bytes of those that are uncertain by a cause of their own, as each coefficient is relative to
   them. */
enum { ACTIVATION_CAUSES = 4 };
struct cause {
    double bytes;
    struct range relative;
};
void activation_causes(const struct memory_work *w, const struct in_flight *kept,
                       struct cause out[ACTIVATION_CAUSES]);
/* What the embedding keeps of a microbatch. */
double activation_embedding_bytes(const struct memory_work *w);
double activation_logits(const struct memory_work *w, const struct holding *s,
                         struct cost_trace *trace);
double activation_outputs(const struct memory_work *w, const struct holding *s,
                          struct cost_trace *trace);
/* Backward of the head. */
double activation_head_transient(const struct memory_work *w, const struct holding *s,
                                 struct cost_trace *trace);
/* Backward of the stage's last layer. */
double activation_layer_transient(const struct memory_work *w, const struct holding *s,
                                  struct cost_trace *trace);

/* Of stage_memory.phase: whether all that is kept for a backward is still there. */
static inline bool phase_is_backward(char phase)
{
    return phase == 'A' || phase == 'B';
}

/* ---- explanation (memory_trace.c) ---- */

/* The tensors behind activation_in_flight, one term for each tensor and kind of layer: their sum is
 * `kept`. */
void memory_trace_tensors(const struct memory_work *w, const struct holding *s,
                          struct cost_trace *trace);

#endif
