/* SPDX-License-Identifier: Apache-2.0 */
#include "base/page.h"
#include "unit/unit.h"

static struct str at_width(struct arena *a, int width, const char *text)
{
    return page_render(a, str_of(text), (struct view){.width = width});
}

static void nothing_is_wrapped_without_a_terminal(void **state)
{
    const char *line =
        "note: a line that is longer than any terminal that somebody might have, and "
        "then some more of it so that this holds for wide ones too, and more\n";
    assert_str(at_width(*state, 0, line), line);
}

static void text_hangs_behind_what_names_it(void **state)
{
    struct arena *a = *state;
    assert_str(at_width(a, 40, "  1  measure the same plan with another dispatcher\n"),
               "  1  measure the same plan with another\n     dispatcher\n");
    assert_str(at_width(a, 40, "note: twelve GPUs do not fill nodes of eight\n"),
               "note: twelve GPUs do not fill nodes of\n  eight\n");
    assert_str(at_width(a, 40, "a paragraph of some length goes on at the left\n"),
               "a paragraph of some length goes on at\nthe left\n");
    assert_str(at_width(a, 40, "   = help: " MARK_HANG "write the smaller one, or both of them\n"),
               "   = help: write the smaller one, or\n           both of them\n");
}

static void commands_and_tables_keep_their_lines(void **state)
{
    struct arena *a = *state;
    const char *command = "moeplan suggest deepseek-v3 --gpus 256 --platform gb200";
    assert_str(at_width(a, 40, arena_printf(a, MARK_VERBATIM "%s", command).p), command);
    struct buf wide = buf_new(a);
    buf_add(&wide, STR(MARK_WIDE));
    for (int i = 0; i < 24; i++)
        buf_add(&wide, STR("cell "));
    assert_null(strchr(page_render(a, buf_str(&wide), (struct view){.width = 120}).p, '\n'));
}

static void no_line_is_longer_than_the_screen(void **state)
{
    struct str shown = at_width(*state, 40,
                                "source: examples/model_verification_cards/deepseek/card.yaml is "
                                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"),
               line;
    while (str_split(&shown, '\n', &line))
        assert_true(page_width(line) <= 40);
}

static void a_figure_keeps_its_percent_sign(void **state)
{
    assert_str(at_width(*state, 40, "the step of this one would be slower by 3 % of it\n"),
               "the step of this one would be slower by\n3 % of it\n");
}

static void colours_are_for_those_who_want_them(void **state)
{
    struct arena *a = *state;
    struct str marked = STR(MARK_ERROR "error" MARK_END ": " MARK_CODE "tp" MARK_END "\n");
    assert_str(page_render(a, marked, (struct view){0}), "error: tp\n");
    assert_str(page_render(a, marked, (struct view){.colour = true}),
               "\033[1;31merror\033[0m: \033[36mtp\033[0m\n");
    assert_int_equal(page_width(STR(MARK_ERROR "error" MARK_END ": " MARK_HANG "×")), 8);
}

static void without_utf8_it_is_said_in_ascii(void **state)
{
    struct str shown =
        page_render(*state, STR("2 × 8 … FILE… ≤ 3\n"), (struct view){.ascii = true});
    assert_str(shown, "2 x 8 ... FILE... <= 3\n");
}

static void nothing_of_others_acts_on_the_terminal(void **state)
{
    assert_str(page_render(*state, STR("a\033[2Jb\r\n"), (struct view){.colour = true}),
               "a\\x1b[2Jb\\r\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_is_wrapped_without_a_terminal),
    cmocka_unit_test(text_hangs_behind_what_names_it),
    cmocka_unit_test(commands_and_tables_keep_their_lines),
    cmocka_unit_test(no_line_is_longer_than_the_screen),
    cmocka_unit_test(a_figure_keeps_its_percent_sign),
    cmocka_unit_test(colours_are_for_those_who_want_them),
    cmocka_unit_test(without_utf8_it_is_said_in_ascii),
    cmocka_unit_test(nothing_of_others_acts_on_the_terminal),
};
UNIT_MAIN(tests)
