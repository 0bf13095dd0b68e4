/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TICKS_A_LOOK = 256 };
static const double NS = 1e9;

struct guard_point {
    jmp_buf place;
    struct guard_point *outer;
    int64_t deadline_ns; /* of the outer run */
};

static int64_t cpu_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * (int64_t)NS + t.tv_nsec;
}

enum guard_end guard_run(struct guard *g, double seconds, void (*work)(void *state), void *state)
{
    struct guard_point point = {.outer = g->point, .deadline_ns = g->deadline_ns};
    g->point = &point;
    if (seconds > 0) g->deadline_ns = cpu_ns() + (int64_t)(seconds * NS);
    if (setjmp(point.place) == 0) work(state);
    assert(!g->held || g->held->point != &point);
    enum guard_end end = g->end;
    g->end = GUARD_DONE;
    g->point = point.outer;
    g->deadline_ns = point.deadline_ns;
    return end;
}

_Noreturn void guard_leave(struct guard *g, enum guard_end why)
{
    if (!g || !g->point) {
        fprintf(stderr, "moeplan: %s\n", guard_end_text(why));
        abort();
    }
    for (struct guard_hold *hold; (hold = g->held) && hold->point == g->point;) {
        guard_drop(hold);
        hold->release(hold->what);
    }
    g->end = why;
    longjmp(g->point->place, 1);
}

void guard_tick(struct guard *g)
{
    if (!g || ++g->ticks < TICKS_A_LOOK) return;
    g->ticks = 0;
    if (guard_is_late(g)) guard_leave(g, GUARD_TOO_LONG);
}

bool guard_is_late(const struct guard *g)
{
    return g && g->deadline_ns && cpu_ns() > g->deadline_ns;
}

void guard_hold(struct guard *g, struct guard_hold *hold, void (*release)(void *what), void *what)
{
    *hold = (struct guard_hold){.guard = g, .release = release, .what = what};
    if (!g) return;
    hold->point = g->point;
    hold->older = g->held;
    if (g->held) g->held->newer = hold;
    g->held = hold;
}

void guard_drop(struct guard_hold *hold)
{
    struct guard *g = hold->guard;
    if (!g) return;
    if (hold->older) hold->older->newer = hold->newer;
    if (hold->newer)
        hold->newer->older = hold->older;
    else
        g->held = hold->older;
    hold->guard = NULL;
}

const char *guard_end_text(enum guard_end end)
{
    static const char *const texts[] = {"done", "out of memory",
                                        "the input needs more than the memory limit",
                                        "the input needs more than the time limit"};
    return texts[end];
}
