/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the memory model: one layer kind measured once, the pipeline, a
   stage. Each part is made of named terms, so that the sum, the explanation and the tests read the
   same numbers. Sizes are bytes and counts in double: whole numbers below 2^53, therefore exact.
   Names of tensors and modules are Megatron-core's. */
#ifndef MOEPLAN_COST_MEMORY_H
#define MOEPLAN_COST_MEMORY_H

#include "cost/cost.h"
#include "cost/memory_coefficient.h"
#include "plan/ops.h"

/* ---- one layer kind on one rank, measured once and counted afterwards (memory_layer.c) ---- */

struct token_counts token_counts(const struct config *c, const struct memory_coefficients *x);
/* Whether the tensor stays on the GPU under the plan's recomputation and fine-grained offload. */
bool saved_is_kept(const struct saved *s, const struct knobs *k);
/* Whether recomputing the whole layer keeps the list's tensor: what it, or a part of it, begins
   with. */
bool saved_enters(const struct saved_list *list, int i);
/* Whether it stands in the pool of the CUDA graphs that capture its module. */
bool saved_is_captured(const struct saved *s, uint32_t captured);
/* A GEMM weight's shape on one rank, for which Transformer Engine keeps a dummy gradient. */
struct gemm {
    double rows, columns; /* output and input width */
    bool grouped;         /* of routed experts */
};

struct layer_memory {
    struct layer_kind kind;
    double dense, experts;                  /* parameters of one rank */
    double dense_matrices, expert_matrices; /* of those: GEMM weights */
    double quantised;                       /* of dense_matrices: that recipes quantise */
    double kept;                            /* bytes a microbatch keeps under the plan */
    double routed;                          /* of `kept`: grows with routing imbalance */
    double offloaded;                       /* of `all`: moved to the host by module */
    double captured;                        /* of `kept`: in CUDA graphs' pools */
    double dispatched;                      /* of `kept`: dispatch outputs */
    double unmeasured;                      /* of `kept`: linear and sparse attention's */
    double all;                             /* bytes without recomputation and offload */
    double input;                           /* bytes of the layer's input alone */
    double backward;                        /* transient bytes of its backward */
    int n_gemms;
    struct gemm gemms[LAYER_MAX_MATRICES];
};

void layer_measure(const struct config *c, const struct token_counts *t, struct layer_kind kind,
                   struct layer_memory *out);
/* The same, with what op_saved says in *list; */
void layer_measure_saved(const struct config *c, const struct token_counts *t,
                         struct layer_kind kind, struct saved_list *list, struct layer_memory *out);
/* and from those of a plan that differs in what is recomputed alone. */
void layer_measure_again(const struct knobs *k, const struct layer_memory *other,
                         const struct saved_list *list, struct layer_memory *out);
/* Of these, what is kept for the backward: `kept`, or `input` where whole layers are recomputed;
   and of that the `routed`. `list`: what op_saved says of the kind, which is the same whatever is
   recomputed. */
double layer_kept(const struct knobs *k, const struct saved_list *list, double *routed);
/* The layers of one MTP depth and its projection, added up. `kinds`: what the model's kinds of
   layers measure. */
void layer_measure_mtp(const struct config *c, const struct token_counts *t,
                       const struct layer_memory kinds[MODEL_MAX_KINDS], struct layer_memory *out);

/* ---- pipeline (memory_pipeline.c) ---- */

/* One of pp x vpp chunks. */
struct chunk {
    int counts[MODEL_MAX_KINDS]; /* layers of each kind */
    int layers, mtp;             /* decoder layers; MTP depths */
    int last_kind;               /* kind of its last layer; -1: it has none */
    bool embedding, loss;
};

/* The layout as counts per chunk; returns the number of chunks, 0 when the split is impossible. */
int pipeline_chunks(const struct config *c, struct chunk chunks[LAYOUT_MAX_CHUNKS]);
/* Chunk passes whose activations a stage holds at once: of its chunks, from the first on, each has
   so many, and one of a group more as long as some are left. */
struct passes {
    double all, each, rest, group;
};
struct passes pipeline_passes(const struct knobs *k, int stage);
/* Those of the next chunk; */
static inline double passes_of_next(struct passes *x)
{
    double mine = x->group < x->rest ? x->group : x->rest;
    x->rest -= mine;
    return x->each + mine;
}
/* of the last of so many. */
double passes_of_last(const struct passes *x, int vpp);
/* The most microbatches whose activations a stage holds at once, for each of its vpp chunks. */
void pipeline_in_flight(const struct knobs *k, int stage, double in_flight[LAYOUT_MAX_CHUNKS]);

/* ---- the fullest stage's peak by module (memory_module.c) ---- */

