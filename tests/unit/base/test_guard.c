/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/buf.h"

static void nothing(void *state)
{
    (void)state;
}

/* ---- what is held ---- */

struct job {
    struct guard *guard;
    struct arena *arena;
    struct guard_hold outer; /* held before the run */
    char released[8];        /* names, in the order of their release */
};

static struct job *current;

static char a_name[] = "a", b_name[] = "b", c_name[] = "c", outer_name[] = "o", run_name[] = "r";

static void note(void *name)
{
    strcat(current->released, name);
}

static void hold_and_leave(void *state)
{
    struct job *j = state;
    struct guard_hold a, b, c;
    guard_hold(j->guard, &a, note, a_name);
    guard_hold(j->guard, &b, note, b_name);
    guard_hold(j->guard, &c, note, c_name);
    guard_drop(&b);
    guard_drop(&b);
    guard_leave(j->guard, GUARD_NO_MEMORY);
}

static void hold_and_drop(void *state)
{
    struct job *j = state;
    struct guard_hold a, b;
    guard_hold(j->guard, &a, note, a_name);
    guard_hold(j->guard, &b, note, b_name);
    guard_drop(&a);
    guard_drop(&j->outer);
    guard_drop(&b);
}

static void what_is_held_is_released_youngest_first(void **state)
{
    struct guard guard = {0};
    struct job j = {.guard = &guard};
    (void)state;
    current = &j;
    guard_hold(&guard, &j.outer, note, outer_name);
    assert_int_equal(guard_run(&guard, 0, hold_and_leave, &j), GUARD_NO_MEMORY);
    assert_string_equal(j.released, "ca");
    assert_ptr_equal(guard.held, &j.outer);
    assert_int_equal(guard_run(&guard, 0, hold_and_drop, &j), GUARD_DONE);
    assert_string_equal(j.released, "ca");
    assert_null(guard.held);
}

/* ---- runs within runs ---- */

static void run_inner(void *state)
{
    struct job *j = state;
    struct guard_hold hold;
    guard_hold(j->guard, &hold, note, run_name);
    assert_int_equal(guard_run(j->guard, 0, hold_and_leave, j), GUARD_NO_MEMORY);
    assert_int_equal(guard_run(j->guard, 0, nothing, NULL), GUARD_DONE);
    assert_string_equal(j->released, "ca");
    guard_leave(j->guard, GUARD_TOO_LARGE);
}

static void the_innermost_run_ends(void **state)
{
    struct guard guard = {0};
    struct job j = {.guard = &guard};
    (void)state;
    current = &j;
    assert_int_equal(guard_run(&guard, 0, run_inner, &j), GUARD_TOO_LARGE);
    assert_string_equal(j.released, "car");
    assert_int_equal(guard_run(&guard, 0, nothing, NULL), GUARD_DONE);
    assert_null(guard.point);
}

/* ---- arenas ---- */

static void fill_child(void *state)
{
    struct job *j = state;
    struct arena *child = arena_child(j->arena, 1 << 20);
    arena_free(arena_child(child, 0));
    for (;;)
        arena_alloc(child, 1000);
}

static void a_child_ends_the_run_of_its_parent(void **state)
{
    struct guard guard = {0};
    struct job j = {.guard = &guard, .arena = arena_new(0)};
    (void)state;
    arena_set_guard(j.arena, &guard);
    assert_int_equal(guard_run(&guard, 0, fill_child, &j), GUARD_TOO_LARGE);
    assert_null(guard.held);
    arena_free(j.arena);
}

static void use_again(void *state)
{
    struct arena *a = state;
    enum { MB = 1 << 20 };
    for (int i = 0; i < 100; i++) {
        struct arena_mark mark = arena_mark(a);
        for (size_t size = 0; size < 5 * MB; size += MB / 4)
            arena_alloc(a, MB / 4);
        arena_pop(a, mark);
        arena_alloc(a, 7 * MB);
        arena_reset(a);
    }
}

static void what_was_given_back_does_not_count(void **state)
{
    struct guard guard = {0};
    struct arena *a = arena_new(8 << 20);
    (void)state;
    arena_set_guard(a, &guard);
    assert_int_equal(guard_run(&guard, 0, use_again, a), GUARD_DONE);
    arena_free(a);
}

/* ---- time ---- */

static void tick(void *guard)
{
    for (int64_t i = 0; i < INT64_C(100000000000); i++)
        guard_tick(guard);
}

static void tick_a_little(void *guard)
{
    for (int i = 0; i < 100000; i++)
        guard_tick(guard);
}

static void tick_within(void *guard)
{
    assert_int_equal(guard_run(guard, 0.01, tick, guard), GUARD_TOO_LONG);
    assert_false(guard_is_late(guard));
    assert_int_equal(guard_run(guard, 0, tick_a_little, guard), GUARD_DONE);
    tick(guard);
}

static void time_is_up_at_some_tick(void **state)
{
    struct guard guard = {0};
    (void)state;
    assert_int_equal(guard_run(&guard, 0.05, tick_within, &guard), GUARD_TOO_LONG);
    assert_int_equal(guard_run(&guard, 0, tick_a_little, &guard), GUARD_DONE);
    assert_int_equal(guard_run(&guard, 60, tick_a_little, &guard), GUARD_DONE);
    guard_tick(NULL);
    assert_false(guard_is_late(NULL));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_held_is_released_youngest_first),
    cmocka_unit_test(the_innermost_run_ends),
    cmocka_unit_test(a_child_ends_the_run_of_its_parent),
    cmocka_unit_test(what_was_given_back_does_not_count),
    cmocka_unit_test(time_is_up_at_some_tick),
};
UNIT_MAIN(tests)
