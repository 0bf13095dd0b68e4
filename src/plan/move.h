/* SPDX-License-Identifier: Apache-2.0 */
/* The table of moves: every decision of a plan that may be taken otherwise, and the ways to do so.
   The search, its refinement, the neighbours in a plan's reasons, what would make a plan fit, the
   outlook of the rules and sweep all read it: a further decision is one entry. Fixes of a diagnosis
   are the rules', which say them in the same parameters. */
#ifndef MOEPLAN_PLAN_MOVE_H
#define MOEPLAN_PLAN_MOVE_H

#include "plan/config.h"
#include "rules/rule.h"

/* The values of a size that are worth looking at, in rising order. */
enum { AXIS_MAX_VALUES = 128, AXIS_MAX_PP = 64, AXIS_MAX_MBS = 16 };
struct axis {
    int n;
    int values[AXIS_MAX_VALUES];
};

/* Who takes a move. */
enum move_use {
    MOVE_SEARCH = 1,    /* the search, on every layout */
    MOVE_NEIGHBOUR = 4, /* the reasons of a plan */
    MOVE_RELIEF = 8,    /* what would make a plan fit: cost/whatif.h */
    MOVE_OUTLOOK = 16,  /* what the rules are told of a plan: choose/outlook.h */
    MOVE_TRIAL = 32,    /* only choose/lever.h, which takes those of all others too */
};

/* What a configuration must have for a move. */
enum move_need {
    NEED_CORE = 1,    /* layers of Megatron-core */
    NEED_EXPERTS = 2, /* routed ones */
    NEED_DENSE = 4,   /* a dense FFN in some layer */
    NEED_SHARED = 8,  /* shared experts */
    NEED_MLA = 16,
    NEED_UNSHARDED = 32,     /* no FSDP */
    NEED_EP = 64,            /* experts on several ranks */
    NEED_EXPERT_GROUP = 128, /* or cut in pieces there */
    NEED_NODE_NVLINK = 256,  /* no NVLink from node to node */
    NEED_AUTOMODEL = 512,    /* layers of AutoModel */
    NEED_TE_GRAPHS = 1024,   /* no CUDA graphs yet, or Transformer Engine's */
    NEED_FP8 = 2048,         /* a number format whose parameters FP8 can hold */
    NEED_SHARDED_OPTIMIZER = 4096,
    NEED_SEQUENCE_PARALLEL = 8192,
    /* Attention that context-parallel ranks can share: by a ring, by its heads, gathering its keys,
       by heads and a ring. */
    NEED_CP_RING = 1 << 14,
    NEED_CP_HEADS = 1 << 15,
    NEED_CP_GATHER = 1 << 16,
    NEED_CP_LEVELS = 1 << 17,
    NEED_CP = NEED_CP_RING | NEED_CP_HEADS | NEED_CP_GATHER | NEED_CP_LEVELS,
    NEED_NVLINK = 1 << 18, /* between the GPUs of a node */
};
enum { NEED_BITS = 19 }; /* that all of them take */

/* What a plan with the move has to be told of: numbers other than with the framework's fp32
   defaults, by which of them, and buffers of a fixed size that a batch may overflow. */
enum move_risk {
    RISK_GRADIENTS = NUMERICS_GRADIENTS,
    RISK_MOMENTS = NUMERICS_MOMENTS,
    RISK_PARAMETERS = NUMERICS_PARAMETERS,
    RISK_FP8_MOMENTS = NUMERICS_FP8_MOMENTS,
    RISK_NUMERICS = RISK_GRADIENTS | RISK_MOMENTS | RISK_PARAMETERS | RISK_FP8_MOMENTS,
    RISK_DYNAMIC_GRAPHS = OPEN_DYNAMIC_GRAPHS,
};

/* Changes the knobs; false when there is nothing to change, or no such change. Those of MOVE_SEARCH
   set a state of the decision whatever it was, and are false where the configuration cannot have
   it. */
typedef bool move_change(struct config *c, int argument);

struct move {
    const char *name;
    move_change *change; /* NULL: the decision's size times the argument, or over it if negative */
    int argument;
    unsigned needs, uses; /* bits of move_need and move_use */
    int outlook;          /* MOVE_OUTLOOK: the parameter that says whether the plan fits with it */
    unsigned risks;       /* bits of move_risk */
};

