/* SPDX-License-Identifier: Apache-2.0 */
/* What a profiler saw on a GPU -> how much of the time it computed, exchanged or did nothing.
   Formats: the Chrome trace of PyTorch's profiler (kineto, output_json.cpp), and the reports
   cuda_gpu_trace (a line a kernel) and cuda_gpu_kern_sum (sums by name) of `nsys stats --format
   csv`. In constant memory: the timeline is looked at in so many evenly spaced moments. */
#ifndef MOEPLAN_FACTS_GPU_TRACE_H
#define MOEPLAN_FACTS_GPU_TRACE_H

#include "base/buf.h"
#include "base/vec.h"
#include "facts/facts.h"

enum { GPU_MOMENTS = 1 << 22, GPU_EVENT_LONGEST = 16 * 1024, GPU_STEPS = 1024 };

/* What a kernel is for, told by its name. */
enum kernel_use {
    KERNEL_ATTENTION,
    KERNEL_EXPERTS, /* GEMMs of experts, in groups */
    KERNEL_GEMM,
    KERNEL_OTHER,
    KERNEL_EXPERT_EXCHANGE, /* dispatch, combine, all-to-all */
    KERNEL_SEND_RECEIVE,    /* NCCL's: an all-to-all or a pipeline's; the name does not say which */
    KERNEL_ALL_REDUCE,
    KERNEL_GATHER_SCATTER,
    KERNEL_EXCHANGE, /* any other */
    KERNEL_COPY,
    KERNEL_USES
};

struct gpu_use {
    int64_t n;
    double seconds; /* of all of them, whatever runs beside them */
};

struct gpu_trace {
    struct arena *arena;
    bool timeline, sums; /* which of the two was found */
    struct gpu_use uses[KERNEL_USES];
    int64_t device, other_devices; /* the first one's number; kernels of others, left out */
    int64_t host_events;           /* of a Chrome trace */
    uint8_t *moments;              /* [GPU_MOMENTS]: bits of what runs; NULL: none yet */
    double spacing;                /* s between moments */
    int64_t origin;                /* number of the first moment */
    double zero;                   /* the first kernel's start by the profiler's clock */
    double first, last; /* s from there: where the earliest kernel begins, the last ends */
    VEC(double) steps;  /* s of the profiler's steps, the first GPU_STEPS */
    /* A Chrome trace that is under way. */
    struct buf event;
    int depth, event_depth;
    bool in_string, escaped, too_long;
    /* Columns of a CSV that is under way; -1: it has none. */
    int start, duration, total, instances, name, gpu;
};

/* Parts of the time from the first kernel to the end of the last, together 1. */
struct gpu_shares {
    double compute, expert_exchange, send_receive, exchange, copy, gap;
};

void gpu_trace_start(struct arena *a, struct gpu_trace *t);
/* Takes a piece of a Chrome trace; a text that is none changes nothing. */
void gpu_trace_piece(struct gpu_trace *t, struct str piece);
/* Takes a line of a CSV; whether it is of a report that is known. */
bool gpu_trace_line(struct gpu_trace *t, struct str line);
/* Of a timeline; where there is none all are 0. An exchange counts where nothing is computed
   meanwhile. */
struct gpu_shares gpu_trace_shares(const struct gpu_trace *t);
/* The median step that the profiler marked, s; 0: none. */
double gpu_trace_step(const struct gpu_trace *t);
const char *kernel_use_name(enum kernel_use use);
enum kernel_use kernel_use_of(struct str name);
/* Sets the metrics that a timeline states (origin ORIGIN_FILE). */
void gpu_trace_apply(const struct gpu_trace *t, struct facts *f);

#endif
