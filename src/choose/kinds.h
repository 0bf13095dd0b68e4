/* SPDX-License-Identifier: Apache-2.0 */
/* The states of the switches that a search decides within a variant: what makes room
   (recomputation, offload) and sides, which stand beside the layers (formats of gradients, moments
   and gathered parameters, replicas). Listed once for all spots on which the same moves are
   possible, with what is known of each against the others. */
#ifndef MOEPLAN_CHOOSE_KINDS_H
#define MOEPLAN_CHOOSE_KINDS_H

#include "base/vec.h"
#include "choose/space.h"
#include "cost/memory.h"
#include "plan/ops.h"

enum { KINDS_MOST_SIDES = 32, KINDS_MOST_OFFLOADS = 16, KINDS_MOST_SWITCHES = 5 };

/* One combination of the states of several switches. */
struct combination {
    const struct move *moves[KINDS_MOST_SWITCHES];
};

/* Which formats of states need the least memory depends on whether the peak is in the passes or in
   the optimizer's step, which makes copies of some. Behind the two of them stand their rivals, with
   the parameters in the other format, where that needs hardly more. */
enum lean_end { LEAN_PASSES, LEAN_STEP, LEAN_ENDS, LEANS = 2 * LEAN_ENDS };

/* The states of all switches that need the least memory beside an offload, at each end. */
struct lean {
    bool has_formats;      /* of the parameters: else there are no rivals */
    bool has_step;         /* what stands at that end is known, and the next two: */
    bool same, has_rivals; /* same: at both ends, and so are the rivals */
    const struct move *states[LEANS][DECISIONS];
};

/* One combination of the switches that stand in no kind but make variants (variants.c). */
struct way {
    const struct move *states[DECISIONS];
    bool risky; /* struct contender */
};

struct settled;

/* What holds wherever the same moves are possible; found on the first spot of the kind. */
struct kind {
    uint64_t given; /* bits of move_need, and of what the data-parallel ranks share */
    int n_sides, n_offloads, n_recompute;
    struct combination sides[KINDS_MOST_SIDES];       /* the fastest first */
    struct combination offloads[KINDS_MOST_OFFLOADS]; /* the first: none */
    uint32_t more_offload[KINDS_MOST_OFFLOADS], less_offload[KINDS_MOST_OFFLOADS]; /* bit o: offload
                                            o needs at most, at least, as much of the GPU */
    uint32_t leanest; /* the offloads than which none keeps more there; alone where there is no
                         offload: none */
    uint32_t worse[KINDS_MOST_SIDES]; /* bit j: side j is in nothing better than this one */
    int plain[KINDS_MOST_SIDES];      /* of each side the same without replicas, or itself */
    int grad_bytes;                   /* the fewest of the sides */
    const struct move *recompute[SPACE_MAX_STATES]; /* the fastest first */
    uint64_t needless[SPACE_MAX_STATES];            /* bit r: state r repeats at least what this
                                                       one does, and is no better liked */
    int fullest;                                    /* of recompute, which repeats most */
    int part; /* which repeats most short of whole layers, if any does */
    struct lean *leans[KINDS_MOST_OFFLOADS][2]; /* [1]: where whole layers are repeated; NULL: not
                                                   asked yet */
    VEC(struct way) ways;    /* of the search: found on the first group that asks */
    struct settled *settled; /* likewise */
};

/* What layers keep at an end, for states that differ beside them. */
struct lean_memory {
    bool known;
    int vocab;
    struct knobs key; /* memory_layers_key */
    struct memory_work work;
};
enum { KINDS_KNOWN_MEMORY = 4 };

struct kinds {
    const struct search_request *request;
    struct arena *arena;
    struct known_kernels *kernels;
    struct memory_coefficients coefficients;
    struct lean_memory *known_memory; /* [KINDS_KNOWN_MEMORY] the last ones; NULL: none yet */
    unsigned n_known;
    VEC(struct kind) items;
};

/* The index of the kind of a spot, whose switches are as in the base, given back as it was. */
size_t kinds_of(struct kinds *all, struct config *spot);
/* Makes *c, a spot of the kind whose switches are as in the base, the leanest at an end with an
   offload and a state of recomputation; false: no state of the others lets the offload be, the
   first end has the same, or there is no rival. */
bool kinds_make_lean(struct kinds *all, size_t kind, int offload, int recompute, int end,
                     struct config *c);

/* What a layer of each of the model's kinds saves, whatever is recomputed; */
struct kinds_saved {
    struct saved_list lists[MODEL_MAX_KINDS];
};
void kinds_save(const struct config *c, struct kinds_saved *out);
/* the bytes of it that are kept of a microbatch, as the knobs recompute, and of these the routed.
 */
void kinds_kept(const struct config *c, const struct kinds_saved *saved,
                double kept[MODEL_MAX_KINDS], double routed[MODEL_MAX_KINDS]);
/* Whether a decision is decided within a variant. */
bool kinds_decide(const struct decision *d);
/* Sets all of a combination; false where the present layout has no such state. */
bool combination_set(const struct combination *x, struct config *c);

#endif
