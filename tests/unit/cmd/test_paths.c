/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "cmd/paths.h"

static void patterns_match_whole_paths(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"a/*.yaml", "a/b.yaml", true},
        {"a/*.yaml", "a/b/c.yaml", false},
        {"a/**/*.yaml", "a/b/c.yaml", true},
        {"a/**/*.yaml", "a/b/c/d.yaml", true},
        {"a/**/*.yaml", "a/b.yaml", true},
        {"a/**/*.yaml", "b/c.yaml", false},
        {"**", "a/b", true},
        {"**/b?.sh", "x/y/b1.sh", true},
        {"b?.sh", "b/.sh", false},
        {"*", "", true},
        {"", "a", false},
        {"a*b*c", "a1b2c", true},
        {"a*b*c", "a1c2b", false},
        {"*.yaml", "b.yaml.bak", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(path_matches(str_of(cases[i].pattern), str_of(cases[i].path)),
                         cases[i].matches);
}

static void arguments_become_files(void **state)
{
    struct arena *a = *state;
    struct path_list files = {0};
    struct str error;
    assert_true(paths_expand(a, STR("-"), &files, &error));
    assert_true(
        paths_expand(a, STR("no such file.yaml"), &files, &error)); /* said when it is read */
    assert_int_equal(files.n, 2);
    assert_true(paths_expand(a, STR(SOURCE_DIR "/examples/recipes"), &files, &error));
    assert_true(files.n >= 6);
    size_t before = files.n;
    assert_true(paths_expand(a, STR(SOURCE_DIR "/examples/**/*_sft.yaml"), &files, &error));
    assert_int_equal(files.n, before + 1);
    assert_false(paths_expand(a, STR(SOURCE_DIR "/examples/*.nothing"), &files, &error));
    assert_str(error, "matches no file");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(patterns_match_whole_paths),
    cmocka_unit_test(arguments_become_files),
};
UNIT_MAIN(tests)
