/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of kernels, collectives and exchanges against measured times, one measurement at a time:
   of public tables, or of own. Seconds. */
#ifndef MOEPLAN_COST_MEASURED_H
#define MOEPLAN_COST_MEASURED_H

#include "base/arena.h"
#include "plan/config.h"

/* Sizes of a measurement, 0 where it has none: GEMMs are m x k times k x n (`experts` of them, when
   grouped); a weight's gradient is m x n over k tokens. */
#define MEASURED_NUMBERS(X)                                                                        \
    X(m)                                                                                           \
    X(n)                                                                                           \
    X(k)                                                                                           \
    X(experts)           /* of a grouped GEMM; of an exchange, all */                              \
    X(local_experts)     /* of one rank, with tokens_per_expert rows each */                       \
    X(tokens_per_expert) /* rows */                                                                \
    X(hidden)            /* elements of a token */                                                 \
    X(inter)             /* elements inside an expert */                                           \
    X(batch)             /* sequences */                                                           \
    X(seq)               /* tokens */                                                              \
    X(heads)                                                                                       \
    X(v_heads)                                                                                     \
    X(qk_dim)                                                                                      \
    X(k_dim)                                                                                       \
    X(v_dim)                                                                                       \
    X(window)          /* tokens seen; 0: all */                                                   \
    X(bytes)           /* of a copy, read and written; of a collective, NCCL's size */             \
    X(ranks)           /* of the group */                                                          \
    X(domain)          /* GPUs of an NVLink domain as run */                                       \
    X(domains)         /* that the group spans */                                                  \
    X(tokens_per_rank) /* of an exchange */                                                        \
    X(topk)                                                                                        \
    X(topk_groups)                                                                                 \
    X(sms)         /* of an exchange's kernel; 0: its own choice */                                \
    X(gemm_s)      /* of a stream that goes on: the bursts of its products, seconds */             \
    X(attention_s) /* and of its attention */

#define MEASURED_WORDS(X)                                                                          \
    X(op)     /* gemm, attention_forward, ep_dispatch, …: those that measured.c lists */         \
    X(kernel) /* te, cudnn, flash, …; empty: the usual one */                                    \
    X(impl)   /* of an exchange */                                                                 \
    X(dtype)                                                                                       \
    X(includes)      /* what the time holds beside a GEMM */                                       \
    X(pass)          /* forward, dgrad, wgrad */                                                   \
    X(layers)        /* of a set: "4096->12288, …" */                                            \
    X(causal)        /* "false": all keys */                                                       \
    X(deterministic) /* "true": of a backward */

struct measured {
#define MEASURED_FIELD(name) double name;
    MEASURED_NUMBERS(MEASURED_FIELD)
#undef MEASURED_FIELD
#define MEASURED_FIELD(name) struct str name;
    MEASURED_WORDS(MEASURED_FIELD)
#undef MEASURED_FIELD
};

/* The precision whose products a row's dtype names; BF16 of any other word. */
enum precision measured_precision(struct str dtype);
/* The dtype of a precision's products in 8 bit or less: those of delayed scaling are the
   tensor-wise ones, and a precision that has none gets their name. */
struct str measured_dtype(enum precision precision);
/* Seconds by the laws, at the machine's coefficients; 0: there is no law for it, or a size is
   missing. */
double measured_law(const struct measured *x, const struct machine *m);
/* Whether the law is of this very kernel, so that its time says something of the coefficients. */
bool measured_is_own(const struct measured *x);
/* Scatter of such a kernel's times around its law: standard deviation of the logarithm. */
double measured_sd(const struct measured *x);

#endif
