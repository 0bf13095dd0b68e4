/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of trials that came back: a log in a folder a trial, and the state of the sweep in
   sweep.json beside them. */
#ifndef MOEPLAN_CMD_SWEEP_RESULTS_H
#define MOEPLAN_CMD_SWEEP_RESULTS_H

#include "choose/sweep_loop.h"
#include "cmd/cmd.h"
#include "emit/json_writer.h"

#define SWEEP_STATE "sweep.json"

struct sweep_results {
    VEC(struct trial_result) items;
};

/* Logs first, then what the state says of trials whose log is gone. A log without steady steps is
   of a trial that failed where it tells of an error or of its end, else of one that still runs.
   False with a usage error when the folder or its state cannot be read. */
bool sweep_results_read(struct cmd_context *c, struct str folder, const struct config *config,
                        struct sweep_results *out);
/* Writes the state; false with a usage error. */
bool sweep_state_write(struct cmd_context *c, struct str folder, struct str plan,
                       const struct sweep_loop *loop);
/* The words of TRIAL_OPEN to TRIAL_DROPPED. */
const char *trial_state_word(enum trial_state state);
/* What a trial is and how far it came, for the state and for the answer. */
void trial_json_members(struct json_writer *w, const struct loop_trial *t);

#endif
