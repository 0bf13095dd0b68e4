/* SPDX-License-Identifier: Apache-2.0 */
/* Training logs of Megatron-LM, Megatron-Bridge and NeMo AutoModel -> what a run reports about
   itself, line by line and in constant memory. Lines may carry prefixes of launchers and ranks.
   Formats: megatron/training/training.py training_log, megatron/core/timers.py,
   megatron/training/utils/common_utils.py report_memory, megatron/bridge/training/utils/
   train_utils.py training_log, nemo_automodel/recipes/llm/train_ft.py log_train_metrics and its
   training.jsonl, nemo_automodel/recipes/llm/benchmark.py. */
#ifndef MOEPLAN_FACTS_RUN_LOG_H
#define MOEPLAN_FACTS_RUN_LOG_H

#include "base/vec.h"
#include "facts/facts.h"
#include "facts/failure.h"

/* Steps kept at most; of more every second one goes, again and again. */
enum { RUN_LOG_STEPS = 8192 };

/* One logged step; 0 where the line does not say it. */
struct run_step {
    int64_t number;
    double step_s, tflops_per_gpu, tokens_per_s_per_gpu, memory_gib, mfu /* part of 1 */;
    double grad_norm; /* the largest of the steps that went beside it */
};

struct run_log {
    struct arena *arena;
    VEC(struct run_step) steps;
    bool iterations;      /* some line states one, with its time */
    int64_t seen, stride; /* steps that were logged; every stride-th is kept */
    double peak_memory_gib, reserved_memory_gib; /* largest of all ranks and steps; 0: not said */
    int64_t memory_rank;                         /* highest rank that states its memory */
    int64_t skipped, not_a_number;               /* steps that say so of themselves */
    int64_t global_batch;                        /* sequences a step; 0: not said */
    double average_s, average_mfu;               /* AutoModel's summary, without its warmup */
    double batch_s, optimizer_s;                 /* Megatron-LM's timers of that name, latest; s */
    struct failures failures;
};

/* Medians of the steady steps: the first tenth, at least one step, is warmup; what no line says is
   0. */
struct run_summary {
    size_t steady_steps;
    double step_s, tflops_per_gpu, tokens_per_s_per_gpu, mfu, peak_memory_gib, reserved_memory_gib;
    double grad_norm_max_over_median;
    double step_scatter; /* standard deviation of a step over its median, from the quartiles */
};

void run_log_start(struct arena *a, struct run_log *log);
/* Takes a line into account; whether it is one of a training log. */
bool run_log_line(struct run_log *log, struct str line);
struct run_summary run_log_summary(struct arena *a, const struct run_log *log);
/* Sets the metrics that the log states (origin ORIGIN_FILE). */
void run_log_apply(const struct run_log *log, struct facts *f);

#endif
