/* SPDX-License-Identifier: Apache-2.0 */
/* The coefficients of the time model by field. Each platform file gives their values with unit,
   meaning, source, interval and number of measurements; the second column here serves platforms
   that say nothing. */
#ifndef MOEPLAN_COST_COEFFICIENT_H
#define MOEPLAN_COST_COEFFICIENT_H

#include "plan/config.h"

/* name, value where the platform has none */
#define TIME_COEFFICIENTS(X)                                                                       \
    X(gemm_bf16, 0.75)          /* part of the dense peak that an unbounded GEMM reaches */        \
    X(gemm_fp8, 0.70)           /* same, of the FP8 peak */                                        \
    X(gemm_block_scaled, 0.95)  /* rate of block-scaled FP8 GEMMs against tensor-scaled ones */    \
    X(gemm_fp4, 0.48)           /* same, of the FP4 peak */                                        \
    X(gemm_traffic, 0.60)       /* operand bytes that reach HBM, of all */                         \
    X(grouped_gemm, 1.0)        /* rate of a grouped GEMM against one GEMM of its rows */          \
    X(grouped_expert_s, 3.8e-6) /* s an expert and grouped GEMM */                                 \
    X(attention, 1.0)           /* time of attention kernels against the kernel table */           \
    X(attention_forward, 0.62)  /* part of the peak that forward attention tends to */             \
    X(attention_backward, 0.52) /* same, backward */                                               \
    X(attention_half_seq, 1200) /* tokens at which attention has half its rate */                  \
    X(throttling, 0.15)         /* slowdown of tensor-core kernels that run all the time */        \
    X(hbm_stream, 0.85)         /* part of the HBM rate that streaming kernels reach */            \
    X(activation_passes, 1.2)   /* time of elementwise kernels against counted bytes */            \
    X(bias_passes, 4.0)         /* same, of biased and clamped experts */                          \
    X(scan, 4.5)                /* time of state-space scans against counted FLOPs and bytes */    \
    X(quantise, 1.4)            /* time of quantise and transpose against 4 bytes an element */    \
    X(nvlink, 0.75)             /* part of the NVLink rate that collectives reach */               \
    X(nic, 0.80)                /* part of the NIC rate reached */                                 \
    X(nic_bulk, 0.90)           /* same, of large collectives */                                   \
    X(dispatch, 1.05)           /* time of dispatch and combine against counted bytes */           \
    X(ep_hidden, 0.65)          /* part of EP communication hidden by 1F1B overlap */              \
    X(tp_hidden, 0.47)          /* part of TP communication hidden by tp_comm_overlap */           \
    X(p2p_exposed, 0.28)        /* part of pipeline transfers exposed with VPP */                  \
    X(dp_window, 0.61)          /* part of the compute window that hides DP collectives */         \
    X(dp_contention, 0.15)      /* slowdown of kernels over hidden DP collectives */               \
    X(fsdp_hidden, 0.95)        /* part of compute that hides FSDP collectives */                  \
    X(fsdp_contention, 0.03)    /* slowdown of kernels over hidden FSDP collectives */             \
    X(host_op_s, 28e-6)         /* s of host time an operation */                                  \
    X(gpu_gap_s, 2.4e-6)        /* s the GPU idles an operation, captured or not */                \
    X(sync_s, 60e-6)            /* s a device-to-host synchronisation */                           \
    X(step_s, 0.033)            /* s an optimizer step besides its kernels */                      \
    X(imbalance, 1.2)           /* load of the hottest rank with natural routing */                \
    X(straggling, 0.007)        /* slowdown a doubling of GPUs above 64 */                         \
    X(error_graphed_moe, 0.10)  /* log sd of the model itself: MoE in CUDA graphs */               \
    X(error_moe, 0.12)          /* MoE launched by the host */                                     \
    X(error_dense, 0.12)        /* dense models */                                                 \
    X(error_fsdp2, 0.25)        /* FSDP2, whose kernels a plan does not name */                    \
    X(error_bias, 0.25)         /* biased experts, whose kernels depend on the release */

#define FIELD(name, otherwise) double name;
struct coefficients {
    TIME_COEFFICIENTS(FIELD)
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
/* Standard deviation of each coefficient's logarithm, from its 80 % interval; 0 where the platform
 * gives none. */
struct coefficients coefficients_spread(const struct machine *m);

#endif
