/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* mkstemp, dprintf */

#include "facts/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/unit.h"

/* One request: its diagnostics end with it. */
static const struct platform *load(struct platform_cache *cache, struct str name)
{
    struct arena *a = arena_new(0);
    struct diags diags;
    diags_init(&diags, a);
    const struct platform *p = platform_load(cache, &diags, name, (struct span){0});
    assert_int_equal(diags_count(&diags, SEVERITY_ERROR), p ? 0 : 1);
    arena_free(a);
    return p;
}

/* A new platform file. */
static struct str new_file(struct arena *a)
{
    char *name = arena_dup(a, "/tmp/platform-XXXXXX", sizeof "/tmp/platform-XXXXXX");
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_true(dprintf(file, "moeplan: 1\nkind: Platform\nbase: h100\n") > 0);
    close(file);
    return str_of(name);
}

static const struct platform *load_new(struct platform_cache *cache, struct arena *a)
{
    struct str path = new_file(a);
    const struct platform *p = load(cache, path);
    unlink(path.p);
    assert_non_null(p);
    return p;
}

static void platforms_are_read_once(void **state)
{
    struct platform_cache cache = {.arena = arena_new(0)};
    struct str path = new_file(*state);
    const struct platform *h100 = load(&cache, STR("h100")), *file = load(&cache, path);
    assert_non_null(h100);
    assert_non_null(file);
    platform_cache_trim(&cache);
    assert_ptr_equal(load(&cache, STR("h100")), h100);
    assert_ptr_equal(load(&cache, path), file);
    assert_int_equal(cache.n, 2);
    unlink(path.p);
    arena_free(cache.arena);
}

static void many_platforms_take_the_room_of_a_few(void **state)
{
    struct platform_cache cache = {.arena = arena_new(0)};
    size_t most = 0, again = 0;
    for (size_t i = 0; i < 4 * PLATFORMS_KEPT; i++) {
        load_new(&cache, *state);
        size_t used = arena_used(cache.arena);
        if (i < 2 * PLATFORMS_KEPT) most = used > most ? used : most;
        if (i >= 2 * PLATFORMS_KEPT) again = used > again ? used : again;
        platform_cache_trim(&cache);
        assert_true(cache.n < PLATFORMS_KEPT);
    }
    assert_true(again <= most + most / 10);
    arena_free(cache.arena);
}

/* Within one request all that it names are there at a time. */
static void a_request_may_name_more(void **state)
{
    struct platform_cache cache = {.arena = arena_new(0)};
    const struct platform *all[2 * PLATFORMS_KEPT];
    for (size_t i = 0; i < 2 * PLATFORMS_KEPT; i++)
        all[i] = load_new(&cache, *state);
    for (size_t i = 1; i < 2 * PLATFORMS_KEPT; i++)
        assert_false(str_eq(all[i]->asked, all[i - 1]->asked));
    platform_cache_trim(&cache);
    assert_int_equal(cache.n, 0);
    assert_int_equal(arena_used(cache.arena), 0);
    arena_free(cache.arena);
}

static void unknown_names_leave_nothing(void **state)
{
    struct platform_cache cache = {.arena = arena_new(0)};
    assert_non_null(load(&cache, STR("h100")));
    platform_cache_trim(&cache);
    size_t used = arena_used(cache.arena);
    for (int i = 0; i < 1000; i++) {
        assert_null(load(&cache, arena_printf(*state, "platform-%d", i)));
        platform_cache_trim(&cache);
        assert_int_equal(arena_used(cache.arena), used);
    }
    assert_int_equal(cache.n, 1);
    arena_free(cache.arena);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(platforms_are_read_once),
    cmocka_unit_test(many_platforms_take_the_room_of_a_few),
    cmocka_unit_test(a_request_may_name_more),
    cmocka_unit_test(unknown_names_leave_nothing),
};
UNIT_MAIN(tests)
