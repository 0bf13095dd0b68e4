/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the cost models share. */
#ifndef MOEPLAN_TESTS_COST_UNIT_H
#define MOEPLAN_TESTS_COST_UNIT_H

#include <math.h>

#include "base/units.h"
#include "plan/config.h"
#include "unit/unit.h"

static inline void assert_near(double a, double b, double tolerance)
{
    if (fabs(a - b) > tolerance * fabs(b)) fail_msg("%.12g is not %.12g", a, b);
}

/* Data parallel only, BF16, states of four bytes, sharded; Transformer Engine with its fusions. */
static inline struct knobs unit_knobs(int64_t gpus, int64_t gbs)
{
    return (struct knobs){.gpus = gpus,
                          .tp = 1,
                          .pp = 1,
                          .vpp = 1,
                          .cp = 1,
                          .ep = 1,
                          .etp = 1,
                          .mbs = 1,
                          .gbs = gbs,
                          .seq = 4096,
                          .precision = PREC_BF16,
                          .dispatcher = DISPATCH_ALLTOALL,
                          .ce_fusion = CE_TE,
                          .distributed_optimizer = true,
                          .grad_bytes = 4,
                          .main_param_bytes = 4,
                          .exp_avg_bytes = 4,
                          .exp_avg_sq_bytes = 4,
                          .grouped_gemm = true,
                          .act_fusion = true,
                          .grad_accumulation_fusion = true,
                          .transformer_engine = true,
                          .force_balance = true,
                          .dp_replicate = 1};
}

#endif
