/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as a shell works them out, and how many words a flag takes. Expectations are bash's. */
#include "facts/param_ids.h"
#include "facts_unit.h"

#include "base/buf.h"

static struct facts *layers(struct arena *a, const char *before, const char *word)
{
    struct str text = arena_printf(
        a, "#!/bin/bash\nN=7\n%s\npython pretrain_gpt.py --bf16 --num-layers %s\n", before, word);
    return read_as(a, "megatron", text.p, NULL);
}

/* Each expression and what a layer count that is written so comes out as. */
static void check_numbers(struct arena *a, const char *const (*cases)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str word = arena_printf(a, "$((%s))", cases[i][0]);
        struct value v = facts_get(layers(a, "", word.p), P_num_layers)->value;
        struct str got = value_text(a, v);
        if (!str_is(got, cases[i][1]))
            fail_msg("%s is %.*s, not %s", cases[i][0], STR_ARG(got), cases[i][1]);
    }
}

static void operators(void **state)
{
    static const char *const cases[][2] = {
        {"N + 5", "12"},
        {"N - 10", "-3"},
        {"N * 3", "21"},
        {"N / 2", "3"},
        {"-N / 2", "-3"},
        {"N % 5", "2"},
        {"-N % 5", "-2"},
        {"2 ** 5", "32"},
        {"2 ** 0", "1"},
        {"+N", "7"},
        {"- -N", "7"},
        {"!N", "0"},
        {"!0", "1"},
        {"N < 7", "0"},
        {"N <= 7", "1"},
        {"N > 7", "0"},
        {"N >= 7", "1"},
        {"N == 7", "1"},
        {"N != 7", "0"},
        {"N && 0", "0"},
        {"N && 2", "1"},
        {"0 || N", "1"},
        {"0 || 0", "0"},
        {"N > 4 ? 2 : 3", "2"},
        {"N > 9 ? 2 : 3", "3"},
        {"N > 9 ? 2 : N > 4 ? 5 : 6", "5"},
    };
    check_numbers(*state, cases, sizeof cases / sizeof *cases);
}

static void precedence(void **state)
{
    static const char *const cases[][2] = {
        {"2 + 3 * 4", "14"},    {"(2 + 3) * 4", "20"}, {"20 / 2 / 5", "2"},
        {"10 - 3 - 2", "5"},    {"2 * 3 ** 2", "18"},  {"2 ** 3 ** 2", "512"},
        {"-2 ** 2", "4"},       {"12 / 2 ** 2", "3"},  {"1 + 2 < 4", "1"},
        {"3 < 2 == 0", "1"},    {"1 || 0 && 0", "1"},  {"1 == 1 && 2 == 3", "0"},
        {"0 ? 1 : 2 + 3", "5"}, {"!0 + 1", "2"},       {"N*N - N % 4 * 2", "43"},
    };
    check_numbers(*state, cases, sizeof cases / sizeof *cases);
}

/* No number, or one that nobody can know, is no guess. */
static void what_has_no_value_is_unknown(void **state)
{
    static const char *const cases[] = {"N / 0",       "N % 0", "2 ** -1", "2 ** 64", "N << 1",
                                        "N & 3",       "N | 8", "N ^ 1",   "~N",      "010",
                                        "MISSING + 1", "N +",   "N = 3",   "2 *"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str word = arena_printf(*state, "$((%s))", cases[i]);
        if (facts_get(layers(*state, "", word.p), P_num_layers)->value.kind == VALUE_INT)
            fail_msg("%s has a value", cases[i]);
    }
}

/* Deep nesting and long chains of powers end without a value, not with the stack. */
static void depth_is_bounded(void **state)
{
    struct buf chain = buf_new(*state), nest = buf_new(*state);
    for (int i = 0; i < 20000; i++) {
        buf_add(&chain, STR("1**"));
        buf_add_char(&nest, '(');
    }
    struct str a = buf_str(&chain), b = buf_str(&nest);
    struct str one = arena_printf(*state, "$((%.*s1))", STR_ARG(a));
    struct str other = arena_printf(*state, "$((%.*s1", STR_ARG(b));
    assert_int_not_equal(facts_get(layers(*state, "", one.p), P_num_layers)->value.kind, VALUE_INT);
    assert_int_not_equal(facts_get(layers(*state, "", other.p), P_num_layers)->value.kind,
                         VALUE_INT);
}

static void comparisons_of_tests(void **state)
{
    static const struct {
        const char *test;
        bool holds;
    } cases[] = {
        {"7 -eq 7", true},
        {"7 -eq 8", false},
        {"7 -ne 8", true},
        {"7 -ne 7", false},
        {"7 -lt 8", true},
        {"7 -lt 7", false},
        {"7 -le 7", true},
        {"8 -le 7", false},
        {"8 -gt 7", true},
        {"7 -gt 7", false},
        {"7 -ge 7", true},
        {"6 -ge 7", false},
        {"$N = 7", true},
        {"$N != 7", false},
        {"-z \"\"", true},
        {"-n \"\"", false},
        {"! 1 -eq 2", true},
        {"1 -eq 1 -a 1 -eq 2", false},
        {"1 -eq 2 -o 1 -eq 1", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str before =
            arena_printf(*state, "if [ %s ]; then L=1; else L=2; fi", cases[i].test);
        struct facts *f = layers(*state, before.p, "$L");
        if (facts_int(f, P_num_layers, 0) != (cases[i].holds ? 1 : 2))
            fail_msg("%s", cases[i].test);
    }
}

/* argparse gives a flag as many words as it takes; the next one belongs to nobody. */
static void a_flag_takes_its_number_of_words(void **state)
{
    struct facts *f = read_as(*state, "megatron", "--bf16 --seq-length 4096 8192", NULL);
    assert_fact(f, "seq_length", "4096");
    assert_int_equal(count_rule(f, "value-unexpected"), 1);
    f = read_as(*state, "megatron", "--bf16 --rampup-batch-size 16 16 5000 9", NULL);
    assert_fact(f, "rampup_batch_size", "[16, 16, 5000]");
    assert_int_equal(count_rule(f, "value-unexpected"), 1);
    f = read_as(*state, "megatron", "--bf16 --data-path 1 a 2 b", NULL);
    assert_fact(f, "data_path", "[1, a, 2, b]");
    assert_int_equal(f->diags->n, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(operators),
    cmocka_unit_test(precedence),
    cmocka_unit_test(what_has_no_value_is_unknown),
    cmocka_unit_test(depth_is_bounded),
    cmocka_unit_test(comparisons_of_tests),
    cmocka_unit_test(a_flag_takes_its_number_of_words),
};
UNIT_MAIN(tests)
