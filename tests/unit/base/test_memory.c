/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/value.h"
#include "base/vec.h"

static bool runs_out(void (*work)(void *a), size_t limit)
{
    struct guard guard = {0};
    struct arena *a = arena_new(limit);
    assert_non_null(a);
    arena_set_guard(a, &guard);
    enum guard_end end = guard_run(&guard, 0, work, a);
    assert_true(end == GUARD_DONE || end == GUARD_TOO_LARGE);
    arena_free(a);
    return end != GUARD_DONE;
}

static void ask_for_too_many(void *a)
{
    arena_array(a, SIZE_MAX / 4, 16);
}

static void ask_for_too_much(void *a)
{
    arena_alloc(a, SIZE_MAX - 8);
}

static void ask_for_a_megabyte(void *a)
{
    arena_alloc(a, 1 << 20);
}

static void limits_are_kept(void **state)
{
    (void)state;
    assert_true(runs_out(ask_for_too_many, 0));
    assert_true(runs_out(ask_for_too_much, 0));
    assert_true(runs_out(ask_for_a_megabyte, 1 << 19));
    assert_false(runs_out(ask_for_a_megabyte, 1 << 21));
}

/* Everything that grows, over several blocks. */
static void grow_all(void *state)
{
    struct arena *a = state;
    VEC(struct value) items = {0};
    struct map names = {0};
    struct buf text = buf_new(a);
    for (uint32_t i = 0; i < 4000; i++) {
        *VEC_PUSH(a, &items) = value_string(arena_printf(a, "name %u", i));
        map_put(a, &names, items.items[i].s, i);
        buf_add(&text, value_text(a, items.items[i]));
    }
    assert_int_equal(map_get(&names, STR("name 3999")), 3999);
    assert_true(str_ends(buf_str(&text), STR("name 3999")));
}

/* Whichever block is the first to be refused. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    enum { STEP = 16 * 1024, MOST = 4096 * 1024 };
    size_t refused = 0, limit = STEP;
    for (; limit < MOST && runs_out(grow_all, limit); limit += STEP)
        refused++;
    assert_true(refused > 10);
    assert_true(limit < MOST);
}

static void copies_are_exact(void **state)
{
    const char bytes[] = {1, 0, 2, 0};
    assert_memory_equal(arena_dup(*state, bytes, sizeof bytes), bytes, sizeof bytes);
    const int *numbers = ARENA_ARRAY(*state, int, 3);
    assert_int_equal(numbers[0] | numbers[1] | numbers[2], 0);
    assert_str(arena_printf(*state, "%d of %s", 3, "four"), "3 of four");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(limits_are_kept),
    cmocka_unit_test(memory_may_run_out_anywhere),
    cmocka_unit_test(copies_are_exact),
};
UNIT_MAIN(tests)
