/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: what is asked, how it is answered, how the answer is shown. */
#ifndef MOEPLAN_CMD_SUGGEST_H
#define MOEPLAN_CMD_SUGGEST_H

#include "base/vec.h"
#include "choose/planner.h"
#include "cmd/cmd.h"
#include "emit/plan_json.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/reader.h"

struct pin {
    int param;
    struct value value;
};

struct notes {
    struct str *items;
    size_t n, cap;
};

/* One question as the user put it; absent numbers are 0, absent words empty. */
struct ask {
    const struct model_input *model;
    const struct platform *platform;
    bool in[FRAMEWORK_COUNT]; /* frameworks whose space is searched */
    struct str goal, task, precision;
    int64_t lora_rank;       /* 0: not said */
    struct str lora_targets; /* separated by commas; empty: not said */
    int64_t gpus, gbs, seq, mbs, top;
    int64_t most_gpus; /* no number of GPUs up to this is enough: gpus is the nearest; 0: not so */
    bool gbs_assumed, seq_assumed;
    struct pin *pins;
    size_t n_pins;
    struct str *forbid;
    size_t n_forbid;
};

/* Pins a parameter by name, symbol or alias; false with *why set when there is no such parameter,
   it is none to pin, or it does not take the value. */
bool ask_pin(struct arena *a, struct ask *ask, size_t *cap, struct setting pin, struct str *why);
/* Pins what is said of the adapters; false with *why set when the task has none. */
bool ask_adapters(struct arena *a, struct ask *ask, size_t *cap, struct str *why);
/* The frameworks to search where none is named. */
void ask_usual_frameworks(struct ask *ask);
/* Leaves out the frameworks to which a pin means nothing; false with *why set when none is left. */
bool ask_leave_out(struct arena *a, struct ask *ask, struct str *why);
/* Fills what was left open: seq 4096, gbs the smallest multiple of the GPUs with 4 million tokens a
 * step. */
void ask_complete(struct ask *ask);
/* The best plans of one framework. False when the question cannot be answered (errors in `diags`).
 */
bool ask_framework(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct ask *ask, enum framework framework,
                   struct answer *out);

/* Whether what the user forbids could be decided of the plans that were looked at; false with an
   error in `diags` when an expression was neither true nor false of any of them. One that was not
   of some gets a note. */
bool ask_judge_forbid(struct arena *a, struct diags *diags, const struct ask *ask,
                      const struct answer *answers, size_t n, struct notes *notes);

/* The screen of one framework's answer. */
void suggest_text(struct arena *a, const struct ask *ask, enum framework framework,
                  const struct answer *answer, struct buf *out);
/* Why nothing fits and what would make it fit. */
void suggest_no_plan(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                     const struct ask *ask, enum framework framework, const struct answer *answer,
                     struct buf *out);
/* Adds the members plans, assumed, searched, feasible of the contract's JSON. */
void suggest_json(struct tree *t, const struct rule_set *rules, const struct answer *answers,
                  size_t n, double elapsed_ms);
/* Head lines for emitted files: what this is, and what was assumed. */
size_t suggest_comments(struct arena *a, const struct ask *ask, const struct plan *plan,
                        struct str **out);

#endif
