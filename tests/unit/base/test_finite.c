/* SPDX-License-Identifier: Apache-2.0 */
/* A figure that is none does not leave the program: the assertion is caught in a child. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/finite.h"
#include "unit/unit.h"

__attribute__((format(printf, 1, 2))) static void check(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    finite_arguments(format, args);
    va_end(args);
}

/* Every kind of argument is stepped over, so that the one behind it is the one looked at. */
static void print(double x)
{
    check("%d %5d %-*d %ld %lld %" PRId64 " %zu %hd %hhd %c %u %x %p %s %.*s %% %5.1f %e %.3g", 1,
          2, 3, 4, 5L, 6LL, (int64_t)7, (size_t)8, (short)9, (char)10, 'c', 11u, 12u, (void *)"p",
          "s", 2, "st", 1.0, 2.0, x);
}

/* Whether printing it ends the process by an assertion. */
static bool is_refused(double x)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        print(x);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void figures_are_printed(void **state)
{
    struct buf out = buf_new(*state);
    buf_printf(&out, "%d %.1f %s", 1, 2.5, "inf");
    assert_str(buf_str(&out), "1 2.5 inf");
    assert_str(arena_printf(*state, "%.*f|%5.2e", 1, 1.25, 1e300), "1.2|1.00e+300");
    assert_false(is_refused(1));
    assert_false(is_refused(-1.7e308));
}

static void what_is_no_figure_is_refused(void **state)
{
    (void)state;
#ifndef NDEBUG
    assert_true(is_refused(NAN));
    assert_true(is_refused(HUGE_VAL));
    assert_true(is_refused(-HUGE_VAL));
#endif
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(figures_are_printed),
    cmocka_unit_test(what_is_no_figure_is_refused),
};
UNIT_MAIN(tests)
