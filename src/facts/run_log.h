/* SPDX-License-Identifier: Apache-2.0 */
/* Training logs of Megatron-LM, Megatron-Bridge and NeMo AutoModel -> what a run reports about
   itself. Lines may carry prefixes of launchers and ranks. Formats: megatron/training/training.py
   training_log, megatron/training/utils.py report_memory, megatron/bridge/training/utils/
   train_utils.py training_log, nemo_automodel/recipes/llm/train_ft.py log_train_metrics and its
   training.jsonl. */
#ifndef MOEPLAN_FACTS_RUN_LOG_H
#define MOEPLAN_FACTS_RUN_LOG_H

#include "base/vec.h"
#include "facts/facts.h"

/* One logged step; 0 where the line does not say it. */
struct run_step {
    int64_t number;
    double step_s, tflops_per_gpu, tokens_per_s_per_gpu, memory_gib, grad_norm;
};

struct run_log {
    VEC(struct run_step) steps;
    double peak_memory_gib, reserved_memory_gib; /* largest of all ranks and steps; 0: not said */
    int64_t memory_rank;                         /* highest rank that states its memory */
    int64_t out_of_memory;                       /* lines that report it */
};

/* Medians of the steady steps: the first tenth, at least one step, is warmup; what no line says is
   0. */
struct run_summary {
    size_t steady_steps;
    double step_s, tflops_per_gpu, tokens_per_s_per_gpu, peak_memory_gib, reserved_memory_gib;
    double grad_norm_max_over_median;
};

/* Reads all lines. False when not one of them is of a training log. */
bool run_log_read(struct arena *a, struct str text, struct run_log *out);
struct run_summary run_log_summary(struct arena *a, const struct run_log *log);
/* Sets the metrics that the log states (origin ORIGIN_FILE). */
void run_log_apply(const struct run_log *log, struct facts *f);

#endif
