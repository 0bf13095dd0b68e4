/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with the headers it wants, and an arena for each test program. */
#ifndef MOEPLAN_TESTS_UNIT_H
#define MOEPLAN_TESTS_UNIT_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"

static inline int unit_open_arena(void **state)
{
    *state = arena_new(0);
    return *state ? 0 : -1;
}

static inline int unit_close_arena(void **state)
{
    arena_free(*state);
    return 0;
}

/* Whether the deed ends in a failed assertion; it is done in a process of its own. */
static inline bool unit_asserts(void (*deed)(void *), void *state)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        deed(state);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

/* Runs an array of cmocka tests; each finds its arena in *state. */
#define UNIT_MAIN(tests)                                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);                   \
    }

#define assert_str(s, literal)                                                                     \
    do {                                                                                           \
        struct str s_ = (s);                                                                       \
        assert_int_equal(s_.n, strlen(literal));                                                   \
        assert_memory_equal(s_.p, literal, s_.n);                                                  \
    } while (0)

#endif
