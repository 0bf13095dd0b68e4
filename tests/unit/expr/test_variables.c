/* SPDX-License-Identifier: Apache-2.0 */
/* Named expressions, and texts with places for values. */
#include "unit/unit.h"

#include "expr/expr.h"

/* Slots: a is 7, b is unknown, list holds 1 to 35. */
enum { A, B, LIST };

static bool resolve(void *context, struct str path, struct expr_ref *out)
{
    static const char *const names[] = {"a", "b", "list"};
    (void)context;
    for (uint32_t i = 0; i < 3; i++) {
        if (!str_is(path, names[i])) continue;
        *out = (struct expr_ref){i, i == LIST ? EXPR_LIST : EXPR_INT};
        return true;
    }
    return false;
}

struct world {
    struct arena *arena;
    size_t reads;
};

static struct value get(void *context, uint32_t slot)
{
    struct world *world = context;
    struct value items[35];
    world->reads++;
    for (size_t i = 0; i < 35; i++)
        items[i] = value_int((int64_t)i + 1);
    if (slot == LIST) return value_list_of(world->arena, items, 35);
    return slot == A ? value_int(7) : value_unknown();
}

/* The text with these variables, each above the next. */
static const struct expr *compile(struct arena *a, struct diags *diags, const char *text,
                                  bool places)
{
    static const struct {
        const char *name, *text;
    } variables[] = {
        {"twice", "a * 2"},
        {"four", "twice + twice"},
        {"open", "b > 1"},
        {"broken", "1 / 0 > 1"},
        {"small", "list.filter(n, n < 4)"},
        {"odd", "small.filter(m, small.exists(n, n != m && (m + n) % 2 == 0))"},
        {"limit", "8"},
    };
    enum { N = sizeof variables / sizeof *variables };
    struct expr_variable *known = ARENA_ARRAY(a, struct expr_variable, N);
    struct expr_names names = {.resolve = resolve, .variables = known};
    diags_init(diags, a);
    for (size_t i = 0; i < N; i++) {
        known[i] = (struct expr_variable){.name = str_of(variables[i].name)};
        if (str_is(known[i].name, "four")) known[i].doc = STR("both");
        known[i].e = expr_compile(a, diags, str_of(variables[i].text), (struct span){0}, &names);
        assert_non_null(known[i].e);
        names.n_variables++;
    }
    struct span at = {1, 1, 1, 1, 1 + (uint32_t)strlen(text)};
    return places ? expr_compile_text(a, diags, str_of(text), at, &names)
                  : expr_compile(a, diags, str_of(text), at, &names);
}

static void check(struct arena *a, const char *text, const char *value, size_t reads, bool places)
{
    struct diags diags;
    struct world world = {a, 0};
    struct expr_scope scope = {.context = &world, .get = get};
    const struct expr *e = compile(a, &diags, text, places);
    assert_non_null(e);
    assert_str(expr_text(e), text);
    assert_str(value_text(a, expr_eval(e, a, &scope)), value);
    assert_int_equal(world.reads, reads);
}

