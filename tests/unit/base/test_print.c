/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed is what libc prints, whole and cut off. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "base/print.h"
#include "unit/unit.h"

__attribute__((format(printf, 2, 3))) static void check(size_t size, const char *format, ...)
{
    char ours[128], libc[128];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    memset(ours, '#', sizeof ours);
    memset(libc, '#', sizeof libc);
    int n = vsnprintf(libc, size, format, again);
    assert_int_equal(print_args(ours, size, format, args), n);
    assert_memory_equal(ours, libc, size < (size_t)n + 1 ? size : (size_t)n + 1);
    assert_int_equal(ours[size], '#');
    va_end(again);
    va_end(args);
}

static void it_is_what_libc_prints(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        check(size, "%s", "");
        check(size, "plain");
        check(size, "%s=%.*s.", "name", 3, "value");
        check(size, "%.*s|%.*s|", 0, "none", 9, "to the\0end");
        check(size, "%d %d %d", 0, INT_MIN, INT_MAX);
        check(size, "%u%%%u", 0u, UINT_MAX);
        check(size, "%zu %zu", (size_t)0, SIZE_MAX);
        check(size, "%lld %lld %lld", 0LL, LLONG_MIN, LLONG_MAX);
        check(size, "%s %5d", "what else there is is libc's:", 7);
        check(size, "%d %.3g %c", 1, 2.5, 'c');
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_is_what_libc_prints),
};
UNIT_MAIN(tests)
