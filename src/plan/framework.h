/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the frameworks where a plan is made and costed: one property each, so that
   a further framework is one more row. How facts are said in each is in the table of knobs. */
#ifndef MOEPLAN_PLAN_FRAMEWORK_H
#define MOEPLAN_PLAN_FRAMEWORK_H

#include "plan/config.h"

struct framework_traits {
    /* ---- what a plan can decide ---- */
    bool megatron_words; /* settings have Megatron-core's names and meanings */
    bool chooses_fsdp;   /* whether parameters are sharded is a choice; else they always are */
    bool chooses_stages; /* virtual stages and uneven splits: takes a pipeline layout */
    bool splits_experts; /* expert tensor parallelism */
    bool fp8_states;     /* the optimizer's states can be said to be FP8 */
    bool tensor_shares_experts; /* tensor-parallel ranks divide the experts' tokens; else each
                                   repeats them all, on whole sequences */
    int most_stages;            /* pipeline stages worth trying; 0: as many as there can be */
    enum dispatcher dispatcher; /* that every model and machine can have */
    /* ---- what silence means ---- */
    bool experts_follow_tensor;    /* experts are split like dense weights unless said otherwise */
    bool text_only;                /* the program builds no vision tower unless images are said */
    bool biased_experts_have_yarn; /* the model with biased experts that it knows: gpt-oss */
    bool recipes_capture;          /* most of its recipes for Blackwell have CUDA graphs */
    bool recipes_narrow_gradients; /* nearly all of its performance recipes have bf16 gradients */
    /* ---- how it trains ---- */
    bool schedule_takes_batch; /* a pipeline schedule takes the local batch and cuts it into
                                  microbatches of another key */
    bool fused_linears;        /* one linear for q, k and v, one for gate and up */
    bool projector_in_tower;   /* who freezes the vision tower freezes the mergers with it */
    bool adapter_per_expert;   /* each expert has an adapter; else one on every rank of experts */
    bool adapters_cut_with_linear; /* of an adapter's two matrices only the one beside the cut
                                      dimension is cut; else both */
    bool hugging_face_paths;  /* adapters' targets are Hugging Face's module paths, matched whole */
    bool states_as_params;    /* FSDP2's optimizer states have the parameters' number format */
    bool bf16_grads;          /* weight gradients are added up in bf16 whatever is reduced */
    bool reduces_once;        /* sharded gradients are reduced after the last microbatch alone */
    bool pads_vocabulary;     /* the vocabulary is padded to a multiple for the tensor ranks */
    bool low_experts_only;    /* low precision reaches the experts' products only */
    bool fused_mxfp8_experts; /* quantise in the epilogue of their product */
    bool compiled_clamp;      /* gate and clamp of an expert are one compiled kernel */
    bool balances_in_rows;    /* forced balance deals experts to tokens in turn; else at random */
    bool repeats_operations;  /* selective recomputation is by operation, not by module */
    bool checkpoints_parts;   /* full recomputation is of a layer's parts, each on its own, unless
                                 its class is of another mind */
    bool early_stop;          /* recomputing a layer ends once its last saved tensor is back */
    bool
        fitted_with_fsdp2; /* the step time's error is that of FSDP, as all its measured runs are */
};

const struct framework_traits *framework_traits(enum framework framework);
static inline const struct framework_traits *config_traits(const struct config *c)
{
    return framework_traits(c->framework);
}
/* Bytes of a gradient as it is added up and reduced, for the step time: a plan that does not speak
   of it describes a run as most are. Its memory is that of what silence means, the larger. */
static inline int config_grad_bytes(const struct config *c)
{
    const struct framework_traits *t = config_traits(c);
    bool usual = t->recipes_narrow_gradients && c->unstated & UNSTATED_GRADIENTS;
    return t->bf16_grads || usual ? 2 : c->knobs.grad_bytes;
}
/* Whether the step time of a plan that does not speak of the parameter is that of another value
   than the framework's default. */
bool framework_times_silence(enum framework framework, int param);
/* Tensor-parallel ranks that divide among them what is not a dense linear's: the tokens of router
   and experts, and a token's logits. AutoModel has a plan of its own for no class with experts; the
   one that all others get leaves their tokens whole and gathers the logits
   (components/distributed/parallelizer.py _get_parallel_plan; components/moe/parallelizer.py: "the
   token path (attention, router) replicated across TP ranks"). */
static inline int config_sharers(const struct config *c)
{
    int tp = c->knobs.tp;
    return tp == 1 || !c->model.experts || config_traits(c)->tensor_shares_experts ? tp : 1;
}
/* Whether sequence parallelism goes with the plan's tensor parallelism: experts that repeat their
   work take whole sequences. */
static inline bool config_splits_sequence(const struct config *c)
{
    return config_sharers(c) > 1;
}
/* Whether a pipeline's schedule takes the local batch. */
static inline bool config_has_schedule(const struct config *c)
{
    return config_traits(c)->schedule_takes_batch && c->knobs.pp > 1;
}

#endif