struct decision {
    const char *symbol, *word; /* what the reasons call it: TP; what sweep does: mbs */
    enum phase phase;
    const char *guide; /* the guides' row about it; NULL: none */
    const int *params; /* that state it, so that a pin of one settles it; P_NONE is the last, and
                          the first where no parameter alone states it */
    const int *also;   /* that a move may change with it; NULL or as above */
    size_t size;       /* offset in struct knobs of the int that it is; 0: it is no size */
    double doubt;      /* how uncertain the model is about a change's effect on a step
                          that it otherwise knows, as the standard deviation of the ratio's
                          logarithm */
    const struct move *moves; /* one without a name is the last */
    /* The sizes that the search looks at, given what was chosen before; NULL: no axis of it. */
    struct axis (*values)(const struct config *base, const struct knobs *k);
    /* The decision as a word; NULL: the value of the first of `params`, which is a knob. */
    struct str (*text)(struct arena *a, const struct knobs *k);
};

/* Neighbours, trials and what-if stand in this order where nothing else decides. What a move may or
   may not do by another decision's state stands behind that: graphs of a whole iteration behind the
   dispatcher, states on the CPU behind the parameters' format. */
enum decision_id {
    DECISION_TP,
    DECISION_PP,
    DECISION_EP,
    DECISION_ETP,
    DECISION_CP,
    DECISION_VPP,
    DECISION_MBS,
    DECISION_SCHEDULES,
    DECISION_RECOMPUTE,
    DECISION_DISPATCHER,
    DECISION_CP_EXCHANGE,
    DECISION_GRAPHS,
    DECISION_EP_OVERLAP,
    DECISION_SHARED_EXPERT_OVERLAP,
    DECISION_TP_OVERLAP,
    DECISION_LOSS,
    DECISION_OPTIMIZER_SHARDING,
    DECISION_REPLICAS,
    DECISION_GRADIENTS,
    DECISION_PARAMETER_GATHER,
    DECISION_OPTIMIZER_PRECISION,
    DECISION_OFFLOAD,
    DECISION_ACTIVATION_OFFLOAD,
    DECISION_RESHARDING,
    DECISIONS
};
extern const struct decision decisions[DECISIONS];
/* Whether the parameter is one of those that the decision sets. */
bool decision_sets(const struct decision *d, int param);

/* The size of a decision that is one. */
static inline int *decision_size(const struct decision *d, struct knobs *k)
{
    return (int *)(void *)((char *)k + d->size);
}
/* mbs: "2"; recompute: "none", "full" or the modules. */
struct str decision_text(struct arena *a, const struct decision *d, const struct knobs *k);
/* Takes a move of `d`; false, with c->knobs of no use, when c lacks what it needs or there is
   nothing to change. Whether GPUs and batch still divide is not asked. */
bool move_take(const struct decision *d, const struct move *move, struct config *c);
enum { MOVE_GROUPS = 3 }; /* moves of DECISION_REPLICAS */
/* Which of them find groups, as bits: what is found on one layout says nothing of another. */
unsigned move_groups(const struct config *c);
/* What the configuration has of all that moves may need: bits of move_need. */
unsigned move_given(const struct config *c);
/* Whether the question leaves the numbers open that a move changes. */
bool move_allowed(const struct config *c, const struct move *move);
/* The names of the moves that change numbers whose states a plan has and `base` has not, separated
   by commas; empty: none. */
struct str move_numerics(struct arena *a, const struct config *base, const struct config *plan);
/* The risks that a plan carries and `base`, the same question left to the framework, does not:
   those of every move whose state the plan has. */
unsigned move_risks_of(const struct config *base, const struct config *plan);
/* The same in two parts, for who asks of many plans: what a plan carries at all, */
unsigned move_risks(const struct config *plan);
/* and what one carries beyond that, which is given back as it was. */
unsigned move_risks_beyond(unsigned usual, struct config *plan);

/* ---- the axes (axis.c) ---- */

/* The one value. */
struct axis axis_of(int value);
/* For decision.values. */
struct axis axis_tp(const struct config *base, const struct knobs *k);
struct axis axis_cp(const struct config *base, const struct knobs *k);
struct axis axis_pp(const struct config *base, const struct knobs *k);
struct axis axis_vpp(const struct config *base, const struct knobs *k);
struct axis axis_etp(const struct config *base, const struct knobs *k);
struct axis axis_ep(const struct config *base, const struct knobs *k);
/* Whether a micro-batch is looked at: powers of two, and what divides the batch. */
bool axis_has_mbs(int64_t gbs, int mbs);
struct axis axis_mbs(const struct config *base, const struct knobs *k);
struct axis axis_schedules(const struct config *base, const struct knobs *k);

#endif
