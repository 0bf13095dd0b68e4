/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/edit.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/value.h"
#include "base/vec.h"

static void arena_pop_gives_back_and_reuses(void **state)
{
    struct arena *a = *state;
    struct arena_mark mark = arena_mark(a);
    size_t before = arena_used(a);
    for (int i = 0; i < 100; i++)
        arena_alloc(a, 5000);
    assert_true(arena_used(a) >= before + 500000);
    arena_pop(a, mark);
    assert_int_equal(arena_used(a), before);
    unsigned char *p = arena_alloc(a, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(p[i], 0);
    memset(p, 1, 5000);
    arena_pop(a, mark);
}

static void numbers_are_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_int;
        int64_t i;
        bool is_double;
        double d;
    } cases[] = {
        {"0", true, 0, true, 0},
        {"-9223372036854775808", true, INT64_MIN, true, -9223372036854775808.0},
        {"9223372036854775808", false, 0, true, 9223372036854775808.0},
        {"1e3", false, 0, true, 1000},
        {"1.", false, 0, true, 1},
        {".5", false, 0, true, 0.5},
        {"", false, 0, false, 0},
        {"+", false, 0, false, 0},
        {"0x10", false, 0, false, 0},
        {"inf", false, 0, false, 0},
        {"1e", false, 0, false, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t i = 0;
        double d = 0;
        assert_int_equal(num_parse_int(str_of(cases[k].text), &i), cases[k].is_int);
        assert_int_equal(num_parse_double(str_of(cases[k].text), &d), cases[k].is_double);
        if (cases[k].is_int) assert_true(i == cases[k].i);
        if (cases[k].is_double) assert_true(d == cases[k].d);
    }
}

static void doubles_print_shortest(void **state)
{
    assert_str(num_double_text(*state, 0.1), "0.1");
    assert_str(num_double_text(*state, 1.0), "1");
    assert_str(num_double_text(*state, 1e30), "1e+30");
    assert_str(num_double_text(*state, 1.0 / 3), "0.3333333333333333");
    assert_str(num_grouped(*state, -1234567), "-1,234,567");
}

/* What the C library prints with so many digits, and whether that is the number. */
static bool printed(char text[NUM_TEXT], int digits, double d, double error)
{
    snprintf(text, NUM_TEXT, "%.*g", digits, d);
    return fabs(strtod(text, NULL) - d) <= error * fabs(d);
}

static void doubles_print_as_the_c_library_prints_them(void **state)
{
    static const double edges[] = {9.9999999999999995e22,
                                   999999999999999.5,
                                   99999999999999.95,
                                   9.99999999999999e-5,
                                   1e-4,
                                   0.5,
                                   5e-324,
                                   1.7e308,
                                   4503599627370497.5,
                                   123456789012345.62,
                                   2.5e-7,
                                   8.5};
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char figure[NUM_TEXT], text[NUM_TEXT];
        int edge = (int)(sizeof edges / sizeof *edges), digits = 15;
        random = random * 6364136223846793005u + 1442695040888963407u;
        double d = i < edge ? edges[i]
                   : i % 3  ? ldexp((double)(int64_t)random, -(i % 130))
                            : (double)((int64_t)random >> i % 64);
        num_write_figure(figure, d);
        if (!printed(text, 15, d, DBL_EPSILON)) printed(text, 17, d, 0);
        assert_string_equal(figure, text);
        while (!printed(text, digits, d, 0))
            digits++;
        assert_str(num_double_text(*state, d), text);
    }
}

static void numbers_compare_across_kinds_exactly(void **state)
{
    (void)state;
    assert_true(value_eq(value_int(1), value_double(1.0)));
    assert_true(value_eq(value_int(2), value_uint(2)));
    assert_false(value_eq(value_int(9007199254740993), value_double(9007199254740992.0)));
    assert_int_equal(value_number_cmp(value_uint(UINT64_MAX), value_int(-1)), 1);
    assert_int_equal(value_number_cmp(value_int(1), value_double(NAN)), 2);
    assert_false(value_eq(value_int(1), value_string(STR("1"))));
}

static void map_keeps_every_key(void **state)
{
    struct arena *a = *state;
    struct map m = {0};
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(map_put(a, &m, arena_printf(a, "k%u", i), i));
    assert_false(map_put(a, &m, STR("k7"), 70));
    assert_int_equal(map_get(&m, STR("k7")), 70);
    assert_int_equal(map_get(&m, STR("k999")), 999);
    assert_int_equal(map_get(&m, STR("k1000")), MAP_NONE);
}

static void vec_and_buf_grow(void **state)
{
    struct arena *a = *state;
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        *VEC_PUSH(a, &v) = i;
    assert_int_equal(v.n, 1000);
    assert_int_equal(v.items[999], 999);
    struct buf b = buf_new(a);
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i % 10);
    assert_int_equal(buf_str(&b).n, 2000);
}

