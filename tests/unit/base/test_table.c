/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"
#include "unit/unit.h"

static const struct table_column columns[] = {
    {"#", true, 0}, {"name", false, 0}, {"GiB", true, 2}, {"none", false, 0}, {"why", false, 0}};

static struct str shown(struct arena *a, int width)
{
    struct table t = table_new(a, columns, 5);
    struct buf out = buf_new(a);
    const char *const rows[] = {"1",
                                "first",
                                "7.5",
                                "",
                                "",
                                "12",
                                "the second of them",
                                "10.25",
                                "",
                                "slower than the first one is"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        table_add(&t, str_of(rows[i]));
    table_print(&t, width, &out);
    return page_render(a, buf_str(&out), (struct view){.width = width});
}

static void figures_stand_at_the_right_and_empty_columns_are_left_out(void **state)
{
    assert_str(shown(*state, 0), " #  name                  GiB  why\n"
                                 " 1  first                 7.5\n"
                                 "12  the second of them  10.25  slower than the first one is\n");
}

static void what_there_is_no_room_for_is_named(void **state)
{
    assert_str(shown(*state, 44), " #  name                why\n"
                                  " 1  first\n"
                                  "12  the second of them  slower than the\n"
                                  "                        first one is\n"
                                  "(no room for: GiB; a wider screen, or a\n"
                                  "  pipe, has it)\n");
}

/* A wide column that goes makes room for a narrow one that matters less. */
static void room_is_given_by_importance(void **state)
{
    static const struct table_column wide[] = {
        {"a", false, 0}, {"wide one", false, 1}, {"c", true, 2}};
    struct table t = table_new(*state, wide, 3);
    struct buf out = buf_new(*state);
    table_add(&t, STR("first"));
    table_add(&t, STR("a cell of thirty characters.."));
    table_add(&t, STR("12"));
    table_print(&t, 12, &out);
    const char *shown = page_render(*state, buf_str(&out), (struct view){0}).p;
    assert_memory_equal(shown, "a       c\nfirst  12\n", strlen("a       c\nfirst  12\n"));
    assert_non_null(strstr(shown, "(no room for: wide one;"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(figures_stand_at_the_right_and_empty_columns_are_left_out),
    cmocka_unit_test(what_there_is_no_room_for_is_named),
    cmocka_unit_test(room_is_given_by_importance),
};
UNIT_MAIN(tests)
