/* SPDX-License-Identifier: Apache-2.0 */
/* The coefficients of the memory model by field. Each platform file gives their values with unit,
   meaning, source, interval and number of measurements; the figures here serve platforms that say
   nothing. */
#ifndef MOEPLAN_COST_MEMORY_COEFFICIENT_H
#define MOEPLAN_COST_MEMORY_COEFFICIENT_H

#include "plan/config.h"

/* A number with its 80 % interval. */
struct range {
    double value, low, high;
};

/* name, value, low, high */
#define MEMORY_COEFFICIENTS(X)                                                                     \
    X(cublas_workspace_mib, 32, 8.125, 32)     /* MiB of a cuBLAS handle's workspace */            \
    X(deterministic_workspace_mib, 32, 32, 32) /* MiB under CUBLAS_WORKSPACE_CONFIG=:4096:8 */     \
    X(te_workspace_mib, 32, 4, 32)             /* MiB of Transformer Engine's GEMM workspace */    \
    X(grouped_gemm_streams, 4, 4, 4)           /* workspaces of the grouped GEMM */                \
    X(moe_bookkeeping_mib, 8, 4, 12)           /* MiB of the router's and dispatcher's tensors */  \
    X(routing_imbalance, 1.1, 1, 1.4)          /* rows of the fullest rank, natural routing */     \
    X(hybridep_copies, 0.85, 0, 1.1)           /* dispatch outputs kept, of the permuted rows */   \
    X(hybridep_quantised_copies, 0.5, 0, 1)    /* same, in front of quantised GEMMs */             \
    X(dummy_wgrads, 1, 0, 1)                   /* part of TE's dummy weight gradients there */     \
    X(adam_expansion, 1, 0, 1)                 /* part of the fused Adam's fp32 expansion */       \
    X(memory_error, 1, 0.96, 1.05)             /* measured over modelled peak */                   \
    X(fsdp_error, 1, 0.94, 1.06)               /* same, further, of FSDP runs */                   \
    X(fsdp_quantised_error, 1, 0.9, 1.4)       /* same, further, where FSDP gathers FP8 */         \
    X(graph_error, 1, 0.97, 1.1)               /* same, further, with CUDA graphs */               \
    X(quantised_activations, 1, 0.85, 1.05)    /* activations of low-precision recipes */          \
    X(gathered_parameters, 1, 0.6, 1.5)        /* FSDP's working set, measured over modelled */    \
    X(linear_attention_saved, 1, 0.5, 1.1)     /* tensors of linear attention, over modelled */    \
    X(offload_residue, 0, 0, 1)                /* part of the offloaded tensors still there */     \
    X(frozen_transposes, 0, 0, 1)              /* part of frozen FP8 weights' transposes kept */   \
    X(quantised_sets, 2, 1, 2.5)               /* of experts' weights in AutoModel's runs */       \
    X(four_bit_error, 1, 0.92, 1.12)           /* peak with packed weights, by that of QLoRA */    \
    X(allocator_slack, 0.05, 0.02, 0.12)       /* reserved beyond allocated, relative */

struct memory_coefficients {
#define FIELD(name, value, low, high) struct range name;
    MEMORY_COEFFICIENTS(FIELD)
#undef FIELD
};

struct memory_coefficients memory_coefficients_of(const struct machine *m);

#endif
