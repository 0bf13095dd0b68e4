/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/json.h"
#include "base/quote.h"

static void harmless_text_costs_nothing(void **state)
{
    struct arena *a = *state;
    struct str s = STR("Qwen3-30B-A3B/é中😀 \\ 'x'");
    assert_ptr_equal(quote_line(a, s).p, s.p);
    struct str screen = STR("a\n\tb\n");
    assert_ptr_equal(quote_screen(a, screen).p, screen.p);
    struct str word = STR("--a=b/c.d:e,f+g@h%i");
    assert_ptr_equal(quote_shell(a, word).p, word.p);
    word = STR("qwen3-30b-a3b");
    assert_ptr_equal(quote_yaml(a, word).p, word.p);
    assert_ptr_equal(quote_hydra(a, word).p, word.p);
}

static void people_see_what_would_act(void **state)
{
    struct arena *a = *state;
    assert_str(quote_line(a, STR("a\ntouch PWNED\r\t")), "a\\ntouch PWNED\\r\\t");
    assert_str(quote_line(a, STR("\x1b]0;x\x07")), "\\x1b]0;x\\x07");
    assert_str(quote_line(a, STR("a\0b\x7f\xff")), "a\\x00b\\x7f\\xff");
    assert_str(quote_line(a, STR("\xC2\x9B\xE2\x80\xAEx\xE2\x80\xA8")), "\\u009b\\u202ex\\u2028");
    assert_str(quote_line(a, STR("\xF3\xA0\x80\x81")), "\\U000e0001");
}

static void whole_texts_keep_line_ends(void **state)
{
    struct str s = STR("a\n\033[1;31mred\033[0m\tb");
    assert_str(quote_screen(*state, s), "a\n\\x1b[1;31mred\\x1b[0m\tb");
}

static void words_of_a_shell(void **state)
{
    struct arena *a = *state;
    assert_str(quote_shell(a, STR("")), "''");
    assert_str(quote_shell(a, STR("$(x) `y`;")), "'$(x) `y`;'");
    assert_str(quote_shell(a, STR("it's")), "'it'\\''s'");
    assert_str(quote_shell(a, STR("a\n'\\\x1b"
                                  "1\xff")),
               "$'a\\n\\'\\\\\\0331\\377'");
    assert_str(quote_shell(a, STR("cut\0off")), "cut");
}

/* Every byte and a few awkward neighbours, written for bash and read as bash reads it. */
static void ansi_quotes_read_back(void **state)
{
    struct arena *a = *state;
    for (int c = 1; c < 256; c++) {
        char text[] = {'a', '\n', (char)c, '7', '\'', '\\', (char)c};
        struct str s = {text, sizeof text}, word = quote_shell(a, s);
        struct buf back = buf_new(a);
        size_t at = 2;
        assert_true(str_starts(word, STR("$'")));
        assert_true(quote_take_ansi(word, &at, &back));
        assert_int_equal(at, word.n);
        assert_true(str_eq(buf_str(&back), s));
    }
}

static void ansi_escapes(void **state)
{
    struct buf out = buf_new(*state);
    size_t at = 0;
    struct str text = STR("\\a\\e\\x41\\u00e9\\U0001F600\\101\\q\\?'rest");
    assert_true(quote_take_ansi(text, &at, &out));
    assert_str(buf_str(&out), "\a\033A\xC3\xA9\xF0\x9F\x98\x80"
                              "A\\q?");
    assert_int_equal(at, text.n - 4);
    static const char *const pairs[][2] = {
        /* what bash makes of them */
        {"\\cA\\cz\\c?\\c[", "\001\032\177\033"},
        {"\\c\\\\x", "\034x"},
        {"\\c", "\\c"},
        {"\\x\\u\\Ug\\8", "\\x\\u\\Ug\\8"},
        {"\\x4\\1012\\u41\\U41g", "\004A2AAg"},
        {"a\\0b", "a"},
        {"a\\x0b\\u0000c", "a\v"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        text = arena_printf(*state, "%s'", pairs[i][0]);
        at = out.n = 0;
        assert_true(quote_take_ansi(text, &at, &out));
        assert_str(buf_str(&out), pairs[i][1]);
        assert_int_equal(at, text.n);
    }
    at = 0;
    assert_false(quote_take_ansi(STR("open\\"), &at, &out));
    assert_false(quote_take_ansi(STR("open\\'"), &at, &out));
}

static void yaml_strings_stay_strings(void **state)
{
    struct arena *a = *state;
    static const char *const quoted[] = {
        "",     "=",    "<<",   "~",  "null", "Yes", "off", "y",     "1e5", "0x1f", "-",  "---",
        ".inf", "a: b", "a #b", " a", "a ",   "a,b", "[a",  "{a",    "*a",  "&a",   "!a", "|",
        ">",    "%a",   "@a",   "`a", "'a",   "?",   "a]",  "12:30", "+1",  "..."};
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        struct str s = str_of(quoted[i]), got = quote_yaml(a, s);
        assert_int_equal(got.n, s.n + 2);
        assert_true(got.p[0] == '"' && str_eq(str_slice(got, 1, got.n - 1), s));
    }
    assert_str(quote_yaml(a, STR("a\n\t\r\"\\\x1b\0")), "\"a\\n\\t\\x0D\\\"\\\\\\x1B\\x00\"");
    assert_str(quote_yaml(a, STR("\xC2\x85\xE2\x80\xA8\xF3\xA0\x80\x81\xff")),
               "\"\\x85\\u2028\\U000E0001\xEF\xBF\xBD\"");
}