static void variables_are_evaluated_once_and_only_where_needed(void **state)
{
    static const struct {
        const char *text, *value;
        size_t reads;
    } cases[] = {
        {"four + twice * twice == 28 + 196", "true", 1},
        {"a > 9 && four > 1", "false", 1},
        {"a > 1 ? a : four", "7", 2},
        {"open", "unknown", 1},
        {"open && a > 9", "false", 2},
        {"open || a > 1", "true", 2},
        {"broken", "error: divide by zero", 0},
        {"broken && a > 9", "false", 1},
        {"a < 9 || broken", "true", 1},
        {"small.map(n, n + size(odd))", "[3, 4, 5]", 1},
        {"[10, 20].map(n, small.map(m, n + m).filter(m, size(odd) == 2)[0])", "[11, 21]", 1},
        {"[{'twice': 1}].map(m, m.twice + twice)", "[15]", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(*state, cases[i].text, cases[i].value, cases[i].reads, false);
}

static void what_a_variable_reads_its_users_read(void **state)
{
    struct diags diags;
    const uint32_t *slots;
    const struct expr_use *uses;
    const struct expr *e = compile(*state, &diags, "four > 1 || open", false);
    assert_int_equal(expr_slots(e, &slots), 2);
    assert_int_equal(slots[0], A);
    assert_int_equal(slots[1], B);
    assert_int_equal(expr_variables(e, &uses), 3);
    assert_str(uses[0].name, "twice");
    assert_str(uses[1].name, "four");
    struct str lines[4];
    struct world world = {*state, 0};
    struct expr_scope scope = {.context = &world, .get = get};
    assert_int_equal(expr_trace_variables(e, *state, &scope, lines, 4), 1);
    assert_str(lines[0], "four = 28: twice + twice (both)");
    assert_true(expr_source(e).n > expr_text(e).n);
}

/* So that a mistake is told before anything is known. */
static void variables_have_the_type_of_their_text(void **state)
{
    struct diags diags;
    assert_int_equal(expr_result_type(compile(*state, &diags, "four", false)), EXPR_INT);
    assert_int_equal(expr_result_type(compile(*state, &diags, "open", false)), EXPR_BOOL);
    assert_null(compile(*state, &diags, "open && four", false));
    assert_int_equal(diags.n, 1);
    assert_null(compile(*state, &diags, "a is {four + 'x'}", true));
    assert_int_equal(diags.items[0].at.column, 7);
}

static void traces_look_behind_variables(void **state)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"twice % 3 == 0", "7 * 2 % 3 = 2"},
        {"four < limit", "7 * 2 + 7 * 2 = 28"},
        {"99 in list", "99 in [1, 2, 3, 4, 5, 6, … 35 in all] is false"},
        {"small.all(n, odd.exists(m, m == n) || n > size(list))", "2 > 35 is false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct str lines[8];
        struct world world = {*state, 0};
        struct expr_scope scope = {.context = &world, .get = get};
        const struct expr *e = compile(*state, &diags, cases[i].text, false);
        size_t n = expr_trace(e, *state, &scope, lines, 8), k = 0;
        while (k < n && !str_is(lines[k], cases[i].line))
            k++;
        if (k == n && n) print_error("%s: %.*s\n", cases[i].text, STR_ARG(lines[0]));
        assert_true(k < n);
    }
}

static void places_show_values(void **state)
{
    static const struct {
        const char *text, *value;
        size_t reads;
    } cases[] = {
        {"a is {a}, twice {twice}: {four + twice}", "a is 7, twice 14: 42", 2},
        {"{a > 1 ? \"many\" : \"few\"}{''}", "many", 1},
        {"{{} is {{{a}}}", "{} is {7}}", 1},
        {"b is {b}", "b is unknown", 1},
        {"{list}", "[1, 2, 3, 4, 5, 6, … 35 in all]", 1},
        {"{size(list)} of {text(small)} {{", "35 of [1, 2, 3] {", 2},
        {"{[1, 2].map(n, {n: n * 2})} {'}'}", "[{1: 2}, {2: 4}] }", 0},
        {"{1 / 0}", "error: divide by zero", 0},
        {"{1.5} {null}", "1.5 null", 0},
        {"", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(*state, cases[i].text, cases[i].value, cases[i].reads, true);
}

static void bad_places_are_told_at_their_column(void **state)
{
    static const struct {
        const char *text, *message;
        uint32_t column;
    } cases[] = {
        {"a is {aa}", "unknown name aa", 7},
        {"a is {a", "expected an operator or '}', found the end of the expression", 8},
        {"a is {}", "expected a value, found '}'", 7},
        {"{a}{a + }", "expected a value, found '}'", 9},
        {"{a a}", "expected an operator or '}', found 'a'", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        assert_null(compile(*state, &diags, cases[i].text, true));
        assert_int_equal(diags.n, 1);
        assert_str(diags.items[0].message, cases[i].message);
        assert_int_equal(diags.items[0].at.column, cases[i].column);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(variables_are_evaluated_once_and_only_where_needed),
    cmocka_unit_test(what_a_variable_reads_its_users_read),
    cmocka_unit_test(variables_have_the_type_of_their_text),
    cmocka_unit_test(traces_look_behind_variables),
    cmocka_unit_test(places_show_values),
    cmocka_unit_test(bad_places_are_told_at_their_column),
};
UNIT_MAIN(tests)
