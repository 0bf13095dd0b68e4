/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/glob.h"

static bool covers(void *a, const char *pattern, const char *path, bool folder)
{
    struct glob g = glob_parse(str_of(pattern));
    return glob_covers(a, &g, str_of(path), folder);
}

static void texts_match_as_in_a_shell(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"?", "", false},
        {"a*c", "abcc", true},
        {"a*c", "abcd", false},
        {"[0-9]*", "8", true},
        {"[0-9]*", "x8", false},
        {"[!0-9]*", "x8", true},
        {"[^0-9]", "8", false},
        {"a[bc]d", "acd", true},
        {"a[bc]d", "aed", false},
        {"[]a]", "]", true},
        {"[!]a]", "]", false},
        {"[a-]", "-", true},
        {"[a", "[a", true},
        {"[a", "a", false},
        {"*[0-9]b", "a1b2b", true},
        {"[[:digit:]x]", "7", true},
        {"[[:digit:]]", "d", false},
        {"[[:alpha:]_]*", "_1", true},
        {"[[:space:]]", "\t", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_matches(str_of(cases[i].pattern), str_of(cases[i].text)) != cases[i].matches)
            fail_msg("%s against %s", cases[i].pattern, cases[i].text);
}

static void names_match_at_any_depth(void **state)
{
    assert_true(covers(*state, "*.yaml", "a/b/c.yaml", false));
    assert_true(covers(*state, "b", "a/b/c.yaml", false));
    assert_true(covers(*state, "b/", "a/b/c.yaml", false));
    assert_false(covers(*state, "c.yaml/", "a/b/c.yaml", false));
    assert_true(covers(*state, "b/", "a/b", true));
    assert_false(covers(*state, "b/", "a/b", false));
    assert_false(covers(*state, "c", "a/b/c.yaml", false));
}

static void paths_match_from_the_folder_on(void **state)
{
    assert_true(covers(*state, "/a", "a/b/c.yaml", false));
    assert_false(covers(*state, "/b", "a/b/c.yaml", false));
    assert_true(covers(*state, "a/b", "a/b/c.yaml", false));
    assert_true(covers(*state, "a/*/c.yaml", "a/b/c.yaml", false));
    assert_false(covers(*state, "a/*.yaml", "a/b/c.yaml", false));
    assert_true(covers(*state, "a/**/*.yaml", "a/b/d/c.yaml", false));
    assert_true(glob_parse(STR("!a/b")).negated);
}

static void names_in_braces_are_captured(void **state)
{
    struct str out;
    assert_true(glob_capture(*state, STR("runs/*-{gpus}gpu"), STR("runs/h100-64gpu/a.yaml"), 0,
                             true, &out));
    assert_str(out, "64");
    assert_true(glob_capture(*state, STR("runs/{platform}-{gpus}gpu"),
                             STR("runs/h100-64gpu/a.yaml"), 0, false, &out));
    assert_str(out, "h100");
    assert_true(glob_capture(*state, STR("*_{gpus}g.yaml"), STR("x/m_8_16g.yaml"), 0, true, &out));
    assert_str(out, "16");
    assert_false(glob_capture(*state, STR("*_{gpus}g.yaml"), STR("x/m_g.yaml"), 0, true, &out));
    assert_true(glob_name(STR("{a}/{b}"), 1, &out));
    assert_str(out, "b");
    assert_false(glob_name(STR("{a}/{b}"), 2, &out));
    assert_str(glob_plain(*state, STR("r/{a}-{b}.x")), "r/*-*.x");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_match_as_in_a_shell),
    cmocka_unit_test(names_match_at_any_depth),
    cmocka_unit_test(paths_match_from_the_folder_on),
    cmocka_unit_test(names_in_braces_are_captured),
};
UNIT_MAIN(tests)
