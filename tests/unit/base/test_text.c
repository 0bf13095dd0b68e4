/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/json.h"
#include "base/utf8.h"

static void utf8_is_checked_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t valid;
        bool ascii;
    } cases[] = {
        {"", 0, true},
        {"plain text of more than eight bytes", 35, true},
        {"a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80z", 11, false},
        {"ab\xC3", 2, false},           /* cut */
        {"ab\xC0\x80", 2, false},       /* overlong */
        {"ab\xED\xA0\x80", 2, false},   /* a surrogate */
        {"\xF4\x90\x80\x80", 0, false}, /* above U+10FFFF */
        {"\xFF", 0, false},
        {"\x80", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool ascii;
        assert_int_equal(utf8_check(str_of(cases[i].text), &ascii), cases[i].valid);
        assert_int_equal(ascii, cases[i].ascii);
    }
}

static void code_points_go_round(void **state)
{
    (void)state;
    static const uint32_t points[] = {0, 'a', 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0x10000, 0x10FFFF};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char bytes[4];
        uint32_t back;
        size_t n = utf8_encode(points[i], bytes);
        assert_int_equal(utf8_next((struct str){bytes, n}, 0, &back), n);
        assert_int_equal(back, points[i]);
    }
    assert_int_equal(utf8_width('a'), 1);
    assert_int_equal(utf8_width(0x4E2D), 2);
    assert_int_equal(utf8_width(0x301), 0);
}

static void json_strings_are_escaped(void **state)
{
    struct buf out = buf_new(*state);
    json_add_string(&out, STR("a\"b\\c\n\x01\xC3\xA9\xFFz"));
    assert_str(buf_str(&out), "\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\xEF\xBF\xBDz\"");
    out = buf_new(*state);
    json_add_string(&out, STR(""));
    assert_str(buf_str(&out), "\"\"");
}

static void text_is_found(void **state)
{
    (void)state;
    assert_int_equal(str_find_str(STR("aab"), STR("ab")), 1);
    assert_int_equal(str_find_str(STR("aaa"), STR("ab")), 3);
    assert_int_equal(str_find_str(STR("a"), STR("ab")), 1);
    assert_int_equal(str_find_str(STR(""), STR("a")), 0);
    assert_int_equal(str_find_str(STR("xyz"), STR("z")), 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(utf8_is_checked_strictly),
    cmocka_unit_test(code_points_go_round),
    cmocka_unit_test(json_strings_are_escaped),
    cmocka_unit_test(text_is_found),
};
UNIT_MAIN(tests)