static void nearest_word_is_found(void **state)
{
    (void)state;
    struct edit_nearest n = {.word = STR("pp_scedule")};
    edit_offer(&n, STR("pp_schedule_csv"));
    edit_offer(&n, STR("pp_schedule"));
    edit_offer(&n, STR("unrelated"));
    assert_str(n.best, "pp_schedule");
    assert_int_equal(edit_distance(STR("ab"), STR("ba")), 1);
    assert_true(edit_is_slip(STR("alltoal"), STR("alltoall"), 1));
    assert_false(edit_is_slip(STR("altoal"), STR("alltoall"), 1));
    assert_false(edit_is_slip(STR("Llama3Tokenizer"), STR("Llama2Tokenizer"), 1)); /* numbers */
    assert_false(edit_is_slip(STR("gpu"), STR("gpu_0"), 3));
    assert_false(edit_is_slip(STR(""), STR("x"), 1));
}

/* Of a word that is cut off the shortest whole one; any slip is nearer. */
static void beginnings_of_words_are_near(void **state)
{
    (void)state;
    struct edit_nearest n = {.word = STR("gpu_memory")};
    edit_offer(&n, STR("gpu_memory_gibibytes"));
    edit_offer(&n, STR("gpu_memory_gib"));
    edit_offer(&n, STR("gpu_memory_bytes"));
    assert_str(n.best, "gpu_memory_gib");
    edit_offer(&n, STR("gpu_memery"));
    assert_str(n.best, "gpu_memery");
    n = (struct edit_nearest){.word = STR("gp")};
    edit_offer(&n, STR("gp_us"));
    edit_offer(&n, STR("gpus_per_node"));
    assert_str(n.best, "");
}

static void divisors_and_digits(void **state)
{
    (void)state;
    assert_true(num_gcd(12, -18) == 6);
    assert_true(num_gcd(0, 7) == 7);
    assert_true(num_gcd(INT64_MIN, 0) == INT64_MAX);
    assert_int_equal(num_hex_digit('f'), 15);
    assert_int_equal(num_hex_digit('A'), 10);
    assert_int_equal(num_hex_digit('9'), 9);
    assert_int_equal(num_hex_digit('g'), -1);
}

static int by_value(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static void nothing_can_be_sorted(void **state)
{
    (void)state;
    int items[] = {3, 1, 2};
    sort_items(NULL, 0, sizeof *items, by_value);
    sort_items(items, 3, sizeof *items, by_value);
    for (int i = 0; i < 3; i++)
        assert_int_equal(items[i], i + 1);
}

static void values_print_as_people_write(void **state)
{
    struct arena *a = *state;
    struct value keys[] = {value_string(STR("k")), value_int(2)};
    struct value items[] = {value_list_of(a, keys, 2), value_null()};
    struct value map = value_map_of(a, keys, items, 2);
    assert_str(value_text(a, map), "{k: [k, 2], 2: null}");
    assert_str(value_text(a, value_unknown()), "unknown");
    assert_true(value_eq(*value_map_get(map, STR("k")), items[0]));
    assert_null(value_map_get(map, STR("2")));
    assert_null(value_map_get(value_null(), STR("k")));
    assert_ptr_equal(value_list_over(a, items, 2).list->items, items);
    assert_true(value_eq(value_map_over(a, keys, items, 2), map));
    assert_string_equal(value_kind_name(VALUE_MAP), "map");
    assert_string_equal(value_kind_name(VALUE_UNKNOWN), "unknown");
}

static void near_words_are_offered(void **state)
{
    static const char words[] = "bf16|fp16|fp8_delayed|fp8_tensorwise|fp8_blockwise|mxfp8";
    assert_str(edit_near(*state, STR("fp8"), words),
               "; did you mean fp8_delayed, fp8_tensorwise or fp8_blockwise?");
    assert_str(edit_near(*state, STR("fp8_b"), words), "; did you mean fp8_blockwise?");
    assert_str(edit_near(*state, STR("mxpf8"), words), "; did you mean mxfp8?");
    assert_str(edit_near(*state, STR("int4"), words), "");
}
static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_can_be_sorted),
    cmocka_unit_test(divisors_and_digits),
    cmocka_unit_test(values_print_as_people_write),
    cmocka_unit_test(arena_pop_gives_back_and_reuses),
    cmocka_unit_test(numbers_are_strict),
    cmocka_unit_test(doubles_print_shortest),
    cmocka_unit_test(doubles_print_as_the_c_library_prints_them),
    cmocka_unit_test(numbers_compare_across_kinds_exactly),
    cmocka_unit_test(map_keeps_every_key),
    cmocka_unit_test(vec_and_buf_grow),
    cmocka_unit_test(nearest_word_is_found),
    cmocka_unit_test(beginnings_of_words_are_near),
    cmocka_unit_test(near_words_are_offered),
};
UNIT_MAIN(tests)
