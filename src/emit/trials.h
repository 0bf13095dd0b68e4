/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of a sweep as one job script: every trial under the same measuring contract, each with its
   files and its log in a folder of its own, which `moeplan sweep PLAN --results` reads. */
#ifndef MOEPLAN_EMIT_TRIALS_H
#define MOEPLAN_EMIT_TRIALS_H

#include "emit/emit.h"

/* Steps of a trial; the first tenth is warmup. */
enum { TRIAL_STEPS = 50 };

/* What the logs of a trial, one or one a node, begin with in its folder; they end in .txt. How a
   log says that its trial did not come to its end. */
#define TRIAL_LOG "log"
#define TRIAL_END "moeplan: the trial ended"

enum trials_runner { TRIALS_SHELL, TRIALS_SLURM, TRIALS_KUBERNETES };

struct trial_files {
    struct str id, what;
    const struct facts *facts; /* of the framework that runs it */
};

struct trials_input {
    const struct rule_set *rules;
    const struct trial_files *items;
    size_t n;
    struct str results; /* the folder */
    enum trials_runner runner;
    struct arena *scratch; /* used and not kept */
};

/* A bash script: with a number it runs that trial, without one all of them. For Slurm it is an
   array of jobs, for Kubernetes the text is a list of objects with the script in it. */
void emit_trials(const struct trials_input *in, struct buf *out);

#endif
