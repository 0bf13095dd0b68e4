/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "diag/render_text.h"

/* The text form of one diagnostic at bytes [from, to) of a source. */
static const char *render(struct arena *a, struct str text, size_t from, size_t to)
{
    struct diags all;
    diags_init(&all, a);
    uint32_t source = source_add(&all.sources, STR("f.yaml"), text);
    struct diag *d = diag_add(&all, SEVERITY_ERROR, "some-rule",
                              source_span(&all.sources, source, from, to), "bad");
    diag_note(&all, d, "256 %% 48 = 16");
    diag_help(&all, d, "32");
    struct buf out = buf_new(a);
    render_text(&out, &all, d, 0);
    return page_render(a, buf_str(&out), (struct view){0}).p;
}

static void caret_stands_under_the_place(void **state)
{
    assert_string_equal(render(*state, STR("a: 1\nep_size: 48\n"), 14, 16),
                        "f.yaml:2:10: error[some-rule]: bad\n"
                        "     2 | ep_size: 48\n"
                        "       |          ^^\n"
                        "       = note: 256 % 48 = 16\n"
                        "       = help: 32\n"
                        "       = more: moeplan explain some-rule\n");
}

static void page_of_the_rule_stands_behind_the_command(void **state)
{
    struct diags all;
    diags_init(&all, *state);
    struct diag *d = diag_add(&all, SEVERITY_INFO, "some-rule", (struct span){0}, "bad");
    d->page = STR("https://docs/rule/some-rule.html");
    struct buf out = buf_new(*state);
    render_text(&out, &all, d, 0);
    assert_non_null(
        strstr(page_render(*state, buf_str(&out), (struct view){0}).p,
               "= more: moeplan explain some-rule, https://docs/rule/some-rule.html\n"));
}

static const char *second_and_third_line(const char *text)
{
    return strchr(text, '\n') + 1;
}

static void assert_lines(const char *text, const char *wanted)
{
    assert_memory_equal(second_and_third_line(text), wanted, strlen(wanted));
}

static void tabs_and_wide_characters_keep_the_caret_in_place(void **state)
{
    struct arena *a = *state;
    assert_lines(render(a, STR("\tx: \xE4\xB8\xADy z"), 9, 10),
                 "     1 |         x: \xE4\xB8\xADy z\n"
                 "       |                ^\n");
    assert_lines(render(a, STR("\xE4\xB8\xAD"), 0, 3), "     1 | \xE4\xB8\xAD\n       | ^^\n");
    assert_lines(render(a, STR("e\xCC\x81 x"), 4, 5), "     1 | e\xCC\x81 x\n       |   ^\n");
}

static void place_at_the_end_of_a_line_has_a_caret(void **state)
{
    assert_lines(render(*state, STR("a:"), 2, 2), "     1 | a:\n       |   ^\n");
    assert_lines(render(*state, STR(""), 0, 0), "     1 | \n       | ^\n");
    assert_lines(render(*state, STR("a: [\nb"), 3, 6), "     1 | a: [\n       |    ^\n");
}

static void long_lines_are_cut_around_the_place(void **state)
{
    struct buf text = buf_new(*state);
    buf_add_n(&text, 'x', 5000);
    buf_add(&text, STR("HERE"));
    buf_add_n(&text, 'y', 5000);
    const char *shown = second_and_third_line(render(*state, buf_str(&text), 5000, 5004));
    const char *here = strstr(shown, "HERE"), *carets = strstr(shown, "^^^^");
    assert_non_null(here);
    assert_non_null(carets);
    size_t line = (size_t)(strchr(shown, '\n') - shown) + 1;
    assert_int_equal(carets - shown - (ptrdiff_t)line, here - shown);
    assert_true(line < 110);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    const char *shown = render(*state, STR("a: \033[31m\xFF"), 0, 1);
    assert_null(strchr(shown, '\033'));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(caret_stands_under_the_place),
    cmocka_unit_test(page_of_the_rule_stands_behind_the_command),
    cmocka_unit_test(tabs_and_wide_characters_keep_the_caret_in_place),
    cmocka_unit_test(place_at_the_end_of_a_line_has_a_caret),
    cmocka_unit_test(long_lines_are_cut_around_the_place),
    cmocka_unit_test(control_characters_do_not_reach_the_terminal),
};
UNIT_MAIN(tests)
