/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/glob.h"
#include "cmd/paths.h"

static void patterns_match_whole_paths(void **state)
{
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
        assert_int_equal(path_matches(*state, str_of(cases[i].pattern), str_of(cases[i].path)),
                         cases[i].matches);
}

/* The same question answered without care for time. */
static bool matches(const char *p, const char *s)
{
    bool deep = *p == '*' && p[1] == '*';
    if (!*p) return !*s;
    if (*p != '*') return *s && (*p == '?' ? *s != '/' : *p == *s) && matches(p + 1, s + 1);
    if (deep && p[2] == '/' && matches(p + 3, s)) return true;
    for (;; s++) {
        if (matches(p + 1 + deep, s)) return true;
        if (!*s || (!deep && *s == '/')) return false;
    }
}

/* The n-th text of that many of these letters. */
static const char *text_of(char *text, size_t n, size_t length, const char *letters)
{
    for (size_t i = 0; i < length; i++, n /= strlen(letters))
        text[i] = letters[n % strlen(letters)];
    text[length] = '\0';
    return text;
}

static size_t power(size_t base, size_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

static void every_short_pattern_means_what_it_says(void **state)
{
    char pattern[8], path[8];
    for (size_t n = 0; n <= 5; n++)
        for (size_t p = 0; p < power(4, n); p++)
            for (size_t m = 0; m <= 4; m++)
                for (size_t s = 0; s < power(3, m); s++) {
                    text_of(pattern, p, n, "a/*?");
                    text_of(path, s, m, "ab/");
                    if (path_matches(*state, str_of(pattern), str_of(path)) !=
                        matches(pattern, path))
                        fail_msg("%s and %s", pattern, path);
                }
}

/* Each star could begin anywhere: trying all of it would take for ever. */
static void many_stars_take_no_time(void **state)
{
    char pattern[401], path[401];
    for (size_t i = 0; i < 400; i++) {
        pattern[i] = "*a"[i % 2];
        path[i] = 'a';
    }
    pattern[400] = path[400] = '\0';
    assert_true(path_matches(*state, str_of(pattern), str_of(path)));
    pattern[399] = 'b';
    assert_false(path_matches(*state, str_of(pattern), str_of(path)));
    for (size_t i = 0; i < 300; i += 3)
        memcpy(pattern + i, "**a", 3);
    assert_false(path_matches(*state, str_of(pattern), str_of(path)));
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
    cmocka_unit_test(every_short_pattern_means_what_it_says),
    cmocka_unit_test(many_stars_take_no_time),
    cmocka_unit_test(arguments_become_files),
};
UNIT_MAIN(tests)
