/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit.h"

#include <cjson/cJSON.h>

#include "emit/json_writer.h"
#include "emit/tree.h"

static void strings_of_others_are_json(void **state)
{
    static const struct str texts[] = {STR("plain"),        STR("a\0b"),   STR("\xff\xfe"),
                                       STR("\x1b[31m\x7f"), STR("\"\\\n"), STR("\xe2\x80\xa8")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct value entry[] = {value_string(texts[i])};
        struct buf out = buf_new(*state);
        struct tree t;
        tree_open(&t, *state);
        tree_value(&t, t.root, "list", value_list_of(*state, entry, 1));
        tree_members(&t, tree_object(&t, t.root, "map"), value_map_of(*state, entry, entry, 1).map);
        tree_str(&t, t.root, "str", texts[i]);
        tree_print(&t, &out);
        for (size_t k = 0; k < out.n; k++)
            assert_true((unsigned char)out.p[k] >= 0x20 && out.p[k] != 0x7f);
        assert_int_equal(str_find_str(buf_str(&out), STR("\xe2\x80\xa8")), out.n);
        cJSON *back = cJSON_ParseWithLength(out.p, out.n);
        assert_int_equal(cJSON_GetArraySize(back), 3);
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(back, "map")), 1);
        assert_true(cJSON_IsString(cJSON_GetObjectItem(back, "str")));
        cJSON_Delete(back);
    }
}

/* The text of the one before serves only the same figure. */
static void figures_that_differ_are_written_anew(void **state)
{
    static const double figures[] = {0, 1.5, 1.5, 2.25, 1.5};
    struct buf out = buf_new(*state);
    struct json_writer w = json_writer_new(&out);
    struct json_figure last = {0};
    json_open(&w, NULL, '[');
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_figure(&w, NULL, figures[i], &last);
    json_close(&w, ']');
    assert_str(buf_str(&out), "[0,1.5,1.5,2.25,1.5]");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(strings_of_others_are_json),
                                          cmocka_unit_test(figures_that_differ_are_written_anew)};
UNIT_MAIN(tests)
