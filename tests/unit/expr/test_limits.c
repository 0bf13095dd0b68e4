/* SPDX-License-Identifier: Apache-2.0 */
/* Steps bound the memory of an evaluation, too. */
#include "base/buf.h"
#include "expr/expr.h"
#include "unit/unit.h"

enum { ROOM = 48 << 20 };

struct evaluation {
    struct arena *arena;
    const char *text;
    struct value value;
};

static void evaluate(void *state)
{
    struct evaluation *x = state;
    struct diags diags;
    struct expr_scope scope = {0};
    diags_init(&diags, x->arena);
    const struct expr *e = expr_compile(x->arena, &diags, str_of(x->text), (struct span){0}, NULL);
    x->value = e ? expr_eval(e, x->arena, &scope) : value_null();
}

/* The kind of the value; within the room there is. */
static enum value_kind kind_of(const char *text)
{
    struct guard guard = {0};
    struct evaluation x = {.arena = arena_new(ROOM), .text = text};
    arena_set_guard(x.arena, &guard);
    assert_int_equal(guard_run(&guard, 5, evaluate, &x), GUARD_DONE);
    if (x.value.kind == VALUE_ERROR) assert_str(x.value.s, "the expression takes too many steps");
    arena_free(x.arena);
    return x.value.kind;
}

/* A text that is doubled `times` times, and what is done with it. */
static const char *doubled(struct arena *a, const char *first, int times, const char *then)
{
    struct buf out = buf_new(a);
    for (int i = 0; i < times; i++)
        buf_add(&out, STR("["));
    buf_add(&out, str_of(first));
    for (int i = 0; i < times; i++)
        buf_add(&out, STR("].map(x, x + x)[0]"));
    buf_add(&out, str_of(then));
    return buf_str(&out).p;
}

static void what_grows_takes_steps(void **state)
{
    struct arena *a = *state;
    assert_int_equal(kind_of(doubled(a, "'ab'", 12, "")), VALUE_STRING);
    assert_int_equal(kind_of(doubled(a, "'ab'", 60, "")), VALUE_ERROR);
    assert_int_equal(kind_of(doubled(a, "[1]", 60, "")), VALUE_ERROR);
    assert_int_equal(kind_of(doubled(a, "'ab'", 15, ".split('')")), VALUE_LIST);
    assert_int_equal(kind_of(doubled(a, "'ab'", 18, ".split('')")), VALUE_ERROR);
    assert_int_equal(kind_of(doubled(a, "'ab'", 18, ".replace('', 'cd')")), VALUE_ERROR);
    assert_int_equal(kind_of("range(50000).map(x, 'abcdefgh')"), VALUE_ERROR);
    assert_int_equal(kind_of("range(300).map(x, range(300).map(y, [x, y]))"), VALUE_ERROR);
    assert_int_equal(kind_of("range(200).map(x, range(100))"), VALUE_LIST);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_grows_takes_steps),
};
UNIT_MAIN(tests)
