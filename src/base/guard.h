/* SPDX-License-Identifier: Apache-2.0 */
/* Guards: work that exhausts memory, size or time ends where it was started, and whoever started it
   goes on. A guard stands for a set of arenas (arena_set_guard) and for what else has to be given
   back on the way out. This is the one place of the program that jumps; a guard and its arenas
   belong to one thread at a time. */
#ifndef MOEPLAN_BASE_GUARD_H
#define MOEPLAN_BASE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Why a run ended. */
enum guard_end {
    GUARD_DONE,
    GUARD_NO_MEMORY, /* the system has none */
    GUARD_TOO_LARGE, /* an arena is at its limit */
    GUARD_TOO_LONG,  /* the run's time is up */
};

/* Something to give back when a run ends early; lies on the stack or in the thing itself. */
struct guard_hold {
    struct guard *guard;             /* NULL: not held */
    const struct guard_point *point; /* the run that it is released with */
    struct guard_hold *older, *newer;
    void (*release)(void *what);
    void *what;
};

/* Starts zeroed. */
struct guard {
    struct guard_point *point; /* of the innermost run; NULL: none is under way */
    struct guard_hold *held;   /* the youngest */
    int64_t deadline_ns;       /* CPU time of the thread; 0: none */
    uint32_t ticks;            /* since the clock was last read */
    enum guard_end end;
};

/* Does the work, for at most `seconds` of the thread's CPU time (0: as long as an outer run has
   left); runs may stand within each other, and the innermost ends. Anything but GUARD_DONE: the
   work was left where it stood, and what was held since it began has been released. Its arenas hold
   what they held: the caller resets those that are the work's own. */
enum guard_end guard_run(struct guard *g, double seconds, void (*work)(void *state), void *state);
/* Ends the innermost run. Where none is under way the process is aborted with a message. */
_Noreturn __attribute__((cold)) void guard_leave(struct guard *g, enum guard_end why);
/* To be called where work may go on for long; reads the clock now and then. NULL is allowed. */
void guard_tick(struct guard *g);
/* Whether the time is up, for who cannot be left where it stands. */
bool guard_is_late(const struct guard *g);

/* Has `what` released when the run that is under way ends early. Without a guard nothing is held.
 */
void guard_hold(struct guard *g, struct guard_hold *hold, void (*release)(void *what), void *what);
/* The caller gives it back by itself now. In any order; nothing happens when it is not held. */
void guard_drop(struct guard_hold *hold);

/* What a message says of an early end: "out of memory". */
const char *guard_end_text(enum guard_end end);

#endif
