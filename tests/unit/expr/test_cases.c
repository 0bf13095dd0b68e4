/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the text cases in tests/cases/expr. A case is a block of lines between blank lines:
       expression
       with NAME = EXPRESSION       any number of these; the value may be `unknown`
       result                       an expression for the value, `unknown`, or `error: part of the
   message` A line that begins with // is a comment. */
#include "unit/unit.h"

#include "base/dir.h"
#include "base/io.h"
#include "expr/expr.h"

enum { MOST_BINDINGS = 8 };

struct binding {
    struct str name;
    struct value value;
};

struct bindings {
    struct binding items[MOST_BINDINGS];
    size_t n;
};

static struct value variable(void *context, struct str name)
{
    struct bindings *all = context;
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i].name, name)) return all->items[i].value;
    return value_error(STR("no such variable"));
}

static struct value evaluate(struct arena *a, struct str text, struct bindings *bindings)
{
    struct diags diags;
    diags_init(&diags, a);
    const struct expr *e = expr_compile(a, &diags, text, (struct span){0}, NULL);
    if (!e) return value_error(diags.items[0].message);
    struct expr_scope scope = {.context = bindings, .variable = variable};
    return expr_eval(e, a, &scope);
}

static void bind(struct arena *a, struct bindings *all, struct str line)
{
    struct str name;
    assert_true(str_split(&line, '=', &name));
    assert_true(all->n < MOST_BINDINGS);
    struct value v = str_is(str_trim(line), "unknown") ? value_unknown() : evaluate(a, line, all);
    all->items[all->n++] = (struct binding){str_trim(name), v};
}

static bool as_expected(struct arena *a, struct value got, struct str expected)
{
    if (str_is(expected, "unknown")) return got.kind == VALUE_UNKNOWN;
    if (str_starts(expected, STR("error: "))) {
        struct str part = str_slice(expected, 7, expected.n);
        return got.kind == VALUE_ERROR && str_find_str(got.s, part) < got.s.n;
    }
    struct bindings none = {0};
    struct value want = evaluate(a, expected, &none);
    return got.kind == want.kind && got.kind > VALUE_ERROR && value_eq(got, want);
}

/* One block; says what differs and returns false when something does. */
static bool run_case(struct arena *a, const char *path, struct str block)
{
    struct bindings bindings = {0};
    struct str expression, line = {0}, expected = {0};
    while (str_starts(block, STR("//")))
        str_split(&block, '\n', &line);
    str_split(&block, '\n', &expression);
    while (str_split(&block, '\n', &line)) {
        if (str_starts(line, STR("with ")))
            bind(a, &bindings, str_slice(line, 5, line.n));
        else
            expected = line;
    }
    struct value got = evaluate(a, expression, &bindings);
    if (as_expected(a, got, expected)) return true;
    print_error("%s: %.*s\n  expected %.*s\n  got %.*s\n", path, STR_ARG(expression),
                STR_ARG(expected), STR_ARG(value_text(a, got)));
    return false;
}

static size_t run_file(struct arena *a, const char *path, size_t *failed)
{
    struct str text, error;
    assert_true(io_read(a, path, &text, &error));
    size_t n = 0;
    while (text.n) {
        size_t end = str_find_str(text, STR("\n\n"));
        struct str block = str_trim(str_slice(text, 0, end));
        text = str_slice(text, end + 1, text.n);
        if (!block.n) continue;
        *failed += !run_case(a, path, block);
        n++;
    }
    return n;
}

static void text_cases(void **state)
{
    static const char *const files[] = {"arithmetic", "logic",     "macros", "names",
                                        "text",       "functions", "syntax", "limits"};
    size_t failed = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct str path = arena_printf(*state, SOURCE_DIR "/tests/cases/expr/%s.test", files[i]);
        assert_true(run_file(*state, path.p, &failed) > 0);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_cases)};
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
