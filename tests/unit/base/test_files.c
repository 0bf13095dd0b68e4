/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ctext.h"
#include "base/dir.h"
#include "base/io.h"
#include "base/json.h"
#include "base/version.h"

static int sign(int i)
{
    return (i > 0) - (i < 0);
}

static void versions_are_ordered(void **state)
{
    (void)state;
    static const char *const rising[] = {"0.9",  "0.14", "0.14.1rc1",       "0.14.1",
                                         "0.16", "1",    "main@2026-08-22", "main"};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            assert_int_equal(sign(version_cmp(str_of(rising[i]), str_of(rising[k]))), sign(i - k));
    assert_int_equal(version_cmp(STR("0.14"), STR("0.14.0")), 0);
    assert_true(version_between(STR("0.14"), STR("0.14"), STR("0.15")));
    assert_false(version_between(STR("0.15"), STR("0.14"), STR("0.15")));
    assert_true(version_between(STR("main@2026-08-22"), STR("0.14"), STR("")));
}

static void folder_is_listed_in_order(void **state)
{
    struct path_list list = {0};
    struct str error;
    assert_true(dir_list(*state, SOURCE_DIR "/src/base", (const char *const[]){".h", ".c", NULL},
                         &list, &error));
    assert_true(list.n > 10);
    assert_str(list.items[0], SOURCE_DIR "/src/base/arena.c");
    for (size_t i = 1; i < list.n; i++)
        assert_true(str_cmp(list.items[i - 1], list.items[i]) < 0);
    assert_false(
        dir_list(*state, SOURCE_DIR "/absent", (const char *const[]){".h", NULL}, &list, &error));
    assert_str(error, "No such file or directory");
}

static void c_text_is_escaped(void **state)
{
    struct buf out = buf_new(*state);
    ctext_str(&out, STR("a\"b\\\n?\x01"
                        "2"));
    assert_str(buf_str(&out), "{\"a\\\"b\\\\\\n\\077\\0012\", 8}");
    out = buf_new(*state);
    struct value items[] = {value_int(-3), value_string(STR("x"))};
    ctext_value(&out, value_list_of(*state, items, 2));
    assert_str(buf_str(&out),
               "{VALUE_LIST, {.list = &(const struct value_list){2, (const struct value[]){"
               "{VALUE_INT, {.i = INT64_C(-3)}}, {VALUE_STRING, {.s = {\"x\", 1}}}, }}}}");
}

static void values_are_json(void **state)
{
    struct arena *a = *state;
    struct value keys[] = {value_string(STR("a\"\n")), value_int(2)};
    struct value items[] = {value_double(1), value_double(0.1), value_null(), value_bool(true)};
    struct value values[] = {value_list_of(a, items, 4), value_double(1e300 * 1e300)};
    struct buf out = buf_new(a);
    json_add_value(&out, value_map_of(a, keys, values, 2));
    assert_str(buf_str(&out), "{\"a\\\"\\n\":[1.0,0.1,null,true],\"2\":null}");
}

static void files_go_round(void **state)
{
    char folder[] = "/tmp/moeplan-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct str path = arena_printf(*state, "%s/file", folder), text, error;
    struct str nowhere = arena_printf(*state, "%s/absent/file", folder);
    assert_false(io_is_file(path.p));
    assert_true(io_write(*state, path.p, STR("a\0b\n"), &error));
    assert_true(io_is_file(path.p));
    assert_true(io_read(*state, path.p, &text, &error));
    assert_int_equal(text.n, 4);
    assert_memory_equal(text.p, "a\0b\n", 4);
    assert_false(io_write(*state, nowhere.p, STR("x"), &error));
    assert_str(error, "No such file or directory");
    assert_false(io_read(*state, folder, &text, &error));
    assert_str(error, "is a directory");
    assert_int_equal(remove(path.p), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left behind */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(files_go_round),
    cmocka_unit_test(versions_are_ordered),
    cmocka_unit_test(folder_is_listed_in_order),
    cmocka_unit_test(c_text_is_escaped),
    cmocka_unit_test(values_are_json),
};
UNIT_MAIN(tests)
