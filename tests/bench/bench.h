/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks share: the clock, and one configuration. */
#ifndef MOEPLAN_TESTS_BENCH_H
#define MOEPLAN_TESTS_BENCH_H

#include <time.h>

#include "plan/config.h"

/* Seconds of a clock that only goes forward. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Qwen3-235B-A22B on 256 GPUs; the machine is left to the benchmark. */
static inline struct config bench_config(void)
{
    struct config c = {.framework = FRAMEWORK_MEGATRON, .machine_known = true};
    c.model = (struct model_shape){.num_layers = 94,
                                   .hidden = 4096,
                                   .heads = 64,
                                   .groups = 4,
                                   .head_dim = 128,
                                   .v_head_dim = 128,
                                   .gated = true,
                                   .vocab = 151936,
                                   .vocab_divisible_by = 128,
                                   .experts = 128,
                                   .topk = 8,
                                   .expert_ffn = 1536,
                                   .n_kinds = 1,
                                   .kinds = {{MIXER_ATTENTION, FFN_MOE}}};
    c.knobs = (struct knobs){.gpus = 256,
                             .tp = 2,
                             .pp = 1,
                             .vpp = 1,
                             .cp = 1,
                             .ep = 8,
                             .etp = 1,
                             .mbs = 1,
                             .gbs = 2048,
                             .seq = 4096,
                             .sequence_parallel = true,
                             .precision = PREC_BF16,
                             .dispatcher = DISPATCH_ALLTOALL,
                             .grad_bytes = 4,
                             .distributed_optimizer = true};
    return c;
}

#endif
