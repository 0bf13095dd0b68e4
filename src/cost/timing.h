/* SPDX-License-Identifier: Apache-2.0 */
/* One configuration as the terms of the step time see it: derived quantities, worked out once, and
 * seconds by kind. */
#ifndef MOEPLAN_COST_TIMING_H
#define MOEPLAN_COST_TIMING_H

#include "cost/coefficient.h"

/* How a dispatcher moves tokens between expert-parallel ranks. */
struct dispatch_law {
    bool once;     /* a token crosses once a domain and once a rank (else: once an expert chosen) */
    bool gathers;  /* all tokens go to all ranks, by collectives */
    double nvlink; /* bytes/s of a GPU inside a domain */
    double nic;    /* bytes/s of a GPU across domains */
    double own;    /* copies of a rank's own tokens that its kernels move beside */
    double inside; /* bytes/s at which its SMs move tokens inside a domain; INFINITY: no limit */
    double forward; /* bytes/s at which they forward tokens that came from another domain */
    double move;    /* bytes/s at which they move tokens of either kind across domains */
    double combine; /* rate of the combine's SMs against the dispatch's */
    double across_s, combine_s; /* more start-up across domains; more of that of a combine */
    double passes;              /* memory passes of permute and unpermute over the routed rows */
    double prepare_ops, move_ops,
        syncs; /* host operations before and of the exchange; device-to-host waits */
};

/* Seconds of a GEMM by its sizes. */
struct gemm_law {
    double rate;   /* FLOP/s of an unbounded one */
    double bytes;  /* of an operand's element */
    double memory; /* bytes/s of operands from memory, less what is read more than once */
    double inner;  /* inner elements whose time a tile's start and end take */
    double start_s;
};

struct known_kernels;

struct timing {
    const struct config *config;
    struct coefficients f;
    double tokens;      /* of a microbatch on a TP group: mbs * seq / cp */
    double tokens_rank; /* of these, those one rank routes: / tp, or all */
    double tokens_pass; /* tokens of elementwise work on hidden states: tokens / tp with sequence
                           parallelism */
    double routed;      /* routed rows of a rank's experts, were all alike */
    double rows;        /* those of the hottest rank's, each expert's filled up */
    double load;        /* rows of the hottest rank over the mean */
    double hbm;         /* bytes/s of streaming kernels */
    /* 16 bit, and in the precision of the TE linears; of experts in one kernel */
    struct gemm_law gemm_16, gemm_low, grouped_16, grouped_low;
    double tail;           /* output elements whose time a half-full last wave takes */
    double peak;           /* dense FLOP/s of the precision */
    const char *peak_name; /* BF16, FP8, FP4 */
    double wgrad_bytes;    /* bytes moved for an element of an accumulated weight gradient */
    double quantise_bytes; /* bytes streamed to quantise an element, by rows and by columns; 0 in 16
                              bit */
    int domain;            /* GPUs of an NVLink domain */
    bool low;              /* TE linears run in FP8 or FP4 */
    bool paced;            /* own runs of the model set the platform's pace */
    bool experts_only;     /* only expert GEMMs do (AutoModel) */
    double host_op_s;      /* seconds the host takes for an operation */
    uint32_t captured;     /* bits SCOPE_*: what CUDA graphs hold */
    uint32_t repeated;     /* bits MOD_*: what selective recomputation repeats */
    struct dispatch_law law;
    struct known_kernels *known; /* NULL: every product is worked out */
};

/* Seconds of one pass (forward, backward, or a repeated forward) by what takes them, and host
 * operations. */
struct pass {
    double gemm, grouped, attention, memory, quantise, scan; /* kernels */
    double shared;                                           /* of these, the shared expert's */
    double ep, tp, cp;                                       /* communication before hiding */
    double ops, gpu_ops; /* operations the host launches; all operations, captured ones too */
};

/* to += times * x. */
void pass_add(struct pass *to, const struct pass *x, double times);
/* to += x - before: what a part of a layer added. */
void pass_add_since(struct pass *to, const struct pass *x, const struct pass *before);
/* Seconds of all kernels. */
double pass_kernels(const struct pass *x);

/* struct timing's `repeated`, the only part of it that depends on what is recomputed. */
uint32_t timing_repeated(const struct knobs *k);
struct timing timing_of(const struct config *c);
/* The same with what is known of other plans for the machine; NULL: nothing. */
struct timing timing_of_known(const struct config *c, struct known_kernels *known);
/* The law of a dispatcher whose kernels have so many SMs; 0: as many as it takes by itself. */
struct dispatch_law dispatch_law(const struct coefficients *f, const struct machine *m,
                                 enum dispatcher dispatcher, double sms);

#endif
