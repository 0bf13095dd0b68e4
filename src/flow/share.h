/* SPDX-License-Identifier: Apache-2.0 */
/* Reinforcement learning: a trainer, and an inference engine that makes its rollouts, on the same
   GPUs or on their own. */
#ifndef MOEPLAN_FLOW_SHARE_H
#define MOEPLAN_FLOW_SHARE_H

#include "choose/engine.h"
#include "flow/suggest.h"

/* Which of the two would be faster with more memory: the trainer, where its plan takes
   SHARE_SLOWER_PERCENT more time than with the whole GPU; the engine, where not all of its
   sequences have room at a time. */
enum { SHARE_SLOWER_PERCENT = 1 };
enum binds { BINDS_NEITHER, BINDS_TRAINER, BINDS_ENGINE, BINDS_BOTH };

struct share {
    struct engine_wish wish; /* filled in */
    struct engine_need need;
    double capacity, engine; /* bytes of a GPU; of it the engine's. On its own GPUs: all */
    int64_t sequences;       /* that fit at a time */
    double slower;           /* step time over that with the whole GPU, less 1 */
    enum binds binds;
    int64_t gpus, trainer_gpus, engine_gpus; /* the same unless a ratio is given */
    double idle; /* part of the time in which the smaller side's GPUs wait; 0 on the same GPUs */
};

/* "tp=8,sequences=64,context=8192,ratio=0.5"; false with *why set. */
bool share_read(struct arena *a, struct str text, struct engine_wish *out, struct str *why);
/* What follows for the question before it is asked: the memory that the engine holds becomes a pin
   of reserve_memory_gib unless one is there; with a ratio the GPUs become the trainer's. The wish's
   open numbers are filled: sequences 64, the context the question's sequence, tp the smallest share
   of a node on which the weights take at most half of the engine's memory. False with *why set. */
bool share_settle(struct arena *a, struct ask *ask, struct engine_wish wish, struct share *out,
                  struct str *why);
/* With the question answered: what binds. */
void share_judge(struct arena *a, struct arena *scratch, const struct rule_set *rules,
                 const struct ask *ask, const struct answers *answers, struct share *out);

#endif
