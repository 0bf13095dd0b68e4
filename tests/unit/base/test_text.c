/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/edit.h"
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

/* The plain recurrence, without bounds. */
static size_t slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (!n || !m) return n + m;
    size_t best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    size_t cut = slow_distance(a, n - 1, b, m) + 1, add = slow_distance(a, n, b, m - 1) + 1;
    if (cut < best) best = cut;
    if (add < best) best = add;
    bool swap = n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1];
    size_t swapped = swap ? slow_distance(a, n - 2, b, m - 2) + 1 : best;
    return swapped < best ? swapped : best;
}

static void nearest_is_what_the_plain_recurrence_says(void **state)
{
    (void)state;
    static const char *const words[] = {"abcdef", "abdcef",  "fedcba", "",      "abc",
                                        "xbcdef", "abcdefg", "aabbcc", "bcdefa"};
    size_t n = sizeof words / sizeof *words;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            struct str a = str_of(words[i]), b = str_of(words[k]);
            size_t wanted = slow_distance(a.p, a.n, b.p, b.n), most = a.n / 3 < 1 ? 1 : a.n / 3;
            assert_int_equal(edit_distance(a, b), wanted);
            if (a.n && b.n) assert_int_equal(edit_is_slip(a, b, 1), wanted <= 1);
            struct edit_nearest nearest = {.word = a};
            edit_offer(&nearest, b);
            assert_int_equal(nearest.best.n, wanted <= most ? b.n : 0);
            assert_true(!nearest.best.n || edit_may_be_near(a, b));
        }
    }
}

static void words_have_their_place_in_a_list(void **state)
{
    static const char *const words[] = {"error", "warning", "info", NULL};
    struct str nearest = {0};
    (void)state;
    assert_int_equal(edit_index(STR("error"), words, &nearest), 0);
    assert_int_equal(edit_index(STR("info"), words, &nearest), 2);
    assert_int_equal(nearest.n, 0);
    assert_int_equal(edit_index(STR("waring"), words, &nearest), -1);
    assert_str(nearest, "warning");
    assert_int_equal(edit_index(STR("something"), words, &nearest), -1);
    assert_int_equal(nearest.n, 0);
}

static void strings_are_cut(void **state)
{
    struct str rest = STR("a,,b"), part;
    assert_str(str_slice(STR("abc"), 1, 9), "bc");
    assert_str(str_slice(STR("abc"), 3, 2), "");
    assert_str(str_trim(STR(" \t\r\na b\v\f")), "a b");
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, "a");
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, "");
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, "b");
    assert_false(str_split(&rest, ',', &part));
    assert_str(str_lower(*state, STR("Qwen3-\xC3\x89")), "qwen3-\xC3\x89");
    assert_str(str_exchange(*state, STR("a_b-c"), '_', '-'), "a-b-c");
    assert_str(str_last_part(STR("a.b.c"), '.'), "c");
    assert_str(str_last_part(STR("a/"), '/'), "");
    assert_str(str_last_part(STR("abc"), '/'), "abc");
    assert_true(str_has_line(STR("a\n  // b"), "//|/*"));
    assert_false(str_has_line(STR("a // b\n/ *"), "//|/*"));
    assert_str(str_dup(*state, STR("x")), "x");
}

static void strings_are_compared(void **state)
{
    (void)state;
    assert_true(str_ends(STR("a.yaml"), STR(".yaml")));
    assert_false(str_ends(STR("yaml"), STR(".yaml")));
    assert_true(str_starts(STR("--tp"), STR("--")));
    assert_false(str_starts(STR("-"), STR("--")));
    assert_true(str_eq_nocase(STR("MLM"), STR("mlm")));
    assert_false(str_eq_nocase(STR("mlm"), STR("ml")));
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("b"), STR("ab")) > 0);
    assert_int_equal(str_cmp(STR("ab"), STR("ab")), 0);
    assert_int_equal(str_hash(STR("tensor_model_parallel_size")),
                     str_hash(str_of("tensor_model_parallel_size")));
    assert_int_not_equal(str_hash(STR("pp")), str_hash(STR("tp")));
}

/* A map that has every mark of its keys must not lose one of them, whatever they are. */
static void strings_have_marks(void **state)
{
    (void)state;
    char copy[] = "tensor_model_parallel_size";
    assert_true(str_mark(STR("tensor_model_parallel_size")) == str_mark(str_of(copy)));
    assert_true(str_mark(STR("")) == str_mark(str_slice(str_of(copy), 3, 3)));
    assert_true(str_mark(STR("\xff\xff")) == str_mark(STR("\xff\xff")));
    assert_true(str_mark(STR("pp")) != str_mark(STR("tp_size")));
}

static void characters_are_counted(void **state)
{
    (void)state;
    assert_int_equal(utf8_count(STR("")), 0);
    assert_int_equal(utf8_count(STR("a\xC3\xA9\xF0\x9F\x98\x80")), 3);
    assert_int_equal(utf8_count(STR("\xFF\xC3")), 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(words_have_their_place_in_a_list),
    cmocka_unit_test(strings_are_cut),
    cmocka_unit_test(strings_are_compared),
    cmocka_unit_test(strings_have_marks),
    cmocka_unit_test(characters_are_counted),
    cmocka_unit_test(utf8_is_checked_strictly),
    cmocka_unit_test(code_points_go_round),
    cmocka_unit_test(json_strings_are_escaped),
    cmocka_unit_test(text_is_found),
    cmocka_unit_test(nearest_is_what_the_plain_recurrence_says),
};
UNIT_MAIN(tests)
