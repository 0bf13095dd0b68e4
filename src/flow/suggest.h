/* SPDX-License-Identifier: Apache-2.0 */
/* suggest: model, machine and wishes -> the best plans of each framework. */
#ifndef MOEPLAN_FLOW_SUGGEST_H
#define MOEPLAN_FLOW_SUGGEST_H

#include "base/vec.h"
#include "choose/planner.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "facts/reader.h"
#include "flow/wish.h"

/* The most GPUs that can be asked for, and the most that are looked at for the smallest number that
   is enough: the size of the largest runs whose layouts are published (Llama 3.1 405B, 16,384
   H100). */
enum { SUGGEST_MOST_GPUS = 1 << 20, SUGGEST_MOST_MIN_GPUS = 1 << 14 };
/* Layouts of each framework where the question names no number. */
enum { SUGGEST_TOP = 5 };

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
    bool in[FRAMEWORK_COUNT]; /* frameworks whose space is searched; none: the usual */
    struct str goal, numerics, task, precision;
    struct str version;      /* of the framework; empty: the newest */
    int64_t lora_rank;       /* 0: not said */
    struct str lora_targets; /* separated by commas; empty: not said */
    int64_t gpus;            /* 0: the fewest that are enough */
    int64_t gbs, seq, mbs, top;
    int64_t most_gpus; /* no number of GPUs up to this is enough: gpus is the nearest; 0: not so */
    bool gbs_assumed, seq_assumed;
    bool stage;        /* its tokens are the task's own: one of several runs after each other */
    struct str called; /* the task's own name where it is another one with pins; empty: it is not */
    bool late;         /* no number of GPUs meets the deadline: gpus is the nearest */
    VEC(struct pin) pins;
    struct str *forbid;
    size_t n_forbid;
    struct bill_wish wish; /* of the run: tokens, price, deadline */
    bool no_playbook;      /* public recipes are neither candidates nor named */
    bool exhaustive;       /* plans are not bounded away but looked at */
    bool whether;          /* as in struct plan_request */
};

struct answers {
    struct answer items[FRAMEWORK_COUNT];
    enum framework framework[FRAMEWORK_COUNT];
    size_t n;
    bool any;           /* some framework has a plan */
    struct notes notes; /* what is to be known of wishes that are kept to all the same */
};

/* ---- asking: each is false with *why set when it cannot be asked so ---- */

/* Takes a framework by name. */
bool ask_in(struct arena *a, struct ask *ask, struct str framework, struct str *why);
/* The words of goal, numerics, task and precision, the usual ones where there is none. */
bool ask_words(struct arena *a, struct ask *ask, struct str *why);
/* Pins a parameter by name, symbol or alias: there is one, it can be pinned, and takes the value.
 */
bool ask_pin(struct arena *a, struct ask *ask, struct setting pin, struct str *why);
/* The task as the user called it. */
struct str ask_task(const struct ask *ask);
/* The same of a list of them: "tp=2,pp=4". */
bool ask_pins(struct arena *a, struct ask *ask, struct str list, struct str *why);
/* What follows from words and pins: pins what is said of the adapters, which the task must have,
   and leaves out the frameworks to which a pin means nothing; one must be left. */
bool ask_settle(struct arena *a, struct ask *ask, struct str *why);

/* ---- answering ---- */

/* Fills the number of GPUs where it is left open: the fewest with a plan, or by the deadline. */
void ask_size(struct arena *a, struct arena *scratch, const struct rule_set *rules, struct ask *ask,
              struct notes *notes);
/* Answers a settled question with a model and a platform; the number of GPUs, sequence and batch
   are filled in where they were left open. False when it cannot be answered (errors in `diags`). No
   plan at all is a good answer. */
bool suggest(struct arena *a, struct arena *scratch, struct diags *diags,
             const struct rule_set *rules, struct ask *ask, struct answers *out);
/* Fills what was left open: seq 4096, and for gbs the smallest multiple of the GPUs and of 64 with
   4 million tokens a step, of sft and peft the smallest multiple of the GPUs with 128 sequences. */
void ask_complete(struct ask *ask);
/* The best plans of one framework; as suggest, of a complete question. */
bool ask_framework(struct arena *a, struct arena *scratch, struct diags *diags,
                   const struct rule_set *rules, const struct ask *ask, enum framework framework,
                   struct answer *out);
/* The same of every framework that is asked for. */
bool ask_all(struct arena *a, struct arena *scratch, struct diags *diags,
             const struct rule_set *rules, const struct ask *ask, struct answers *out);
/* Whether what the user forbids could be decided of the plans that were looked at; false with an
   error in `diags` when an expression was neither true nor false of any of them. One that was not
   of some gets a note. */
bool ask_judge_forbid(struct arena *a, struct diags *diags, const struct ask *ask,
                      const struct answer *answers, size_t n, struct notes *notes);

/* ---- sizes (suggest_size.c) ---- */

/* Fills the fewest GPUs with a plan that surely fits, with the optimizer on the GPUs and on the CPU
   looked for apart; the plan to show is the former's where there is one, and a note names the
   other. Looked at are shares of a node that divide it, then whole nodes: every doubling, and
   between the last that is not enough and the first that is every number of nodes, above 64 of them
   in 64 steps. Where nothing is enough most_gpus is set, and gpus is the count that lacks the least
   memory. */
void ask_smallest(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                  struct ask *ask, struct notes *notes);
/* Fills the fewest GPUs with a plan that surely fits and meets the deadline, in eight steps a
   doubling, or where none does the nearest and `late`; a note says so. */
void ask_in_time(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 struct ask *ask, struct notes *notes);
/* A note on GPUs that do not fill their nodes. */
void ask_note_nodes(struct arena *a, const struct ask *ask, struct notes *notes);
/* More GPUs at which a plan surely fits, the fewest in eight steps a doubling, up to
   SUGGEST_DOUBLINGS: ask->gpus and its answer. False when there are none. */
enum { SUGGEST_DOUBLINGS = 8 };
bool suggest_larger(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                    struct ask *ask, enum framework framework, struct answer *out);
/* The heaviest way to fine-tune that surely fits where the one that was asked for does not:
   adapters for sft, adapters beside weights in 4 bits for both. False when there is none. */
bool suggest_lighter(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                     struct ask *ask, enum framework framework, struct answer *out);
/* The batch nearest to the one asked for that has a plan on these GPUs: ask->gbs and its answer.
   False when it is not the batch that is in the way. */
bool suggest_batch(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                   struct ask *ask, enum framework framework, struct answer *out);

#endif