/* Bytes with their parameters, gradients, optimizer states and activations. */
struct memory_modules {
    double mixers; /* attention, Mamba */
    double ffns;   /* dense FFNs; routers, routed and shared experts */
    double rest;   /* embedding, head, MTP, buffers and transients */
};

/* `m`: the estimate of `c`. False when the pipeline split is impossible. */
bool memory_modules(const struct config *c, const struct memory_estimate *m,
                    struct memory_modules *out);

/* ---- a stage (memory_stage.c) ---- */

/* One shape of a weight, with the kinds of layers that have it: bit i. */
struct weight_shape {
    struct gemm gemm;
    double elements;
    uint32_t kinds;
};

/* What is computed once for all stages: first what the layers are, then how they are divided. */
struct memory_work {
    const struct config *c;
    struct token_counts t;
    struct layer_memory kinds[MODEL_MAX_KINDS], mtp;
    struct weight_shape shapes[MODEL_MAX_KINDS * LAYER_MAX_MATRICES]; /* distinct ones */
    int n_shapes;
    double embedding;                   /* elements of one rank's embedding, or head */
    double vision;                      /* elements of the vision tower */
    double dense_shards, expert_shards; /* ranks that share one parameter */
    double optimizer_shards, expert_optimizer_shards; /* of these, those that share its states */
    double workspace;                                 /* bytes of GEMM workspaces */
    struct memory_coefficients x;
    struct range imbalance; /* x.routing_imbalance as routing and capacity bound it */
    int n_chunks;
    struct chunk chunks[LAYOUT_MAX_CHUNKS];
};

/* Everything but the stages, in three parts, of which the first is most of the work; false when the
   pipeline split is impossible. */
bool memory_prepare(const struct config *c, struct memory_work *w);
void memory_measure(const struct config *c, const struct memory_coefficients *x,
                    struct memory_work *w);
/* The same, with what each kind of layer saves in `saved`; */
void memory_measure_saved(const struct config *c, const struct memory_coefficients *x,
                          struct saved_list saved[MODEL_MAX_KINDS], struct memory_work *w);
/* and from those of a plan that differs from `c` in what is recomputed alone
   (time_key_without_recompute). */
void memory_measure_again(const struct config *c, const struct memory_work *other,
                          const struct saved_list saved[MODEL_MAX_KINDS], struct memory_work *w);
/* What is around the same layers under a `c` with an equal memory_layers_key; */
void memory_place(const struct config *c, struct memory_work *w);
/* that, and their division. */
bool memory_divide(const struct config *c, struct memory_work *w);
/* The knobs without what is around the layers: equal, byte by byte, for plans whose layers measure
   the same. */
struct knobs memory_layers_key(const struct knobs *k);
/* memory_estimate of what was prepared. */
void memory_peaks(const struct memory_work *w, struct memory_estimate *out);
/* The same, but where it fits, without the `stages` that need no more than the one before, which
   may be as uncertain as to count in `peak_low`. */
void memory_peaks_if_fits(const struct memory_work *w, struct memory_estimate *out);
/* That without the peaks of what does not fit: stages are worked out until one needs more than
   there is; the others have no `high` (0) but what memory_high_of works out. */
void memory_peaks_or_over(const struct memory_work *w, struct memory_estimate *out);
double memory_high_of(const struct memory_work *w, int stage, struct memory_estimate *m);
/* The memory of one stage at its peak. */
void stage_estimate(const struct memory_work *w, int stage, struct stage_memory *out);
/* The terms of that peak, which add up to its total. */
void stage_explain(const struct memory_work *w, int stage, struct cost_trace *trace);

/* ---- without a division (memory_floor.c) ---- */

/* Microbatches in flight on each rank at least, of a layer among all of it and in its last chunk;
   kept for plans that follow with the same schedule. */
struct memory_flights {
    int pp, vpp, most_vpp, group_size; /* pp 0: none yet */
    int64_t microbatches;
    uint32_t last_kinds; /* of layers, as bits, that may stand last on a rank */
    double flight[COST_MAX_STAGES], last[COST_MAX_STAGES];
    double least, most, lowest; /* least, most: of flight; lowest: of last */
};
/* Bytes that the estimate of `c`, or its upper end, reaches on some stage however the search
   divides its layers, with its virtual stages or any number from there to `most_vpp`; 0 where the
   layout is given. `counts`: layers of each kind. *w has measured them. */
double memory_floor(const struct config *c, int most_vpp, const int counts[MODEL_MAX_KINDS],
                    bool high, struct memory_flights *known, struct memory_work *w);
/* Whether some stage needs more than the capacity however they are divided: as memory_floor, and
   stages have whole layers, as many each where the framework divides them. */
bool memory_lacks(const struct config *c, int most_vpp, const int counts[MODEL_MAX_KINDS],
                  bool high, double capacity, struct memory_flights *known, struct memory_work *w);

#endif
