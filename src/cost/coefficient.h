/* SPDX-License-Identifier: Apache-2.0 */
/* The coefficients of the time model by field. Each platform file gives their values with unit,
   meaning, source, interval and number of measurements; the second column here serves platforms
   that say nothing. */
#ifndef MOEPLAN_COST_COEFFICIENT_H
#define MOEPLAN_COST_COEFFICIENT_H

#include "plan/config.h"

/* name, value where the platform has none */
#define TIME_COEFFICIENTS(X)                                                                       \
    X(gemm_bf16, 0.75)           /* part of the dense peak that an unbounded GEMM reaches */       \
    X(gemm_fp8, 0.70)            /* same, of the FP8 peak */                                       \
    X(gemm_mxfp8, 0.91)          /* rate of MXFP8 GEMMs against tensor-scaled ones */              \
    X(gemm_block, 0.66)          /* as gemm_fp8, scaled by blocks */                               \
    X(gemm_fp4, 0.45)            /* same, of the FP4 peak */                                       \
    X(gemm_fp4_training, 1.15)   /* rate of training's FP4 GEMMs against that */                   \
    X(gemm_tail, 0.065)          /* half-full wave of a GEMM, in tiles an SM */                    \
    X(gemm_start_s, 2.2e-6)      /* s of start of a GEMM */                                        \
    X(gemm_fp8_start_s, 5.8e-6)  /* same, 8 bit */                                                 \
    X(gemm_block_start_s, 7e-6)  /* same, scaled by blocks */                                      \
    X(gemm_fp4_start_s, 8e-6)    /* same, 4 bit */                                                 \
    X(gemm_inner, 90)            /* inner elements whose time a tile's start and end take */       \
    X(gemm_fp8_inner, 190)       /* same, 8 bit */                                                 \
    X(gemm_block_inner, 110)     /* same, scaled by blocks */                                      \
    X(gemm_fp4_inner, 170)       /* same, 4 bit */                                                 \
    X(gemm_block_traffic, 1.1)   /* traffic of block-scaled GEMMs against their operands */        \
    X(gemm_fp4_traffic, 1.3)     /* same, 4 bit */                                                 \
    X(grouped_bf16, 1.4)         /* rate of one kernel of all experts against a GEMM */            \
    X(grouped_fp8, 2.0)          /* same, 8 bit */                                                 \
    X(grouped_block, 1.1)        /* same, scaled by blocks */                                      \
    X(grouped_fp4, 4.0)          /* same, 4 bit */                                                 \
    X(grouped_inner, 830)        /* as gemm_inner */                                               \
    X(grouped_fp8_inner, 4600)   /* same, 8 bit */                                                 \
    X(grouped_block_inner, 2800) /* same, scaled by blocks */                                      \
    X(grouped_fp4_inner, 15e3)   /* same, 4 bit */                                                 \
    X(grouped_pad, 30)           /* rows an expert's tiles compute for nothing */                  \
    X(grouped_training, 0.8)     /* rate of training's grouped GEMMs in 16 bit against a GEMM's */ \
    X(grouped_training_low, 0.85)            /* same in FP8 and FP4, against those kernels */      \
    X(experts_start_s, 25e-6)                /* s of start of the kernels around grouped GEMMs */  \
    X(experts_quantised_start_s, 40e-6)      /* same, quantised */                                 \
    X(experts_fp4_start_s, 6.4e-05)          /* same, 4 bit */                                     \
    X(experts_passes, 1.0)                   /* time of those kernels against their bytes */       \
    X(experts_fp8_passes, 1.0)               /* same, 8 bit */                                     \
    X(experts_block_passes, 2.5)             /* same, scaled by blocks */                          \
    X(experts_fp4_passes, 1.0)               /* same, 4 bit */                                     \
    X(attention, 1.0)                        /* time of attention in training against its law */   \
    X(attention_forward, 0.8)                /* rate of forward attention against the peak */      \
    X(attention_backward, 0.73)              /* rate of the backward against that */               \
    X(attention_forward_tile, 450)           /* keys seen for nothing: whole tiles and the ramp */ \
    X(attention_backward_tile, 600)          /* same, backward */                                  \
    X(attention_window_tile, 620)            /* more of them with a window */                      \
    X(attention_window_backward_tile, 180)   /* same, backward */                                  \
    X(attention_deterministic_tile, 105)     /* more of them in a deterministic backward */        \
    X(attention_softmax, 29)                 /* the softmax of a key in columns of a head */       \
    X(attention_backward_softmax, 63)        /* same, backward */                                  \
    X(attention_fp8_softmax, 80)             /* of FP8 attention, columns in 16 bit */             \
    X(attention_fp8_backward_softmax, 130)   /* same, backward */                                  \
    X(attention_mxfp8_backward_softmax, 250) /* same, of MXFP8's */                                \
    X(attention_start_s, 7e-6)               /* s of start of an attention kernel */               \
    X(throttling, 0.15)           /* slowdown of tensor-core kernels that run all the time */      \
    X(throttling_low, 0.12)       /* same, in FP8 and FP4 */                                       \
    X(attention_heat, 0.5)        /* heat of attention for that of products */                     \
    X(burst_heat, 0.1)            /* slowdown of a table's product that is long by itself */       \
    X(burst_heat_fp4, 0.2)        /* same, 4 bit */                                                \
    X(burst_s, 3e-3)              /* s in which power brings the clocks down */                    \
    X(hbm_stream, 0.85)           /* part of the HBM rate that streaming kernels reach */          \
    X(activation_passes, 1.2)     /* time of elementwise kernels against counted bytes */          \
    X(bias_passes, 4.0)           /* same, of eager biases and clamps of experts */                \
    X(scan, 2.5)                  /* time of a scan against a delta rule's state elements */       \
    X(scan_delta_rate, 7.6e10)    /* state elements/s an SM of a gated delta rule */               \
    X(scan_delta_bytes, 0.12)     /* bytes that its chunks move for a state element */             \
    X(scan_delta_chunk_s, 1.1e-6) /* s a chunk of its sequential part */                           \
    X(quantise, 8.2)              /* streamed bytes to quantise an element, with its amax */       \
    X(quantise_delayed, 0.4)      /* part of that with the amax of earlier steps */                \
    X(quantise_mxfp8, 0.67)       /* same to MXFP8, or by blocks: no amax, 4.1 bytes for 6.1 */    \
    X(quantise_fp4, 1.2)          /* same to FP4 */                                                \
    X(quantise_once,                                                                               \
      0.77) /* inference kernels that quantise by rows alone, against their bytes */               \
    X(quantise_once_fp4, 1.18)    /* same to FP4 */                                                \
    X(nvlink, 0.87)               /* part of the NVLink rate that collectives tend to */           \
    X(nvlink_few, 0.55)           /* of which n ranks lack so much over n */                       \
    X(nvlink_ramp_s, 14e-6)       /* s whose geometric mean with the rest a collective adds */     \
    X(nic, 0.93)                  /* part of the NIC rate that exchanges reach */                  \
    X(nic_bulk, 0.90)             /* same, of large collectives */                                 \
    X(collective_start_s, 10e-6)  /* s of start-up of a collective in a domain */                  \
    X(collective_across_s, 30e-6) /* same, across domains */                                       \
    X(collective_across_doubling_s, 5e-6) /* same, more with every doubling of ranks */            \
    X(p2p_start_s, 20e-6)                 /* s of start-up of a pipeline transfer */               \
    X(p2p_nvlink, 0.8)                    /* part of the NVLink rate it reaches */                 \
    X(p2p_mixed, 0.5)             /* part of that where some stages lie beyond the domain */       \
    X(cp_start_s, 40e-6)          /* s of start-up of context parallelism, an attention */         \
    X(cp_hidden, 0.8)             /* part of attention that hides its ring */                      \
    X(dispatch, 1.0)              /* time of dispatch and combine in training against the law */   \
    X(dispatch_across, 1.5)       /* same across domains */                                        \
    X(dispatch_start_s, 44e-6)    /* s of start-up of a dispatch or combine */                     \
    X(dispatch_across_s, 42e-6)   /* more of it across domains */                                  \
    X(nccl_nvlink, 0.85)          /* part of the NVLink rate of NCCL's exchange */                 \
    X(deepep_nvlink, 0.95)        /* same of DeepEP */                                             \
    X(deepep_own, 1.0)            /* copies of a rank's own tokens that its kernels move too */    \
    X(deepep_sm_gb_per_s, 16)     /* GB/s that one of its SMs moves inside a domain */             \
    X(deepep_across_sm, 0.8)      /* part of that which is left for forwarding across domains */   \
    X(deepep_combine_sm, 1.14)    /* rate of its combine's SMs against its dispatch's */           \
    X(deepep_combine_s, 114e-6)   /* more start-up of its combine across domains */                \
    X(deepep_syncs, 1.5)          /* waits of the host in DeepEP's dispatch */                     \
    X(hybridep_nvlink, 0.72)      /* as deepep_nvlink, of HybridEP */                              \
    X(hybridep_nic, 0.87)         /* part of the NIC rate that it reaches */                       \
    X(hybridep_sm_gb_per_s, 17)   /* GB/s that one of its SMs moves across domains */              \
    X(ep_hidden, 0.65)            /* part of EP communication hidden by 1F1B overlap */            \
    X(shared_expert_hidden, 0.5)  /* part of it hidden by shared_expert_overlap */                 \
    X(tp_backward, 1.4)           /* TP collectives exposed in a sub-block's backward */           \
    X(tp_hidden, 0.47)            /* part of TP communication hidden by tp_comm_overlap */         \
    X(p2p_exposed, 0.28)          /* part of pipeline transfers exposed with VPP */                \
    X(dp_window, 0.61)            /* part of the compute window that hides DP collectives */       \
    X(dp_contention, 0.15)        /* slowdown of kernels over hidden DP collectives */             \
    X(fsdp_hidden, 0.95)          /* part of compute that hides FSDP collectives */                \
    X(fsdp_first_gather, 0.5)     /* part of the first gather with nothing beside it */            \
    X(host_op_s, 28e-6)           /* s of host time an operation */                                \
    X(host_launch, 0.1)           /* part of that of one of many launches by one call */           \
    X(delayed_host, 1)            /* host time of an operation with delayed scaling over others' */ \
    X(backward_ops, 1.6)          /* host operations of backward for one of forward */             \
    X(gpu_gap_s, 2.4e-6)          /* s the GPU idles an operation, captured or not */              \
    X(sync_s, 60e-6)              /* s a device-to-host synchronisation */                         \
    X(step_s, 0.033)              /* s an optimizer step besides its kernels */                    \
    X(optimizer_stream, 0.95)     /* part of the streaming rate of optimizer kernels */            \
    X(pcie, 0.86)                 /* part of the host link's rate that copies reach */             \
    X(cpu_memory_gb_per_s, 50)    /* GB/s of CPU memory for one GPU's optimizer */                 \
    X(routing_spread, 0.3)        /* sd of an expert's load with natural routing, over its mean */ \
    X(capacity_imbalance, 0.05)   /* same with a capacity c, less 1, over (c - 1)^2 */             \
    X(capacity_imbalance_most, 3) /* most that such a load can be */                               \
    X(straggling, 0.007)          /* slowdown a doubling of GPUs above 64 */                       \
    X(pace, 1)                    /* time of one's own steps of a model against the law */         \
    X(error_graphed_moe, 0.10)    /* log sd of the model itself: MoE in CUDA graphs */             \
    X(error_moe, 0.12)            /* MoE launched by the host */                                   \
    X(error_dense, 0.12)          /* dense models */                                               \
    X(error_fsdp, 0.25)           /* sharded parameters */                                         \
    X(error_bias, 0.25)           /* biased experts, whose kernels depend on the release */        \
    X(error_peft, 0.15)           /* adapters alone trained */                                     \
    X(error_four_bit, 0.2)        /* more of it with weights in 4 or 8 bits */                     \
    X(error_across, 0.15)         /* MoE whose exchange crosses domains */                         \
    X(error_chip, 0)              /* more of it on a chip that nobody ran */

