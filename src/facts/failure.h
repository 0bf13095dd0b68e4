/* SPDX-License-Identifier: Apache-2.0 */
/* What the last words of a run say: memory that ran out (PyTorch,
   c10/cuda/CUDACachingAllocator.cpp), collectives that NCCL's watchdog gave up
   (ProcessGroupNCCL.cpp), numbers that are none. Line by line, in constant memory. */
#ifndef MOEPLAN_FACTS_FAILURE_H
#define MOEPLAN_FACTS_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A name out of a line, cut to its room; always NUL-terminated. */
struct failure_word {
    char text[160];
};

/* The first time that memory ran out; GiB, 0 where the text does not say it, -1: no number. */
struct out_of_memory {
    int64_t lines; /* how many lines report one */
    int64_t rank, gpu;
    double asked, capacity, free, in_use, allocated, unallocated;
    struct failure_word asker; /* "experts.py:184 in forward": the last line of the traceback that
                                  is no PyTorch's own; empty: there was none */
};

struct collective_timeout {
    int64_t lines, rank, sequence;
    double limit_s;
    struct failure_word operation; /* ALLTOALL_BASE */
};

struct failures {
    struct out_of_memory memory;
    struct collective_timeout collective;
    int64_t not_a_number;      /* lines that report one */
    struct failure_word frame; /* of a traceback that is under way */
};

void failures_start(struct failures *f);
/* Takes a line into account; whether it tells of a failure. */
bool failures_line(struct failures *f, struct str line);
/* What is neither free nor PyTorch's where memory ran out, GiB; 0: not said. */
double out_of_memory_other(const struct out_of_memory *m);
/* Whether the piece asked for would have fitted into what was reserved and not allocated. */
bool out_of_memory_fragmented(const struct out_of_memory *m);
/* "rank 5 (GPU 5) asked for 2.0 GiB in experts.py:184 …": what the text says, in one sentence. */
struct str out_of_memory_text(struct arena *a, const struct out_of_memory *m);
/* What the figures themselves point to: the allocator's pieces, others on the GPU, or the plan. */
const char *out_of_memory_advice(const struct out_of_memory *m);
struct str collective_timeout_text(struct arena *a, const struct collective_timeout *t);

#endif
