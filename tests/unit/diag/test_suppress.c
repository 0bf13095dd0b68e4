/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "diag/suppress.h"

static const char TEXT[] = "a: 1  # moeplan: ignore[one] known\n" /* line 1 */
                           "  # moeplan: ignore[two,three] known\n"
                           "b: 2\n" /* line 3 */
                           "# moeplan: ignore-file[four] known\n"
                           "c: 'moeplan: ignore[one]'\n"
                           "d: 1 # moeplan: ignore[five]\n";

/* Rule "five" could not be decided. */
static bool judge(void *state, struct str rule, struct str *help)
{
    assert_non_null(state);
    *help = STR("a hint");
    return !str_is(rule, "five");
}

/* Findings "rule@line" that are left, in order, for findings at the given lines. */
static const char *left(struct arena *a, const char *const *rules, const uint32_t *lines, size_t n,
                        size_t *dropped)
{
    struct diags all;
    diags_init(&all, a);
    uint32_t source = source_add(&all.sources, STR("f.yaml"), str_of(TEXT));
    for (size_t i = 0; i < n; i++)
        diag_add(&all, SEVERITY_ERROR, rules[i], (struct span){source, lines[i], 1, lines[i], 2},
                 "x");
    *dropped = diags_suppress(&all, source, STR(""), judge, &all);
    struct str text = {"", 0};
    for (size_t i = 0; i < all.n; i++)
        text = arena_printf(a, "%.*s %.*s@%u", STR_ARG(text), STR_ARG(all.items[i].rule),
                            all.items[i].at.line);
    return arena_printf(a, "%.*s", STR_ARG(text)).p;
}

static void comments_silence_their_line_or_the_next(void **state)
{
    static const char *const rules[] = {"one", "one", "two", "three", "four", "five"};
    static const uint32_t lines[] = {1, 3, 3, 3, 6, 6};
    size_t dropped;
    assert_string_equal(left(*state, rules, lines, 6, &dropped), " one@3");
    assert_int_equal(dropped, 5);
}

static void unused_comments_are_warnings(void **state)
{
    static const char *const rules[] = {"two"};
    static const uint32_t lines[] = {4};
    size_t dropped;
    assert_string_equal(left(*state, rules, lines, 1, &dropped),
                        " two@4 unused-suppression@1 unused-suppression@2 unused-suppression@2 "
                        "unused-suppression@4");
    assert_int_equal(dropped, 0);
}

static void syntax_errors_stay(void **state)
{
    struct diags all;
    diags_init(&all, *state);
    uint32_t source =
        source_add(&all.sources, STR("f.yaml"), STR("# moeplan: ignore-file[yaml-syntax]\n"));
    diag_add(&all, SEVERITY_ERROR, "yaml-syntax", (struct span){source, 1, 1, 1, 2}, "x");
    assert_int_equal(diags_suppress(&all, source, STR(""), NULL, NULL), 0);
    assert_int_equal(all.n, 1);
}

/* Lines of a script at which a finding is left, of one finding a line. */
static struct str lines_left(struct arena *a, const char *text, uint32_t n, const char *today,
                             struct diags *all)
{
    struct str left = {"", 0};
    diags_init(all, a);
    uint32_t source = source_add(&all->sources, STR("f.sh"), str_of(text));
    for (uint32_t i = 1; i <= n; i++)
        diag_add(all, SEVERITY_ERROR, "one", (struct span){source, i, 1, i, 2}, "x");
    diags_suppress(all, source, str_of(today), NULL, NULL);
    for (size_t i = 0; i < all->n; i++)
        left = arena_printf(a, "%.*s %.*s@%u", STR_ARG(left), STR_ARG(all->items[i].rule),
                            all->items[i].at.line);
    return left;
}

static void a_comment_above_a_command_is_for_all_its_lines(void **state)
{
    struct diags all;
    assert_str(lines_left(*state,
                          "# moeplan: ignore[one] known\n"
                          "# and why\n"
                          "torchrun a.py \\\n"
                          "  --a 1 \\\n"
                          "  --b 2\n"
                          "echo\n",
                          6, "", &all),
               " one@6");
    assert_int_equal(all.hidden.n, 5);
    assert_str(all.hidden.items[0].reason, "known");
    assert_int_equal(all.hidden.items[0].state, DIAG_SILENCED);
    assert_str(lines_left(*state,
                          "# moeplan: ignore[one]\n"
                          "ARGS=\"\n"
                          "  --a 'it' \n"
                          "\"\n"
                          "echo\n",
                          5, "", &all),
               " one@5");
}

static void a_comment_may_expire(void **state)
{
    struct diags all;
    const char *text = "a: 1 # moeplan: ignore[one] until 2026-10-31 known\n";
    assert_str(lines_left(*state, text, 1, "2026-10-31", &all), "");
    assert_str(all.hidden.items[0].reason, "known");
    assert_str(lines_left(*state, text, 1, "2026-11-01", &all), " one@1 expired-suppression@1");
    assert_str(lines_left(*state, text, 1, "", &all), "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(comments_silence_their_line_or_the_next),
    cmocka_unit_test(unused_comments_are_warnings),
    cmocka_unit_test(syntax_errors_stay),
    cmocka_unit_test(a_comment_above_a_command_is_for_all_its_lines),
    cmocka_unit_test(a_comment_may_expire),
};
UNIT_MAIN(tests)
