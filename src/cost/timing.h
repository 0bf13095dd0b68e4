/* SPDX-License-Identifier: Apache-2.0 */
/* One configuration as the terms of the step time see it: derived quantities, worked out once, and
 * seconds by kind. */
#ifndef MOEPLAN_COST_TIMING_H
#define MOEPLAN_COST_TIMING_H

#include "cost/coefficient.h"

/* How a dispatcher moves tokens between expert-parallel ranks. */
struct dispatch_law {
    bool once;  /* a token crosses once a domain and once a rank (else: once an expert chosen) */
    bool added; /* network and NVLink hops share their SMs: their times add up (else: the longer) */
    double nvlink;            /* part of the NVLink rate its kernels reach */
    double sm_bytes_per_s;    /* rate at which its SMs copy, in series with the link */
    double proxy_bytes_per_s; /* rate of NCCL's staging buffers, in series with the NIC; 0: none */
    double passes;            /* memory passes of permute and unpermute over the routed rows */
    double prepare_ops, move_ops,
        syncs; /* host operations before and of the exchange; device-to-host waits */
};

struct timing {
    const struct config *config;
    struct coefficients f;
    double tokens;      /* of a microbatch on a TP group: mbs * seq / cp */
    double tokens_rank; /* of these, those one rank routes: / tp */
    double tokens_pass; /* tokens of elementwise work on hidden states: tokens / tp with sequence
                           parallelism */
    double rows;        /* routed rows of the hottest rank's experts */
    double load;        /* rows of the hottest rank over the mean */
    double hbm;         /* bytes/s of streaming kernels */
    double rate_16,
        rate_low; /* FLOP/s of an unbounded GEMM: 16 bit, and in the precision of the TE linears */
    double peak;  /* dense FLOP/s of the precision */
    const char *peak_name; /* BF16, FP8, FP4 */
    double low_bytes;      /* bytes an operand element has in TE linears */
    double wgrad_bytes;    /* bytes moved for an element of an accumulated weight gradient */
    double quantise_bytes; /* bytes moved to quantise and transpose an element, 0 in 16 bit */
    int domain;            /* GPUs of an NVLink domain */
    bool low;              /* TE linears run in FP8 or FP4 */
    bool experts_only;     /* only expert GEMMs do (AutoModel) */
    uint32_t captured;     /* bits SCOPE_*: what CUDA graphs hold */
    uint32_t repeated;     /* bits MOD_*: what selective recomputation repeats */
    struct dispatch_law law;
};

/* Seconds of one pass (forward, backward, or a repeated forward) by what takes them, and host
 * operations. */
struct pass {
    double gemm, grouped, attention, memory, quantise, scan; /* kernels */
    double ep, tp, cp;                                       /* communication before hiding */
    double ops, gpu_ops; /* operations the host launches; all operations, captured ones too */
};

/* to += times * x. */
void pass_add(struct pass *to, const struct pass *x, double times);
/* to += x - before: what a part of a layer added. */
void pass_add_since(struct pass *to, const struct pass *x, const struct pass *before);
/* Seconds of all kernels. */
double pass_kernels(const struct pass *x);

struct timing timing_of(const struct config *c);

#endif
