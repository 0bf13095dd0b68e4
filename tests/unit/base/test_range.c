/* SPDX-License-Identifier: Apache-2.0 */
#include "base/range.h"

#include <stdio.h>

#include "base/buf.h"
#include "unit/unit.h"

/* "1 2 4", or "-" where the text lists nothing. */
static struct str listed(struct arena *a, const char *text, size_t most)
{
    struct int_list list = {0};
    struct buf out = buf_new(a);
    if (!range_read(a, str_of(text), most, &list)) return STR("-");
    for (size_t i = 0; i < list.n; i++)
        buf_printf(&out, "%s%lld", i ? " " : "", (long long)list.items[i]);
    return buf_str(&out);
}

static void texts_list_integers(void **state)
{
    static const struct {
        const char *text, *list;
    } cases[] = {
        {"8", "8"},
        {"64,96", "64 96"},
        {"64..512", "64 128 256 512"},
        {"64..300", "64 128 256 300"},
        {" 8 .. 8 ", "8"},
        {"1,4..8,3", "1 4 8 3"},
        {"", "-"},
        {"0", "-"},
        {"-8", "-"},
        {"8..", "-"},
        {"..8", "-"},
        {"16..8", "-"},
        {"8,,16", "-"},
        {"8,x", "-"},
        {"1..9223372036854775807", "-"},
        {"1,2,3,4,5,6", "1 2 3 4 5 6"},
        {"1,2,3,4,5,6,7", "-"},
        {"1..64", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str list = listed(*state, cases[i].text, 6);
        if (!str_is(list, cases[i].list)) fail_msg("%s: %s", cases[i].text, list.p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_list_integers),
};

UNIT_MAIN(tests)
