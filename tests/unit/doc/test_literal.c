/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/buf.h"
#include "doc/literal.h"
#include "doc/node.h"

static void literals_read_as_python_reads_them(void **state)
{
    static const struct {
        const char *text, *value; /* NULL: no literal */
    } cases[] = {
        {"8", "8"},
        {" -1_000 ", "-1000"},
        {"1e-5", "1e-05"},
        {"010", NULL},
        {"True", "true"},
        {"true", NULL},
        {"None", "null"},
        {"-None", NULL},
        {"'a\\'b\\n'", "a'b\n"},
        {"\"\\d\"", "\\d"},
        {"'open", NULL},
        {"[1, 'two', [3.5,],]", "[1, two, [3.5]]"},
        {"(1)", "1"},
        {"(1,)", "[1]"},
        {"[1 2]", NULL},
        {"[,]", NULL},
        {"{'a': 1, 2: [True]}", "{a: 1, 2: [true]}"},
        {"{[1]: 2}", NULL},
        {"{'a' 1}", NULL},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"1 + 1", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value v = value_unknown();
        bool is_literal = literal_eval(*state, str_of(cases[i].text), &v);
        assert_int_equal(is_literal, cases[i].value != NULL);
        if (is_literal) assert_str(value_text(*state, v), cases[i].value);
        if (!is_literal) assert_int_equal(v.kind, VALUE_UNKNOWN);
    }
}

/* Memory goes with the text, not with its square. */
static void long_lists_of_strings_are_cheap(void **state)
{
    struct buf text = buf_new(*state);
    struct value v;
    buf_add_char(&text, '[');
    for (int i = 0; i < 20000; i++)
        buf_add(&text, STR("'a', "));
    buf_add_char(&text, ']');
    size_t before = arena_used(*state);
    assert_true(literal_eval(*state, buf_str(&text), &v));
    assert_int_equal(v.list->n, 20000);
    assert_true(arena_used(*state) - before < 8 * 1024 * 1024);
}

static void nesting_is_bounded(void **state)
{
    struct buf text = buf_new(*state);
    struct value v;
    buf_add_n(&text, '[', 100000);
    assert_false(literal_eval(*state, buf_str(&text), &v));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(literals_read_as_python_reads_them),
    cmocka_unit_test(long_lists_of_strings_are_cheap),
    cmocka_unit_test(nesting_is_bounded),
};
UNIT_MAIN(tests)