/* Those whose spread the interval of a step time adds up, one for each of its terms: the spread of
   a start-up or a law's further parts is in that of its term, and counts once. In the order above.
 */
#define SPREAD_COEFFICIENTS(X)                                                                     \
    X(gemm_bf16)                                                                                   \
    X(gemm_fp8)                                                                                    \
    X(gemm_fp4)                                                                                    \
    X(grouped_training)                                                                            \
    X(attention)                                                                                   \
    X(activation_passes)                                                                           \
    X(scan)                                                                                        \
    X(quantise)                                                                                    \
    X(nvlink)                                                                                      \
    X(nic)                                                                                         \
    X(dispatch)                                                                                    \
    X(p2p_exposed)                                                                                 \
    X(host_op_s)                                                                                   \
    X(pace)

#define FIELD(name, otherwise) double name;
struct coefficients {
    TIME_COEFFICIENTS(FIELD)
};
#undef FIELD
#define FIELD(name) double name;
struct coefficient_spread {
    SPREAD_COEFFICIENTS(FIELD)
};
#undef FIELD

/* The machine's coefficient of that name; NULL: it has none. `at`, 0 at first, is where to look
   first: platform files list coefficients in our order, so the one after the last found is nearly
   always right. Inline: looked up for every plan estimated, by names that the compiler knows. */
static inline const struct coefficient *coefficient_find(const struct machine *m, struct str name,
                                                         int *at)
{
    for (int tried = 0; tried < m->n_coefficients; tried++) {
        const struct coefficient *c = &m->coefficients[*at];
        *at = *at + 1 < m->n_coefficients ? *at + 1 : 0;
        if (str_eq(c->name, name)) return c;
    }
    return NULL;
}
struct coefficients coefficients_of(const struct machine *m);
/* Standard deviation of its logarithm, from its 80 % interval; 0 where the platform gives none. */
double coefficient_log_sd(const struct coefficient *c);
/* The same of those whose spread is added up. */
struct coefficient_spread coefficients_spread(const struct machine *m);

#endif