static void hydra_values(void **state)
{
    struct arena *a = *state;
    assert_str(quote_hydra(a, STR("Et|(tt|)*30mL")), "\"Et|(tt|)*30mL\"");
    assert_str(quote_hydra(a, STR("null")), "\"null\"");
    assert_str(quote_hydra(a, STR("1e5")), "\"1e5\"");
    assert_str(quote_hydra(a, STR("a\"b\\\\\"c\\d\\")), "\"a\\\"b\\\\\\\\\\\"c\\d\\\\\"");
    assert_str(quote_hydra(a, STR("${oc.env:HOME}")), "\"\\${oc.env:HOME}\"");
    assert_str(quote_hydra(a, STR("\\${a}")), "\"\\\\\\${a}\"");
}

static void hydra_quotes_read_back(void **state)
{
    static const char *const texts[] = {"",       "a b",      "\\",     "\\\\",     "\"",
                                        "\\\"",   "\\\\\"",   "a\\b",   "a\\\"b\\", "${a}",
                                        "\\${a}", "\\\\${a}", "$a {b}", "a, [b]=c", "it's\n"};
    struct arena *a = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct str word = quote_hydra(a, str_of(texts[i]));
        struct buf back = buf_new(a);
        size_t at = 0;
        assert_int_equal(word.p[0], '"');
        assert_true(quote_take_hydra(word, &at, &back));
        assert_int_equal(at, word.n);
        assert_str(buf_str(&back), texts[i]);
    }
    static const char *const open[] = {"\"", "\"a", "\"a\\\"", "'a\"", "\"${a}\"", "\"\\\\${a}\""};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct buf back = buf_new(a);
        size_t at = 0;
        assert_false(quote_take_hydra(str_of(open[i]), &at, &back));
    }
}

static void workflow_commands(void **state)
{
    struct arena *a = *state;
    assert_str(quote_github(a, STR("50%: a,b\r\n::x\x1b\xff"), false),
               "50%25: a,b%0D%0A::x\\x1b\\xff");
    assert_str(quote_github(a, STR("a:b,c"), true), "a%3Ab%2Cc");
}

static void json_escapes_what_acts_on_a_terminal(void **state)
{
    struct buf out = buf_new(*state);
    json_add_string(&out, STR("aaaaaaa\x7f\xC2\x9B\xE2\x80\xAE\xF3\xA0\x80\x81\xff\xEF\xBF\xBD\0"));
    assert_str(buf_str(&out),
               "\"aaaaaaa\\u007f\\u009b\\u202e\\udb40\\udc01\xEF\xBF\xBD\xEF\xBF\xBD\\u0000\"");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(harmless_text_costs_nothing),
    cmocka_unit_test(people_see_what_would_act),
    cmocka_unit_test(whole_texts_keep_line_ends),
    cmocka_unit_test(words_of_a_shell),
    cmocka_unit_test(ansi_quotes_read_back),
    cmocka_unit_test(ansi_escapes),
    cmocka_unit_test(yaml_strings_stay_strings),
    cmocka_unit_test(hydra_values),
    cmocka_unit_test(hydra_quotes_read_back),
    cmocka_unit_test(workflow_commands),
    cmocka_unit_test(json_escapes_what_acts_on_a_terminal),
};
UNIT_MAIN(tests)
