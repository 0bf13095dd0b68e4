/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "unit/unit.h"

#include "cmd/option.h"

static const struct option options[] = {{"gpus", "N", "a number"},
                                        {"format", "text|json", "a choice"},
                                        {"quiet", NULL, "a switch"},
                                        {0}};
static const struct command needy = {.name = "need",
                                     .arguments = "FILE",
                                     .min_arguments = 1,
                                     .max_arguments = 1,
                                     .options = options,
                                     .required = "gpus format",
                                     .reads_batch = true};
static const struct command command = {.name = "try",
                                       .arguments = "FILE",
                                       .min_arguments = 1,
                                       .max_arguments = 2,
                                       .options = options,
                                       .reads_batch = true};

/* Words separated by blanks; NULL when they are a usage error, whose text is then in *message. */
static struct cmd_context *parse_for(const struct command *of, struct arena *a, const char *text,
                                     const char **message)
{
    struct cmd_context *c = ARENA_NEW(a, struct cmd_context);
    *c = (struct cmd_context){.command = of, .keep = a, .err = buf_new(a)};
    char *words[16];
    int n = 0;
    struct str rest = str_of(text), word;
    while (*text && str_split(&rest, ' ', &word))
        words[n++] = (char *)(uintptr_t)str_dup(a, word).p;
    bool ok = options_parse(c, n, words);
    *message = buf_str(&c->err).p;
    return ok ? c : NULL;
}

static struct cmd_context *parse(struct arena *a, const char *text, const char **message)
{
    return parse_for(&command, a, text, message);
}

static void options_are_taken_in_both_forms(void **state)
{
    const char *message;
    struct cmd_context *c =
        parse(*state, "--gpus 8 a --format=json --gpus=16 -- --quiet", &message);
    assert_non_null(c);
    assert_int_equal(c->n_arguments, 2);
    assert_str(c->arguments[1], "--quiet");
    assert_false(option_given(c, "quiet"));
    struct str first;
    assert_true(option_nth(c, "gpus", 0, &first));
    assert_str(first, "8");
    assert_false(option_nth(c, "gpus", 2, &first));
    int64_t gpus = 0;
    int format;
    assert_true(option_int(c, "gpus", 1, &gpus));
    assert_int_equal(gpus, 16);
    assert_true(option_choice(c, "format", &format));
    assert_int_equal(format, 1);
}

static void mistakes_are_said(void **state)
{
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"", "moeplan try: missing argument: moeplan try FILE\n"},
        {"a b c", "moeplan try: one argument too many: c\n"},
        {"a --gpu 8", "moeplan try: there is no option --gpu; did you mean --gpus?\n"},
        {"a --zzzzzz", "moeplan try: there is no option --zzzzzz\n"},
        {"a -x", "moeplan try: there is no option -x\n"},
        {"a --quiet=1", "moeplan try: --quiet takes no value\n"},
        {"a --gpus", "moeplan try: --gpus needs a value: --gpus N\n"},
        {"a --rules x", "moeplan try: there is no option --rules\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message;
        assert_null(parse(*state, cases[i].words, &message));
        assert_string_equal(message, cases[i].message);
    }
}

static void values_are_checked(void **state)
{
    const char *message;
    struct cmd_context *c = parse(*state, "a --gpus 0 --format xml", &message);
    int64_t gpus = 7;
    int format;
    assert_non_null(c);
    assert_false(option_int(c, "gpus", 1, &gpus));
    assert_int_equal(gpus, 7);
    assert_false(option_choice(c, "format", &format));
    assert_non_null(parse(*state, "--batch", &message)); /* needs no argument */
    assert_non_null(parse(*state, "--help", &message));
}

static void what_is_missing_is_said_at_once(void **state)
{
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"", "moeplan need: FILE, --gpus N, --format text|json are missing\n"
             "  --gpus N                    a number\n"
             "  --format text|json          a choice\n"},
        {"a", "moeplan need: --gpus N, --format text|json are missing\n"
              "  --gpus N                    a number\n"
              "  --format text|json          a choice\n"},
        {"a --gpus 8", "moeplan need: --format text|json is missing\n"},
        {"--gpus 8 --format json", "moeplan need: missing argument: moeplan need FILE\n"},
    };
    const char *message;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(parse_for(&needy, *state, cases[i].words, &message));
        assert_string_equal(message, cases[i].message);
    }
    assert_non_null(parse_for(&needy, *state, "a --gpus 8 --format json", &message));
    assert_non_null(parse_for(&needy, *state, "--batch", &message));
    assert_null(parse_for(&needy, *state, "a --batch", &message));
    assert_string_equal(message, "moeplan need: --batch reads requests from stdin and takes no "
                                 "\"a\"\n");
    assert_non_null(parse_for(&needy, *state, "--help", &message));
}

static void numbers_keep_to_the_range_of_a_parameter(void **state)
{
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"a --gpus 0", "moeplan try: --gpus must be an integer of at least 1, not \"0\"\n"},
        {"a --gpus 2.5", "moeplan try: --gpus must be an integer of at least 1, not \"2.5\"\n"},
        {"a --gpus 16777217", "moeplan try: --gpus must be at most 16,777,216\n"},
        {"a --gpus 16777216", ""},
        {"a", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message;
        int64_t gpus = 7;
        struct cmd_context *c = parse(*state, cases[i].words, &message);
        bool good = option_param(c, "gpus", P_world_size, &gpus);
        assert_string_equal(buf_str(&c->err).p, cases[i].message);
        assert_int_equal(good, !*cases[i].message);
        assert_int_equal(gpus, good && option_given(c, "gpus") ? 16777216 : 7);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(options_are_taken_in_both_forms),
    cmocka_unit_test(mistakes_are_said),
    cmocka_unit_test(values_are_checked),
    cmocka_unit_test(what_is_missing_is_said_at_once),
    cmocka_unit_test(numbers_keep_to_the_range_of_a_parameter),
};
UNIT_MAIN(tests)
